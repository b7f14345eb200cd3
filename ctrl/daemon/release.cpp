// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/release.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <iterator>
#include <utility>

#include "ctrl/daemon/originals.h"
#include "ctrl/log.h"
#include "ctrl/service.h"

namespace flowcon::ctrl {
namespace {

// Seconds: systemd and the store hear of it once the kernel has ended the write of a memory limit,
// which may take it minutes.
constexpr double kRestLasts = 300;

}  // namespace

void Release::take_request() { is_handed_over_ = take_handover_request(parts_.config.state_dir); }

void Release::put_back() {
  is_begun_ = true;
  parts_.limits.end();
  left_ = leave_to_next();
  put_back_ = parts_.takeover.put_back(parts_.limits);
  for (auto& [id, job] : parts_.roster.jobs) {
    job.read_until = parts_.logs.tails().stop(id, false);
    if (!job.is_limited || left_.contains(id)) continue;
    put_back_.push_back(parts_.limits.put_back(original_to_restore(job, parts_.fs, parts_.limits)));
  }
  service::tell_stop_lasts(kRestLasts, "restoring limits");
}

void Release::put_back_rest() {
  std::vector<Limits::PutBack> rest = parts_.takeover.put_back(parts_.limits);
  std::move(rest.begin(), rest.end(), std::back_inserter(put_back_));
}

Async<std::string> Release::finish() {
  std::size_t restored = 0;
  for (Limits::PutBack& one : put_back_) {
    Result<void> done = co_await parts_.limits.finish(std::move(one));
    if (done) {
      ++restored;
    } else {
      log::error(done.error().message());
    }
  }
  std::string said = "restored the limits of " + std::to_string(restored) + " containers";
  if (!left_.empty()) {
    said += ", left those of " + std::to_string(left_.size()) + " to the next flowcond";
  }
  co_return said;
}

std::set<std::string> Release::leave_to_next() const {
  std::set<std::string> ids;
  if (!is_handed_over_ || parts_.config.dry_run) return ids;
  Handover left;
  left.interval = parts_.planning.interval();
  for (const std::string& id : parts_.planning.members()) {
    const auto found = parts_.roster.jobs.find(id);
    if (found == parts_.roster.jobs.end()) continue;
    const Job& job = found->second;
    left.jobs[id] = {job, job.reason};
    left.jobs[id].cpu.granted = job.before_saving.value_or(job.cpu.granted);
    if (job.is_limited && job.is_original_saved) ids.insert(id);
  }
  if (const Result<void> written = write_handover(parts_.config.state_dir, left); !written) {
    log::warning(written.error().message() + ": the limits are restored");
    ids.clear();
  }
  return ids;
}

}  // namespace flowcon::ctrl
