// SPDX-License-Identifier: Apache-2.0
// One header of a tar archive: ustar, and what GNU tar and pax add. Strict: where two readers could
// understand different things, it is refused. Knows no entry but this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::cluster::migration {

inline constexpr std::size_t kTarBlock = 512;

enum class TarType {
  file,
  hard_link,
  symlink,
  character_device,
  block_device,
  directory,
  fifo,
  pax,        ///< records for the next header
  long_name,  ///< GNU: the next header's name
  long_link,  ///< GNU: the next header's link
};

/// Units: size in bytes of what follows the header.
struct TarHeader {
  TarType type = TarType::file;
  std::string name;
  std::string link;
  std::uint64_t size = 0;
  std::uint64_t device_major = 0;
  std::uint64_t device_minor = 0;
};

/// Reads one block, which is kTarBlock bytes and not all zero. Errors: a wrong sum, neither ustar
/// nor GNU, a number that is none or does not fit, a type that is not known.
[[nodiscard]] Result<TarHeader> parse_tar_header(std::string_view block);

/// The header of a plain file, readable by all: GNU's format. `name` has at most 99 bytes. The
/// content is followed by tar_padding(), the archive ended by two blocks of zeros.
[[nodiscard]] std::string render_tar_header(std::string_view name, std::uint64_t size);

/// The zeros between a content of `size` bytes and the next header.
[[nodiscard]] std::string tar_padding(std::uint64_t size);

struct PaxRecord {
  std::string key;
  std::string value;
};

/// The records of a pax header. Errors: a length that lies, a record without a key, one key twice.
[[nodiscard]] Result<std::vector<PaxRecord>> parse_pax(std::string_view text);

}  // namespace flowcon::cluster::migration
