// SPDX-License-Identifier: Apache-2.0
// Numbers out of the texts of control files and /proc. What they hold is checked, never trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digits.h"
#include "base/result.h"
#include "base/text.h"
#include "cgroups/cgroup_fs.h"

namespace flowcon::cgroups {

/// The whole of `text` as a number. Errors: EBADMSG, naming `file` and what it holds.
template <class Number>
[[nodiscard]] Result<Number> parse_number(std::string_view text, const std::string& file) {
  const std::optional<Number> number = flowcon::parse_number<Number>(text);
  if (number) return *number;
  return errno_error(EBADMSG, file + " holds \"" + printable(text, 60) + "\", not a number");
}

/// A file that holds one number. Errors: as CgroupFs::read; EBADMSG.
template <class Number>
[[nodiscard]] Result<Number> read_number(const CgroupFs& fs, const std::string& controller,
                                         const std::string& group, const std::string& file) {
  const auto text = fs.read(controller, group, file);
  if (!text) return text.error();
  return parse_number<Number>(*text, file);
}

/// The number behind `key` in a file of "key number" lines. Errors: as CgroupFs::read; EBADMSG.
[[nodiscard]] Result<std::uint64_t> read_keyed(const CgroupFs& fs, const std::string& controller,
                                               const std::string& group, const std::string& file,
                                               std::string_view key);

/// The parts of `text` between line ends, empty ones left out. They point into `text`.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The parts of `text` between blanks and tabs, empty ones left out. They point into `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// EBADMSG, naming `file` and the line that it should not hold.
[[nodiscard]] Error bad_line(const std::string& file, std::string_view line);

/// Whether `text` is a block device's MAJOR:MINOR, two numbers of 1 to 10 digits.
[[nodiscard]] bool is_device_number(std::string_view text);

}  // namespace flowcon::cgroups
