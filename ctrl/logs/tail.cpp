// SPDX-License-Identifier: Apache-2.0
// Which log may have something to read is inotify's to say; reading is LogReader's. Logs that may
// have are a queue, and each turn of the loop reads about a chunk from its front, so that all get
// theirs. Callbacks, not coroutines: every one holds the set weakly and looks its logs up again. A
// log whose file system may not answer goes over to SlowLogs.
#include "ctrl/logs/tail.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ctrl/logs/tail_container.h"
#include "ctrl/logs/tail_reader.h"
#include "ctrl/logs/tail_slow.h"

namespace flowcon::ctrl::logs {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::size_t kLogsPerTurn = 16;
constexpr std::uint64_t kMaxDrainBytes = 16 * 1024 * 1024;
// Steps that read nothing (opening, looking) are few; this only bounds a log that is rotated
// without end while it is drained.
constexpr std::uint64_t kMaxDrainSteps = kMaxDrainBytes / kChunkBytes + 1000;

// What is not there yet and cannot be watched for is looked for so often.
constexpr std::chrono::milliseconds kLackingCheck{2000};

constexpr std::uint32_t kFileEvents = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
constexpr std::uint32_t kFolderEvents =
    IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

/// One followed log.
struct Tail {
  Tail(std::string own_id, const Source& source, const Position& from, LineSink sink)
      : id(std::move(own_id)),
        spout(std::make_shared<Spout>()),
        reader(std::make_unique<LogReader>(source, from,
                                           [to = spout](const Line& line) { to->take(line); })),
        view(source.view) {
    spout->sink = std::move(sink);
  }
  /// What it needs cannot be announced: the folder is not there, links on the way are a
  /// container's to change, another file has to get something first, or inotify has no watch left.
  [[nodiscard]] bool is_lacking() const {
    return lacks_watch || folder_watch < 0 || (view && reader->is_waiting());
  }
  std::string id;
  std::shared_ptr<Spout> spout;
  std::unique_ptr<LogReader> reader;
  std::shared_ptr<const ContainerView> view;
  int file_watch = -1;  ///< inotify's number, or -1
  int folder_watch = -1;
  std::string name;  ///< under which the folder's watch knows it; "" = any
  std::uint64_t rescues = 0;
  std::uint64_t drains_to = 0;  ///< bytes; 0 = it goes on
  bool is_queued = false;
  bool has_more = false;    ///< its last step did not come to an end
  bool is_checked = false;  ///< it is looked at because time has passed, not for an event
  bool is_reading = false;  ///< a step of its reader is on the stack
  bool is_stopped = false;
  bool drains_later = false;  ///< stop() with drain came from its own sink
  bool lacks_watch = false;   ///< inotify had no watch left for its file or folder
};

using TailPtr = std::shared_ptr<Tail>;

constexpr const char* kNoWatch =
    "no inotify watch is left (raise the sysctl fs.inotify.max_user_watches): its log is polled "
    "every 2 s";
constexpr const char* kNoInotify =
    "no inotify instance is left (raise the sysctl fs.inotify.max_user_instances): its log is "
    "polled every 2 s";

/// Inotify cannot watch what is there.
bool is_exhausted(const Error& error) {
  const int number = error.code.value();
  return number == ENOSPC || number == ENOMEM || number == EBADF;
}

/// What there is, as far as it may be read here; at most kMaxDrainBytes however often it is called.
void read_rest(Tail& tail, std::vector<char>& buffer) {
  LogReader& reader = *tail.reader;
  if (tail.drains_to == 0) tail.drains_to = reader.bytes() + kMaxDrainBytes;
  reader.suspect_rotation();
  for (std::uint64_t steps = 0; steps < kMaxDrainSteps && reader.bytes() < tail.drains_to;
       ++steps) {
    if (reader.step(buffer) == LogReader::Step::idle) break;
  }
}

void read_to_end(Tail& tail, std::vector<char>& buffer) {
  read_rest(tail, buffer);
  tail.reader->finish();
  tail.reader->mute();
}

}  // namespace

struct TailSet::Impl : std::enable_shared_from_this<TailSet::Impl> {
  Impl(asio::io_context& loop, std::chrono::milliseconds pause, std::chrono::milliseconds check,
       std::chrono::milliseconds longest)
      : io(loop),
        waiting(loop),
        timer(loop),
        check_timer(loop),
        batch(pause),
        check_every(check),
        slow(loop, longest) {}

