// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/obstacle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "cluster/migration/plan/architecture.h"

namespace flowcon::cluster::queue {
namespace {

// "1.5 cores and 2048 MiB of memory"; what it lacks.
std::string lack_of(const policy::Amounts& request, const policy::Amounts& idle) {
  std::string lacks;
  const double cores = policy::amount_of(request, "cpu") - policy::amount_of(idle, "cpu");
  const double bytes = policy::amount_of(request, "mem") - policy::amount_of(idle, "mem");
  const auto one_digit = [](double number) { return render_number(std::ceil(number * 10) / 10); };
  if (cores > policy::Room::kTolerance) {
    lacks = one_digit(cores) + (cores <= 1 && cores > 0.9 ? " core" : " cores");
  }
  if (bytes > policy::Room::kTolerance) {
    const double gibibytes = bytes / (1024.0 * 1024 * 1024);
    lacks += (lacks.empty() ? "" : " and ") +
             (gibibytes >= 1 ? one_digit(gibibytes) + " GiB"
                             : render_number(std::ceil(bytes / 1048576)) + " MiB") +
             " of memory";
  }
  const double gpus = policy::amount_of(request, "gpu") - policy::amount_of(idle, "gpu");
  if (gpus > policy::Room::kTolerance) {
    const std::string number =
        render_number(std::ceil(gpus * 100 - policy::Room::kTolerance) / 100);
    lacks += (lacks.empty() ? "" : " and ") + number + (number == "1" ? " GPU" : " GPUs");
  }
  return lacks;
}

// How far a node is from having room, as a share of what it has.
double distance(const policy::Amounts& request, const policy::QueueNode& node) {
  double all = 0;
  for (const auto& [kind, asked] : request) {
    const double cap = policy::amount_of(node.cap, kind);
    const double lack = asked - policy::amount_of(node.idle, kind);
    if (lack > 0) all += cap > 0 ? lack / cap : std::numeric_limits<double>::infinity();
  }
  return all;
}

// The end of a sentence about a job that only its own host can run; "" = others may, too.
std::string where_alone(const AllJobs& all, std::size_t job) {
  const std::string& why = why_bound(all, job);
  const auto owner = std::find(all.hosts.begin(), all.hosts.end(), all.known[job].owner);
  if (why.empty() || owner == all.hosts.end() || all.hosts.size() == 1) return "";
  const auto place = static_cast<std::size_t>(owner - all.hosts.begin());
  return "; it runs on " + all.view.nodes[place].id + " only: " + why;
}

}  // namespace

std::string rough(double seconds) {
  if (seconds < 90) return render_number(std::ceil(seconds)) + " s";
  if (seconds < 5400) return render_number(std::round(seconds / 60)) + " min";
  return render_number(std::round(seconds / 360) / 10) + " h";
}

std::string obstacle_of(const AllJobs& all, std::size_t job) {
  const policy::QueueView& view = all.view;
  const policy::WaitingTask& task = view.jobs[job];
  const policy::Amounts request = whole_request(task);
  const std::string bound = where_alone(all, job);
  const policy::QueueNode* nearest = nullptr;
  policy::Amounts together;                     // idle there where it may have tasks,
  std::vector<const policy::Amounts*> several;  // and what these have
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const policy::QueueNode& node = view.nodes[i];
    const bool is_nearer =
        nearest == nullptr || distance(request, node) < distance(request, *nearest);
    if (is_nearer && fits(request, node.cap) && !all.draining[i]) nearest = &node;
    if (!task.may_spread || !may_go(all, job, i)) continue;
    if (several.empty()) {
      together = node.idle;
    } else {
      add(together, node.idle, 1);
    }
    several.push_back(&node.cap);
  }
  const policy::AlikeTasks workers{task.request, task.workers}, ps{task.ps_request, task.ps};
  if (nearest == nullptr && !could_hold(several, workers, ps)) {
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
      const policy::QueueNode& node = view.nodes[i];
      if (!all.draining[i]) continue;
      if (task.may_spread) several.push_back(&node.cap);
      const bool is_missed = fits(request, node.cap) || could_hold(several, workers, ps);
      if (is_missed) return "waits until " + node.id + " stops draining";
    }
    if (!all.known[job].avoided.empty()) return "waits until a host is asked again";
    std::string why = "no reachable host could hold it" +
                      std::string(several.size() > 1 ? ", nor several together" : "") +
                      ": it requests " + lack_of(request, {{"cpu", 0}, {"mem", 0}});
    if (!bound.empty()) {
      why += bound;
    } else if (is_for_some(all, job)) {
      why += ", and " + migration::image_is_for(all.known[job].freight->architecture);
    }
    return why;
  }
  const std::string lacks = lack_of(request, nearest == nullptr ? together : nearest->idle);
  if (lacks.empty()) return "waits for jobs before it" + bound;
  if (view.nodes.size() == 1) return "waits for " + lacks;
  return "waits for " + lacks + (nearest == nullptr ? " on several hosts" : " on " + nearest->id) +
         bound;
}

}  // namespace flowcon::cluster::queue
