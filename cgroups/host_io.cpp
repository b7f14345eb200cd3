// SPDX-License-Identifier: Apache-2.0
// What the host's disks have moved in all.
#include <array>
#include <filesystem>

#include "cgroups/beneath.h"
#include "cgroups/io.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

// Source: Documentation/admin-guide/iostats.rst; sectors are of 512 bytes there, whatever the
// disk's.
constexpr std::size_t kName = 2;
constexpr std::size_t kSectorsRead = 5;
constexpr std::size_t kSectorsWritten = 9;
constexpr std::uint64_t kSectorBytes = 512;

// What lies on other disks would be counted twice.
constexpr std::array<std::string_view, 5> kOnOthers = {"loop", "ram", "zram", "dm-", "md"};

}  // namespace

Result<std::uint64_t> parse_diskstats(std::string_view text,
                                      const std::function<bool(const std::string& name)>& is_disk) {
  std::uint64_t sectors = 0;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() <= kSectorsWritten) continue;
    const std::string name(words[kName]);
    bool is_on_others = false;
    for (const std::string_view prefix : kOnOthers) {
      is_on_others = is_on_others || name.starts_with(prefix);
    }
    if (is_on_others || !is_disk(name)) continue;
    for (const std::size_t at : {kSectorsRead, kSectorsWritten}) {
      const auto number = parse_number<std::uint64_t>(words[at], "/proc/diskstats");
      if (!number) return number.error();
      sectors += *number;
    }
  }
  return sectors * kSectorBytes;
}

Result<std::uint64_t> read_host_io(const std::string& root) {
  const auto text = read_proc(root + "/proc/diskstats");
  if (!text) return text.error();
  return parse_diskstats(*text, [&root](const std::string& name) {
    std::error_code code;
    return name.find('/') == std::string::npos &&
           std::filesystem::exists(root + "/sys/block/" + name, code);
  });
}

}  // namespace flowcon::cgroups
