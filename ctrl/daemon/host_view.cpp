// SPDX-License-Identifier: Apache-2.0
// What the companion asks of this host.
#include <algorithm>
#include <cmath>

#include "ctrl/daemon/daemon_state.h"

namespace flowcon::ctrl {

HostView Daemon::view() const {
  HostView view;
  view.name = host_name();
  view.cores = host_.cores;
  view.memory = host_.memory;
  view.available = static_cast<double>(meter_.host_memory().available_bytes);
  view.gpu_model = meter_.gpu_model();
  view.gpus = meter_.known_gpus();
  view.is_seeking_gpus = meter_.is_seeking_gpus();
  view.is_paused = controls_.is_all_paused();
  for (const auto& [id, job] : roster_.jobs) {
    if (!job.unsupported.empty()) continue;
    view.jobs.push_back(id);
    view.usage += job.cpu_share.value_or(0);
  }
  view.usage = std::clamp(view.usage, 0.0, 1.0);
  return view;
}

std::optional<double> Daemon::value_of(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  if (found == roster_.jobs.end() || !found->second.extractor) return std::nullopt;
  if (found->second.frozen) return std::nullopt;  // that it stands still is not its own doing
  const metrics::Report& report = found->second.extractor->report();
  if (report.samples.empty()) return std::nullopt;
  const growth::Scale seen{report.head, report.low, report.high};
  const std::optional<double> scale = growth::scale_of(seen, config_.growth.normalise);
  const double value = scale ? report.samples.back().value / *scale : NAN;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> Daemon::last_value_at(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  if (found == roster_.jobs.end() || !found->second.extractor) return std::nullopt;
  const Job& job = found->second;
  if (!job.settings.log.empty() && !job.settings.log_is_events) return std::nullopt;
  const metrics::Report& report = job.extractor->report();
  return report.samples.empty() ? std::nullopt : std::optional(report.samples.back().time);
}

std::optional<JobForecast> Daemon::forecast(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  if (found == roster_.jobs.end() || !found->second.has_track) return std::nullopt;
  return planning_.forecast(found->second);
}

std::optional<InUse> Daemon::use_of(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  if (found == roster_.jobs.end()) return std::nullopt;
  const Job& job = found->second;
  return InUse{job.cpu_share.value_or(0) * host_.cores, static_cast<double>(job.reading.memory),
               job.container.gpus};
}

std::optional<Settings> Daemon::settings_of(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  return found == roster_.jobs.end() ? std::nullopt : std::optional(found->second.settings);
}

Async<api::Response> Daemon::answer(api::Request request) {
  return api::answer(&routes_, std::move(request));
}

Async<api::Response> Daemon::answer_people(api::Request request) {
  if (companion_) {
    std::optional<api::Response> first = co_await companion_->answer_first(request);
    if (first) co_return std::move(*first);
  }
  co_return co_await answer(std::move(request));
}

std::string Daemon::name_of(const std::string& id) const {
  const auto found = roster_.jobs.find(id);
  return found == roster_.jobs.end() ? "" : found->second.container.name;
}

Async<Result<std::string>> Daemon::export_history(std::string id) {
  return carry_over_.export_history(std::move(id), host_name());
}

Async<Result<void>> Daemon::import_history(std::string id, std::string bundle,
                                           std::string log_path) {
  return carry_over_.import_history(std::move(id), std::move(bundle), std::move(log_path));
}

Async<Result<void>> Daemon::forget_history(std::string id) {
  return carry_over_.forget_history(std::move(id));
}

}  // namespace flowcon::ctrl
