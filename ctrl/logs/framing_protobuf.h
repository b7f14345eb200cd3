// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers, read field by field without copying: as much of it as the
// records of two log formats need. Pure; no recursion; every length is checked before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flowcon::ctrl::logs {

/// One field of a message. `number` is a varint or the bits of a fixed field, `bytes` a
/// length-delimited one.
struct Field {
  enum class Kind { varint, fixed64, bytes, fixed32 };
  std::uint64_t id = 0;
  Kind kind = Kind::varint;
  std::uint64_t number = 0;
  std::string_view bytes;

  [[nodiscard]] bool is_bytes(std::uint64_t wanted) const {
    return id == wanted && kind == Kind::bytes;
  }
  [[nodiscard]] bool is_varint(std::uint64_t wanted) const {
    return id == wanted && kind == Kind::varint;
  }
};

/// Walks over the fields of one message.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}
  /// The next field; empty at the end and where the message is damaged, see is_bad().
  [[nodiscard]] std::optional<Field> next();
  /// True once something was read that is no message: cut, an overlong number, a group.
  [[nodiscard]] bool is_bad() const { return is_bad_; }

 private:
  [[nodiscard]] bool read_varint(std::uint64_t& number);
  [[nodiscard]] bool read_fixed(std::size_t size, std::uint64_t& number);
  std::string_view rest_;
  bool is_bad_ = false;
};

/// Little-endian, whatever the machine's own order. `bytes` must hold `size` of them.
[[nodiscard]] std::uint64_t little_endian(const char* bytes, std::size_t size);

/// The bits of a fixed field as a number.
[[nodiscard]] double as_double(std::uint64_t bits);
[[nodiscard]] float as_float(std::uint32_t bits);

}  // namespace flowcon::ctrl::logs
