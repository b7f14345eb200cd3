// SPDX-License-Identifier: Apache-2.0
// What monitoring is shown: the metrics of docs/metrics.md.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "ctrl/daemon/snapshot.h"
#include "ctrl/exposition.h"

namespace flowcon::ctrl {
namespace {

constexpr std::array<List, 3> kLists{List::nl, List::wl, List::cl};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void add_process(Exposition& out, double started) {
  rusage use{};
  if (::getrusage(RUSAGE_SELF, &use) == 0) {
    out.add("process_cpu_seconds_total", seconds_of(use.ru_utime) + seconds_of(use.ru_stime));
  }
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  if (statm >> size >> resident) {
    out.add("process_resident_memory_bytes",
            resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
  out.add("process_start_time_seconds", started);
}

void add_metric(Exposition& out, const Job& job, const std::string& who) {
  std::string metric, goal;
  if (job.extractor) {
    const metrics::Report& report = job.extractor->report();
    metric = report.metric;
    if (!metric.empty()) {
      goal = name(report.goal);
      out.add("flowcon_container_values_total", {{"container", who}},
              static_cast<double>(report.printed));
    }
    if (!report.samples.empty()) {
      out.add("flowcon_container_value", {{"container", who}}, report.samples.back().value);
    }
    if (report.counter && report.counter->total > 0) {
      out.add("flowcon_container_progress_ratio", {{"container", who}},
              report.counter->done / report.counter->total);
    }
  }
  out.add("flowcon_container_info",
          {{"container", who}, {"image", job.container.image}, {"metric", metric}, {"goal", goal}},
          1);
}

void add_use(Exposition& out, const Job& job, const std::string& who) {
  if (job.has_reading) {
    out.add("flowcon_container_cpu_seconds_total", {{"container", who}},
            static_cast<double>(job.reading.cpu_ns) / 1e9);
    out.add("flowcon_container_memory_working_set_bytes", {{"container", who}},
            static_cast<double>(job.reading.memory));
  }
  if (job.cpu_share)
    out.add("flowcon_container_cpu_usage_ratio", {{"container", who}}, *job.cpu_share);
  if (job.traffic.io) {
    out.add("flowcon_container_io_bytes_total", {{"container", who}},
            static_cast<double>(*job.traffic.io));
  }
  if (job.traffic.network) {
    out.add("flowcon_container_network_bytes_total", {{"container", who}},
            static_cast<double>(*job.traffic.network));
  }
}

void add_job(Exposition& out, const Snapshot& seen, const Job& job) {
  const std::string& who = job.container.name;
  add_metric(out, job, who);
  add_use(out, job, who);
  for (const List list : kLists) {
    out.add("flowcon_container_list", {{"container", who}, {"list", name(list)}},
            job.cpu.list == list ? 1 : 0);
  }
  for (const Resource resource : kResources) {
    if (!seen.config.limits(resource)) continue;
    const Place& place = job[resource];
    const std::string_view word = name(resource);
    out.add("flowcon_container_limit_ratio", {{"container", who}, {"resource", word}},
            is_aside(job, seen.is_all_paused) ? 1 : place.granted);
    if (place.growth) {
      out.add("flowcon_container_growth_efficiency", {{"container", who}, {"resource", word}},
              *place.growth);
    }
  }
  out.add("flowcon_container_diverging", {{"container", who}},
          job.verdict == growth::Verdict::diverging ? 1 : 0);
  out.add("flowcon_container_pinned", {{"container", who}}, job.control.pin ? 1 : 0);
  out.add("flowcon_container_start_time_seconds", {{"container", who}}, job.container.started);
}

void add_host(Exposition& out, const Snapshot& seen) {
  out.add("flowcon_build_info", {{"version", FLOWCON_VERSION}}, 1);
  out.add("flowcon_engine_up", seen.containers.engine().is_reachable ? 1 : 0);
  out.add("flowcon_dry_run", seen.config.dry_run ? 1 : 0);
  out.add("flowcon_paused", seen.is_all_paused ? 1 : 0);
  out.add("flowcon_policy", {{"policy", seen.config.policy}}, 1);
  out.add("flowcon_all_completing", seen.planning.all_completing() ? 1 : 0);
  out.add("flowcon_memory_short", seen.shown.is_short_of_memory ? 1 : 0);
  out.add("flowcon_alpha", seen.config.alpha);
  out.add("flowcon_interval_seconds", seen.planning.interval());
  out.add("flowcon_cores", seen.host.cores);
  out.add("flowcon_warnings", static_cast<double>(seen.warnings().size()));
  out.add("flowcon_decisions_total", static_cast<double>(seen.shown.counts.decisions));
  out.add("flowcon_limit_changes_total", static_cast<double>(seen.shown.counts.limit_changes));
  out.add("flowcon_limit_reverts_total", static_cast<double>(seen.shown.counts.reverts));
  out.add("flowcon_limits_reapplied_total", static_cast<double>(seen.shown.counts.reapplied));
  out.add("flowcon_records_lost_total", static_cast<double>(seen.recorder.lost()));
  for (std::size_t kind = 0; kind < kEventNames.size(); ++kind) {
    out.add("flowcon_events_total", {{"event", kEventNames.at(kind)}},
            static_cast<double>(seen.notifier.counts().at(kind)));
  }
  const Hooks::Counts& hooks = seen.notifier.calls();
  out.add("flowcon_hook_calls_total", static_cast<double>(hooks.calls));
  out.add("flowcon_hook_failures_total", static_cast<double>(hooks.failures));
  out.add("flowcon_hook_held_back_total", static_cast<double>(hooks.held_back));
}

}  // namespace

std::string metrics_of(const Snapshot& seen) {
  Exposition out;
  add_host(out, seen);
  std::map<std::string_view, double> states{
      {"controlled", 0}, {"observed", 0}, {"paused", 0}, {"frozen", 0}, {"unsupported", 0}};
  for (const auto& [id, job] : seen.roster.jobs) {
    states[seen.state_of(job)] += 1;
    if (job.unsupported.empty()) add_job(out, seen, job);
  }
  for (const auto& [state, count] : states)
    out.add("flowcon_containers", {{"state", state}}, count);
  if (seen.extension != nullptr) seen.extension->add_metrics(out);
  add_process(out, seen.shown.started);
  return out.text();
}

}  // namespace flowcon::ctrl
