// SPDX-License-Identifier: Apache-2.0
#include "cgroups/parse.h"

#include <cerrno>

namespace flowcon::cgroups {
namespace {

bool is_short_number(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) { return parts_of(text, "\n"); }

std::vector<std::string_view> words_of(std::string_view text) { return parts_of(text, " \t"); }

Error bad_line(const std::string& file, std::string_view line) {
  return errno_error(EBADMSG, file + " holds \"" + printable(line, 60) + "\"");
}

bool is_device_number(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && is_short_number(text.substr(0, colon)) &&
         is_short_number(text.substr(colon + 1));
}

Result<std::uint64_t> read_keyed(const CgroupFs& fs, const std::string& controller,
                                 const std::string& group, const std::string& file,
                                 std::string_view key) {
  const auto text = fs.read(controller, group, file);
  if (!text) return text.error();
  for (const std::string_view line : lines_of(*text)) {
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ' ') {
      return parse_number<std::uint64_t>(line.substr(key.size() + 1), file);
    }
  }
  return errno_error(EBADMSG, file + " has no line \"" + std::string(key) + "\"");
}

}  // namespace flowcon::cgroups
