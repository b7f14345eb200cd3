// SPDX-License-Identifier: Apache-2.0
// Questions to file systems that may never answer, such as those of a hung mount: each is asked on
// a thread of its own and has a deadline, so that the loop never waits for it. A thread that hangs
// cannot be ended; there are a few at most, and where all of them hang nothing more is asked. For
// .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/seconds.h"
#include "ctrl/await.h"

namespace flowcon::ctrl {

class HelperThreads {
 public:
  /// `most` threads at once.
  explicit HelperThreads(std::size_t most) : state_(std::make_shared<State>()), most_(most) {}
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;
  /// What is still asked is answered to nobody. The loop has to be there until here.
  ~HelperThreads();

  /// What `question` returns, which owns all that it uses and throws nothing. Errors: ETIMEDOUT it
  /// did not within `seconds`; EBUSY all threads wait for answers; there can be no more threads.
  template <class Question>
  boost::asio::awaitable<Result<std::invoke_result_t<Question>>> ask(Question question,
                                                                     double seconds) {
    using Answer = std::invoke_result_t<Question>;
    const boost::asio::any_io_executor loop = co_await boost::asio::this_coro::executor;
    auto timer = std::make_shared<boost::asio::steady_timer>(loop);
    timer->expires_after(nanoseconds(seconds));
    auto answer = std::make_shared<std::optional<Answer>>();
    // The timer is the loop's alone: a thread that ends after the loop must not be its last owner.
    auto work = [state = state_, loop, answer, weak = std::weak_ptr(timer),
                 question = std::move(question)]() mutable {
      Answer found = question();
      const std::lock_guard<std::mutex> lock(state->mutex);
      --state->running;
      *answer = std::move(found);
      if (state->has_ended) return;
      auto wake = [weak] {
        if (const auto waiting = weak.lock()) waiting->cancel();
      };
      boost::asio::post(loop, std::move(wake));
    };
    const std::shared_ptr<State> state = state_;
    const Result<void> begun = begin(std::move(work));
    if (!begun) co_return begun.error();
    (void)co_await timer->async_wait(kAwait);
    const std::lock_guard<std::mutex> lock(state->mutex);
    if (!*answer) co_return errno_error(ETIMEDOUT, "the file system does not answer");
    co_return std::move(**answer);
  }

  /// Threads that have not answered yet.
  [[nodiscard]] std::size_t running() const;

 private:
  struct State {
    std::mutex mutex;
    std::size_t running = 0;
    bool has_ended = false;
  };

  [[nodiscard]] Result<void> begin(std::function<void()> work);

  std::shared_ptr<State> state_;
  std::size_t most_;
};

}  // namespace flowcon::ctrl