  void open();
  void open_notifier();
  void close();
  Result<void> start(const std::string& id, const Source& source, const Position& from,
                     LineSink sink);
  Position stop(const std::string& id, bool drains);
  bool drain(const std::string& id, std::function<void(const Position&)> done);
  void make_slow(const TailPtr& tail, const SlowMount& mount);
  [[nodiscard]] std::string problem_of(const Tail& tail) const;

  void wait();
  void on_readable();
  bool take_events();
  void pause();
  void await_check();
  void check();
  void on_event(int watch, std::uint32_t mask, const char* name);
  void suspect_all();

  void enqueue(const TailPtr& tail, bool suspects);
  void schedule();
  void take_turn();
  void read_chunk(const TailPtr& tail);
  void retry_starved();

  void rewatch(const TailPtr& tail);
  Result<void> watch_folder(const TailPtr& tail);
  void follow_folder(const TailPtr& tail);
  void watch_file(const TailPtr& tail);
  void unwatch_file(Tail& tail);
  void unwatch_folder(const TailPtr& tail);
  void unwatch(const TailPtr& tail);

  std::vector<char> take_buffer();
  void give_back(std::vector<char> buffer) { buffer_ = std::move(buffer); }

  asio::io_context& io;
  /// Holds `notifier` while its readiness is waited for, and only then: the reactor would wake the
  /// loop for each event of a descriptor that it knows, also where nobody waits.
  asio::posix::stream_descriptor waiting;
  int notifier = -1;
  asio::steady_timer timer;
  asio::steady_timer check_timer;
  std::chrono::milliseconds batch;
  std::chrono::milliseconds check_every;
  asio::steady_timer::time_point next_check;  ///< of all logs
  SlowLogs slow;
  bool is_closed = false;
  bool is_scheduled = false;
  std::map<std::string, TailPtr> tails;
  std::deque<TailPtr> ready;
  std::unordered_map<int, std::vector<TailPtr>> by_file;
  std::unordered_map<int, std::unordered_multimap<std::string, TailPtr>> by_folder;

 private:
  std::vector<char> buffer_;
};

void TailSet::Impl::open() {
  open_notifier();
  next_check = asio::steady_timer::clock_type::now() + check_every;
  await_check();
}

void TailSet::Impl::open_notifier() {
  notifier = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notifier >= 0) wait();
}

void TailSet::Impl::close() {
  is_closed = true;
  for (const auto& [id, tail] : tails) {
    tail->is_stopped = true;
    tail->reader->mute();
  }
  slow.close();
  // A tail may be on the stack below us; whoever runs it holds it.
  tails.clear();
  ready.clear();
  by_file.clear();
  by_folder.clear();
  if (waiting.is_open()) waiting.release();
  if (notifier >= 0) ::close(std::exchange(notifier, -1));
  timer.cancel();
  check_timer.cancel();
}

Result<void> TailSet::Impl::start(const std::string& id, const Source& source, const Position& from,
                                  LineSink sink) {
  if (tails.count(id) > 0 || slow.has(id))
    return errno_error(EEXIST, "follow the log of " + id + " twice");
  auto tail = std::make_shared<Tail>(id, source, from, std::move(sink));
  SlowMount mount;
  if (!source.view) mount = slow_mount_of(source.path);
  if (mount.device.empty()) {
    // The folder first: a file that is made between the two looks is then announced.
    const auto watched = watch_folder(tail);
    if (!watched && !tail->lacks_watch && !tail->view) return watched.error();
    std::vector<char> buffer = take_buffer();
    const auto step = tail->reader->step(buffer);  // opens, hands on nothing
    give_back(std::move(buffer));
    if (tail->reader->is_elsewhere()) mount = tail->view->slow_mount();
    if (step == LogReader::Step::opened) {
      watch_file(tail);
      enqueue(tail, true);
    }
  }
  tails.emplace(id, tail);
  if (!mount.device.empty()) {
    make_slow(tail, mount);
    return {};
  }
  follow_folder(tail);
  if (tail->is_lacking()) await_check();
  return {};
}

