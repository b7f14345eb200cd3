// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/notifier.h"

#include <cmath>
#include <utility>

namespace flowcon::ctrl {

Notifier::Notifier(boost::asio::io_context& io, const Config& config, const std::string& host,
                   std::function<Moment()> clock)
    : clock_(std::move(clock)), hooks_(io, config, host) {}

void Notifier::tell(Event event) {
  const Moment now = clock_();
  if (event.time == 0) event.time = now.wall;
  ++counts_.at(static_cast<std::size_t>(event.kind));
  hooks_.tell(event, now.steady);
}

void Notifier::tell_about(const Job& job, EventKind kind, const std::string& sentence) {
  Event event;
  event.kind = kind;
  event.container = job.container.name;
  event.id = job.id();
  event.sentence = sentence;
  if (job.extractor) {
    const metrics::Report& report = job.extractor->report();
    event.metric = report.metric;
    if (!report.samples.empty()) event.value = report.samples.back().value;
  }
  tell(std::move(event));
}

// A value that is no finite number counts as diverging too, and has a word of its own, also where
// the job moved away from its goal before.
void Notifier::follow(Job& job) {
  Job::Told now;
  now.has_converged = job.cpu.list == List::cl;
  now.is_diverging = job.verdict == growth::Verdict::diverging;
  now.is_nan = now.is_diverging && job.extractor && !job.extractor->report().samples.empty() &&
               !std::isfinite(job.extractor->report().samples.back().value);
  now.problem = job.problem;
  const Job::Told before = std::exchange(job.told, now);
  if (now.has_converged && !before.has_converged) {
    tell_about(job, EventKind::converged, job.reason);
  }
  if (now.is_nan && !before.is_nan) {
    tell_about(job, EventKind::nan, "its value is not a number");
  } else if (now.is_diverging && !before.is_diverging) {
    tell_about(job, EventKind::diverging, "its value moves away from its goal");
  }
  if (!now.problem.empty() && now.problem != before.problem) {
    tell_about(job, EventKind::failure, now.problem);
  }
}

void Notifier::follow(std::map<std::string, Job>& jobs, const std::string& record_problem,
                      const std::string& engine_problem) {
  for (auto& [id, job] : jobs) {
    if (job.unsupported.empty()) follow(job);
  }
  tell_failure(told_record_problem_, record_problem);
  tell_failure(told_engine_problem_, engine_problem);
}

void Notifier::tell_failure(std::string& told, const std::string& problem) {
  if (told == problem) return;
  const bool is_new = told.empty();
  told = problem;
  // Another sentence about the same trouble is no news.
  if (!is_new || problem.empty()) return;
  Event event;
  event.kind = EventKind::failure;
  event.sentence = problem;
  tell(std::move(event));
}

}  // namespace flowcon::ctrl
