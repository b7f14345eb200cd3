// SPDX-License-Identifier: Apache-2.0
#include "base/ssh_address.h"

#include <algorithm>

#include "base/digits.h"
#include "base/text.h"

namespace flowcon {
namespace {

constexpr std::size_t kLongestHost = 253;  // of the DNS
constexpr std::size_t kLongestUser = 32;   // of useradd

bool has_only(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alnum(c) || others.find(c) != std::string_view::npos;
  });
}

Result<unsigned> parse_port(std::string_view text) {
  const std::optional<unsigned> port = parse_number<unsigned>(text);
  if (port && *port >= 1 && *port <= 65535) return *port;
  return bad_input("\"" + printable(text, 20) + "\" is not a port from 1 to 65535");
}

Result<void> check_user(std::string_view user) {
  const bool is_good = !user.empty() && user.size() <= kLongestUser && has_only(user, "._-") &&
                       user.front() != '-' && user.front() != '.';
  if (is_good) return {};
  return bad_input("\"" + printable(user, 60) + "\" cannot be a user's name");
}

bool is_ipv6(std::string_view text) {
  const auto percent = std::min(text.find('%'), text.size());
  const std::string_view address = text.substr(0, percent), zone = text.substr(percent);
  const bool is_hex = address.find_first_not_of("0123456789abcdefABCDEF:.") == address.npos;
  return is_hex && std::count(address.begin(), address.end(), ':') >= 2 &&
         (zone.empty() || (zone.size() > 1 && has_only(zone.substr(1), "._-")));
}

Result<void> check_host(std::string_view host, bool is_bracketed) {
  const bool is_good = is_bracketed ? is_ipv6(host)
                                    : !host.empty() && has_only(host, "._-") &&
                                          host.front() != '-' && host.front() != '.';
  if (is_good && host.size() <= kLongestHost) return {};
  return bad_input("\"" + printable(host, 60) +
                   "\" cannot be a host: letters, digits, dots and dashes, no dash first");
}

}  // namespace

Result<SshAddress> parse_ssh_address(std::string_view text) {
  SshAddress address;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    if (auto checked = check_user(text.substr(0, at)); !checked) return checked.error();
    address.user = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  const bool is_bracketed = !text.empty() && text.front() == '[';
  std::string_view host = text, rest;
  if (is_bracketed) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return bad_input("the host's [ has no ]");
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
    if (rest.find(':', 1) != std::string_view::npos) {
      return bad_input("an IPv6 address is written in brackets: [" + printable(text, 60) + "]");
    }
  }
  if (auto checked = check_host(host, is_bracketed); !checked) return checked.error();
  address.host = host;
  if (rest.empty()) return address;
  if (rest.front() != ':') return bad_input("only :PORT may follow the ]");
  Result<unsigned> port = parse_port(rest.substr(1));
  if (!port) return port.error();
  address.port = *port;
  return address;
}

std::string host_and_port(const SshAddress& address) {
  if (address.port == 22) return address.host;
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string render_ssh_address(const SshAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  std::string text = address.user.empty() ? "" : address.user + "@";
  text += is_v6 ? "[" + address.host + "]" : address.host;
  return address.port == 22 ? text : text + ":" + std::to_string(address.port);
}

}  // namespace flowcon
