// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/framing_tfevents.h"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "ctrl/logs/framing_protobuf.h"

namespace flowcon::ctrl::logs {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kMaxTagBytes = 200;
// tensorflow/core/framework/types.proto
constexpr std::uint64_t kFloat = 1;
constexpr std::uint64_t kDouble = 2;

std::uint32_t checksum_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(little_endian(bytes.data() + at, kChecksumBytes));
}

/// The one number of a list of fixed fields, packed or not; more of them are no scalar.
struct OneNumber {
  std::size_t count = 0;
  std::uint64_t bits = 0;
  void take(const Field& field, std::size_t size) {
    if (field.kind != Field::Kind::bytes) {
      bits = field.number;
      ++count;
      return;
    }
    count += field.bytes.size() / size;
    if (field.bytes.size() == size) bits = little_endian(field.bytes.data(), size);
  }
};

/// A tensor that holds one float or double and nothing else.
std::optional<double> scalar_of_tensor(std::string_view tensor) {
  std::uint64_t type = 0;
  OneNumber floats;
  OneNumber doubles;
  std::string_view content;
  FieldReader fields(tensor);
  while (const auto field = fields.next()) {
    if (field->is_varint(1)) type = field->number;
    if (field->is_bytes(4)) content = field->bytes;
    if (field->id == 5) floats.take(*field, 4);
    if (field->id == 6) doubles.take(*field, 8);
  }
  if (fields.is_bad()) return std::nullopt;
  if (type == kFloat && content.size() == 4) {
    return as_float(static_cast<std::uint32_t>(little_endian(content.data(), 4)));
  }
  if (type == kDouble && content.size() == 8) return as_double(little_endian(content.data(), 8));
  if (!content.empty()) return std::nullopt;
  if (type == kFloat && floats.count == 1) return as_float(static_cast<std::uint32_t>(floats.bits));
  if (type == kDouble && doubles.count == 1) return as_double(doubles.bits);
  return std::nullopt;
}

/// The plugin that a value is meant for: metadata {1 plugin_data {1 plugin_name}}.
std::string_view plugin_of(std::string_view metadata) {
  std::string_view plugin;
  FieldReader fields(metadata);
  while (const auto field = fields.next()) {
    if (!field->is_bytes(1)) continue;
    FieldReader parts(field->bytes);
    while (const auto part = parts.next()) {
      if (part->is_bytes(1)) plugin = part->bytes;
    }
  }
  return plugin;
}

}  // namespace

struct TfeventsDecoder::Event {
  double time = 0;
  std::int64_t step = 0;
};

struct TfeventsDecoder::Scalar {
  std::string_view tag;
  double value = 0;
};

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, ~0U, ~0U, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

TfeventsDecoder::TfeventsDecoder(LineSink sink) : sink_(std::move(sink)), wanted_(kHeaderBytes) {}

void TfeventsDecoder::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::uint64_t room = skip_ > 0 ? skip_ : wanted_ - pending_.size();
    const auto taken = is_stuck_
                           ? bytes.size()
                           : static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size()));
    pending_bytes_ += taken;
    if (skip_ > 0) {
      skip_ -= taken;
      if (skip_ == 0) pending_bytes_ = 0;
    } else if (!is_stuck_) {
      pending_.append(bytes.substr(0, taken));
      if (pending_.size() == wanted_) has_header_ ? take_data() : take_header();
    }
    bytes.remove_prefix(taken);
  }
}

void TfeventsDecoder::take_header() {
  const std::string_view header = pending_;
  const std::uint64_t length = little_endian(header.data(), 8);
  if (checksum_at(header, 8) != masked_crc32c(header.substr(0, 8))) return get_stuck();
  pending_.clear();
  if (length <= kMaxEventBytes) {
    has_header_ = true;
    wanted_ = length + kChecksumBytes;
  } else {
    ++stats_.cut_lines;
    // A length near 2^64 is one that never comes; the sum must not wrap round to a small one.
    skip_ = length > ~std::uint64_t{0} - kChecksumBytes ? length : length + kChecksumBytes;
  }
}

void TfeventsDecoder::take_data() {
  const std::string_view data(pending_.data(), pending_.size() - kChecksumBytes);
  if (checksum_at(pending_, data.size()) != masked_crc32c(data)) return get_stuck();
  if (!decode(data)) ++stats_.bad_records;
  pending_.clear();
  pending_bytes_ = 0;
  has_header_ = false;
  wanted_ = kHeaderBytes;
}

void TfeventsDecoder::get_stuck() {
  ++stats_.bad_records;
  is_stuck_ = true;
  pending_.clear();
}

bool TfeventsDecoder::decode(std::string_view data) {
  Event event;
  // Protobuf promises no order of fields, so the time and the step are read before the values.
  for (const bool wants_values : {false, true}) {
    FieldReader fields(data);
    while (const auto field = fields.next()) {
      if (field->id == 1 && field->kind == Field::Kind::fixed64)
        event.time = as_double(field->number);
      if (field->is_varint(2)) event.step = static_cast<std::int64_t>(field->number);
      if (wants_values && field->is_bytes(5) && !decode_summary(event, field->bytes)) return false;
    }
    if (fields.is_bad()) return false;
  }
  return true;
}

bool TfeventsDecoder::decode_summary(const Event& event, std::string_view summary) {
  FieldReader values(summary);
  while (const auto value = values.next()) {
    if (!value->is_bytes(1)) continue;
    Scalar scalar;
    bool has_value = false;
    std::string_view plugin;
    FieldReader fields(value->bytes);
    while (const auto field = fields.next()) {
      if (field->is_bytes(1)) scalar.tag = field->bytes;
      if (field->id == 2 && field->kind == Field::Kind::fixed32) {
        scalar.value = as_float(static_cast<std::uint32_t>(field->number));
        has_value = true;
      }
      if (field->is_bytes(8)) {
        if (const auto number = scalar_of_tensor(field->bytes)) {
          scalar.value = *number;
          has_value = true;
        }
      }
      if (field->is_bytes(9)) plugin = plugin_of(field->bytes);
    }
    if (fields.is_bad()) return false;
    if (has_value && (plugin.empty() || plugin == "scalars")) emit(event, scalar);
  }
  return !values.is_bad();
}

// A tag is any text; what could be taken for a value, another name or the end of the name is not
// let through.
void TfeventsDecoder::emit(const Event& event, const Scalar& scalar) {
  line_ = "step " + std::to_string(event.step) + " ";
  for (const char c : scalar.tag.substr(0, kMaxTagBytes)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' ||
                          c == '.' || c == '-' || c == '_';
    line_ += is_plain ? c : '_';
  }
  // The shortest text that gives the same float again: most writers keep floats only.
  std::array<char, 40> number;
  const auto narrow = static_cast<float>(scalar.value);
  const auto [end, code] =
      static_cast<double>(narrow) == scalar.value
          ? std::to_chars(number.data(), number.data() + number.size(), narrow)
          : std::to_chars(number.data(), number.data() + number.size(), scalar.value);
  if (code != std::errc()) return;
  line_ += ": ";
  line_.append(number.data(), end);
  ++stats_.lines;
  const bool is_time = std::isfinite(event.time) && event.time > 0;
  sink_(Line{line_, is_time ? event.time : 0, false, false});
}

void TfeventsDecoder::reset() {
  pending_.clear();
  wanted_ = kHeaderBytes;
  skip_ = 0;
  pending_bytes_ = 0;
  has_header_ = false;
  is_stuck_ = false;
}

}  // namespace flowcon::ctrl::logs
