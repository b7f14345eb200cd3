// SPDX-License-Identifier: Apache-2.0
// A tar archive as it comes, entry by entry. Pure: keeps one header and no content, judges no name
// but says what stands there; ArchiveChecker is what judges archives that are to be unpacked. What
// two readers could read in two ways is refused: an entry that two headers describe, a long name
// with something behind its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/tar_header.h"

namespace flowcon::cluster::migration {

/// Extensions give the next header's long names and large sizes.
enum class TarExtensions { none, pax_and_gnu };

/// Units: bytes.
struct TarLimits {
  std::size_t max_pax = 1U << 20;
  std::size_t max_name = 1U << 20;  ///< of a GNU extension, its end included
};

struct TarStep {
  enum class Kind {
    more,     ///< all bytes are used up
    entry,    ///< `header`; its content follows
    content,  ///< `bytes` of the entry's content, never none
    end,      ///< of the entry's content
  };
  Kind kind = Kind::more;
  TarHeader header = {};  ///< with what extensions say; size: 0 for what is no file
  std::string_view bytes = {};
  std::uint64_t said_size = 0;          ///< of the entry, whatever it is
  std::vector<PaxRecord> records = {};  ///< all that the entry has
  std::string block = {};               ///< the entry's own header as it came
};

class TarReader {
 public:
  explicit TarReader(TarExtensions extensions, const TarLimits& limits = {})
      : extensions_(extensions), limits_(limits) {}

  /// Takes of `bytes` what makes the next step. After an error no more may be asked.
  /// Errors: those of the headers; an extension that is not allowed, too long, or one too many for
  /// its entry; a sparse file, whose content is not what stands there; bytes after the end.
  [[nodiscard]] Result<TarStep> next(std::string_view& bytes);

  /// Between two entries?
  [[nodiscard]] bool is_between() const;
  /// The archive has ended, and says so: by two blocks of zeros; what follows fills up the record.
  [[nodiscard]] bool is_whole() const {
    return zero_bytes_ >= 2 * kTarBlock && zero_bytes_ % kTarBlock == 0;
  }

 private:
  enum class State { header, extension, content, padding, zeros };

  [[nodiscard]] Result<TarStep> take_header();
  [[nodiscard]] Result<void> begin_extension(const TarHeader& header);
  [[nodiscard]] Result<void> take_extension();
  [[nodiscard]] Result<void> take_pax();
  [[nodiscard]] Result<void> take_long(bool& has, std::string& value);
  /// No extension has said anything of the next header.
  [[nodiscard]] bool is_free() const { return !has_pax_ && !has_name_ && !has_link_; }
  [[nodiscard]] bool fill(std::string_view& bytes, std::size_t wanted);

  TarExtensions extensions_;
  TarLimits limits_;
  State state_ = State::header;
  std::string pending_;        ///< of a header or an extension that is not whole yet
  std::uint64_t left_ = 0;     ///< bytes of the content still to come
  std::uint64_t padding_ = 0;  ///< bytes of padding still to come
  std::uint64_t zero_bytes_ = 0;
  TarType extension_ = TarType::pax;
  // What extensions said of the next header.
  bool has_pax_ = false;
  bool has_name_ = false;
  bool has_link_ = false;
  bool has_size_ = false;
  std::string name_;
  std::string link_;
  std::uint64_t size_ = 0;
  std::vector<PaxRecord> records_;
};

}  // namespace flowcon::cluster::migration
