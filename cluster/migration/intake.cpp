// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/intake.h"

#include <utility>

#include "cluster/migration/gzip.h"

namespace flowcon::cluster::migration {
namespace {

// Small archives of zeros are packed better than any ratio that keeps bombs out.
constexpr std::uint64_t kFreeBytes = 1U << 20;

}  // namespace

ArchiveIntake::ArchiveIntake(Promise promise, const IntakeRules& rules)
    : promise_(std::move(promise)), rules_(rules), checker_(rules.archive) {
  if (promise_.packing == Packing::gzip) unpacker_ = std::make_unique<Unpacker>();
}
ArchiveIntake::~ArchiveIntake() = default;
ArchiveIntake::ArchiveIntake(ArchiveIntake&&) noexcept = default;
ArchiveIntake& ArchiveIntake::operator=(ArchiveIntake&&) noexcept = default;

Error ArchiveIntake::fail(std::string why) {
  has_failed_ = true;
  return bad_input(std::move(why));
}

Result<void> ArchiveIntake::feed(std::string_view bytes) {
  if (has_failed_) return bad_input("the archive was refused already");
  if (!is_sha256(promise_.sha256)) return fail("the archive was promised without a SHA-256");
  if (bytes.size() > promise_.size_bytes - received_) {
    return fail("the archive is longer than was promised");
  }
  received_ += bytes.size();
  sum_.feed(bytes);
  auto taken = unpacker_ ? unpack(bytes) : checker_.feed(bytes);
  if (!taken) has_failed_ = true;
  return taken;
}

Result<void> ArchiveIntake::unpack(std::string_view bytes) {
  for (;;) {
    // A second archive behind the first: some readers read on, some do not.
    if (unpacker_->is_at_end()) {
      if (bytes.empty()) return {};
      return bad_input("the archive goes on after its end");
    }
    auto plain = unpacker_->next(bytes);
    if (!plain) return plain.error();
    if (plain->empty() && bytes.empty() && !unpacker_->is_at_end()) return {};
    if (auto taken = checker_.feed(*plain); !taken) return taken;
    // Divided, so that no product overflows.
    const std::uint64_t unpacked = checker_.archive_bytes();
    if (unpacked > kFreeBytes && (unpacked - kFreeBytes) / rules_.max_ratio > received_) {
      return bad_input("the archive is packed too well to be one");
    }
  }
}

Result<void> ArchiveIntake::finish() {
  if (has_failed_) return bad_input("the archive was refused already");
  if (received_ != promise_.size_bytes) return fail("the archive is shorter than was promised");
  if (unpacker_ && !unpacker_->is_at_end()) return fail("the archive is not whole");
  if (auto whole = checker_.finish(); !whole) {
    has_failed_ = true;
    return whole;
  }
  has_failed_ = true;  // nothing more is taken, and the sum is there only once
  if (sum_.finish() != promise_.sha256) {
    return bad_input("the archive is another than was promised: its SHA-256 differs");
  }
  return {};
}

}  // namespace flowcon::cluster::migration
