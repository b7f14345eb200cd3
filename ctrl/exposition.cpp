// SPDX-License-Identifier: Apache-2.0
#include "ctrl/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kLongestValue = 200;

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), written.ptr};
}

// A label's value between quotes.
std::string quoted(std::string_view value) {
  std::string text = valid_utf8(value);
  if (text.size() > kLongestValue) text = valid_utf8(text.substr(0, kLongestValue));
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"flowcon_build_info", "gauge", "Version of flowcond, always 1."},
      {"flowcon_engine_up", "gauge", "1 while the Docker Engine answers."},
      {"flowcon_dry_run", "gauge", "1 in a dry run: limits are planned and not written."},
      {"flowcon_paused", "gauge", "1 while control of all containers is paused."},
      {"flowcon_policy", "gauge", "The policy that divides the CPU, always 1."},
      {"flowcon_all_completing", "gauge", "1 while all containers have converged."},
      {"flowcon_memory_short", "gauge", "1 while the host is short of memory."},
      {"flowcon_alpha", "gauge", "Growth efficiency below which a job is slow."},
      {"flowcon_interval_seconds", "gauge",
       "Time between two decisions by growth, back-off included."},
      {"flowcon_cores", "gauge", "CPU cores of the host."},
      {"flowcon_warnings", "gauge", "Warnings in docker flowcon status."},
      {"flowcon_containers", "gauge", "Containers by state."},
      {"flowcon_decisions_total", "counter", "Decisions about limits."},
      {"flowcon_limit_changes_total", "counter", "CPU limits changed, or planned to be."},
      {"flowcon_limit_reverts_total", "counter", "Limits that another program changed."},
      {"flowcon_limits_reapplied_total", "counter", "Of these, limits that flowcond wrote again."},
      {"flowcon_records_lost_total", "counter", "Records lost."},
      {"flowcon_events_total", "counter", "Events by kind, whether hooks get them or not."},
      {"flowcon_hook_calls_total", "counter", "Calls of hooks, including failed ones."},
      {"flowcon_hook_failures_total", "counter", "Failed calls of hooks."},
      {"flowcon_hook_held_back_total", "counter", "Events withheld from hooks."},
      {"flowcon_queue_jobs", "gauge", "Jobs of the queue that have not ended, by state."},
      {"flowcon_job_workers", "gauge", "Workers of a job of several containers that runs."},
      {"flowcon_queue_wait_seconds", "gauge", "Longest total waiting time of a job that waits."},
      {"flowcon_job_resizes_total", "counter", "Changes of the workers of jobs that run."},
      {"flowcon_estimate_error_ratio", "gauge", "Mean relative error of estimates."},
      {"flowcon_container_info", "gauge", "Image, metric and goal of a container, always 1."},
      {"flowcon_container_list", "gauge", "1 for the list the container is on."},
      {"flowcon_container_limit_ratio", "gauge", "Limit, as a share of the host."},
      {"flowcon_container_growth_efficiency", "gauge",
       "Share of the first value gained per second per whole host."},
      {"flowcon_container_value", "gauge", "Last value of the evaluation function."},
      {"flowcon_container_values_total", "counter", "Values of the evaluation function read."},
      {"flowcon_container_progress_ratio", "gauge", "Part of its epochs or steps done."},
      {"flowcon_container_diverging", "gauge",
       "1 while its value moves away from its goal or is not a number."},
      {"flowcon_container_pinned", "gauge", "1 while a person has fixed its limit."},
      {"flowcon_container_start_time_seconds", "gauge", "Start time, since the epoch."},
      {"flowcon_container_cpu_seconds_total", "counter", "CPU time used."},
      {"flowcon_container_cpu_usage_ratio", "gauge", "CPU since the last tick, share of the host."},
      {"flowcon_container_memory_working_set_bytes", "gauge", "Working set."},
      {"flowcon_container_io_bytes_total", "counter", "Block I/O, read and written."},
      {"flowcon_container_network_bytes_total", "counter", "Network traffic, both directions."},
      {"flowcon_peer_up", "gauge", "1 while the other host answers."},
      {"flowcon_peer_containers", "gauge", "Containers of the other host, as last reported."},
      {"flowcon_peer_usage_ratio", "gauge", "Share of its CPU they use, as last reported."},
      {"flowcon_draining", "gauge", "1 while this host gives its containers away."},
      {"process_cpu_seconds_total", "counter", "CPU time of flowcond."},
      {"process_resident_memory_bytes", "gauge", "Memory of flowcond."},
      {"process_start_time_seconds", "gauge", "Start time of flowcond, since the epoch."},
  };
  return all;
}

void Exposition::add(std::string_view family, Labels labels, double value) {
  std::string line(family);
  if (labels.size() > 0) {
    line += '{';
    for (const auto& [name, text] : labels) {
      if (line.back() != '{') line += ',';
      line += std::string(name) + "=" + quoted(text);
    }
    line += '}';
  }
  samples_[family] += line + " " + number_text(value) + "\n";
}

std::string Exposition::text() const {
  std::string out;
  for (const Family& family : families()) {
    const auto samples = samples_.find(family.name);
    if (samples == samples_.end()) continue;
    const std::string name(family.name);
    out += "# HELP " + name + " " + std::string(family.help) + "\n# TYPE " + name + " " +
           std::string(family.type) + "\n" + samples->second;
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace flowcon::ctrl
