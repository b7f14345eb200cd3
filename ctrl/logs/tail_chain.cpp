// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_chain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "ctrl/logs/framing_decoder.h"
#include "ctrl/logs/tail_container.h"

namespace flowcon::ctrl::logs {
namespace {

// Docker's max-file has no upper bound of its own; nobody needs more of a training's past.
constexpr int kMaxPredecessors = 100;
constexpr int kMostWalks = 5;  // of a chain that is rotated all the time
// Of event files beside the one that is read; a job has fewer open at a time.
constexpr std::ptrdiff_t kMostLookedAt = 16;
constexpr std::uint64_t kMostLookedThrough = 64 * 1024;  // bytes of each

/// A file told from others after its name, and with compression its inode, have changed.
struct FileKey {
  FileId id;
  Fingerprint head;
};

FileKey key_of(const LogFile& file) { return {file.id(), file.head()}; }

// A packed file that is empty or damaged has no head.
bool is_same(const LogFile& file, const FileKey& key) {
  return file.id() == key.id || (file.is_compressed() && file.has_head(key.head));
}

// The file is there, and another thread may open it.
bool may_wait(const Error& error) { return error.code.value() == ContainerView::kMayWait; }

class RotatedChain : public Chain {
 public:
  RotatedChain(std::unique_ptr<Folder> folder, std::string name, bool begins_with_oldest)
      : folder_(std::move(folder)), name_(std::move(name)), with_oldest_(begins_with_oldest) {}

  Result<First> first(const Position& known) override;
  Result<LogFile> next(const LogFile& current) override;
  Result<FileId> youngest() const override { return folder_->look_up(name_); }
  const Folder& folder() const override { return *folder_; }
  std::string watched_name() const override { return name_; }
  std::string shown() const override { return folder_->path_of(name_); }

 private:
  Result<LogFile> open(int number) const;
  Result<LogFile> walk(const std::function<bool(const LogFile&)>& is_stop);
  Result<LogFile> walk_once(const std::function<bool(const LogFile&)>& is_stop);

