// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/files.h"

#include <algorithm>
#include <array>

#include "base/caller.h"
#include "base/text.h"
#include "cluster/peers/ssh.h"

namespace flowcon::plugin {
namespace {

using cluster::peers::known_hosts_name;

constexpr std::size_t kLongestKey = 8192;
constexpr std::array<std::string_view, 5> kTypes{
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};

bool has_only(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alnum(c) || others.find(c) != std::string_view::npos;
  });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The first word, which is taken off.
std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

Result<std::string> parse_public_key(std::string_view line) {
  const std::string_view shown = line.substr(0, 60);
  const std::string_view type = take_word(line), body = take_word(line);
  const bool is_known = std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
  if (!is_known || body.size() > kLongestKey || !has_only(body, "+/=")) {
    return bad_input("\"" + printable(shown, 60) + "\" is not a public key of ssh");
  }
  return std::string(type) + " " + std::string(body);
}

std::vector<std::string> parse_keyscan(std::string_view text) {
  std::vector<std::string> keys;
  for (std::string_view line : lines_of(text)) {
    if (line.empty() || line.front() == '#') continue;
    take_word(line);
    if (Result<std::string> key = parse_public_key(line)) keys.push_back(*key);
  }
  return keys;
}

std::string key_comment(const SshAddress& peer) { return "flowcon-peer " + host_and_port(peer); }

Result<std::string> authorized_line(const std::string& program, const std::string& socket,
                                    const std::string& key, const SshAddress& peer) {
  for (const std::string& path : {program, socket}) {
    if (!has_only(path, "/._-") || path.front() != '/') {
      return bad_input("the path " + printable(path, 200) +
                       " has characters that a forced command of ssh must not have");
    }
  }
  const std::string name = host_and_port(peer);
  if (!is_caller_name(name)) {
    return bad_input(printable(name, 60) + " cannot be a host");
  }
  // sshd hands it to the user's shell, to which brackets of IPv6 would be a pattern.
  const std::string word = has_only(name, "._-") ? name : "'" + name + "'";
  std::string command = program + " flowcon dial-stdio --from " + word;
  if (socket != "/run/flowcon/peer.sock") command += " --socket " + socket;
  return "restrict,command=\"" + command + "\" " + key + " " + key_comment(peer);
}

std::string with_authorized(const std::string& text, const SshAddress& peer,
                            const std::string& line) {
  const std::string comment = " " + key_comment(peer);
  std::string out;
  for (const std::string_view old : lines_of(text)) {
    if (!ends_with(old, comment)) out += std::string(old) + "\n";
  }
  return line.empty() ? out : out + line + "\n";
}

std::vector<std::string> known_keys(const std::string& text, const SshAddress& host) {
  std::vector<std::string> keys;
  for (std::string_view line : lines_of(text)) {
    if (take_word(line) != known_hosts_name(host)) continue;
    if (Result<std::string> key = parse_public_key(line)) keys.push_back(*key);
  }
  return keys;
}

std::string with_known(const std::string& text, const SshAddress& host,
                       const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    std::string_view rest = line;
    if (take_word(rest) != known_hosts_name(host)) out += std::string(line) + "\n";
  }
  for (const std::string& key : keys) out += known_hosts_name(host) + " " + key + "\n";
  return out;
}

}  // namespace flowcon::plugin
