// SPDX-License-Identifier: Apache-2.0
// How far a log was read, so that a later daemon knows what it has had already. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon::ctrl::logs {

/// Which file it is. A name changes with every rotation, and a deleted file's inode number is soon
/// given to the next one, so its birth (ns; 0 where the file system has none) counts as well.
struct FileId {
  std::uint64_t device_major = 0;
  std::uint64_t device_minor = 0;
  std::uint64_t inode = 0;  ///< 0: no file
  std::int64_t born_ns = 0;
  bool operator==(const FileId&) const = default;
};

inline constexpr std::size_t kFingerprintBytes = 256;

/// Some bytes of a file, told again without keeping them: their FNV-1a hash. Engines write the time
/// to the nanosecond into each record, so the first bytes of a log's file are its own, compressed
/// or not.
struct Fingerprint {
  std::uint64_t bytes = 0;  ///< how many; 0: of nothing
  std::uint64_t hash = 0;
  bool operator==(const Fingerprint&) const = default;
};

[[nodiscard]] Fingerprint fingerprint_of(std::string_view bytes);

/// Where reading stopped. Units: bytes; seconds since the epoch.
struct Position {
  FileId file;
  Fingerprint head;          ///< the file's first bytes
  std::uint64_t offset = 0;  ///< read up to here
  Fingerprint before;        ///< the bytes before `offset`: a file begun anew has others there
  double time = 0;           ///< of the youngest line handed on
  bool operator==(const Position&) const = default;

  [[nodiscard]] bool is_empty() const { return file.inode == 0; }
};

/// A file that was copied to another host and has another identity there: it is told by the bytes
/// that it begins with and those before the offset.
inline constexpr FileId kMovedFile{~0ULL, ~0ULL, 1, 0};

/// One line of text for the store, and back. "" is the empty position. Errors: it is no such text.
[[nodiscard]] std::string render_position(const Position& position);
[[nodiscard]] Result<Position> parse_position(std::string_view text);

}  // namespace flowcon::ctrl::logs
