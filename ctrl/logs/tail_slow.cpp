// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_slow.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kStepBytes = 64 * 1024;
constexpr std::uint64_t kMaxDrainBytes = 16 * 1024 * 1024;

struct Slow {
  SlowMount mount;
  std::unique_ptr<LogReader> reader;  ///< the helper's alone while it is asked, and at its end
  std::shared_ptr<Spout> spout;       ///< what it keeps likewise
  std::shared_ptr<Helper> helper;     ///< null while there is none to be had
  bool is_stopped = false;
  bool is_asked = false;  ///< the helper has not answered yet
  Clock::time_point asked_at;
  bool suspects_rotation = true;  ///< for the next step
  Position position;              ///< as of the last answer
  TailStats stats;
  SlowLogs::Done when_dry;  ///< it is drained
  std::uint64_t drains_to = 0;
  Clock::time_point drained_by;
};

using SlowPtr = std::shared_ptr<Slow>;

/// What a helper's step gave.
struct Answer {
  LogReader::Step step = LogReader::Step::idle;
  Position position;
  TailStats stats;
  std::vector<KeptLine> lines;
  bool has_finished = false;
};

/// On the helper's thread.
Answer step_slowly(Slow& log, bool suspects, bool finishes) {
  std::vector<char> buffer(kStepBytes + LogReader::kRecentBytes);
  LogReader& reader = *log.reader;
  if (suspects) reader.suspect_rotation();
  Answer answer;
  answer.step = reader.step(buffer);
  const bool is_idle = answer.step == LogReader::Step::idle;
  answer.has_finished = is_idle && finishes;
  if (answer.has_finished) reader.finish();
  answer.position = reader.position();
  answer.stats = reader.stats();
  if (is_idle) reader.rest();
  answer.lines = std::exchange(log.spout->kept, {});
  return answer;
}

/// The way from helpers to the loop, which can be gone when they come back.
struct Outlet {
  std::mutex mutex;
  asio::io_context* io = nullptr;
  template <class Work>
  void post(Work work) {
    const std::lock_guard lock(mutex);
    if (io != nullptr) asio::post(*io, std::move(work));
  }
  void close() {
    const std::lock_guard lock(mutex);
    io = nullptr;
  }
};

/// The reader ends where its end may be waited for: with its helper, behind what was asked before.
void let_go(const SlowPtr& log) {
  log->is_stopped = true;
  const auto helper = std::exchange(log->helper, nullptr);
  if (helper) helper->post([log] { log->reader.reset(); });
}

}  // namespace

struct SlowLogs::Impl : std::enable_shared_from_this<SlowLogs::Impl> {
  Impl(asio::io_context& io, std::chrono::milliseconds longest)
      : patience(longest), outlet(std::make_shared<Outlet>()) {
    outlet->io = &io;
  }
  void ask(const SlowPtr& log);
  void on_answer(const SlowPtr& log, const Answer& answer);
  void end_drain(const SlowPtr& log);
  [[nodiscard]] std::string problem_of(const Slow& log) const;

  std::chrono::milliseconds patience;
  std::shared_ptr<Outlet> outlet;
  Helpers helpers;
  std::map<std::string, SlowPtr> logs;
};

void SlowLogs::Impl::ask(const SlowPtr& log) {
  if (log->is_asked || log->is_stopped) return;
  if (!log->helper) log->helper = helpers.get(log->mount.device);
  if (!log->helper) return;
  log->is_asked = true;
  log->asked_at = Clock::now();
  const bool suspects = std::exchange(log->suspects_rotation, false);
  const bool finishes = log->when_dry != nullptr;
  log->helper->post([weak = weak_from_this(), way = outlet, log, suspects, finishes] {
    const auto answer = std::make_shared<const Answer>(step_slowly(*log, suspects, finishes));
    way->post([weak, log, answer] {
      if (const auto self = weak.lock()) self->on_answer(log, *answer);
    });
  });
}

