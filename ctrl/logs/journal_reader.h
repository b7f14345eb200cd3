// SPDX-License-Identifier: Apache-2.0
// One container's lines in systemd's journal, where the engine's log driver journald puts them, a
// bounded step at a time. Knows no event loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctrl/logs/framing.h"

struct sd_journal;

namespace flowcon::ctrl::logs {

class JournalReader {
 public:
  /// Of the container of the full id `container`, in the journal in `folder` ("": this system's).
  /// `from` is a position() of an earlier reader, or "". Only entries count that root wrote, as the
  /// engine does: anybody may put an engine's fields into an entry, nobody the writer's user.
  /// Errors: the journal's errno; ENOENT no such folder.
  [[nodiscard]] static Result<std::unique_ptr<JournalReader>> open(const std::string& folder,
                                                                   const std::string& container,
                                                                   const std::string& from,
                                                                   LineSink sink);
  ~JournalReader();
  JournalReader(const JournalReader&) = delete;
  JournalReader& operator=(const JournalReader&) = delete;

  /// Reads at most kStepEntries entries, and none after kStepBytes; the oldest first; those up to
  /// `from` are marked with Line::is_known. True if there may be more. Not to be called from within
  /// the sink.
  bool step();
  /// Readable when the journal may have changed; then refresh() comes before step().
  [[nodiscard]] int fd() const { return fd_; }
  void refresh();
  /// Hands on a last line without an end.
  void finish();
  /// The sink is not called again.
  void mute() { is_muted_ = true; }

  /// "journal USEC CURSOR": the time and the cursor of the last entry read; what open() was given
  /// while there is none.
  [[nodiscard]] const std::string& position() const { return position_; }
  [[nodiscard]] FramingStats stats() const;
  [[nodiscard]] bool is_catching_up() const { return !known_cursor_.empty() || known_usec_ > 0; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// "" = reading; else why not, for a person.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  static constexpr int kStepEntries = 256;
  static constexpr std::uint64_t kStepBytes = 1U << 20;

 private:
  JournalReader(sd_journal* journal, LineSink sink);
  void resume(const std::string& from);
  void take_entry();
  void note_position();
  [[nodiscard]] std::string_view field(const char* name) const;
  void hand_on(const Line& line);

  sd_journal* journal_;
  int fd_ = -1;
  LineSink sink_;
  LineSplitter out_;
  LineSplitter err_;
  std::string position_;
  std::string known_cursor_;      ///< lines up to its entry are known; "" = none, or it has passed
  std::uint64_t known_usec_ = 0;  ///< where that entry is gone: lines up to then are known
  std::uint64_t entry_usec_ = 0;  ///< of the present entry
  bool is_muted_ = false;
  std::uint64_t bytes_ = 0;
  std::string problem_;
};

}  // namespace flowcon::ctrl::logs
