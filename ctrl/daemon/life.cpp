// SPDX-License-Identifier: Apache-2.0
// What comes and goes with a container that moves between hosts: what was recorded and decided, and
// what it printed where its engine here has no place for that.
#include "ctrl/life.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/logs/tail_file.h"
#include "ctrl/pause.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

constexpr int kRecordedTries = 150;       // of 0.2 s
constexpr double kSameStart = 0.01;       // seconds
constexpr std::size_t kMostPasts = 1000;  // in memory, before those of jobs that have gone go
constexpr std::size_t kPiece = 64U << 10;
constexpr std::size_t kPage = 1U << 20;
constexpr std::size_t kLongestLine = 8U
                                     << 20;  // of a record, see cluster/migration/plan/log_lines.h

bool is_id(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// All that a log holds now is known. What comes is younger than `now`.
Result<std::string> end_position(const std::string& path, double now) {
  Result<logs::LogFile> file = logs::open_log_file(path);
  if (!file) return file.error();
  const Result<std::uint64_t> size = file->size();
  if (!size) return size.error();
  if (*size == 0) return std::string();
  const logs::Position position{file->id(), file->head(), *size, file->before(*size), now};
  return logs::render_position(position);
}

// Whole lines from `from` on, about a MiB.
Result<std::string> read_lines(const logs::LogFile& file, std::uint64_t from) {
  for (std::size_t most = kPage;; most = kLongestLine) {
    std::string bytes(most, '\0');
    std::size_t count = 0;
    while (count < most) {
      const Result<std::size_t> got = file.read(bytes.data() + count, most - count, from + count);
      if (!got) return got.error();
      if (*got == 0) break;
      count += *got;
    }
    bytes.resize(count);
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos && count == most && most == kPage) continue;
    bytes.resize(end == std::string::npos ? 0 : end + 1);
    return bytes;
  }
}

std::vector<std::string> kept_logs(const std::string& folder) {
  std::vector<std::string> ids;
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return ids;
  for (const dirent* entry = ::readdir(listing); entry != nullptr; entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".log") && is_id(name.substr(0, name.size() - 4))) {
      ids.push_back(name.substr(0, name.size() - 4));
    }
  }
  ::closedir(listing);
  return ids;
}

}  // namespace

std::string Daemon::past_log_path(const std::string& id) const {
  return config_.state_dir + "/lives/" + id + ".log";
}

Async<void> Daemon::read_pasts() {
  auto read = [this] { return world_.store->pasts(); };
  const auto pasts = co_await effects_.run(std::move(read));
  if (!pasts) {
    warn(pasts.error().message());
    co_return;
  }
  for (const auto& [id, text] : *pasts) {
    const Result<json::value> value = parse_json(text);
    Result<Past> past = value ? past_from(*value) : Result<Past>(value.error());
    if (past) {
      pasts_[id] = std::move(*past);
    } else {
      log::warning("what container " + printable(id, 12) +
                   " did before is not known any more: " + past.error().message());
    }
  }
}

// By the container's next start, and no other: what came between is not known.
void Daemon::take_up_past(Job& job) {
  job.saw_all = !job.container.has_ended_before && !job.container.labels.contains(kMovedLabel);
  const auto found = pasts_.find(job.id());
  if (found == pasts_.end()) return;
  Past& past = found->second;
  if (past.started == 0) {
    past.started = job.begun();
    save_past(job.id(), past);
  } else if (std::fabs(past.started - job.begun()) > kSameStart) {
    return drop_past(job.id());
  }
  job.past = past;
  job.saw_all = past.is_whole;
}

// For the host that it goes to, or for this one, where the move is undone.
void Daemon::keep_past(const Job& job) {
  if (pasts_.size() >= kMostPasts) {
    std::erase_if(pasts_, [this](const auto& past) {
      return !jobs_.contains(past.first) && !companion_->is_moving(past.first);
    });
  }
  const Past past{job.track.record(), job.track_metric, job.goal, job.saw_all, 0};
  pasts_[job.id()] = past;
  save_past(job.id(), past);
}

