// SPDX-License-Identifier: Apache-2.0
// A tar archive of a folder, renamed as it comes: what lay in one folder lies in another. Pure.
// Engines name entries by the folder they were asked for, and unpack them only below one that is
// there already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/tar_reader.h"

namespace flowcon::cluster::migration {

class TarRenamer {
 public:
  /// "FROM" and "FROM/…" become "TO" and "TO/…", also as what a hard link names. With `only_first`
  /// nothing behind the first entry is looked at.
  TarRenamer(std::string from, std::string to, bool only_first = false);

  /// Adds to `out` what is done by now; not the archive's end, so that others may follow. Errors:
  /// no tar archive, another name.
  [[nodiscard]] Result<void> feed(std::string_view bytes, std::string& out);
  /// Errors: the archive is not whole.
  [[nodiscard]] Result<void> finish() const;

  /// The first entry as it came, once it has.
  [[nodiscard]] const std::optional<TarHeader>& first() const { return first_; }

 private:
  [[nodiscard]] Result<void> begin_entry(const TarStep& entry, std::string& out);
  [[nodiscard]] Result<std::string> renamed(std::string_view name) const;

  std::string from_;
  std::string to_;
  bool only_first_;
  TarReader reader_{TarExtensions::pax_and_gnu};
  std::uint64_t size_ = 0;  ///< of the entry's content
  std::optional<TarHeader> first_;
};

/// Two blocks of zeros.
[[nodiscard]] std::string end_of_archive();

}  // namespace flowcon::cluster::migration