  std::unique_ptr<Folder> folder_;
  std::string name_;
  bool with_oldest_;
  FileKey older_;  ///< the next older file when the present one was opened
};

Result<LogFile> RotatedChain::open(int number) const {
  if (number == 0) return folder_->open(name_);
  const std::string plain = name_ + "." + std::to_string(number);
  auto file = folder_->open(plain);
  // While the engine compresses a file, or where it was killed meanwhile, both are there; the
  // compressed one is then not complete.
  if (file || !is_absent(file.error())) return file;
  auto compressed = folder_->open(plain + ".gz");
  if (!compressed) return compressed;
  if (const auto done = compressed->uncompress(); !done) return done.error();
  return compressed;
}

/// Walks from the youngest file to older ones until `is_stop` says that a file is known; gives the
/// last one before it. A rotation during the walk shifts files towards the walker, so that it may
/// see one twice but passes none, except that a name is missing for a moment: one gap is no end.
/// Two are, unless there were two rotations meanwhile: then it walks again.
Result<LogFile> RotatedChain::walk(const std::function<bool(const LogFile&)>& is_stop) {
  for (int tries = 1;; ++tries) {
    const auto before = open(0);
    bool is_stopped = false;
    Result<LogFile> found = walk_once([&](const LogFile& file) {
      is_stopped = is_stop(file);
      return is_stopped;
    });
    // A container's view forgets at the next question where this one stopped.
    if (!found) return found;
    const auto after = open(0);
    const bool is_still = before && after && before->id() == after->id();
    if (is_stopped || is_still || tries == kMostWalks) return found;
  }
}

Result<LogFile> RotatedChain::walk_once(const std::function<bool(const LogFile&)>& is_stop) {
  auto youngest = open(0);
  LogFile found;
  Error error;
  if (youngest) {
    found = std::move(*youngest);
  } else {
    error = youngest.error();
    if (may_wait(error)) return error;
  }
  int gaps = found.is_open() ? 0 : 1;
  for (int number = 1; number <= kMaxPredecessors && gaps < 2; ++number) {
    auto candidate = open(number);
    if (!candidate) {
      if (may_wait(candidate.error())) return candidate.error();
      ++gaps;
      continue;
    }
    gaps = 0;
    if (is_stop(*candidate)) break;
    found = std::move(*candidate);
  }
  if (!found.is_open()) return error;
  return found;
}

Result<Chain::First> RotatedChain::first(const Position& known) {
  First result;
  older_ = {};
  if (with_oldest_) {
    auto oldest = walk([&](const LogFile& file) {
      result.leads_to_known = result.leads_to_known || is_at(file, known);
      return false;
    });
    if (!oldest) return oldest.error();
    // The walk shows its caller all files but the youngest.
    auto youngest = open(0);
    result.leads_to_known = result.leads_to_known || (youngest && is_at(*youngest, known));
    result.file = std::move(*oldest);
    return result;
  }
  auto youngest = open(0);
  int number = 0;
  for (int n = 0, gaps = 0; !known.is_empty() && n <= kMaxPredecessors && gaps < 2; ++n) {
    auto candidate = open(n);
    if (!candidate && may_wait(candidate.error())) return candidate.error();
    gaps = candidate ? 0 : gaps + 1;
    if (!candidate || !is_at(*candidate, known)) continue;
    result.leads_to_known = true;
    result.file = std::move(*candidate);
    number = n;
    break;
  }
  if (!result.leads_to_known) {
    if (!youngest) return youngest.error();
    result.file = std::move(*youngest);
  }
  if (const auto older = open(number + 1)) older_ = key_of(*older);
  return result;
}

Result<LogFile> RotatedChain::next(const LogFile& current) {
  const FileKey now = key_of(current);
  auto youngest = open(0);
  if (youngest && youngest->id() == now.id && !current.is_compressed()) return youngest;
  auto opened = walk([&](const LogFile& file) {
    return is_same(file, now) || (older_.id.inode != 0 && is_same(file, older_));
  });
  if (opened) older_ = now;
  return opened;
}

using Names = std::vector<std::string>;

/// A file with none among its first bytes that goes on behind them is taken to have some.
bool has_scalars(const LogFile& file) {
  bool has_some = false;
  const auto decoder = make_decoder(Format::tfevents, [&](const Line&) { has_some = true; });
  std::array<char, 4096> bytes;
  for (std::uint64_t at = 0; !has_some && at < kMostLookedThrough;) {
    const auto got = file.read(bytes.data(), bytes.size(), at);
    if (!got || *got == 0) return false;
    decoder->feed(std::string_view(bytes.data(), *got));
    at += *got;
  }
  return true;
}

class EventChain : public Chain {
 public:
  EventChain(std::unique_ptr<Folder> inside, std::unique_ptr<Folder> beside, std::string name)
      : inside_(std::move(inside)), beside_(std::move(beside)), file_name_(std::move(name)) {}

  Result<First> first(const Position& known) override;
  Result<LogFile> next(const LogFile& current) override;
  Result<FileId> youngest() const override;
  bool is_waiting() const override { return is_waiting_; }
  const Folder& folder() const override { return is_file_ ? *beside_ : *inside_; }
  std::string watched_name() const override { return is_file_ ? file_name_ : ""; }
  std::string shown() const override { return beside_->path_of(file_name_); }

 private:
  [[nodiscard]] Result<Names> names() const;
  [[nodiscard]] Result<std::string> next_with_scalars(Names::const_iterator from,
                                                      Names::const_iterator to) const;
  [[nodiscard]] Result<Names> with_scalars(Names::const_iterator from, Names::const_iterator to,
                                           double since) const;
  [[nodiscard]] Result<std::string> choose() const;

