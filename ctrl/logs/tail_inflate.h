// SPDX-License-Identifier: Apache-2.0
// A file that gzip made, read as what it was made of. Bounded memory, whatever the file holds.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace flowcon::ctrl::logs {

class Inflater {
 public:
  /// Of the file of descriptor `fd`, which stays the caller's. Errors: ENOMEM, EMFILE.
  [[nodiscard]] static Result<std::unique_ptr<Inflater>> open(int fd);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  /// Bytes read at `offset`, 0 at the end. Errors: EIO the file is damaged or cut.
  [[nodiscard]] Result<std::size_t> read(char* to, std::size_t count, std::uint64_t offset);

 private:
  explicit Inflater(void* file) : file_(file) {}
  void* file_;  ///< zlib's gzFile
  std::uint64_t at_ = 0;
};

}  // namespace flowcon::ctrl::logs
