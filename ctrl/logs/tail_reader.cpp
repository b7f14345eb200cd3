// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_reader.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/seconds.h"
#include "ctrl/logs/tail_container.h"

namespace flowcon::ctrl::logs {
namespace {

std::unique_ptr<Chain> chain_of(const Source& source) {
  const std::size_t slash = source.path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : source.path.substr(0, slash);
  if (folder.empty()) folder = "/";
  const std::string name = source.path.substr(slash + 1);  // npos + 1 is 0
  const auto open = [&source](const std::string& path) {
    return source.view ? container_folder(source.view, path) : host_folder(path);
  };
  if (source.format == Format::tfevents) return event_chain(open(source.path), open(folder), name);
  return rotated_chain(open(folder), name, source.format != Format::text);
}

std::uint64_t size_of(const LogFile& file) {
  const auto size = file.size();
  return size ? *size : 0;
}

constexpr int kDamagesAtOnce = 3;
constexpr double kDamagePause = 2;  // seconds

bool is_all_zero(std::string_view bytes) {
  return bytes.front() == '\0' && bytes.back() == '\0' &&
         bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

LogReader::LogReader(const Source& source, const Position& from, LineSink sink)
    : format_(source.format),
      known_(from),
      sink_(std::move(sink)),
      decoder_(make_decoder(source.format, [this](const Line& line) { hand_on(line); })),
      chain_(chain_of(source)),
      youngest_line_(from.time) {}

void LogReader::hand_on(const Line& line) {
  if (is_muted_) return;
  Line marked = line;
  marked.is_known =
      catch_up_ == CatchUp::by_place || (catch_up_ == CatchUp::by_time && line.time <= known_.time);
  youngest_line_ = std::max(youngest_line_, line.time);
  sink_(marked);
}

LogReader::Step LogReader::step(std::vector<char>& buffer) {
  is_elsewhere_ = false;
  if (!file_.is_open()) return open();
  if (file_.is_resting()) {
    if (const Step woken = wake(); file_.is_resting() || woken == Step::opened) return woken;
  }
  if (decoder_->is_stuck() && wait_at_damage()) return at_end();
  return read(buffer);
}

/// A file that is there no more is gone on from, as one whose end has been read.
LogReader::Step LogReader::wake() {
  const auto woken = file_.wake();
  if (woken) return Step::more;
  const int number = woken.error().code.value();
  if (number != ENOENT && number != ESTALE) return fail(woken.error());
  auto next = chain_->next(file_);
  if (!next) return fail(next.error());
  if (next->id() == file_.id()) {
    file_ = std::move(*next);
    return Step::more;
  }
  ++stats_.rotations;
  decoder_->end_of_file();
  begin_file(std::move(*next));
  return Step::opened;
}

LogReader::Step LogReader::read(std::vector<char>& buffer) {
  const std::size_t again = std::min(recent_.size(), buffer.size() / 2);
  std::size_t wanted = buffer.size() - std::min(kRecentBytes, buffer.size() / 2) + again;
  // A read ends where an earlier reader stopped, so that each line is on one side of that.
  if (catch_up_ == CatchUp::by_place && is_known_file_) {
    wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(wanted, again + (known_.offset - offset_)));
  }
  // Likewise where the bytes end whose times are told by those of the file.
  if (format_ == Format::text && offset_ < opened_.size) {
    wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(wanted, again + (opened_.size - offset_)));
  }
  const auto got = file_.read(buffer.data(), wanted, offset_ - again);
  if (!got && file_.is_compressed()) {
    ++stats_.framing.bad_records;
    return go_on_in_next();
  }
  if (!got) return fail(got.error());
  const std::string_view bytes(buffer.data(), *got);
  const std::string_view before = std::string_view(recent_).substr(recent_.size() - again);
  if (*got >= again && bytes.substr(0, again) != before) return start_over();
  if (*got <= again) return at_end();
  stats_.problem.clear();
  take(bytes.substr(again));
  // A short read is the end so far; what comes later announces itself, unless a change of file is
  // under way, where only a read of nothing shows that the old one is finished.
  const bool goes_on = *got == wanted || suspects_rotation_ || decoder_->is_stuck();
  return goes_on ? Step::more : Step::idle;
}

void LogReader::take(std::string_view bytes) {
  const std::uint64_t end = offset_ + bytes.size();
  if (!file_.is_compressed()) {  // which does not change, and is costly to read backward
    recent_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kRecentBytes)));
    if (recent_.size() > kRecentBytes) recent_.erase(0, recent_.size() - kRecentBytes);
  }
  stats_.bytes += bytes.size();
  if (format_ == Format::text && is_all_zero(bytes)) {
    // Who truncates a file that another writes leaves a hole; it holds no lines.
    offset_ = std::max(end, file_.next_data(end));
    if (offset_ > end) recent_.clear();
  } else {
    // A position's time must be one of its lines', so what has just come is of now here already.
    const bool is_old = end <= opened_.size;
    const double read_at = wall_seconds();
    decoder_->set_times(is_old ? time_at(offset_) : read_at, is_old ? time_at(end) : read_at);
    decoder_->feed(bytes);
    offset_ = end;
  }
  settled_ = offset_ - decoder_->pending_bytes();
  has_read_ = true;
  if (catch_up_ == CatchUp::by_place && is_known_file_ && offset_ >= known_.offset) {
    catch_up_ = CatchUp::none;
  }
  if (decoder_->is_stuck()) {
    stuck_ = {size_of(file_), file_.changed()};
    stuck_at_ = wall_seconds();
    ++damages_;
  } else {
    damages_ = 0;
  }
}

