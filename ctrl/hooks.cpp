// SPDX-License-Identifier: Apache-2.0
#include "ctrl/hooks.h"

#include <csignal>
#include <utility>

#include "base/seconds.h"
#include "base/text.h"
#include "ctrl/spawn.h"
#include "ctrl/wire/child.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kMostWaiting = 100;

}  // namespace

Hooks::Hooks(boost::asio::io_context& io, const Config& config, std::string host)
    : io_(io), config_(config), host_(std::move(host)) {}

void Hooks::tell(const Event& event, double now) {
  const std::string& url = config_.hooks.url;
  const auto program = parse_hook(config_.hooks.program);
  const bool has_program = program && !program->empty();
  const std::size_t calls = (has_program ? 1U : 0U) + (url.empty() ? 0U : 1U);
  if (calls == 0 || !config_.hooks.events.contains(event.kind)) return;
  if (!gate_.admit(event, config_.hooks.interval, now)) {
    ++counts_.held_back;
    return;
  }
  if (waiting_.size() + calls > kMostWaiting) {
    ++counts_.held_back;
    gate_.hold_back();
    return;
  }
  const std::string input = render_event(event, host_, gate_.take_held_back());
  if (has_program) waiting_.push_back({*program, input});
  if (!url.empty()) waiting_.push_back({webhook_words(), webhook_input(url, input)});
  // It may have come to its end when this returns: a program that is not there fails at once.
  if (!std::exchange(is_working_, true)) spawn(io_, "hooks", work());
}

void Hooks::end() { waiting_.clear(); }

Async<void> Hooks::work() {
  while (!waiting_.empty()) {
    Call call = std::move(waiting_.front());
    waiting_.pop_front();
    const std::string program = call.words.front();
    Command command;
    command.argv = std::move(call.words);
    command.input = std::move(call.input);
    command.goes_on = true;
    const double begun = steady_seconds();
    const Result<Ran> ran = co_await run(std::move(command), kLongestHookCall);
    const double took = steady_seconds() - begun;
    ++counts_.calls;
    if (ran && ran->status == 0) continue;
    ++counts_.failures;
    if (!failures_.count()) continue;
    const bool is_late = ran && ran->status == 128 + SIGKILL && took >= kLongestHookCall;
    log::warning("the hook " + printable(program, 200) + " failed, for the " +
                 std::to_string(failures_.total()) + ". time: " +
                 (ran ? render_failure(ran->status, is_late, ran->err) : ran.error().message()));
  }
  is_working_ = false;
}

}  // namespace flowcon::ctrl
