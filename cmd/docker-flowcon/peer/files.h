// SPDX-License-Identifier: Apache-2.0
// The texts of ssh's files that peers need: public keys, authorized_keys, known_hosts. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/ssh_address.h"

namespace flowcon::plugin {

/// "TYPE BASE64" of a line as ssh-keygen and ssh-keyscan write it, without comment. Errors: a type
/// unknown to OpenSSH, other characters, more than 8 KiB: no options, command or second line pass.
[[nodiscard]] Result<std::string> parse_public_key(std::string_view line);

/// The keys in the output of ssh-keyscan; skips lines without one.
[[nodiscard]] std::vector<std::string> parse_keyscan(std::string_view text);

/// The comment of a peer's key in authorized_keys.
[[nodiscard]] std::string key_comment(const SshAddress& peer);

/// The line that restricts a peer's key to the peer socket, as that peer. Errors: a
/// program's or socket's path with other characters than letters, digits and /._-
[[nodiscard]] Result<std::string> authorized_line(const std::string& program,
                                                  const std::string& socket, const std::string& key,
                                                  const SshAddress& peer);

/// `text` without the lines of `peer`, and without other lines that hold `key` ("" = any), then
/// with `line` at its end ("" = none).
[[nodiscard]] std::string with_authorized(const std::string& text, const SshAddress& peer,
                                          const std::string& line);

/// The keys that known_hosts has for a host.
[[nodiscard]] std::vector<std::string> known_keys(const std::string& text, const SshAddress& host);

/// `text` with `keys` as the only ones of the host; none = without the host.
[[nodiscard]] std::string with_known(const std::string& text, const SshAddress& host,
                                     const std::vector<std::string>& keys);

}  // namespace flowcon::plugin
