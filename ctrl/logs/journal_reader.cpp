// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/journal_reader.h"

#include <systemd/sd-journal.h>

#include <charconv>
#include <cstdlib>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

constexpr std::string_view kKind = "journal ";
constexpr std::size_t kMaxCursor = 1000;
// The engine splits lines at 16 KiB; whoever else writes entries must not cost us more memory.
constexpr std::size_t kMaxFieldBytes = kMaxLineBytes + 16;

Result<void> add_match(sd_journal* journal, const std::string& match) {
  const int added = ::sd_journal_add_match(journal, match.data(), match.size());
  if (added < 0) return errno_error(-added, "choose the journal's entries");
  return {};
}

}  // namespace

Result<std::unique_ptr<JournalReader>> JournalReader::open(const std::string& folder,
                                                           const std::string& container,
                                                           const std::string& from, LineSink sink) {
  sd_journal* journal = nullptr;
  const int opened = folder.empty()
                         ? ::sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM)
                         : ::sd_journal_open_directory(&journal, folder.c_str(), 0);
  if (opened < 0) return errno_error(-opened, "open the journal " + folder);
  auto reader = std::unique_ptr<JournalReader>(new JournalReader(journal, std::move(sink)));
  ::sd_journal_set_data_threshold(journal, kMaxFieldBytes);
  for (const std::string& match : {"CONTAINER_ID_FULL=" + container, std::string("_UID=0")}) {
    if (const auto added = add_match(journal, match); !added) return added.error();
  }
  reader->fd_ = ::sd_journal_get_fd(journal);
  if (reader->fd_ < 0) return errno_error(-reader->fd_, "watch the journal");
  reader->resume(from);
  if (const int moved = ::sd_journal_seek_head(journal); moved < 0) {
    return errno_error(-moved, "read the journal");
  }
  return reader;
}

JournalReader::JournalReader(sd_journal* journal, LineSink sink)
    : journal_(journal),
      sink_(std::move(sink)),
      out_([this](const Line& line) { hand_on(line); }),
      err_([this](const Line& line) { hand_on(line); }) {}

JournalReader::~JournalReader() { ::sd_journal_close(journal_); }

/// Learns whether the entry of the position is there still.
void JournalReader::resume(const std::string& from) {
  position_ = from;
  std::string_view text = from;
  if (!text.starts_with(kKind)) return;
  text.remove_prefix(kKind.size());
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), known_usec_);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (code != std::errc() || text.empty() || text.size() > kMaxCursor) return;
  text.remove_prefix(1);
  const std::string cursor(text);
  if (::sd_journal_seek_cursor(journal_, cursor.c_str()) < 0) return;
  if (::sd_journal_next(journal_) <= 0) return;
  if (::sd_journal_test_cursor(journal_, cursor.c_str()) > 0) known_cursor_ = cursor;
}

void JournalReader::hand_on(const Line& line) {
  if (is_muted_) return;
  Line marked = line;
  marked.is_known = !known_cursor_.empty() || entry_usec_ <= known_usec_;
  sink_(marked);
}

bool JournalReader::step() {
  bool has_read = false;
  const std::uint64_t most = bytes_ + kStepBytes;
  for (int i = 0; i < kStepEntries && bytes_ < most && !is_muted_; ++i) {
    const int moved = ::sd_journal_next(journal_);
    if (moved < 0) {
      problem_ = errno_error(-moved, "read the journal").message();
      if (has_read) note_position();
      return false;
    }
    if (moved == 0) {
      // The youngest has been read: whatever comes now is new, the position's entry seen or not.
      known_cursor_.clear();
      known_usec_ = 0;
      if (has_read) note_position();
      return false;
    }
    problem_.clear();
    take_entry();
    has_read = true;
  }
  note_position();
  return true;
}

void JournalReader::take_entry() {
  if (::sd_journal_get_realtime_usec(journal_, &entry_usec_) < 0) entry_usec_ = 0;
  const double time = static_cast<double>(entry_usec_) / 1e6;
  // The engine writes what came from stderr with priority "err".
  const bool is_stderr = field("PRIORITY") == "3";
  LineSplitter& lines = is_stderr ? err_ : out_;
  const std::string_view message = field("MESSAGE");
  bytes_ += message.size();
  lines.feed(message, time, is_stderr);
  if (field("CONTAINER_PARTIAL_MESSAGE") != "true") lines.feed("\n", time, is_stderr);
  if (!known_cursor_.empty() && ::sd_journal_test_cursor(journal_, known_cursor_.c_str()) > 0) {
    known_cursor_.clear();
    known_usec_ = 0;
  }
}

std::string_view JournalReader::field(const char* name) const {
  const void* data = nullptr;
  std::size_t size = 0;
  if (::sd_journal_get_data(journal_, name, &data, &size) < 0) return {};
  std::string_view text(static_cast<const char*>(data), size);
  const std::size_t equals = text.find('=');
  return equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
}

void JournalReader::note_position() {
  // While the entries of before are read again, the old position holds.
  if (!known_cursor_.empty() || entry_usec_ < known_usec_) return;
  char* cursor = nullptr;
  if (::sd_journal_get_cursor(journal_, &cursor) < 0) return;
  position_ = std::string(kKind) + std::to_string(entry_usec_) + " " + cursor;
  std::free(cursor);
}

void JournalReader::refresh() { ::sd_journal_process(journal_); }

void JournalReader::finish() {
  out_.finish();
  err_.finish();
}

FramingStats JournalReader::stats() const {
  FramingStats sum = out_.stats();
  sum.add_lines(err_.stats());
  return sum;
}

}  // namespace flowcon::ctrl::logs
