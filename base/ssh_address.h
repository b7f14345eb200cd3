// SPDX-License-Identifier: Apache-2.0
// Where ssh is to go: [user@]host[:port], checked so that no part of it can be taken for an option,
// a path or a line of its own. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon {

struct SshAddress {
  std::string user;  ///< "" = not said
  std::string host;  ///< name or address, IPv6 without brackets
  unsigned port = 22;
  bool operator==(const SshAddress&) const = default;
};

/// Reads "host", "user@host:2222", "user@[fe80::1]:22". A host has letters, digits, dots, dashes
/// and underscores (an IPv6 address colons and a zone), begins with no dash or dot and has at most
/// 253 bytes; a user is as useradd takes it. Errors: anything else; the sentence says what is
/// wrong.
[[nodiscard]] Result<SshAddress> parse_ssh_address(std::string_view text);

/// The host with its port where that is not 22: "h2", "h2:2222", "[fe80::1]:2222".
[[nodiscard]] std::string host_and_port(const SshAddress& address);

/// What parse_ssh_address() reads back as the same address.
[[nodiscard]] std::string render_ssh_address(const SshAddress& address);

}  // namespace flowcon
