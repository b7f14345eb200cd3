// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include "cgroups/io.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMostDevices = 4096;

/// v1: "8:0 Read 4096", and totals that are left out.
Result<IoUses> parse_v1(std::string_view text, const std::string& file) {
  IoUses uses;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() == 2 && words[0] == "Total") continue;
    if (words.size() != 3 || !is_device_number(words[0])) return bad_line(file, line);
    const bool is_read = words[1] == "Read";
    if (!is_read && words[1] != "Write") continue;
    const auto number = parse_number<std::uint64_t>(words[2], file);
    if (!number) return number.error();
    IoUse& use = uses[std::string(words[0])];
    (is_read ? use.read_bytes : use.written_bytes) = *number;
    if (uses.size() > kMostDevices) return bad_line(file, "more devices than there can be");
  }
  return uses;
}

Result<IoUses> read_v1(const CgroupFs& fs, const std::string& group) {
  for (const char* file :
       {"blkio.throttle.io_service_bytes_recursive", "blkio.throttle.io_service_bytes",
        "blkio.bfq.io_service_bytes_recursive", "blkio.bfq.io_service_bytes",
        "blkio.io_service_bytes_recursive", "blkio.io_service_bytes"}) {
    const auto bytes = fs.read("blkio", group, file);
    if (bytes) return parse_v1(*bytes, file);
    if (!is_absent(bytes.error())) return bytes.error();
  }
  return errno_error(ENOENT, "this kernel counts no block I/O of groups");
}

std::uint64_t* field_of(IoUse& use, std::string_view key) {
  if (key == "rbytes") return &use.read_bytes;
  if (key == "wbytes") return &use.written_bytes;
  return nullptr;  // operations, discards, and what controllers add (cost.usage, use_delay)
}

}  // namespace

Result<IoUses> parse_io_stat(std::string_view text) {
  IoUses uses;
  for (const std::string_view line : lines_of(text)) {
    // Some kernels put devices without I/O in front of the next one's line, with no line end.
    IoUse* use = nullptr;
    std::string device;
    for (const std::string_view word : words_of(line)) {
      if (is_device_number(word)) {
        device = word;
        use = nullptr;
        continue;
      }
      if (device.empty()) return bad_line("io.stat", line);
      const std::size_t equal = word.find('=');
      if (equal == std::string_view::npos) continue;
      IoUse ignored;
      if (!field_of(ignored, word.substr(0, equal))) continue;
      const auto number = parse_number<std::uint64_t>(word.substr(equal + 1), "io.stat");
      if (!number) return number.error();
      if (!use) use = &uses[device];
      *field_of(*use, word.substr(0, equal)) = *number;
      if (uses.size() > kMostDevices) return bad_line("io.stat", "more devices than there can be");
    }
  }
  return uses;
}

Result<IoUses> read_io_use(const CgroupFs& fs, const Group& group) {
  if (group.io.empty()) return errno_error(ENOENT, "no I/O group to read the use from");
  const std::string controller = io_controller(fs);
  if (!fs.is_v2(controller)) return read_v1(fs, group.io);
  const auto text = fs.read(controller, group.io, "io.stat");
  if (!text) return text.error();
  return parse_io_stat(*text);
}

std::uint64_t moved_bytes(const IoUses& uses, DeviceStacks& stacks) {
  IoUse bottom, top;
  for (const auto& [number, use] : uses) {
    const StackLevel level = stacks.level_of(number);
    if (level == StackLevel::middle) continue;
    IoUse& sum = level == StackLevel::top ? top : bottom;
    sum.read_bytes += use.read_bytes;
    sum.written_bytes += use.written_bytes;
  }
  return std::max(bottom.read_bytes, top.read_bytes) +
         std::max(bottom.written_bytes, top.written_bytes);
}

}  // namespace flowcon::cgroups
