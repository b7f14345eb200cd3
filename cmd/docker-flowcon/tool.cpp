// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tool.h"

#include "ctrl/wire/child.h"
#include "ctrl/wire/run_alone.h"

namespace flowcon::plugin {

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

}  // namespace flowcon::plugin