void Daemon::save_past(const std::string& id, const Past& past) {
  const bool is_queued = effects_.try_post([this, id, past] {
    if (Result<void> saved = world_.store->save_past(id, render_json(to_json(past))); !saved) {
      log::warning(saved.error().message());
    }
  });
  if (!is_queued) log::debug("too many effects wait; what a job has used is in memory alone");
}

void Daemon::drop_past(const std::string& id) {
  pasts_.erase(id);
  const bool is_queued = effects_.try_post([this, id] {
    if (Result<void> gone = world_.store->forget_past(id); !gone)
      log::warning(gone.error().message());
  });
  if (!is_queued) log::debug("too many effects wait; what a job had used stays in the state");
}

// The engine's event that it has ended comes a moment later than the end.
Async<void> Daemon::await_recorded(std::string id) {
  for (int i = 0; i < kRecordedTries; ++i) {
    const auto job = jobs_.find(id);
    const bool is_done =
        !ending_.contains(id) && (job == jobs_.end() || !job->second.unsupported.empty());
    if (is_done && recorder_.is_idle()) co_return;
    if (is_done) recorder_.write();
    co_await pause(0.2);
  }
}

Async<Result<std::string>> Daemon::export_life(std::string id) {
  co_await await_recorded(id);
  Life life;
  life.is_whole = !jobs_.contains(id) && recorder_.is_idle();
  // One that a start here has taken up is not all that there is.
  const auto past = pasts_.find(id);
  if (past != pasts_.end() && past->second.started == 0) life.past = past->second;
  const std::string host = view().name;
  const double now = moment().wall;
  auto tell = [this, id, life, host, now]() mutable -> Result<std::string> {
    const auto choices = world_.store->choices();
    if (!choices) return choices.error();
    for (const store::Choice& choice : *choices) {
      if (choice.id == id) life.choice = choice;
    }
    const auto positions = world_.store->positions();
    if (!positions) return positions.error();
    const auto at = positions->find(id);
    // A file of the job's own: "/out/log", "tfevents:/out".
    if (at != positions->end() && at->second.log.find('/') != std::string::npos) {
      life.position = at->second;
    }
    Result<store::History> history = world_.store->history(id);
    if (history) {
      life.has_history = true;
      const double began =
          history->stays.empty() ? history->run.started : history->stays.back().ended;
      history->stays.push_back({host, began, now});
      life.history = std::move(*history);
    } else if (history.error().code != boost::system::errc::no_such_file_or_directory) {
      return history.error();
    }
    return render_life(life, now);
  };
  co_return co_await effects_.run(std::move(tell));
}

Async<Result<void>> Daemon::import_life(std::string id, std::string life, std::string log_path) {
  if (!is_id(id)) co_return bad_input("no container has the id " + printable(id, 80));
  const double now = moment().wall;
  auto take = [this, id, life, log_path, now]() -> Result<Life> {
    Result<Life> read = parse_life(life, now);
    if (!read) return read;
    read->history.run.id = read->choice.id = id;
    // Of a log that holds more than was recorded nothing tells where the rest begins.
    if (!read->is_whole) read->past.reset();
    if (read->past) read->past->started = 0;
    const bool is_own = log_path.ends_with("-json.log");
    if (!read->position && is_own && read->is_whole) {
      Result<std::string> position = end_position(log_path, now);
      if (!position) return position.error();
      if (!position->empty()) read->position = store::LogPosition{"json-file", *position};
    }
    if (!read->has_history) return read;
    Result<void> put = world_.store->import_history(read->history, read->position);
    if (put && read->past) put = world_.store->save_past(id, render_json(to_json(*read->past)));
    if (!put) return put.error();
    return read;
  };
  Result<Life> taken = co_await effects_.run(std::move(take));
  if (!taken) co_return taken.error();
  if (taken->position) positions_[id] = *taken->position;
  if (taken->past) pasts_[id] = *taken->past;
  if (!taken->past_problem.empty()) {
    log::warning("what container " + printable(id, 12) +
                 " has used elsewhere is not known: " + taken->past_problem);
  }
  const store::Choice choice = taken->choice;
  if (choice.settings.empty() && choice.control.empty() && !choice.released) {
    co_return Result<void>();
  }
  auto save = [this, choice] { return world_.store->save_choice(choice); };
  Result<void> saved = co_await effects_.run(std::move(save));
  if (saved) choices_[id] = choice;
  co_return saved;
}

