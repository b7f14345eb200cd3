// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/framing_protobuf.h"

#include <cstring>

namespace flowcon::ctrl::logs {

std::uint64_t little_endian(const char* bytes, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

double as_double(std::uint64_t bits) {
  double number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

float as_float(std::uint32_t bits) {
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

bool FieldReader::read_varint(std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool FieldReader::read_fixed(std::size_t size, std::uint64_t& number) {
  if (rest_.size() < size) return false;
  number = little_endian(rest_.data(), size);
  rest_.remove_prefix(size);
  return true;
}

std::optional<Field> FieldReader::next() {
  if (is_bad_ || rest_.empty()) return std::nullopt;
  is_bad_ = true;  // until the whole field is there
  std::uint64_t key = 0;
  if (!read_varint(key)) return std::nullopt;
  Field field;
  field.id = key >> 3;
  switch (key & 7) {
    case 0:
      if (!read_varint(field.number)) return std::nullopt;
      break;
    case 1:
      field.kind = Field::Kind::fixed64;
      if (!read_fixed(8, field.number)) return std::nullopt;
      break;
    case 2: {
      field.kind = Field::Kind::bytes;
      std::uint64_t size = 0;
      if (!read_varint(size) || size > rest_.size()) return std::nullopt;
      field.bytes = rest_.substr(0, static_cast<std::size_t>(size));
      rest_.remove_prefix(static_cast<std::size_t>(size));
      break;
    }
    case 5:
      field.kind = Field::Kind::fixed32;
      if (!read_fixed(4, field.number)) return std::nullopt;
      break;
    default:
      return std::nullopt;  // groups: in no message of ours
  }
  if (field.id == 0) return std::nullopt;
  is_bad_ = false;
  return field;
}

}  // namespace flowcon::ctrl::logs
