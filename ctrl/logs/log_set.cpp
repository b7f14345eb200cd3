// SPDX-License-Identifier: Apache-2.0
// The journal wakes its readers for every entry of every service, so after a wake each of them
// sleeps a while before it looks again. Callbacks hold the set weakly and look their log up again.
#include "ctrl/logs/log_set.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstdint>
#include <map>
#include <utility>

#include "ctrl/logs/journal_reader.h"

namespace flowcon::ctrl::logs {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Of what the loop reads at once of a log that has ended. Bytes alone would not bound it: an entry
// may have none.
constexpr int kMaxDrainSteps = 100;
constexpr std::uint64_t kMaxDrainBytes = 16U << 20;
constexpr int kCheckSteps = 10;

struct Followed {
  explicit Followed(asio::io_context& io) : waiting(io), pause(io), check(io) {}
  ~Followed() {
    if (waiting.is_open()) waiting.release();  // the journal closes its own descriptor
  }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;
  std::unique_ptr<JournalReader> reader;
  asio::posix::stream_descriptor waiting;
  asio::steady_timer pause;
  asio::steady_timer check;
  bool is_reading = false;
};

using FollowedPtr = std::shared_ptr<Followed>;

}  // namespace

struct LogSet::Impl : std::enable_shared_from_this<LogSet::Impl> {
  Impl(asio::io_context& loop, std::chrono::milliseconds pause, std::chrono::milliseconds slow,
       std::string folder)
      : io(loop), batch(pause), check_every(slow), journal(std::move(folder)) {}

  /// Calls `then` with the log, unless it is not followed any more.
  template <class Then>
  auto later(const FollowedPtr& log, Then then) {
    return [weak = weak_from_this(), held = std::weak_ptr<Followed>(log), then](auto... result) {
      const auto self = weak.lock();
      const auto found = held.lock();
      if (self && found && !(... || static_cast<bool>(result))) then(*self, found);
    };
  }

  void read(const FollowedPtr& log);
  void wait(const FollowedPtr& log);
  void check(const FollowedPtr& log);

  asio::io_context& io;
  std::chrono::milliseconds batch;
  std::chrono::milliseconds check_every;
  std::string journal;
  std::map<std::string, FollowedPtr> logs;
};

void LogSet::Impl::read(const FollowedPtr& log) {
  log->is_reading = true;
  const bool has_more = log->reader->step();
  log->is_reading = false;
  const auto again = later(log, [](Impl& self, const FollowedPtr& l) { self.read(l); });
  if (has_more) return asio::post(io, again);
  log->pause.expires_after(batch);
  log->pause.async_wait(later(log, [](Impl& self, const FollowedPtr& l) { self.wait(l); }));
}

void LogSet::Impl::wait(const FollowedPtr& log) {
  error_code failed;
  if (!log->waiting.is_open()) log->waiting.assign(log->reader->fd(), failed);
  if (failed) return;  // the slow look remains
  log->waiting.async_wait(asio::posix::descriptor_base::wait_read,
                          later(log, [](Impl& self, const FollowedPtr& l) {
                            l->waiting.release();
                            l->reader->refresh();
                            self.read(l);
                          }));
}

void LogSet::Impl::check(const FollowedPtr& log) {
  log->check.expires_after(check_every);
  log->check.async_wait(later(log, [](Impl& self, const FollowedPtr& l) {
    l->reader->refresh();
    l->is_reading = true;
    for (int i = 0; i < kCheckSteps && l->reader->step(); ++i) {
    }
    l->is_reading = false;
    self.check(l);
  }));
}

LogSet::LogSet(asio::io_context& io, std::chrono::milliseconds batch,
               std::chrono::milliseconds check, std::string journal)
    : tails_(io, batch, check),
      impl_(std::make_shared<Impl>(io, batch, check, std::move(journal))) {}

LogSet::~LogSet() {
  for (const auto& [id, log] : impl_->logs) log->reader->mute();
  impl_->logs.clear();
}

Result<void> LogSet::start(const std::string& id, const Source& source, const std::string& from,
                           LineSink sink) {
  const auto position = parse_position(from);
  return tails_.start(id, source, position ? *position : Position{}, std::move(sink));
}

Result<void> LogSet::start_journal(const std::string& id, const std::string& from, LineSink sink) {
  if (impl_->logs.contains(id)) return errno_error(EEXIST, "follow the log of " + id + " twice");
  auto reader = JournalReader::open(impl_->journal, id, from, std::move(sink));
  if (!reader) return reader.error();
  auto log = std::make_shared<Followed>(impl_->io);
  log->reader = std::move(*reader);
  impl_->logs.emplace(id, log);
  asio::post(impl_->io, impl_->later(log, [](Impl& self, const FollowedPtr& l) { self.read(l); }));
  impl_->check(log);
  return {};
}

std::string LogSet::stop(const std::string& id, bool drain) {
  const auto found = impl_->logs.find(id);
  if (found == impl_->logs.end()) return render_position(tails_.stop(id, drain));
  const FollowedPtr log = found->second;
  impl_->logs.erase(found);
  if (drain && !log->is_reading) {
    log->reader->refresh();
    const std::uint64_t most = log->reader->bytes() + kMaxDrainBytes;
    for (int i = 0; i < kMaxDrainSteps && log->reader->bytes() < most && log->reader->step(); ++i) {
    }
    log->reader->finish();
  }
  log->reader->mute();
  return log->reader->position();
}

bool LogSet::drain(const std::string& id, std::function<void(const std::string&)> done) {
  return tails_.drain(
      id, [done = std::move(done)](const Position& position) { done(render_position(position)); });
}

std::string LogSet::position(const std::string& id) const {
  const auto found = impl_->logs.find(id);
  return found == impl_->logs.end() ? render_position(tails_.position(id))
                                    : found->second->reader->position();
}

TailStats LogSet::stats(const std::string& id) const {
  const auto found = impl_->logs.find(id);
  if (found == impl_->logs.end()) return tails_.stats(id);
  TailStats stats;
  stats.bytes = found->second->reader->bytes();
  stats.framing = found->second->reader->stats();
  stats.is_catching_up = found->second->reader->is_catching_up();
  stats.problem = found->second->reader->problem();
  return stats;
}

}  // namespace flowcon::ctrl::logs