Position TailSet::Impl::stop(const std::string& id, bool drains) {
  const auto found = tails.find(id);
  if (found == tails.end()) return slow.stop(id);
  const TailPtr tail = found->second;
  tails.erase(found);
  tail->is_stopped = true;
  unwatch(tail);
  if (!drains) {
    tail->reader->mute();
  } else if (tail->is_reading) {
    tail->drains_later = true;
  } else {
    std::vector<char> buffer = take_buffer();
    tail->is_reading = true;
    read_to_end(*tail, buffer);
    tail->is_reading = false;
    give_back(std::move(buffer));
  }
  if (!is_closed) retry_starved();
  return tail->reader->position();
}

/// That the rest has to be waited for may show only behind what need not.
bool TailSet::Impl::drain(const std::string& id, std::function<void(const Position&)> done) {
  const auto found = tails.find(id);
  if (found == tails.end()) return slow.drain(id, std::move(done));
  const TailPtr tail = found->second;
  if (tail->is_reading) return false;
  std::vector<char> buffer = take_buffer();
  tail->is_reading = true;
  read_rest(*tail, buffer);
  if (tail->drains_later && !is_closed) read_to_end(*tail, buffer);
  tail->is_reading = false;
  give_back(std::move(buffer));
  if (tail->is_stopped || !tail->reader->is_elsewhere()) return false;
  make_slow(tail, tail->view->slow_mount());
  return slow.drain(id, std::move(done));
}

void TailSet::Impl::make_slow(const TailPtr& tail, const SlowMount& mount) {
  unwatch(tail);
  tails.erase(tail->id);
  tail->is_stopped = true;
  const Position position = tail->reader->position();
  if (tail->view) tail->view->allow_waiting();
  slow.start(tail->id, mount, std::move(tail->reader), tail->spout, position);
  await_check();
}

std::string TailSet::Impl::problem_of(const Tail& tail) const {
  const std::string problem = tail.reader->stats().problem;
  if (!problem.empty() || !tail.lacks_watch) return problem;
  return notifier >= 0 ? kNoWatch : kNoInotify;
}

void TailSet::Impl::wait() {
  error_code code;
  waiting.assign(notifier, code);
  if (code) return pause();  // the kernel is out of memory or of epoll watches
  waiting.async_wait(asio::posix::descriptor_base::wait_read,
                     [weak = weak_from_this()](const error_code& failed) {
                       const auto self = weak.lock();
                       if (!self || self->is_closed || failed) return;
                       self->waiting.release();
                       self->on_readable();
                     });
}

void TailSet::Impl::on_readable() {
  const bool is_empty = take_events();
  schedule();
  // Only a queue that has been emptied is left to fill up for a while.
  if (!is_empty || batch.count() <= 0) {
    wait();
  } else {
    pause();
  }
}

/// True if no more events can be waiting.
bool TailSet::Impl::take_events() {
  if (notifier < 0) return true;
  alignas(inotify_event) std::array<char, kChunkBytes> events;
  const ssize_t got = ::read(notifier, events.data(), events.size());
  if (got < 0 && errno != EAGAIN && errno != EINTR) suspect_all();
  const std::size_t end = got > 0 ? static_cast<std::size_t>(got) : 0;
  std::size_t at = 0;
  while (at + sizeof(inotify_event) <= end) {
    inotify_event event;
    std::memcpy(&event, events.data() + at, sizeof event);
    on_event(event.wd, event.mask, event.len > 0 ? events.data() + at + sizeof event : "");
    at += sizeof event + event.len;
  }
  return end + sizeof(inotify_event) + NAME_MAX + 1 <= events.size();
}

void TailSet::Impl::pause() {
  timer.expires_after(batch);
  timer.async_wait([weak = weak_from_this()](const error_code& code) {
    const auto self = weak.lock();
    if (self && !self->is_closed && !code) self->wait();
  });
}

void TailSet::Impl::await_check() {
  const auto lacks = [](const auto& entry) { return entry.second->is_lacking(); };
  auto due = next_check;
  if (!slow.is_empty() || std::any_of(tails.begin(), tails.end(), lacks)) {
    due = std::min(due, asio::steady_timer::clock_type::now() + kLackingCheck);
  }
  // Whoever waits already is put off by nobody.
  const auto before = check_timer.expiry();
  if (before > asio::steady_timer::clock_type::now()) due = std::min(due, before);
  check_timer.expires_at(due);
  check_timer.async_wait([weak = weak_from_this()](const error_code& code) {
    const auto self = weak.lock();
    if (self && !self->is_closed && !code) self->check();
  });
}