/// False, and ready to read the record again, once the file has changed; not again and again for
/// one that a job changes all the time.
bool LogReader::wait_at_damage() {
  const std::uint64_t start = offset_ - decoder_->pending_bytes();
  const bool is_soon = std::fabs(wall_seconds() - stuck_at_) < kDamagePause;
  if (stuck_ == Extent{size_of(file_), file_.changed()} ||
      (is_soon && damages_ >= kDamagesAtOnce)) {
    stats_.problem = "the record at byte " + std::to_string(start) + " of " + chain_->shown() +
                     " is damaged; it is read again when the file changes";
    return true;
  }
  decoder_->reset();
  offset_ = start;
  recent_.clear();
  return false;
}

LogReader::Step LogReader::open() {
  auto opened = chain_->first(known_);
  if (!opened) return fail(opened.error());
  stats_.problem.clear();
  suspects_rotation_ = true;
  if (opened->leads_to_known) {
    catch_up_ = CatchUp::by_place;
  } else if (!known_.is_empty() && known_.time > 0 && format_ != Format::text) {
    catch_up_ = CatchUp::by_time;
  }
  begin_file(std::move(opened->file));
  return Step::opened;
}

void LogReader::begin_file(LogFile file) {
  // Behind the position's file everything is new.
  if (is_known_file_ && catch_up_ == CatchUp::by_place) catch_up_ = CatchUp::none;
  file_ = std::move(file);
  compressed_head_ = file_.is_compressed() ? file_.head() : Fingerprint{};
  is_known_file_ = !known_.is_empty() && (file_.is_compressed()       ? file_.has_head(known_.head)
                                          : known_.file == kMovedFile ? is_at(file_, known_)
                                                                      : file_.id() == known_.file);
  offset_ = 0;
  settled_ = 0;
  recent_.clear();
  is_starved_ = false;
  is_replaced_ = false;
  opened_ = {{size_of(file_), file_.changed()}};
  const double born = static_cast<double>(file_.id().born_ns) / 1e9;
  opened_.born = born > 0 ? std::min(born, opened_.changed) : opened_.changed;
  if (catch_up_ == CatchUp::by_place && is_known_file_ && known_.offset == 0) {
    catch_up_ = CatchUp::none;
  }
}

