// SPDX-License-Identifier: Apache-2.0
// Docker's log driver local: a record is its length (4 bytes, big-endian), a protobuf LogEntry
// {1 source, 2 time_nano, 3 line, 4 partial, 5 partial_log_metadata {1 last}}, and the length
// again. The cache beside remote drivers (container-cached.log) is the same. Source: moby v20.10,
// daemon/logger/local and api/types/plugins/logdriver/entry.proto.
#pragma once

#include <string>

#include "ctrl/logs/framing.h"

namespace flowcon::ctrl::logs {

/// Longest record that is decoded. Docker writes at most 16 KiB of output a record, and the reader
/// of the engine itself accepts no more than 1 MB.
inline constexpr std::size_t kMaxLocalRecordBytes = 1000 * 1000;

/// Decodes that. A length that no record has, or that is not repeated behind it, is damage: the
/// engine's own reader stops there; this one looks for the next place where a length, a record and
/// the length again agree, so that a torn record costs no more than itself.
class LocalDecoder : public Decoder {
 public:
  explicit LocalDecoder(LineSink sink);
  void feed(std::string_view bytes) override;
  void finish() override;
  void reset() override;
  [[nodiscard]] std::uint64_t pending_bytes() const override { return pending_.size(); }
  [[nodiscard]] FramingStats stats() const override;

 private:
  enum class Found { record, incomplete, damage };
  [[nodiscard]] Found look(std::string_view bytes, std::string_view& record) const;
  [[nodiscard]] std::size_t find_record(std::string_view bytes, std::size_t from) const;
  [[nodiscard]] std::size_t take(std::string_view bytes);
  [[nodiscard]] bool decode(std::string_view record);
  LineSplitter out_;
  LineSplitter err_;
  std::string pending_;
  bool is_lost_ = false;  ///< looking for the next record after damage
  std::uint64_t bad_records_ = 0;
};

}  // namespace flowcon::ctrl::logs
