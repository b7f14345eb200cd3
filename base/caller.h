// SPDX-License-Identifier: Apache-2.0
// How `docker flowcon dial-stdio` tells flowcond which peer's bytes it carries: one line in front
// of them. It always sends the line, so nothing that comes over ssh can stand in its place. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flowcon {

/// The longest announcement, in bytes.
inline constexpr std::size_t kLongestAnnouncement = 320;

/// Is `name` one that host_and_port() can give: letters, digits and ._-:[]%, no dash first, at most
/// 290 bytes? None of them means anything to a shell inside of single quotes.
[[nodiscard]] bool is_caller_name(std::string_view name);

/// "FLOWCON-PEER h2\n"; without a name "FLOWCON-PEER \n".
[[nodiscard]] std::string announcement(std::string_view name);

/// What the beginning of a connection is.
struct Announced {
  enum class Kind {
    none,  ///< no announcement; nothing of it belongs to one
    half,  ///< more bytes have to come
    whole  ///< `bytes` of it are the announcement
  };
  Kind kind = Kind::none;
  std::string name;  ///< "" = none was said, or one that is none
  std::size_t bytes = 0;
};
[[nodiscard]] Announced read_announcement(std::string_view text);

}  // namespace flowcon
