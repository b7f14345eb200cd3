// SPDX-License-Identifier: Apache-2.0
#include "cgroups/names.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/text.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMaxGroupBytes = 1023;
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxTextBytes = 99;  // CG_CONTROL_VALUE_MAX of libcgroup less the zero

Error refused(const char* kind, std::string_view name, const char* why) {
  return errno_error(EINVAL,
                     std::string("refused ") + kind + " \"" + printable(name) + "\", which " + why);
}

bool is_plain_byte(char byte) {
  return byte > 0x20 && byte < 0x7f && byte != '"' && byte != '\'' && byte != '`';
}

}  // namespace

Result<void> check_group(std::string_view group) {
  const char* kind = "cgroup path";
  if (group.empty()) return {};
  if (group.size() > kMaxGroupBytes) return refused(kind, group, "is longer than 1023 bytes");
  if (!std::all_of(group.begin(), group.end(), is_plain_byte)) {
    return refused(kind, group, "holds a blank, a quote or a byte that is not printable ASCII");
  }
  std::size_t start = 0;
  while (start <= group.size()) {
    const std::size_t end = std::min(group.find('/', start), group.size());
    const std::string_view part = group.substr(start, end - start);
    if (part.empty()) return refused(kind, group, "has an empty component");
    if (part == "." || part == "..") {
      return refused(kind, group, "leads out of its hierarchy (another cgroup namespace?)");
    }
    if (part.size() > kMaxComponentBytes) return refused(kind, group, "has too long a component");
    start = end + 1;
  }
  return {};
}

Result<void> check_file(std::string_view file) {
  const auto fits = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '.';
  };
  if (file.empty() || file.size() > kMaxComponentBytes || file.front() == '.' ||
      file.find("..") != std::string_view::npos || !std::all_of(file.begin(), file.end(), fits)) {
    return refused("control file", file, "is not the name of a control file");
  }
  return {};
}

Result<void> check_text(std::string_view text) {
  if (text.empty() || text.size() > kMaxTextBytes ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; })) {
    return refused("value", text, "is not one line of 1 to 99 printable bytes");
  }
  return {};
}

}  // namespace flowcon::cgroups
