// SPDX-License-Identifier: Apache-2.0
// The one thread besides the loop: for calls that can block in the kernel (SQLite commits, memory
// limits). Work goes over as a function; its result comes back to the loop. For .cpp files only:
// it includes Asio.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace flowcon::ctrl {

class Effects {
 public:
  /// Jobs that may wait at once; try_post() refuses beyond that.
  static constexpr std::size_t kMaxQueued = 4096;

  /// Runs `work` on the effects thread and returns what it returned, on the caller's executor.
  template <class Work>
  boost::asio::awaitable<std::invoke_result_t<Work>> run(Work work) {
    // Named first: gcc 12 destroys a closure twice that is written inside an awaited call.
    auto task =
        [work = std::move(work)]() mutable -> boost::asio::awaitable<std::invoke_result_t<Work>> {
      co_return work();
    };
    auto done =
        boost::asio::co_spawn(thread_.get_executor(), std::move(task), boost::asio::use_awaitable);
    co_return co_await std::move(done);
  }

  /// Queues `work` that nobody waits for. False, and nothing queued, when the queue is full.
  template <class Work>
  [[nodiscard]] bool try_post(Work work) {
    if (queued_.load() >= kMaxQueued) return false;
    ++queued_;
    boost::asio::post(thread_, [this, work = std::move(work)]() mutable {
      work();
      --queued_;
    });
    return true;
  }

  /// Waits until everything queued is done and ends the thread.
  void finish() { thread_.join(); }

 private:
  std::atomic<std::size_t> queued_{0};
  boost::asio::thread_pool thread_{1};
};

}  // namespace flowcon::ctrl