/// Events can be lost: the kernel's queue overflows, a folder is replaced by another of its name, a
/// network file system changes without this kernel's doing.
void TailSet::Impl::check() {
  const auto now = asio::steady_timer::clock_type::now();
  const bool is_for_all = now >= next_check;
  if (is_for_all) next_check = now + check_every;
  if (notifier < 0) open_notifier();
  take_events();  // what has been announced meanwhile is no rescue
  for (const auto& [id, tail] : tails) {
    if (!is_for_all && !tail->is_lacking()) continue;
    rewatch(tail);
    if (!tail->is_queued) tail->is_checked = true;
    enqueue(tail, true);
  }
  slow.look();
  if (!is_closed) await_check();
}

void TailSet::Impl::on_event(int watch, std::uint32_t mask, const char* name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return suspect_all();
  if (const auto file = by_file.find(watch); file != by_file.end()) {
    for (const TailPtr& tail : file->second) enqueue(tail, (mask & ~IN_MODIFY) != 0);
    return;
  }
  const auto folder = by_folder.find(watch);
  if (folder == by_folder.end()) return;
  const bool is_about_folder = (mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0;
  const auto suspect = [this](const auto& range) {
    for (auto entry = range.first; entry != range.second; ++entry) enqueue(entry->second, true);
  };
  if (is_about_folder) {
    suspect(std::pair(folder->second.begin(), folder->second.end()));
  } else {
    suspect(folder->second.equal_range(name));
    if (*name != '\0') suspect(folder->second.equal_range(""));
  }
}

void TailSet::Impl::suspect_all() {
  for (const auto& [id, tail] : tails) enqueue(tail, true);
}

void TailSet::Impl::enqueue(const TailPtr& tail, bool suspects) {
  if (suspects) tail->reader->suspect_rotation();
  if (!tail->is_queued) {
    tail->is_queued = true;
    ready.push_back(tail);
  }
  schedule();
}

void TailSet::Impl::schedule() {
  if (is_scheduled || ready.empty()) return;
  is_scheduled = true;
  asio::post(io, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->is_closed) self->take_turn();
  });
}

void TailSet::Impl::take_turn() {
  is_scheduled = false;
  // The loop asks the kernel for other events between two turns, so few lines of many logs are one
  // turn; a log with more to read than a chunk has its own.
  for (std::size_t logs = 0; logs < kLogsPerTurn && !ready.empty(); ++logs) {
    const TailPtr tail = ready.front();
    if (logs > 0 && tail->has_more) break;
    ready.pop_front();
    tail->is_queued = false;
    if (!tail->is_stopped) read_chunk(tail);
    if (is_closed) return;
    if (tail->has_more) break;
  }
  schedule();
}

void TailSet::Impl::read_chunk(const TailPtr& tail) {
  std::vector<char> buffer = take_buffer();
  tail->is_reading = true;
  const bool was_lacking = tail->is_lacking();
  const std::uint64_t bytes = tail->reader->bytes();
  const auto step = tail->reader->step(buffer);
  const bool has_news = tail->reader->bytes() > bytes || step == LogReader::Step::opened;
  if (std::exchange(tail->is_checked, false) && has_news) ++tail->rescues;
  if (tail->drains_later && !is_closed) read_to_end(*tail, buffer);
  tail->is_reading = false;
  give_back(std::move(buffer));
  if (tail->is_stopped) return;
  if (tail->reader->is_elsewhere()) return make_slow(tail, tail->view->slow_mount());
  if (step == LogReader::Step::opened) {
    watch_file(tail);
    follow_folder(tail);
  }
  if (!was_lacking && tail->is_lacking()) await_check();
  tail->has_more = step != LogReader::Step::idle;
  if (tail->has_more) enqueue(tail, false);
}

// A descriptor or a watch may have become free.
void TailSet::Impl::retry_starved() {
  for (const auto& [id, tail] : tails) {
    const bool lacked_watch = tail->lacks_watch;
    if (lacked_watch) rewatch(tail);
    if (lacked_watch || tail->reader->is_starved()) enqueue(tail, true);
  }
}

