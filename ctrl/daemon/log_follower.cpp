// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/log_follower.h"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "ctrl/log.h"
#include "ctrl/logs/tail_file.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kPiece = 64U << 10;

}  // namespace

void LogFollower::start(Job& job) {
  const std::string path = carried_log_(job.id());
  if (job.log.is_inside || ::access(path.c_str(), R_OK) != 0) return follow(job);
  job.is_reading_past = true;
  job.past_reading = ++readings_;
  spawn(io_, "carried log", read_carried_log(job.id(), job.past_reading, path));
}

void LogFollower::follow(Job& job) {
  const std::string id = job.id();
  const auto stored = positions_.find(id);
  std::string from;
  if (stored != positions_.end() && stored->second.log == job.log.name) {
    job.recorded_position = stored->second;
    from = stored->second.position;
  }
  job.read_until = from;
  job.has_position = !from.empty();
  auto sink = [this, id](const logs::Line& line) { feed(id, line); };
  Result<void> started;
  if (job.log.is_journal) {
    started = tails_.start_journal(id, from, sink);
  } else if (const auto source = open_log(job.log, job.container); source) {
    started = tails_.start(id, *source, from, sink);
  } else {
    started = source.error();
  }
  if (!started) {
    job.log_problem = started.error().message();
    log::event(log::MessageId::container_unread,
               "container " + printable(job.container.name, 80) + ": " + job.log_problem, id);
  }
}

void LogFollower::feed(const std::string& id, const logs::Line& line) {
  // Looked up by id for each line: the job may be gone when a last line comes.
  Job* job = roster_.reading(id);
  if (job == nullptr || !job->extractor) return;
  if (job->is_catching_up && !line.is_known) end_catching_up(*job);
  job->is_catching_up = line.is_known;
  // A file of the job's own may say any time; no value is from the future.
  const double now = clock_().wall;
  job->extractor->feed(line.text, line.time > 0 && line.time <= now ? line.time : now);
}

Job* LogFollower::job_of(const std::string& id, std::uint64_t reading) {
  const auto found = roster_.jobs.find(id);
  const bool is_its_own = found != roster_.jobs.end() && found->second.past_reading == reading;
  return is_its_own ? &found->second : nullptr;
}

// In turns, so that nothing waits for a long log.
Async<void> LogFollower::read_carried_log(std::string id, std::uint64_t reading, std::string path) {
  auto sink = [this, id](const logs::Line& line) {
    logs::Line known = line;
    known.is_known = true;
    feed(id, known);
  };
  const auto decoder = logs::make_decoder(logs::Format::json_file, sink);
  const Result<logs::LogFile> file = logs::open_log_file(path);
  std::string bytes(kPiece, '\0');
  std::uint64_t offset = 0;
  while (file && job_of(id, reading) != nullptr) {
    const Result<std::size_t> got = file->read(bytes.data(), bytes.size(), offset);
    if (!got || *got == 0) break;
    offset += *got;
    decoder->feed(std::string_view(bytes).substr(0, *got));
    co_await boost::asio::post(io_, boost::asio::use_awaitable);
  }
  Job* job = job_of(id, reading);
  if (job == nullptr) co_return;
  decoder->finish();
  if (!file) log::warning(file.error().message());
  job->is_reading_past = false;
  end_catching_up(*job);
  follow(*job);
}

}  // namespace flowcon::ctrl
