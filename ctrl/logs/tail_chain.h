// SPDX-License-Identifier: Apache-2.0
// The files of one log in the order in which they were written: rotated ones, or those of a folder
// by their names.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/logs/framing_position.h"
#include "ctrl/logs/tail_file.h"
#include "ctrl/logs/tail_folder.h"

namespace flowcon::ctrl::logs {

class Chain {
 public:
  Chain() = default;
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  virtual ~Chain() = default;

  /// The file to begin with.
  struct First {
    LogFile file;
    bool leads_to_known = false;  ///< the file of the position is this one or a younger one
  };
  /// Errors: as Folder::open() for the youngest, where no file can be opened.
  [[nodiscard]] virtual Result<First> first(const Position& known) = 0;
  /// The file that was begun right after `current`, which came from first() or next(); `current`
  /// itself, opened again, where it is the youngest. Errors: as first().
  [[nodiscard]] virtual Result<LogFile> next(const LogFile& current) = 0;
  /// The youngest file there is now; `current` where none was begun since. Errors: as first().
  [[nodiscard]] virtual Result<FileId> youngest() const = 0;
  /// Where several are written at a time: the one that was written last, opened again, if that is
  /// not `current`; it is the present one from then on. `is_silent`: no line has come of `current`.
  /// A file that is not open: there is none.
  [[nodiscard]] virtual LogFile written_last(const LogFile& /*current*/, bool /*is_silent*/) {
    return {};
  }

  /// The folder in which new files appear, and the name that they get: "" = any.
  [[nodiscard]] virtual const Folder& folder() const = 0;
  [[nodiscard]] virtual std::string watched_name() const = 0;
  /// For a person.
  [[nodiscard]] virtual std::string shown() const = 0;
};

/// A log whose youngest file is NAME, older ones NAME.1, NAME.2 …, each perhaps compressed to
/// NAME.1.gz. With `begins_with_oldest` all that are there belong to the log; else those older than
/// the position's file do not, and without a position only the youngest.
[[nodiscard]] std::unique_ptr<Chain> rotated_chain(std::unique_ptr<Folder> folder, std::string name,
                                                   bool begins_with_oldest);

/// TensorBoard's event files in the folder `inside`, by name, which begins with the time of their
/// making; reading starts at the position's one, else at the newest. Where the newest has no
/// scalars and an older one is written, written_last() goes back to that. Where `inside` is no
/// folder but a file, that file, `name` in `beside`.
[[nodiscard]] std::unique_ptr<Chain> event_chain(std::unique_ptr<Folder> inside,
                                                 std::unique_ptr<Folder> beside, std::string name);

/// True if the file is the one of the position and holds, before its offset, what it held then.
[[nodiscard]] bool is_at(const LogFile& file, const Position& position);

}  // namespace flowcon::ctrl::logs
