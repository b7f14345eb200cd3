// SPDX-License-Identifier: Apache-2.0
// Reads one log through its rotations, a bounded step at a time, and hands on its lines. Knows
// neither inotify nor the event loop: who calls step() when is the caller's business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ctrl/logs/framing.h"
#include "ctrl/logs/tail.h"
#include "ctrl/logs/tail_file.h"

namespace flowcon::ctrl::logs {

class LogReader {
 public:
  enum class Step {
    idle,    ///< nothing to read until the file or its folder changes
    more,    ///< call again, in your turn
    opened,  ///< another file is being read now: watch file(), then call again
  };

  LogReader(std::string path, Position from, LineSink sink);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// Reads at most buffer.size() bytes. Not to be called from within the sink.
  Step step(std::vector<char>& buffer);
  /// The name may lead to another file now: step() looks once this file is read to its end.
  void suspect_rotation() { suspects_rotation_ = true; }
  /// Hands on a last line without an end.
  void finish() { decoder_.finish(); }
  /// The sink is not called again, not even for the rest of a chunk.
  void mute() { is_muted_ = true; }

  [[nodiscard]] const LogFile& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Position position() const { return position_; }
  [[nodiscard]] TailStats stats() const;
  /// The system had no descriptor left for the file; try again when one may be free.
  [[nodiscard]] bool is_starved() const { return is_starved_; }

 private:
  Step open();
  void resume_at(std::uint64_t offset);
  Step at_end();
  Step go_on_in_next();
  Step fail(const Error& error);
  void note_position();

  std::string path_;
  Position position_;  ///< what position() says
  LineSink sink_;
  JsonFileDecoder decoder_;
  LogFile file_;
  FileId older_;              ///< the next older file when file_ was opened
  std::uint64_t offset_ = 0;  ///< read up to here, half records included
  bool suspects_rotation_ = true;
  bool is_replaced_ = false;  ///< the name leads elsewhere; file_ may still grow until its next end
  bool is_muted_ = false;
  bool is_starved_ = false;
  TailStats stats_;
};

}  // namespace flowcon::ctrl::logs
