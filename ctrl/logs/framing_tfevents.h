// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: TFRecord framing (length, its masked CRC-32C, data, its masked
// CRC-32C, little-endian) around protobuf Events, of which the scalars become lines "step N TAG:
// VALUE" with the record's own wall time. Source: tensorflow/core/lib/io/record_writer.h,
// core/util/event.proto, framework/summary.proto and framework/tensor.proto.
#pragma once

#include <string>

#include "ctrl/logs/framing.h"

namespace flowcon::ctrl::logs {

/// Longest record whose scalars are read. Scalars are small; images and graphs, which are not, are
/// passed over without being kept.
inline constexpr std::size_t kMaxEventBytes = 1024 * 1024;

/// CRC-32C (Castagnoli) of `bytes`, and the form in which TFRecord stores it.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);

/// Decodes that. A record whose checksum is wrong cannot be passed over, since nothing says where
/// the next one begins: the decoder is stuck there (it may be half written), and says so.
class TfeventsDecoder : public Decoder {
 public:
  explicit TfeventsDecoder(LineSink sink);
  void feed(std::string_view bytes) override;
  void finish() override {}
  void reset() override;
  void end_of_file() override { reset(); }
  [[nodiscard]] std::uint64_t pending_bytes() const override { return pending_bytes_; }
  [[nodiscard]] FramingStats stats() const override { return stats_; }
  [[nodiscard]] bool is_stuck() const override { return is_stuck_; }

 private:
  struct Scalar;
  struct Event;
  void take_header();
  void take_data();
  void get_stuck();
  void emit(const Event& event, const Scalar& scalar);
  [[nodiscard]] bool decode(std::string_view data);
  [[nodiscard]] bool decode_summary(const Event& event, std::string_view summary);
  LineSink sink_;
  std::string pending_;  ///< header, or data and its checksum
  std::string line_;
  std::uint64_t wanted_ = 0;         ///< size that pending_ has to reach
  std::uint64_t skip_ = 0;           ///< bytes of a long record that are still to come
  std::uint64_t pending_bytes_ = 0;  ///< fed since the record's start
  bool has_header_ = false;
  bool is_stuck_ = false;
  FramingStats stats_;
};

}  // namespace flowcon::ctrl::logs
