// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/report/report.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/random_id.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/files.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/report/data.h"
#include "cmd/docker-flowcon/report/page.h"
#include "cmd/docker-flowcon/report/worth.h"
#include "cmd/docker-flowcon/text/times.h"

namespace flowcon::plugin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout{30};
constexpr std::chrono::seconds kMostForChanges{60};
constexpr std::size_t kMostRuns = 500;
constexpr std::size_t kMostEnded = 200;  // jobs of the queue that flowcond remembers
// Points of a series: a page of some MB, however many containers there were.
constexpr std::size_t kPointsInAll = 60000;
constexpr std::size_t kLeastPoints = 60;
constexpr std::size_t kMostPoints = 600;

bool is_wanted(const json::value& run, const std::vector<std::string>& wanted) {
  const std::string id = text_of(member(run, "id"));
  const std::string name = text_of(member(run, "name"));
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
           return word == name || (!word.empty() && id.compare(0, word.size(), word) == 0);
         });
}

// As docker does it: a name goes before the beginnings of ids. `wanted` with those ids in place of
// words that are a name among `things`.
std::vector<std::string> names_first(const json::array& things,
                                     const std::vector<std::string>& wanted) {
  std::vector<std::string> words;
  for (const std::string& word : wanted) {
    const std::size_t before = words.size();
    for (const json::value& thing : things) {
      if (text_of(member(thing, "name")) == word) words.push_back(text_of(member(thing, "id")));
    }
    if (words.size() == before) words.push_back(word);
  }
  return words;
}

// What was named that is a job of the queue.
struct NamedJobs {
  std::vector<std::string> words;
  std::vector<std::string> tasks;  // ids of their containers
};

Result<std::vector<json::value>> find_runs(const DaemonClient& daemon, const std::string& since,
                                           const std::vector<std::string>& wanted,
                                           const NamedJobs& jobs) {
  const Result<json::array> all = daemon.get_parts("/v1/runs", since, "runs");
  if (!all) return all.error();
  std::vector<json::value> runs;
  std::vector<std::string> words = names_first(*all, wanted);
  words.insert(words.end(), jobs.tasks.begin(), jobs.tasks.end());
  for (const json::value& run : *all) {
    if (is_wanted(run, words)) runs.push_back(run);
  }
  for (const std::string& word : wanted) {
    const bool is_job = std::find(jobs.words.begin(), jobs.words.end(), word) != jobs.words.end();
    const bool is_there = is_job || std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
                            return is_wanted(run, {word});
                          });
    if (!is_there) {
      return bad_input("No such container: " + printable(word) + " (no records in this time)");
    }
  }
  return runs;
}

// All pages, or as many as there is time for.
Result<void> fetch_changes(const DaemonClient& daemon, std::string question, ReportData& data) {
  const Clock::time_point deadline = Clock::now() + kMostForChanges;
  while (true) {
    const Result<json::value> page = daemon.get("/v1/changes?" + question);
    if (!page) return page.error();
    add_changes(data, *page);
    const std::string next = text_of(member(*page, "next"));
    if (next.empty()) return {};
    if (next == question || Clock::now() > deadline) {
      const json::array& changes = list_of(member(*page, "changes"));
      const std::optional<double> until =
          changes.empty() ? std::nullopt : real_of(member(changes.back(), "time"));
      data.notes.push_back("Too many decisions: their reasons end at " + moment_text(until) + ".");
      return {};
    }
    question = next;
  }
}

// `about`: the entry of the list; `job`: all of it.
void add_named(NamedJobs& named, const json::value& about, const json::value& job,
               const std::vector<std::string>& wanted) {
  for (const std::string& word : wanted) {
    if (is_wanted(about, {word})) named.words.push_back(word);
  }
  if (wanted.empty()) return;
  for (const json::value& task : list_of(job, "tasks")) {
    const std::string id = text_of(task, "id");
    if (!id.empty()) named.tasks.push_back(id);
  }
}

void note_missing_jobs(ReportData& data, const json::array& jobs, std::size_t left_out) {
  if (left_out > 0) {
    data.notes.push_back("Only " + std::to_string(kMostRuns) + " of " +
                         std::to_string(kMostRuns + left_out) + " jobs are shown.");
  }
  const auto has_ended = [&](const json::value& job) {
    return real_of(member(job, "ended")).value_or(-1) >= data.since;
  };
  if (std::count_if(jobs.begin(), jobs.end(), has_ended) >= std::ptrdiff_t{kMostEnded}) {
    data.notes.push_back("Of jobs that have ended only the last " + std::to_string(kMostEnded) +
                         " are shown.");
  }
}

