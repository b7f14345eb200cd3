// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tool.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <memory>

#include "ctrl/wire/child.h"
#include "ctrl/wire/run_alone.h"

namespace flowcon::plugin {
namespace {

Async<Result<std::size_t>> count(ctrl::Command command) {
  const auto executor = co_await boost::asio::this_coro::executor;
  Result<std::shared_ptr<ctrl::Child>> child = ctrl::Child::start(executor, command);
  if (!child) co_return child.error();
  std::size_t lines = 0;
  for (;;) {
    const Result<std::string> piece = co_await (*child)->read(ctrl::kForever);
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    lines += static_cast<std::size_t>(std::count(piece->begin(), piece->end(), '\n'));
  }
  const Result<void> ended = co_await (*child)->succeed(ctrl::kForever);
  if (!ended) co_return ended.error();
  co_return lines;
}

}  // namespace

Result<ToolResult> run_tool(const std::vector<std::string>& words, const std::string& input,
                            ToolErrors errors) {
  ctrl::Command command;
  command.argv = words;
  command.input = input;
  command.joined = ctrl::Joined::out;
  command.is_ours = true;
  command.passes_errors = errors == ToolErrors::pass_on;
  command.most_errors = 1U << 20;
  command.most_output = 64U << 20;
  Result<ToolResult> ran = ctrl::run_alone([&] { return ctrl::run(command, ctrl::kForever); });
  if (ran || !words.front().starts_with("ssh")) return ran;
  return Error{ran.error().code, ran.error().what + " (apt install openssh-client)"};
}

Result<std::size_t> count_lines(const std::vector<std::string>& words) {
  ctrl::Command command;
  command.argv = words;
  command.joined = ctrl::Joined::out;
  command.joins_errors = true;
  command.is_ours = true;
  return ctrl::run_alone([&] { return count(command); });
}

}  // namespace flowcon::plugin
