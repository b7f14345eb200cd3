// SPDX-License-Identifier: Apache-2.0
#include "cgroups/pressure.h"

#include <cerrno>

#include "cgroups/beneath.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::uint64_t kKiB = 1024;

Result<double> percent(std::string_view line) {
  constexpr std::string_view kKey = "avg10=";
  for (const std::string_view word : words_of(line)) {
    if (word.substr(0, kKey.size()) != kKey) continue;
    const auto number = parse_number<double>(word.substr(kKey.size()), "avg10");
    if (!number) return number.error();
    if (*number >= 0 && *number <= 100) return *number;
    return errno_error(EBADMSG, "avg10 is no percentage");
  }
  return errno_error(EBADMSG, "no avg10 in \"" + printable(line, 60) + "\"");
}

/// The reason is kept once: it is one switch for all three.
std::optional<Stall> taken(const Result<std::string>& text, Pressure& pressure,
                           const std::string& missing) {
  const auto stall = text ? parse_pressure(*text) : Result<Stall>(text.error());
  if (stall) return *stall;
  if (!pressure.reason.empty()) return std::nullopt;
  const int number = stall.error().code.value();
  pressure.reason = number == ENOENT       ? missing
                    : number == EOPNOTSUPP ? "pressure stall information is off (boot with psi=1)"
                                           : stall.error().message();
  return std::nullopt;
}

}  // namespace

Result<Stall> parse_pressure(std::string_view text) {
  Stall stall;
  bool has_some = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.substr(0, line.find(' ')) != "some") continue;
    const auto share = percent(line);
    if (!share) return wrap(share.error(), "pressure");
    stall.some_avg10 = *share;
    has_some = true;
  }
  if (!has_some) return errno_error(EBADMSG, "pressure: no line \"some\"");
  return stall;
}

Result<HostMemory> parse_meminfo(std::string_view text) {
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> free;
  std::optional<std::uint64_t> available;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    auto* wanted = words[0] == "MemTotal:"       ? &total
                   : words[0] == "MemFree:"      ? &free
                   : words[0] == "MemAvailable:" ? &available
                                                 : nullptr;
    if (!wanted) continue;
    const auto number = parse_number<std::uint64_t>(words[1], "meminfo");
    if (!number) return number.error();
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50;  // KiB; beyond it bytes overflow
    if (*number > kMost) return errno_error(EBADMSG, "meminfo: more memory than there can be");
    *wanted = *number * kKiB;
  }
  if (!total || *total == 0) return errno_error(EBADMSG, "meminfo has no MemTotal");
  if (!available && !free) return errno_error(EBADMSG, "meminfo has no MemAvailable");
  HostMemory memory;
  memory.total_bytes = *total;
  memory.available_bytes = available ? *available : *free;
  return memory;
}

Pressure read_host_pressure(const std::string& root) {
  const std::string missing =
      "this kernel has no pressure stall information (boot with psi=1, or use a kernel with "
      "CONFIG_PSI)";
  Pressure pressure;
  pressure.cpu = taken(read_proc(root + "/proc/pressure/cpu"), pressure, missing);
  pressure.memory = taken(read_proc(root + "/proc/pressure/memory"), pressure, missing);
  pressure.io = taken(read_proc(root + "/proc/pressure/io"), pressure, missing);
  return pressure;
}

Result<HostMemory> read_host_memory(const std::string& root) {
  const auto text = read_proc(root + "/proc/meminfo");
  if (!text) return wrap(text.error(), "read the host's memory");
  auto memory = parse_meminfo(*text);
  if (!memory) return wrap(memory.error(), "read the host's memory");
  const auto text_of_pressure = read_proc(root + "/proc/pressure/memory");
  const auto stall = text_of_pressure ? parse_pressure(*text_of_pressure)
                                      : Result<Stall>(text_of_pressure.error());
  if (stall) memory->pressure_some_avg10 = stall->some_avg10;
  return memory;
}

}  // namespace flowcon::cgroups
