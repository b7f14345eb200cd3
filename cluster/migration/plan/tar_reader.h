// SPDX-License-Identifier: Apache-2.0
// A tar archive as it comes, entry by entry. Pure: keeps one header and no content, judges no name
// but says what stands there; ArchiveChecker is what judges archives that are to be unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/tar_header.h"

namespace flowcon::cluster::migration {

/// Extensions give the next header's long names and large sizes.
enum class TarExtensions { none, pax_and_gnu };

struct TarStep {
  enum class Kind {
    more,     ///< all bytes are used up
    entry,    ///< `header`; its content follows
    content,  ///< `bytes` of the entry's content, never none
    end,      ///< of the entry's content
  };
  Kind kind = Kind::more;
  TarHeader header;
  std::string_view bytes;
};

class TarReader {
 public:
  explicit TarReader(TarExtensions extensions) : extensions_(extensions) {}

  /// Takes of `bytes` what makes the next step. After an error no more may be asked.
  /// Errors: those of the headers; an extension that is not allowed, too long or gives twice what
  /// is given already; a sparse file, whose content is not what stands there; bytes after the end.
  [[nodiscard]] Result<TarStep> next(std::string_view& bytes);

  /// Between two entries?
  [[nodiscard]] bool is_between() const;
  /// The archive has ended, and says so.
  [[nodiscard]] bool is_whole() const { return zero_bytes_ >= 2 * kTarBlock; }

 private:
  enum class State { header, extension, content, padding, zeros };

  [[nodiscard]] Result<TarStep> take_header();
  [[nodiscard]] Result<void> take_extension();
  [[nodiscard]] Result<void> take_pax();
  [[nodiscard]] Result<void> give(bool& has, std::string& value, std::string given);
  [[nodiscard]] bool fill(std::string_view& bytes, std::size_t wanted);

  TarExtensions extensions_;
  State state_ = State::header;
  std::string pending_;        ///< of a header or an extension that is not whole yet
  std::uint64_t left_ = 0;     ///< bytes of the content still to come
  std::uint64_t padding_ = 0;  ///< bytes of padding still to come
  std::uint64_t zero_bytes_ = 0;
  TarType extension_ = TarType::pax;
  // What extensions said of the next header.
  bool has_extension_ = false;
  bool has_name_ = false;
  bool has_link_ = false;
  bool has_size_ = false;
  std::string name_;
  std::string link_;
  std::uint64_t size_ = 0;
};

}  // namespace flowcon::cluster::migration