void SlowLogs::Impl::on_answer(const SlowPtr& log, const Answer& answer) {
  log->is_asked = false;
  for (const KeptLine& line : answer.lines) {
    if (log->is_stopped) return;  // by another log's sink, or this one's
    log->spout->sink({line.text, line.time, line.is_stderr, line.is_known});
  }
  if (log->is_stopped) return;
  log->position = answer.position;
  log->stats = answer.stats;
  const bool is_dry = answer.has_finished || answer.stats.bytes > log->drains_to;
  if (log->when_dry && is_dry) return end_drain(log);
  if (log->when_dry || answer.step != LogReader::Step::idle) ask(log);
}

void SlowLogs::Impl::end_drain(const SlowPtr& log) {
  const auto done = std::exchange(log->when_dry, nullptr);
  std::erase_if(logs, [&log](const auto& entry) { return entry.second == log; });
  // What it has kept back, where no helper has it.
  if (!log->helper && log->reader) {
    log->spout->keeps = false;
    log->reader->finish();
  }
  let_go(log);
  done(log->position);
}

std::string SlowLogs::Impl::problem_of(const Slow& log) const {
  if (!log.helper) {
    return "the log is not read: it is on " + log.mount.shown + ", which may not answer, and " +
           std::to_string(Helpers::kMost) + " such file systems are being read already";
  }
  if (log.is_asked && Clock::now() - log.asked_at >= patience) {
    return "the log does not answer (" + log.mount.shown + ")";
  }
  return log.stats.problem;
}

SlowLogs::SlowLogs(asio::io_context& io, std::chrono::milliseconds patience)
    : impl_(std::make_shared<Impl>(io, patience)) {}
SlowLogs::~SlowLogs() { close(); }

void SlowLogs::start(const std::string& id, const SlowMount& mount,
                     std::unique_ptr<LogReader> reader, std::shared_ptr<Spout> spout,
                     const Position& position) {
  auto log = std::make_shared<Slow>();
  log->mount = mount;
  log->reader = std::move(reader);
  log->spout = std::move(spout);
  log->spout->keeps = true;
  log->position = position;
  log->stats = log->reader->stats();
  log->stats.problem.clear();  // that it may have to wait
  impl_->logs[id] = log;
  impl_->ask(log);
}

Position SlowLogs::stop(const std::string& id) {
  const auto found = impl_->logs.find(id);
  if (found == impl_->logs.end()) return {};
  const SlowPtr log = found->second;
  impl_->logs.erase(found);
  let_go(log);
  return log->position;
}

bool SlowLogs::drain(const std::string& id, Done done) {
  const auto found = impl_->logs.find(id);
  if (found == impl_->logs.end()) return false;
  const SlowPtr log = found->second;
  log->when_dry = std::move(done);
  log->suspects_rotation = true;
  log->drains_to = log->stats.bytes + kMaxDrainBytes;
  log->drained_by = Clock::now() + impl_->patience;
  impl_->ask(log);
  return true;
}

void SlowLogs::look() {
  const auto self = impl_;  // who is told that a log is drained may destroy this
  const auto now = Clock::now();
  std::vector<SlowPtr> overdue;
  for (const auto& [id, log] : self->logs) {
    log->suspects_rotation = true;
    self->ask(log);
    if (log->when_dry && now >= log->drained_by) overdue.push_back(log);
  }
  for (const SlowPtr& log : overdue) {
    if (!log->is_stopped) self->end_drain(log);
  }
}

void SlowLogs::close() {
  impl_->outlet->close();
  for (const auto& [id, log] : impl_->logs) let_go(log);
  impl_->logs.clear();
}

bool SlowLogs::has(const std::string& id) const { return impl_->logs.contains(id); }
bool SlowLogs::is_empty() const { return impl_->logs.empty(); }

Position SlowLogs::position(const std::string& id) const {
  const auto found = impl_->logs.find(id);
  return found == impl_->logs.end() ? Position{} : found->second->position;
}

TailStats SlowLogs::stats(const std::string& id) const {
  const auto found = impl_->logs.find(id);
  if (found == impl_->logs.end()) return {};
  TailStats stats = found->second->stats;
  stats.problem = impl_->problem_of(*found->second);
  return stats;
}

}  // namespace flowcon::ctrl::logs
