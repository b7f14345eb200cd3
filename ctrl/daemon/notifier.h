// SPDX-License-Identifier: Apache-2.0
// Tells hooks what somebody may want to know: what became of jobs since the last pass, and what
// fails. For .cpp files only: it includes Asio.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ctrl/config.h"
#include "ctrl/events.h"
#include "ctrl/hooks.h"
#include "ctrl/job.h"

namespace flowcon::ctrl {

class Notifier {
 public:
  using Counts = std::array<std::uint64_t, kEventNames.size()>;  ///< by kind

  /// `io` and `config` have to outlive it.
  Notifier(boost::asio::io_context& io, const Config& config, const std::string& host,
           std::function<Moment()> clock);

  void tell(Event event);
  void tell_about(const Job& job, EventKind kind, const std::string& sentence);
  /// What changed since the last call. Problems: of writing records, of the engine; "" = none.
  void follow(std::map<std::string, Job>& jobs, const std::string& record_problem,
              const std::string& engine_problem);
  void end() { hooks_.end(); }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const Hooks::Counts& calls() const { return hooks_.counts(); }

 private:
  void follow(Job& job);
  void tell_failure(std::string& told, const std::string& problem);

  std::function<Moment()> clock_;
  Hooks hooks_;
  Counts counts_{};
  std::string told_record_problem_, told_engine_problem_;
};

}  // namespace flowcon::ctrl
