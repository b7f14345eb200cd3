// SPDX-License-Identifier: Apache-2.0
#include "ctrl/hooks.h"

#include <utility>

#include "base/text.h"
#include "ctrl/spawn.h"
#include "ctrl/wire/child.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kMostWaiting = 100;
constexpr double kLongestCall = 30;  // seconds

}  // namespace

Hooks::Hooks(boost::asio::io_context& io, const Config& config, std::string host)
    : io_(io), config_(config), host_(std::move(host)) {}

void Hooks::tell(const Event& event, double now) {
  std::vector<std::vector<std::string>> programs;
  if (auto words = parse_hook(config_.hooks.program); words && !words->empty())
    programs.push_back(*words);
  if (!config_.hooks.url.empty()) programs.push_back(webhook_words(config_.hooks.url));
  if (programs.empty() || !config_.hooks.events.contains(event.kind)) return;
  if (!gate_.admit(event, config_.hooks.interval, now)) {
    ++counts_.held_back;
    return;
  }
  if (waiting_.size() + programs.size() > kMostWaiting) {
    ++counts_.held_back;
    gate_.hold_back();
    return;
  }
  const std::string input = render_event(event, host_, gate_.take_held_back());
  for (std::vector<std::string>& words : programs) waiting_.push_back({std::move(words), input});
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
    const Result<Ran> ran = co_await run(std::move(command), kLongestCall);
    ++counts_.calls;
    if (ran && ran->status == 0) continue;
    ++counts_.failures;
    if (!failures_.count()) continue;
    log::warning("the hook " + printable(program, 200) + " failed, for the " +
                 std::to_string(failures_.total()) + ". time: " +
                 (ran ? "its status is " + std::to_string(ran->status) : ran.error().message()));
  }
  is_working_ = false;
}

}  // namespace flowcon::ctrl
