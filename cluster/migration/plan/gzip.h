// SPDX-License-Identifier: Apache-2.0
// Bytes packed and unpacked by gzip as they come. Pure.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct z_stream_s;

namespace flowcon::cluster::migration {

/// Packs quickly rather than small (level 1), and what cannot be packed, as weights of a model, not
/// at all: it looks again every few MiB.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// What is ready of it by now; "" where it waits for more.
  [[nodiscard]] std::string feed(std::string_view bytes);
  /// The rest. Ends it.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string pack(std::string_view bytes, int flush);
  [[nodiscard]] std::string turn();
  std::unique_ptr<z_stream_s> stream_;
  bool is_packing_ = true;
  // Since the last look.
  std::size_t taken_ = 0;
  std::size_t given_ = 0;
};

/// Unpacks one gzip member.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  [[nodiscard]] bool is_at_end() const { return is_at_end_; }

  /// Takes bytes off the front of `bytes`; what they unpack to, at most 64 KiB, is good until the
  /// next call. Empty when more are needed. Errors: not gzip.
  [[nodiscard]] Result<std::string_view> next(std::string_view& bytes);

 private:
  std::unique_ptr<z_stream_s> stream_;
  bool is_at_end_ = false;
  std::array<char, 1U << 16> buffer_{};
};

}  // namespace flowcon::cluster::migration