Async<Result<void>> Daemon::forget_life(std::string id) {
  positions_.erase(id);
  pasts_.erase(id);
  choices_.erase(id);
  auto forget = [this, id]() -> Result<void> {
    if (auto done = world_.store->forget_choice(id); !done) return done;
    return world_.store->forget_history(id);
  };
  co_return co_await effects_.run(std::move(forget));
}

// In turns, so that nothing waits for a long log.
Async<void> Daemon::read_past_log(std::string id, std::string path) {
  auto sink = [this, id](const logs::Line& line) {
    logs::Line known = line;
    known.is_known = true;
    feed(id, known);
  };
  const auto decoder = logs::make_decoder(logs::Format::json_file, sink);
  const Result<logs::LogFile> file = logs::open_log_file(path);
  std::string bytes(kPiece, '\0');
  std::uint64_t offset = 0;
  while (file && jobs_.contains(id)) {
    const Result<std::size_t> got = file->read(bytes.data(), bytes.size(), offset);
    if (!got || *got == 0) break;
    offset += *got;
    decoder->feed(std::string_view(bytes).substr(0, *got));
    co_await boost::asio::post(io_, boost::asio::use_awaitable);
  }
  decoder->finish();
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) co_return;
  if (!file) log::warning(file.error().message());
  found->second.is_reading_past = false;
  end_catching_up(found->second);
  follow_log(found->second);
}

// Those of containers that the engine does not know any more.
Async<void> Daemon::forget_past_logs() {
  for (const std::string& id : kept_logs(config_.state_dir + "/lives")) {
    Result<engine::Container> seen = co_await containers_->inspect(id);
    if (seen || seen.error().code != boost::system::errc::no_such_file_or_directory) continue;
    if (::unlink(past_log_path(id).c_str()) == 0) {
      log::info("the log of container " + id.substr(0, 12) + " on earlier hosts is forgotten");
    }
  }
}

Async<api::Response> Daemon::past_log(std::string name, std::uint64_t from) {
  Result<engine::Container> seen = co_await containers_->inspect(name);
  if (!seen) {
    const bool is_unknown = seen.error().code == boost::system::errc::no_such_file_or_directory;
    co_return api::failure(is_unknown ? 404 : 502, seen.error().what);
  }
  const std::string path = past_log_path(seen->id);
  json::object body;
  body["id"] = seen->id;
  body["name"] = valid_utf8(seen->name);
  auto read = [path, from, body]() mutable -> Result<json::object> {
    Result<logs::LogFile> file = logs::open_log_file(path);
    const bool is_none =
        !file && file.error().code == boost::system::errc::no_such_file_or_directory;
    if (!file && !is_none) return file.error();
    Result<std::string> lines = is_none ? Result<std::string>("") : read_lines(*file, from);
    if (!lines) return lines.error();
    body["next"] = lines->empty() ? json::value(nullptr) : json::value(from + lines->size());
    body["lines"] = *lines;
    return body;
  };
  Result<json::object> page = co_await effects_.run(std::move(read));
  if (!page) co_return api::failure(500, page.error().message());
  api::Response response;
  response.body = render_json(*page);
  co_return response;
}

}  // namespace flowcon::ctrl
