// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_helper.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

std::atomic<std::size_t> g_living{0};

}  // namespace

struct Helper::State {
  std::mutex mutex;
  std::condition_variable has_news;
  std::deque<std::function<void()>> queue;
  std::size_t owners = 0;
  bool has_ended = false;
};

namespace {

/// Runs on the thread, which holds all that it uses.
template <class StatePtr, class Counter>
void serve(StatePtr state, Counter living) {
  for (;;) {
    std::unique_lock lock(state->mutex);
    state->has_news.wait(lock, [&] { return state->owners == 0 || !state->queue.empty(); });
    if (state->queue.empty()) {
      state->has_ended = true;
      break;
    }
    std::function<void()> work = std::move(state->queue.front());
    state->queue.pop_front();
    lock.unlock();
    work();
  }
  living->fetch_sub(1);
  g_living.fetch_sub(1);
}

}  // namespace

Helper::Helper(std::shared_ptr<State> state) : state_(std::move(state)) {
  const std::lock_guard lock(state_->mutex);
  ++state_->owners;
}

Helper::~Helper() {
  const std::lock_guard lock(state_->mutex);
  --state_->owners;
  state_->has_news.notify_one();
}

void Helper::post(std::function<void()> work) {
  const std::lock_guard lock(state_->mutex);
  state_->queue.push_back(std::move(work));
  state_->has_news.notify_one();
}

struct Helpers::Impl {
  std::shared_ptr<std::atomic<std::size_t>> living = std::make_shared<std::atomic<std::size_t>>(0);
  std::map<std::string, std::shared_ptr<Helper::State>> by_name;
};

Helpers::Helpers() : impl_(std::make_unique<Impl>()) {}
Helpers::~Helpers() = default;

std::shared_ptr<Helper> Helpers::get(const std::string& file_system) {
  std::erase_if(impl_->by_name, [](const auto& entry) {
    const std::lock_guard lock(entry.second->mutex);
    return entry.second->has_ended;
  });
  // A thread that the kernel holds goes on for the next owner: no file system holds two.
  if (const auto found = impl_->by_name.find(file_system); found != impl_->by_name.end()) {
    std::shared_ptr<Helper> helper(new Helper(found->second));
    const std::lock_guard lock(found->second->mutex);
    if (!found->second->has_ended) return helper;
  }
  if (impl_->living->load() >= kMost) return nullptr;
  std::shared_ptr<Helper> helper(new Helper(std::make_shared<Helper::State>()));
  impl_->living->fetch_add(1);
  g_living.fetch_add(1);
  // Signals are the loop's: one that the kernel gave to a thread it holds would not be seen.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_begun = true;
  try {
    std::thread([state = helper->state_, living = impl_->living] {
      serve(state, living);
    }).detach();
  } catch (const std::system_error&) {
    is_begun = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!is_begun) {
    impl_->living->fetch_sub(1);
    g_living.fetch_sub(1);
    return nullptr;
  }
  impl_->by_name[file_system] = helper->state_;
  return helper;
}

std::size_t living_helpers() { return g_living.load(); }

}  // namespace flowcon::ctrl::logs
