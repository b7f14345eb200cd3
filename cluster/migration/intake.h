// SPDX-License-Identifier: Apache-2.0
// What is sent for a migration and arrives in pieces: no more than was promised, the very bytes
// that were promised, and, where it is an archive, one that may be unpacked, packed by gzip or
// plain. Pure. The bytes may be handed on after each feed() that said yes; that they were all right
// is only known after finish().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/archive.h"
#include "cluster/migration/sha256.h"

namespace flowcon::cluster::migration {

class Unpacker;

enum class Packing { plain, gzip };

/// What the sender says beforehand of the bytes it sends.
struct Promise {
  std::uint64_t size_bytes = 0;
  std::string sha256;  ///< 64 hexadecimal digits, of the bytes as they are sent
  Packing packing = Packing::plain;
};

struct IntakeRules {
  ArchiveRules archive;
  /// Unpacked bytes for each byte that was sent, the first MiB aside. Deflate itself ends at 1032.
  std::uint64_t max_ratio = 400;
};

class ArchiveIntake {
 public:
  ArchiveIntake(Promise promise, const IntakeRules& rules);
  ~ArchiveIntake();
  ArchiveIntake(ArchiveIntake&&) noexcept;
  ArchiveIntake& operator=(ArchiveIntake&&) noexcept;

  /// Errors: more than was promised, not what the packing says, too well packed, and those of
  /// ArchiveChecker.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  /// Errors: fewer bytes than promised, others than promised, an archive that is not whole.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::uint64_t received_bytes() const { return received_; }
  [[nodiscard]] const ArchiveChecker& archive() const { return checker_; }

 private:
  [[nodiscard]] Result<void> unpack(std::string_view bytes);
  [[nodiscard]] Error fail(std::string why);

  Promise promise_;
  IntakeRules rules_;
  ArchiveChecker checker_;
  Sha256 sum_;
  std::unique_ptr<Unpacker> unpacker_;  ///< none for plain archives
  std::uint64_t received_ = 0;
  bool has_failed_ = false;
};

}  // namespace flowcon::cluster::migration
