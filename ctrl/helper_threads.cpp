// SPDX-License-Identifier: Apache-2.0
#include "ctrl/helper_threads.h"

#include <system_error>
#include <thread>

namespace flowcon::ctrl {

HelperThreads::~HelperThreads() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->has_ended = true;
}

std::size_t HelperThreads::running() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->running;
}

Result<void> HelperThreads::begin(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->running >= most_) {
      return errno_error(EBUSY, "file systems that were asked before do not answer");
    }
    ++state_->running;
  }
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& failure) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    --state_->running;
    return Error{failure.code(), "starting a thread"};
  }
  return {};
}

}  // namespace flowcon::ctrl
