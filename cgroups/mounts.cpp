// SPDX-License-Identifier: Apache-2.0
#include "cgroups/mounts.h"

#include <algorithm>
#include <array>
#include <vector>

namespace flowcon::cgroups {
namespace {

// Super options of a v1 cgroup mount that are not controllers (kernel, cgroup1_show_options and
// the security options that any mount may have).
constexpr std::array<std::string_view, 8> kOptions = {
    "rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "favordynmods", "none"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blanks, newlines and backslashes of a path as \ooo (show_mountinfo, mangle).
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

void add_v1(Mounts& mounts, std::string_view super_options, const std::string& point) {
  for (const std::string_view option : split(super_options, ',')) {
    const bool is_controller =
        !option.empty() && option.find('=') == std::string_view::npos &&
        std::find(kOptions.begin(), kOptions.end(), option) == kOptions.end();
    if (is_controller) mounts.v1.emplace(option, point);
  }
}

}  // namespace

Mounts parse_mountinfo(std::string_view text) {
  // 31 23 0:28 ROOT POINT OPTIONS [optional fields …] - TYPE SOURCE SUPEROPTIONS
  constexpr std::size_t kRoot = 3;
  constexpr std::size_t kPoint = 4;
  constexpr std::size_t kFirstOptional = 6;
  Mounts mounts;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() <= kFirstOptional || fields[kRoot] != "/") continue;
    const auto dash = std::find(fields.begin() + kFirstOptional, fields.end(), "-");
    if (fields.end() - dash < 4) continue;
    const std::string_view type = dash[1];
    const std::string point = unescape(fields[kPoint]);
    if (type == "cgroup2" && mounts.unified.empty()) mounts.unified = point;
    if (type == "cgroup") add_v1(mounts, dash[3], point);
  }
  return mounts;
}

Mode mode_of(const Mounts& mounts) {
  if (mounts.v1.empty()) return Mode::v2;
  return mounts.unified.empty() ? Mode::v1 : Mode::hybrid;
}

}  // namespace flowcon::cgroups
