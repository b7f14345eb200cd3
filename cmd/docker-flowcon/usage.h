// SPDX-License-Identifier: Apache-2.0
// Help and usage errors in docker's layout, made from the declared options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// The help of one command, at most `width` characters wide. `below` are the commands under it.
[[nodiscard]] std::string render_help(const Command& command, const std::vector<Command>& below,
                                      unsigned width);

/// The problem, a suggestion where there is one, the usage line, where help is. `suggestion` may be
/// empty.
[[nodiscard]] std::string render_usage_error(const Command& command, const std::string& problem,
                                             const std::string& suggestion);

/// `text` broken at spaces into lines of at most `width` characters; lines after the first begin
/// with `indent` spaces. A longer word stays whole.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace flowcon::plugin
