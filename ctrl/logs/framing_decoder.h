// SPDX-License-Identifier: Apache-2.0
// What all formats of a log have in common: bytes in any cut become lines. Pure: no I/O, no clock.
// Every decoder is bounded in memory, and its cost is linear in what it is fed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ctrl/logs/framing_line.h"

namespace flowcon::ctrl::logs {

/// How the bytes of a log are framed.
enum class Format {
  json_file,  ///< Docker's driver json-file: one JSON object a line
  local,      ///< Docker's driver local, and its cache beside remote drivers
  text,       ///< a file that the job writes itself: lines
  tfevents,   ///< TensorBoard's event files: scalars in TFRecord framing
};

class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  /// Takes the next bytes of a file, cut anywhere.
  virtual void feed(std::string_view bytes) = 0;
  /// The log has ended: hands on a last line without an end.
  virtual void finish() = 0;
  /// Forgets what is half: the file was truncated or replaced.
  virtual void reset() = 0;
  /// This file has ended and another one goes on. By default a half record is forgotten and a half
  /// line waits for its rest, since engines rotate between records.
  virtual void end_of_file() {
    if (pending_bytes() > 0) reset();
  }
  /// Bytes fed that belong to a record which is not complete, so that a reader can store a restart
  /// offset at a record's start.
  [[nodiscard]] virtual std::uint64_t pending_bytes() const = 0;
  [[nodiscard]] virtual FramingStats stats() const = 0;

  /// When the first and the last of the bytes fed next were written, as far as that is known; for
  /// formats that do not say so themselves. Units: seconds since the epoch; 0 = not known.
  virtual void set_times(double /*first*/, double /*last*/) {}
  /// True where the record that begins pending_bytes() back is damaged and nothing behind it can be
  /// read. A reader starts again at that record when the file has changed, after reset().
  [[nodiscard]] virtual bool is_stuck() const { return false; }
};

/// A decoder of that format, whose lines go to `sink`.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(Format format, LineSink sink);

}  // namespace flowcon::ctrl::logs