/// When the byte at `offset` was written, as far as that can be told: what the file held when it
/// was opened is spread between its birth, the moment an earlier reader stopped, and its last
/// change. Units: seconds since the epoch; 0 = not known.
double LogReader::time_at(std::uint64_t offset) const {
  if (format_ != Format::text || opened_.size == 0) return 0;
  double first = opened_.born;
  double last = opened_.changed;
  std::uint64_t from = 0;
  std::uint64_t to = opened_.size;
  // The kernel's time of change is of its last tick, so it may be a little before that moment.
  if (is_known_file_) last = std::max(last, known_.time);
  if (known_.time > first && known_.offset < to && is_known_file_) {
    (offset <= known_.offset ? last : first) = known_.time;
    (offset <= known_.offset ? to : from) = known_.offset;
  }
  if (to <= from) return last;
  return first +
         (last - first) * static_cast<double>(offset - from) / static_cast<double>(to - from);
}

LogReader::Step LogReader::start_over() {
  ++stats_.truncations;
  decoder_->reset();
  recent_.clear();
  offset_ = 0;
  settled_ = 0;
  opened_.size = 0;
  has_read_ = true;
  catch_up_ = CatchUp::none;
  return Step::more;
}

LogReader::Step LogReader::at_end() {
  if (file_.is_compressed()) return go_on_in_next();
  const auto size = file_.size();
  if (!size) return fail(size.error());
  if (*size < offset_) return start_over();
  if (is_replaced_) return go_on_in_next();
  if (!suspects_rotation_) return Step::idle;
  const auto youngest = chain_->youngest();
  if (youngest && !(*youngest == file_.id())) {
    // The writer closes the old file before it makes the new one, so the next end is the last.
    is_replaced_ = true;
    return Step::more;
  }
  suspects_rotation_ = false;
  // The youngest file has been read: whatever comes now is new.
  if (youngest) catch_up_ = CatchUp::none;
  if (!decoder_->is_stuck()) stats_.problem.clear();
  if (!youngest && !is_absent(youngest)) return fail(youngest.error());
  if (!youngest && file_.is_deleted()) {
    stats_.problem = "the log file " + chain_->shown() + " has been deleted";
  }
  return Step::idle;
}

LogReader::Step LogReader::go_on_in_next() {
  auto opened = chain_->next(file_);
  if (is_absent(opened)) {
    suspects_rotation_ = false;
    is_replaced_ = false;
    return Step::idle;
  }
  if (!opened) return fail(opened.error());
  is_replaced_ = false;
  is_starved_ = false;
  // What is packed does not grow: read again it would end in the same way.
  if (opened->id() == file_.id()) return file_.is_compressed() ? Step::idle : Step::more;
  ++stats_.rotations;
  // A half line may go on in the next file, since Docker rotates between records; a half record may
  // not.
  decoder_->end_of_file();
  begin_file(std::move(*opened));
  return Step::opened;
}

LogReader::Step LogReader::fail(const Error& error) {
  const int number = error.code.value();
  is_starved_ = number == EMFILE || number == ENFILE;
  is_elsewhere_ = number == ContainerView::kMayWait;
  stats_.problem = number == ENOENT ? "the log file " + chain_->shown() + " does not exist yet"
                   : is_starved_    ? error.message() + " (raise LimitNOFILE of flowcond)"
                                    : error.message();
  return Step::idle;
}

Position LogReader::position() const {
  // What an earlier reader has handed on was handed on, read again yet or not.
  Position position = known_;
  if (!has_read_ || catch_up_ == CatchUp::by_place) return position;
  position.time = youngest_line_;
  if (catch_up_ == CatchUp::by_time) return position;
  position.file = file_.id();
  position.head = file_.is_compressed() ? compressed_head_ : file_.head();
  position.offset = settled_;
  position.before = {};
  if (!file_.is_compressed()) position.before = file_.before(position.offset);
  return position;
}

TailStats LogReader::stats() const {
  TailStats stats = stats_;
  stats.framing = decoder_->stats();
  stats.is_catching_up = catch_up_ != CatchUp::none;
  stats.framing.bad_records += stats_.framing.bad_records;
  return stats;
}

}  // namespace flowcon::ctrl::logs
