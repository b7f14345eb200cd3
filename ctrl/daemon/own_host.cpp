// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/own_host.h"

#include <algorithm>
#include <cmath>

#include "ctrl/log.h"

namespace flowcon::ctrl {

HostSnapshot OwnHost::view() const {
  HostSnapshot view;
  view.name = host_name();
  view.cores = parts_.host.cores;
  view.memory = parts_.host.memory;
  view.available = static_cast<double>(parts_.meter.host_memory().available_bytes);
  view.gpu_model = parts_.meter.gpu_model();
  view.gpus = parts_.meter.known_gpus();
  view.is_seeking_gpus = parts_.meter.is_seeking_gpus();
  view.is_paused = parts_.controls.is_all_paused();
  for (const auto& [id, job] : parts_.roster.jobs) {
    if (!job.unsupported.empty()) continue;
    view.jobs.push_back(id);
    view.usage += job.cpu_share.value_or(0);
  }
  view.usage = std::clamp(view.usage, 0.0, 1.0);
  return view;
}

std::optional<double> OwnHost::value_of(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  if (found == parts_.roster.jobs.end() || !found->second.extractor) return std::nullopt;
  if (found->second.frozen) return std::nullopt;  // that it stands still is not its own doing
  const metrics::Report& report = found->second.extractor->report();
  if (report.samples.empty()) return std::nullopt;
  const growth::Scale seen{report.head, report.low, report.high};
  const std::optional<double> scale = growth::scale_of(seen, parts_.config.growth.normalise);
  const double value = scale ? report.samples.back().value / *scale : NAN;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> OwnHost::last_value_at(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  if (found == parts_.roster.jobs.end() || !found->second.extractor) return std::nullopt;
  const Job& job = found->second;
  if (!job.settings.log.empty() && !job.settings.log_is_events) return std::nullopt;
  const metrics::Report& report = job.extractor->report();
  return report.samples.empty() ? std::nullopt : std::optional(report.samples.back().time);
}

std::optional<JobForecast> OwnHost::forecast(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  if (found == parts_.roster.jobs.end() || !found->second.has_track) return std::nullopt;
  return parts_.planning.forecast(found->second);
}

std::optional<InUse> OwnHost::use_of(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  if (found == parts_.roster.jobs.end()) return std::nullopt;
  const Job& job = found->second;
  return InUse{job.cpu_share.value_or(0) * parts_.host.cores,
               static_cast<double>(job.reading.memory), job.container.gpus};
}

std::optional<Settings> OwnHost::settings_of(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  return found == parts_.roster.jobs.end() ? std::nullopt : std::optional(found->second.settings);
}

Async<api::Response> OwnHost::answer(api::Request request) {
  return api::answer(&parts_.routes, std::move(request));
}

std::string OwnHost::name_of(const std::string& id) const {
  const auto found = parts_.roster.jobs.find(id);
  return found == parts_.roster.jobs.end() ? "" : found->second.container.name;
}

void OwnHost::warn(const std::string& sentence) {
  log::warning(sentence);
  parts_.shown.warnings.push_back(sentence);
}

void OwnHost::apply_limits() {
  parts_.schedule.is_apply_due = true;
  parts_.schedule.wake();
}

Async<Result<std::string>> OwnHost::export_history(std::string id) {
  return parts_.carry_over.export_history(std::move(id), host_name());
}

Async<Result<void>> OwnHost::import_history(std::string id, std::string bundle,
                                            std::string log_path) {
  return parts_.carry_over.import_history(std::move(id), std::move(bundle), std::move(log_path));
}

Async<Result<void>> OwnHost::forget_history(std::string id) {
  return parts_.carry_over.forget_history(std::move(id));
}

}  // namespace flowcon::ctrl