void TailSet::Impl::rewatch(const TailPtr& tail) {
  const bool lacked_watch = std::exchange(tail->lacks_watch, false);
  unwatch_folder(tail);
  static_cast<void>(watch_folder(tail));
  if (lacked_watch && tail->file_watch < 0) watch_file(tail);
}

Result<void> TailSet::Impl::watch_folder(const TailPtr& tail) {
  const Chain& chain = tail->reader->chain();
  const auto watch = chain.folder().watch(notifier, kFolderEvents);
  if (!watch) {
    tail->lacks_watch = tail->lacks_watch || is_exhausted(watch.error());
    return watch.error();
  }
  tail->folder_watch = *watch;
  tail->name = chain.watched_name();
  by_folder[*watch].emplace(tail->name, tail);
  return {};
}

/// Whether a path leads to a file or to a folder of them shows when it is opened.
void TailSet::Impl::follow_folder(const TailPtr& tail) {
  if (tail->folder_watch >= 0 && tail->reader->chain().watched_name() == tail->name) return;
  unwatch_folder(tail);
  static_cast<void>(watch_folder(tail));
}

void TailSet::Impl::watch_file(const TailPtr& tail) {
  unwatch_file(*tail);
  if (!tail->reader->file().is_open()) return;
  // By descriptor: the name may lead to another file already.
  const std::string file = "/proc/self/fd/" + std::to_string(tail->reader->file().fd());
  const int watch = ::inotify_add_watch(notifier, file.c_str(), kFileEvents);
  if (watch < 0) {
    tail->lacks_watch = true;
    return;
  }
  tail->file_watch = watch;
  by_file[watch].push_back(tail);
}

void TailSet::Impl::unwatch_file(Tail& tail) {
  const auto found = by_file.find(std::exchange(tail.file_watch, -1));
  if (found == by_file.end()) return;
  std::erase_if(found->second, [&tail](const TailPtr& other) { return other.get() == &tail; });
  if (!found->second.empty()) return;
  ::inotify_rm_watch(notifier, found->first);
  by_file.erase(found);
}

void TailSet::Impl::unwatch_folder(const TailPtr& tail) {
  const auto found = by_folder.find(std::exchange(tail->folder_watch, -1));
  if (found == by_folder.end()) return;
  const auto [first, last] = found->second.equal_range(tail->name);
  const auto entry =
      std::find_if(first, last, [&tail](const auto& other) { return other.second == tail; });
  if (entry != last) found->second.erase(entry);
  if (!found->second.empty()) return;
  ::inotify_rm_watch(notifier, found->first);
  by_folder.erase(found);
}

void TailSet::Impl::unwatch(const TailPtr& tail) {
  unwatch_file(*tail);
  unwatch_folder(tail);
}

// One buffer for all; a drain from within another log's sink gets one of its own.
std::vector<char> TailSet::Impl::take_buffer() {
  std::vector<char> buffer = std::exchange(buffer_, {});
  buffer.resize(kChunkBytes + LogReader::kRecentBytes);
  return buffer;
}

TailSet::TailSet(asio::io_context& io, std::chrono::milliseconds batch,
                 std::chrono::milliseconds check, std::chrono::milliseconds patience)
    : impl_(std::make_shared<Impl>(io, batch, check, patience)) {
  impl_->open();
}

TailSet::~TailSet() { impl_->close(); }

Result<void> TailSet::start(const std::string& id, const Source& source, const Position& from,
                            LineSink sink) {
  return impl_->start(id, source, from, std::move(sink));
}

Position TailSet::stop(const std::string& id, bool drain) {
  const auto self = impl_;  // a sink that is called now may destroy the set
  return self->stop(id, drain);
}

bool TailSet::drain(const std::string& id, std::function<void(const Position&)> done) {
  const auto self = impl_;  // as above
  return self->drain(id, std::move(done));
}

Position TailSet::position(const std::string& id) const {
  const auto found = impl_->tails.find(id);
  return found == impl_->tails.end() ? impl_->slow.position(id) : found->second->reader->position();
}

TailStats TailSet::stats(const std::string& id) const {
  const auto found = impl_->tails.find(id);
  if (found == impl_->tails.end()) return impl_->slow.stats(id);
  TailStats stats = found->second->reader->stats();
  stats.rescues = found->second->rescues;
  stats.problem = impl_->problem_of(*found->second);
  return stats;
}

}  // namespace flowcon::ctrl::logs
