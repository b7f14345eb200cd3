// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes that come in pieces, by libcrypto in a context of its own, which reads no
// configuration file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace flowcon {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void feed(std::string_view bytes);
  /// 64 hexadecimal digits, lower case. Ends it: nothing may be fed afterwards.
  [[nodiscard]] std::string finish();

 private:
  struct Digest;
  std::unique_ptr<Digest> digest_;
};

/// At most so many bytes, which are above 65: what is longer ends with a blank and its SHA-256, so
/// that two of one beginning differ.
[[nodiscard]] std::string shortened(std::string text, std::size_t most);

}  // namespace flowcon