  std::unique_ptr<Folder> inside_;
  std::unique_ptr<Folder> beside_;
  std::string file_name_;
  bool is_file_ = false;
  std::string name_;                 ///< of the present file
  std::string latest_;               ///< the newest that was read
  mutable bool is_waiting_ = false;  ///< what a look learns
};

/// Those of event files, the oldest first; the name itself where it is a file. Never empty.
Result<Names> EventChain::names() const {
  auto all = inside_->list();
  if (!all && all.error().code.value() == ENOTDIR) return Names{file_name_};
  if (!all) return all.error();
  // TensorFlow's profiler makes an empty one, so that TensorBoard finds the folder of the run.
  std::erase_if(*all, [](const std::string& name) {
    return name.find("tfevents") == std::string::npos || name.ends_with(".profile-empty");
  });
  if (all->empty()) return errno_error(ENOENT, "find an event file in " + shown());
  std::sort(all->begin(), all->end());
  return all;
}

Result<Chain::First> EventChain::first(const Position& known) {
  const auto all = names();
  if (!all) return all.error();
  is_file_ = all->size() == 1 && all->front() == file_name_ && !inside_->list();
  First result;
  for (auto name = all->rbegin(); name != all->rend(); ++name) {
    auto file = folder().open(*name);
    if (!file && name == all->rbegin()) return file.error();
    if (!file) continue;
    const bool is_known = is_at(*file, known);
    if (is_known || name == all->rbegin()) {
      result.file = std::move(*file);
      name_ = *name;
    }
    result.leads_to_known = is_known;
    if (is_known || known.is_empty()) break;
  }
  latest_ = name_;
  return result;
}

/// Those names, but for the present one's, of files that have scalars and were written after
/// `since`; what cannot be opened is none.
Result<Names> EventChain::with_scalars(Names::const_iterator from, Names::const_iterator to,
                                       double since) const {
  Names found;
  for (auto name = to - std::min(to - from, kMostLookedAt); name != to; ++name) {
    if (*name == name_) continue;
    const auto file = folder().open(*name);
    if (!file && may_wait(file.error())) return file.error();
    if (file && file->changed() > since && has_scalars(*file)) found.push_back(*name);
  }
  return found;
}

/// The first of them that has scalars, but for the present one; "" = none of the next ones has.
Result<std::string> EventChain::next_with_scalars(Names::const_iterator from,
                                                  Names::const_iterator to) const {
  for (std::ptrdiff_t looked = 0; from != to && looked < kMostLookedAt; ++from) {
    if (*from == name_) continue;
    const auto file = folder().open(*from);
    if (!file && may_wait(file.error())) return file.error();
    if (file && has_scalars(*file)) return *from;
    ++looked;
  }
  return std::string();
}

/// Which file is to be read now: a later one, an older one, or still the present one.
Result<std::string> EventChain::choose() const {
  is_waiting_ = false;
  if (is_file_) return name_;
  const auto all = names();
  if (!all) return all.error();
  const auto border = std::lower_bound(all->begin(), all->end(), latest_);
  auto later = next_with_scalars(border, all->end());
  if (!later || !later->empty()) return later;
  const auto present = folder().open(name_);
  const bool is_silent = present && !has_scalars(*present);
  if (is_silent) {
    const auto older = with_scalars(all->begin(), border, present->changed());
    if (!older) return older.error();
    if (older->size() == 1) return older->front();
  }
  is_waiting_ = all->back() > name_ || (is_silent && all->size() > 1);
  return name_;
}

Result<LogFile> EventChain::next(const LogFile& /*current*/) {
  const auto name = choose();
  if (!name) return name.error();
  auto file = folder().open(*name);
  if (file) {
    name_ = *name;
    latest_ = std::max(latest_, name_);
  }
  return file;
}

Result<FileId> EventChain::youngest() const {
  const auto name = choose();
  if (!name) return name.error();
  return folder().look_up(*name);
}

}  // namespace

bool is_at(const LogFile& file, const Position& position) {
  if (position.is_empty()) return false;
  if (file.is_compressed()) return file.has_head(position.head);
  const bool is_it =
      position.file == kMovedFile ? file.has_head(position.head) : file.id() == position.file;
  if (!is_it) return false;
  const auto size = file.size();
  return size && *size >= position.offset && file.before(position.offset) == position.before;
}

std::unique_ptr<Chain> rotated_chain(std::unique_ptr<Folder> folder, std::string name,
                                     bool begins_with_oldest) {
  return std::make_unique<RotatedChain>(std::move(folder), std::move(name), begins_with_oldest);
}

std::unique_ptr<Chain> event_chain(std::unique_ptr<Folder> inside, std::unique_ptr<Folder> beside,
                                   std::string name) {
  return std::make_unique<EventChain>(std::move(inside), std::move(beside), std::move(name));
}

}  // namespace flowcon::ctrl::logs