// Those that were open in this time. Without a queue there are none.
Result<NamedJobs> fetch_jobs(const DaemonClient& daemon, const std::vector<std::string>& wanted,
                             ReportData& data) {
  NamedJobs named;
  Result<json::value> queue = daemon.get("/v1/queue?ended=" + std::to_string(kMostEnded));
  if (!queue) queue = daemon.get("/v1/queue");  // an older flowcond takes no query
  if (!queue) return named;
  std::size_t left_out = 0;
  const json::array& jobs = list_of(*queue, "jobs");
  const std::vector<std::string> words = names_first(jobs, wanted);
  for (const json::value& about : jobs) {
    const double ended = real_of(member(about, "ended")).value_or(data.made);
    if (ended < data.since || !is_wanted(about, words)) continue;
    if (data.jobs.size() >= kMostRuns) {
      ++left_out;
      continue;
    }
    const Result<std::string> target = job_target(text_of(about, "id"), "");
    if (!target) continue;
    const auto job = daemon.find(*target);
    if (!job) return job.error();
    if (!*job) continue;
    data.jobs.push_back(read_report_job(**job));
    add_named(named, about, **job, wanted);
  }
  note_missing_jobs(data, jobs, left_out);
  std::stable_sort(data.jobs.begin(), data.jobs.end(), [](const ReportJob& a, const ReportJob& b) {
    return a.submitted < b.submitted;
  });
  return named;
}

Result<ReportData> fetch_report(const DaemonClient& daemon, const ReportOptions& options) {
  const double now = wall_seconds();
  const double since = parse_moment(options.since, now).value_or(now);
  const std::string question = "since=" + render_number(since);
  const Result<json::value> status = daemon.get("/v1/status");
  if (!status) return status.error();
  ReportData data = begin_report(*status, since, now);
  const Result<NamedJobs> jobs = fetch_jobs(daemon, options.containers, data);
  if (!jobs) return jobs.error();
  Result<std::vector<json::value>> runs = find_runs(daemon, question, options.containers, *jobs);
  if (!runs) return runs.error();
  if (runs->size() > kMostRuns) {
    data.notes.push_back("Only the last " + std::to_string(kMostRuns) + " of " +
                         std::to_string(runs->size()) + " containers are shown.");
    runs->erase(runs->begin(), runs->end() - static_cast<std::ptrdiff_t>(kMostRuns));
  }
  for (const json::value& run : *runs) {
    const Result<std::string> target = container_target(text_of(member(run, "id")), "history");
    if (!target) continue;
    const auto history = daemon.find(*target + "?" + question);
    if (!history) return history.error();
    // It may be forgotten by now.
    if (*history) data.runs.push_back(read_run(run, **history));
  }
  if (const Result<void> done = fetch_changes(daemon, question, data); !done) return done.error();
  // Without peers there is nothing that could have moved.
  const Result<json::value> moves = daemon.get("/v1/moves");
  if (moves) add_moves(data, *moves);
  return data;
}

}  // namespace

void declare_report(CLI::App& app, ReportOptions& options) {
  app.add_option("CONTAINER", options.containers);
  app.add_option("-o,--output", options.output, "File to write, - for stdout")
      ->type_name("file")
      ->capture_default_str();
  app.add_option("--since", options.since,
                 "Show records since a timestamp (e.g. \"2013-01-02T13:23:37Z\") or "
                 "relative (e.g. \"42m\" for 42 minutes)")
      ->type_name("string")
      ->check(check_moment)
      ->capture_default_str();
}

int run_report(const Session& session, const ReportOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "report");
  if (!daemon) return report(session.terminal, daemon.error());
  Result<ReportData> data = fetch_report(daemon->with_timeout(kTimeout), options);
  if (!data) return report(session.terminal, data.error());
  const std::vector<JobWorth> worths = estimate_worth(*data);
  const std::size_t share = kPointsInAll / std::max<std::size_t>(data->runs.size(), 1);
  thin_report(*data, std::clamp(share, kLeastPoints, kMostPoints));
  const std::string page = render_page(*data, worths, random_id());
  if (options.output == "-" || is_stdout(options.output)) {
    session.terminal.out << page;
    session.terminal.out.flush();
    return session.terminal.out.good() ? kDone : kFailed;
  }
  const Result<void> written = write_file(options.output, page);
  if (!written) return report(session.terminal, written.error());
  session.terminal.out << options.output << "\n";
  return kDone;
}

}  // namespace flowcon::plugin
