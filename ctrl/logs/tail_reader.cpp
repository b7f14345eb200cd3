// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_reader.h"

#include <cerrno>
#include <string_view>
#include <utility>

namespace flowcon::ctrl::logs {

LogReader::LogReader(std::string path, Position from, LineSink sink)
    : path_(std::move(path)),
      position_(from),
      sink_(std::move(sink)),
      decoder_([this](const Line& line) {
        if (!is_muted_) sink_(line);
      }) {}

LogReader::Step LogReader::step(std::vector<char>& buffer) {
  if (!file_.is_open()) return open();
  const auto got = file_.read(buffer.data(), buffer.size(), offset_);
  if (!got) return fail(got.error());
  if (*got == 0) return at_end();
  offset_ += *got;
  stats_.bytes += *got;
  stats_.problem.clear();
  decoder_.feed(std::string_view(buffer.data(), *got));
  note_position();
  // A short read is the end for now; what comes later announces itself, unless a change of file is
  // under way, where only a read of nothing shows that the old one is finished.
  return *got == buffer.size() || suspects_rotation_ ? Step::more : Step::idle;
}

LogReader::Step LogReader::open() {
  auto opened = open_first(path_, position_.inode);
  if (!opened) return fail(opened.error());
  file_ = std::move(opened->file);
  older_ = opened->older;
  is_starved_ = false;
  stats_.problem.clear();
  suspects_rotation_ = true;
  resume_at(file_.id().inode == position_.inode ? position_.offset : 0);
  note_position();
  return Step::opened;
}

// The inode number may have been given to a new file since the position was stored. A json-file
// record ends with a newline, so an offset that does not follow one is not of this file.
void LogReader::resume_at(std::uint64_t offset) {
  offset_ = 0;
  if (offset == 0) return;
  char before = 0;
  const auto got = file_.read(&before, 1, offset - 1);
  if (got && *got == 1 && before == '\n') {
    offset_ = offset;
  } else {
    ++stats_.truncations;
  }
}

LogReader::Step LogReader::at_end() {
  const auto size = file_.size();
  if (!size) return fail(size.error());
  if (*size < offset_) {
    ++stats_.truncations;
    decoder_.reset();
    offset_ = 0;
    note_position();
    return Step::more;
  }
  if (is_replaced_) return go_on_in_next();
  if (!suspects_rotation_) return Step::idle;
  const auto now = look_up(path_);
  if (now && !(*now == file_.id())) {
    // The writer closes the old file before it makes the new one, so the next end is the last.
    is_replaced_ = true;
    return Step::more;
  }
  suspects_rotation_ = false;
  stats_.problem.clear();
  if (!now && now.error().code.value() != ENOENT) return fail(now.error());
  if (!now && file_.is_deleted()) stats_.problem = "the log file " + path_ + " has been deleted";
  return Step::idle;
}

LogReader::Step LogReader::go_on_in_next() {
  auto opened = open_next(path_, file_.id(), older_);
  if (!opened && opened.error().code.value() == ENOENT) {
    suspects_rotation_ = false;
    is_replaced_ = false;
    return Step::idle;
  }
  if (!opened) return fail(opened.error());
  is_replaced_ = false;
  is_starved_ = false;
  if (opened->file.id() == file_.id()) return Step::more;
  ++stats_.rotations;
  file_ = std::move(opened->file);
  older_ = opened->older;
  offset_ = 0;
  // A half line may go on in the next file, since Docker rotates between records; a half record may
  // not.
  if (decoder_.pending_bytes() > 0) decoder_.reset();
  note_position();
  return Step::opened;
}

LogReader::Step LogReader::fail(const Error& error) {
  const int number = error.code.value();
  is_starved_ = number == EMFILE || number == ENFILE;
  stats_.problem = number == ENOENT ? "the log file " + path_ + " does not exist yet"
                   : is_starved_    ? error.message() + " (raise LimitNOFILE of flowcond)"
                                    : error.message();
  return Step::idle;
}

void LogReader::note_position() {
  position_ = {file_.id().inode, offset_ - decoder_.pending_bytes()};
}

TailStats LogReader::stats() const {
  TailStats stats = stats_;
  stats.framing = decoder_.stats();
  return stats;
}

}  // namespace flowcon::ctrl::logs
