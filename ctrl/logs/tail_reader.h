// SPDX-License-Identifier: Apache-2.0
// Reads one log through its rotations, a bounded step at a time, and hands on its lines. Knows
// neither inotify nor the event loop: who calls step() when is the caller's business.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ctrl/logs/framing_decoder.h"
#include "ctrl/logs/framing_position.h"
#include "ctrl/logs/tail.h"
#include "ctrl/logs/tail_chain.h"

namespace flowcon::ctrl::logs {

class LogReader {
 public:
  enum class Step {
    idle,    ///< nothing to read until the file or its folder changes
    more,    ///< call again, in your turn
    opened,  ///< another file is being read now: watch file(), then call again
  };

  /// As many bytes are read a second time at each read, to see whether they are still the same: a
  /// file that was truncated and has grown again since is distinguished from one that has only
  /// grown.
  static constexpr std::size_t kRecentBytes = 64;

  LogReader(const Source& source, const Position& from, LineSink sink);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// Reads at most buffer.size() - kRecentBytes new bytes. Not to be called from within the sink.
  Step step(std::vector<char>& buffer);
  /// The name may lead to another file now: step() checks once this file is read to its end.
  void suspect_rotation() { suspects_rotation_ = true; }
  /// Until the next step() the end of the process does not ask the file's file system anything.
  void rest() { file_.rest(); }
  /// Hands on a last line without an end.
  void finish() { decoder_->finish(); }
  /// The sink is not called again, not even for the rest of a chunk.
  void mute() { is_muted_ = true; }

  [[nodiscard]] const LogFile& file() const { return file_; }
  [[nodiscard]] const Chain& chain() const { return *chain_; }
  [[nodiscard]] Position position() const;
  [[nodiscard]] TailStats stats() const;
  /// Read so far.
  [[nodiscard]] std::uint64_t bytes() const { return stats_.bytes; }
  /// The system had no descriptor left for the file; try again when one may be free.
  [[nodiscard]] bool is_starved() const { return is_starved_; }
  /// The log is where its asker may have to wait, which its view does not allow yet.
  [[nodiscard]] bool is_elsewhere() const { return is_elsewhere_; }
  /// There is no file yet, or none that may be read, or another one may have to be read; nothing
  /// but time can show that.
  [[nodiscard]] bool is_waiting() const { return !file_.is_open() || chain_->is_waiting(); }

 private:
  /// How lines are recognised that an earlier reader has handed on.
  enum class CatchUp {
    none,
    by_place,  ///< all before the offset in the position's file
    by_time,   ///< that file is gone: all that are not younger than its last line
  };
  struct Extent {
    std::uint64_t size = 0;
    double changed = 0;
    bool operator==(const Extent&) const = default;
  };
  /// A file when it was opened: what it held then was written between its birth and its last
  /// change.
  struct Opened : Extent {
    double born = 0;
  };
  Step open();
  Step wake();
  Step read(std::vector<char>& buffer);
  Step at_end();
  Step go_on_in_next();
  Step fail(const Error& error);
  Step start_over();
  bool wait_at_damage();
  void begin_file(LogFile file);
  void take(std::string_view bytes);
  void hand_on(const Line& line);
  [[nodiscard]] double time_at(std::uint64_t offset) const;

  Format format_;
  Position known_;  ///< where an earlier reader stopped
  LineSink sink_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Chain> chain_;
  LogFile file_;
  Fingerprint compressed_head_;  ///< of file_, where that is compressed
  bool is_known_file_ = false;   ///< file_ is the one of known_
  std::uint64_t offset_ = 0;     ///< read up to here, half records included
  std::uint64_t settled_ = 0;    ///< the same without half records, and not amid a read
  std::string recent_;           ///< the bytes before offset_ as they were read
  CatchUp catch_up_ = CatchUp::none;
  double youngest_line_ = 0;
  Opened opened_;
  Extent stuck_;           ///< the file at the moment at which its damage was found
  double stuck_at_ = 0;    ///< that moment
  int damages_ = 0;        ///< in a row
  bool has_read_ = false;  ///< a line may have been handed on: known_ is not the position any more
  bool suspects_rotation_ = true;
  bool is_replaced_ = false;  ///< the name leads elsewhere; file_ may still grow until its next end
  bool is_muted_ = false;
  bool is_starved_ = false;
  bool is_elsewhere_ = false;
  TailStats stats_;
};

}  // namespace flowcon::ctrl::logs
