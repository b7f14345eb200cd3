// SPDX-License-Identifier: Apache-2.0
#include "cgroups/network.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/beneath.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMostInterfaces = 4096;

/// The file that stands for a namespace; equal ones have the same device and inode.
Result<struct stat> namespace_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_error(errno, "stat " + path);
  return info;
}

bool is_same(const struct stat& a, const Result<struct stat>& b) {
  return b && a.st_dev == b->st_dev && a.st_ino == b->st_ino;
}

/// A file of a process that is gone is ENOENT at open and ESRCH at read.
Error gone(Error error) {
  if (is_absent(error)) error.code.assign(ESRCH, error.code.category());
  return error;
}

Result<void> check_start(std::int64_t pid, std::optional<std::uint64_t> start_ticks,
                         const std::string& root) {
  if (!start_ticks) return {};
  const auto now = read_start_ticks(pid, root);
  if (!now) return now.error();
  if (*now == *start_ticks) return {};
  return errno_error(ESRCH, "process " + std::to_string(pid) + " is another one by now");
}

}  // namespace

Result<NetworkUse> parse_net_dev(std::string_view text) {
  // "  eth0: BYTES PACKETS errs drop fifo frame compressed multicast BYTES PACKETS …"; the first
  // two lines are titles. An interface's name may hold colons, the numbers not.
  constexpr std::size_t kTitles = 2;
  constexpr std::size_t kSentBytes = 8;
  const auto lines = lines_of(text);
  if (lines.size() < kTitles || lines.size() > kMostInterfaces) {
    return errno_error(EBADMSG, "net/dev has " + std::to_string(lines.size()) + " lines");
  }
  NetworkUse use;
  for (std::size_t i = kTitles; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].rfind(':');
    const auto name = words_of(lines[i].substr(0, std::min(colon, lines[i].size())));
    const auto words = colon == std::string_view::npos ? std::vector<std::string_view>()
                                                       : words_of(lines[i].substr(colon + 1));
    if (name.size() != 1 || words.size() < kSentBytes + 2) {
      return bad_line("net/dev", lines[i]);
    }
    if (name[0] == "lo") continue;
    const auto add = [&](std::size_t word, std::uint64_t& sum) -> Result<void> {
      const auto number = parse_number<std::uint64_t>(words[word], "net/dev");
      if (!number) return number.error();
      sum += *number;
      return {};
    };
    auto done = add(0, use.rx_bytes);
    if (done) done = add(kSentBytes, use.tx_bytes);
    if (done) done = add(kSentBytes + 1, use.tx_packets);
    if (!done) return done.error();
  }
  return use;
}

Result<std::uint64_t> parse_start_ticks(std::string_view text) {
  // PID (NAME) STATE …: the name may hold blanks and parentheses, so count from the last one.
  constexpr std::size_t kStart = 22 - 3;
  const std::size_t end = text.rfind(')');
  const auto words = end == std::string_view::npos ? std::vector<std::string_view>()
                                                   : words_of(text.substr(end + 1));
  if (words.size() <= kStart) return errno_error(EBADMSG, "/proc/PID/stat is too short");
  return parse_number<std::uint64_t>(words[kStart], "/proc/PID/stat");
}

Result<std::uint64_t> read_start_ticks(std::int64_t pid, const std::string& root) {
  const std::string doing = "read the start of process " + std::to_string(pid);
  if (pid <= 0) return errno_error(ESRCH, doing);
  const auto text = read_proc(root + "/proc/" + std::to_string(pid) + "/stat");
  if (!text) return gone(wrap(text.error(), doing));
  return parse_start_ticks(*text);
}

Result<std::optional<NetworkUse>> read_network_use(std::int64_t pid,
                                                   std::optional<std::uint64_t> start_ticks,
                                                   const std::string& root) {
  const std::string doing = "read the network use of process " + std::to_string(pid);
  if (pid <= 0) return errno_error(ESRCH, doing);
  if (const auto same = check_start(pid, start_ticks, root); !same) {
    return wrap(same.error(), doing);
  }
  const std::string process = root + "/proc/" + std::to_string(pid);
  const auto theirs = namespace_at(process + "/ns/net");
  if (!theirs) return gone(wrap(theirs.error(), doing));
  // A daemon with a network of its own (PrivateNetwork=) is not in the host's; init is.
  for (const char* ours : {"/proc/self/ns/net", "/proc/1/ns/net"}) {
    if (is_same(*theirs, namespace_at(root + ours))) return std::optional<NetworkUse>();
  }
  const auto text = read_proc(process + "/net/dev");
  if (!text) return gone(wrap(text.error(), doing));
  const auto use = parse_net_dev(*text);
  if (!use) return wrap(use.error(), doing);
  if (const auto same = check_start(pid, start_ticks, root); !same) {
    return wrap(same.error(), doing);
  }
  return std::optional<NetworkUse>(*use);
}

}  // namespace flowcon::cgroups
