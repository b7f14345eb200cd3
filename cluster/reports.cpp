// SPDX-License-Identifier: Apache-2.0
#include "cluster/reports.h"

#include <algorithm>
#include <chrono>

#include "cluster/codec/report_json.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster {

namespace {

constexpr double kReportTime = 5;  // seconds that a host has for its report
constexpr std::size_t kMovesLookedAt = 256;
constexpr std::size_t kMovesMeasured = 9;  // the last ones

// Does it keep a job or its data on the host `id`? A birth leaves its ticket behind, which is all
// that a job is until its task comes home.
bool keeps_here(const MoveView& move, const std::string& id) {
  if (move.method == migration::Method::birth) return move.target == id;
  if (move.method == migration::Method::home) return move.source == id;
  return true;
}

}  // namespace

policy::JobReport Reports::job(const std::string& id, double now) const {
  policy::JobReport job = policy::report_of(id, categories_.find(id), now);
  job.name = host_.name_of(id);
  job.value = host_.value_of(id);
  job.movable = moves_.is_movable(id);
  if (const auto settings = host_.settings_of(id)) {
    job.queued = settings->is_queued;
    job.saves_itself = ctrl::saves_itself(*settings);
  }
  if (const auto forecast = host_.forecast(id)) {
    // A counter may say what it likes.
    job.left = std::min(forecast->left, policy::kMostWork);
    job.width = forecast->width;
    job.beginning = !forecast->is_under_way;
  }
  return job;
}

policy::HostReport Reports::own(double now) const {
  policy::HostReport report;
  report.id = network_.own_id();
  report.name = network_.own_name();
  report.draining = network_.is_draining();
  report.moves_here = unreturned_();
  std::vector<double> stopped;
  for (const MoveView& move : moves_.list(kMovesLookedAt)) {
    if (!move.has_ended) ++report.moves;
    if (!move.has_ended && keeps_here(move, report.id)) ++report.moves_here;
    if (move.stopped_seconds && stopped.size() < kMovesMeasured) {
      stopped.push_back(std::max(*move.stopped_seconds, 0.0));
    }
  }
  report.move_seconds = policy::median(std::move(stopped));
  const ctrl::HostSnapshot view = host_.view();
  report.cores = view.cores;
  for (const std::string& id : view.jobs) report.containers.push_back(job(id, now));
  return report;
}

Async<GatheringPtr> Reports::gather(double now) {
  auto gathering = std::make_shared<Gathering>(host_.io());
  gathering->hosts.push_back(own(now));
  gathering->names[network_.own_id()] = network_.own_name();
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (neighbour.state) gathering->names[neighbour.id] = neighbour.state->name;
    if (!neighbour.is_reachable || neighbour.id.empty()) {
      const bool is_told = !neighbour.error.empty();
      if (gathering->silent.empty()) {
        gathering->silent =
            is_told ? neighbour.error : neighbour.name + " has not been reached yet";
      }
      continue;
    }
    ++gathering->missing;
    ctrl::spawn(host_.io(), "report", ask(gathering, neighbour));
  }
  // Each has its own limit; another request may be before it on its connection.
  gathering->done.expires_after(std::chrono::seconds(static_cast<int>(2 * kReportTime)));
  while (gathering->missing > 0) {
    auto [code] = co_await gathering->done.async_wait(kAwait);
    if (!code) break;
  }
  if (gathering->missing > 0 && gathering->silent.empty()) {
    gathering->silent = "a host takes too long to answer";
  }
  co_return gathering;
}

Async<void> Reports::ask(GatheringPtr gathering, Neighbour neighbour) {
  const Result<Answer> answer =
      co_await network_.ask(neighbour.id, "GET", "/v1/peer/jobs", "", kReportTime);
  std::string problem;
  if (!answer) {
    problem = answer.error().message();
  } else if (answer->status != 200) {
    problem = refusal_of(*answer);
  } else {
    Result<policy::HostReport> report = policy::parse_report(answer->body);
    if (!report) {
      problem = "its report is malformed: " + report.error().message();
    } else if (report->id != neighbour.id) {
      problem = "its report is of another host";
    } else {
      gathering->hosts.push_back(std::move(*report));
    }
  }
  if (!problem.empty() && gathering->silent.empty()) {
    gathering->silent = neighbour.name + ": " + problem;
  }
  --gathering->missing;
  gathering->done.cancel();
}

}  // namespace flowcon::cluster
