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
  /// The file that is read after `current`, which came from first() or next(): the one that was
  /// begun right after it; `current` itself, opened again, where it is the youngest. Errors: as
  /// first().
  [[nodiscard]] virtual Result<LogFile> next(const LogFile& current) = 0;
  /// The youngest file that is to be read now. Errors: as first().
  [[nodiscard]] virtual Result<FileId> youngest() const = 0;
  /// When it was looked last, there was a file that is not to be read before something is in it.
  [[nodiscard]] virtual bool is_waiting() const { return false; }

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
/// making; reading starts at the position's one, else at the newest, and goes on in a later one
/// once that has scalars. Where the newest has none, the one older file is read that has, and that
/// was written since; not where there are two such. A file of more than 64 KiB is taken to have
/// some. Where `inside` is no folder but a file, that file, `name` in `beside`.
[[nodiscard]] std::unique_ptr<Chain> event_chain(std::unique_ptr<Folder> inside,
                                                 std::unique_ptr<Folder> beside, std::string name);

/// True if the file is the one of the position and holds, before its offset, what it held then.
[[nodiscard]] bool is_at(const LogFile& file, const Position& position);

}  // namespace flowcon::ctrl::logs
