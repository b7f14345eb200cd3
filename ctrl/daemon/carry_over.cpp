// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/carry_over.h"

#include <dirent.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "base/hex.h"
#include "base/json.h"
#include "base/text.h"
#include "ctrl/began_elsewhere.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"
#include "ctrl/logs/tail_file.h"
#include "ctrl/pause.h"

namespace flowcon::ctrl {
namespace {

constexpr int kRecordedTries = 150;       // of 0.2 s
constexpr double kSameStart = 0.01;       // seconds
constexpr std::size_t kMostPasts = 1000;  // in memory, before those of jobs that have gone go
constexpr std::size_t kPage = 1U << 20;
constexpr std::size_t kLongestLine = 8U
                                     << 20;  // of a record, see cluster/migration/plan/log_lines.h

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
    if (name.ends_with(".log") && is_container_id(name.substr(0, name.size() - 4))) {
      ids.push_back(name.substr(0, name.size() - 4));
    }
  }
  ::closedir(listing);
  return ids;
}

}  // namespace

std::string carried_log_path(const std::string& state_dir, const std::string& id) {
  return state_dir + "/lives/" + id + ".log";
}

Async<Result<void>> CarryOver::read() {
  auto read = [this] { return world_.store->pasts(); };
  const auto pasts = co_await effects_.run(std::move(read));
  if (!pasts) co_return pasts.error();
  for (const auto& [id, text] : *pasts) {
    const Result<json::value> value = parse_json(text);
    Result<Past> past = value ? past_from(*value) : Result<Past>(value.error());
    if (past) {
      pasts_[id] = std::move(*past);
    } else {
      log::warning("cannot read the carry-over of container " + printable(id, 12) +
                   " from other hosts: " + past.error().message());
    }
  }
  co_return Result<void>();
}

void CarryOver::take_up(Job& job) {
  job.saw_all = !job.container.has_ended_before && !began_elsewhere(job.container.labels);
  const auto found = pasts_.find(job.id());
  if (found == pasts_.end()) return;
  Past& past = found->second;
  if (past.started == 0) {
    past.started = job.begun();
    save(job.id(), past);
  } else if (std::fabs(past.started - job.begun()) > kSameStart) {
    return drop(job.id());
  }
  job.past = past;
  job.saw_all = past.is_whole;
}

void CarryOver::keep(const Job& job, const std::function<bool(const std::string&)>& is_moving) {
  if (pasts_.size() >= kMostPasts) {
    std::erase_if(pasts_, [&](const auto& past) {
      return !roster_.jobs.contains(past.first) && !is_moving(past.first);
    });
  }
  const Past past{job.track.record(), job.track_series.metric, job.goal, job.saw_all, 0};
  pasts_[job.id()] = past;
  save(job.id(), past);
}

void CarryOver::save(const std::string& id, const Past& past) {
  post([this, id, past] { return world_.store->save_past(id, render_json(to_json(past))); });
}

void CarryOver::drop(const std::string& id) {
  pasts_.erase(id);
  post([this, id] { return world_.store->forget_past(id); });
}

void CarryOver::post(std::function<Result<void>()> write) {
  const bool is_queued = effects_.try_post([write = std::move(write)] {
    if (Result<void> done = write(); !done) log::warning(done.error().message());
  });
  if (!is_queued) log::debug("too many blocking calls wait; the state file lags behind");
}

// The engine's event that it has ended comes a moment later than the end.
Async<void> CarryOver::await_recorded(std::string id) {
  for (int i = 0; i < kRecordedTries; ++i) {
    const auto job = roster_.jobs.find(id);
    const bool is_done = !roster_.ending.contains(id) &&
                         (job == roster_.jobs.end() || !job->second.unsupported.empty());
    if (is_done && recorder_.is_idle()) co_return;
    if (is_done) recorder_.write();
    co_await pause(0.2);
  }
}

Async<Result<std::string>> CarryOver::export_history(std::string id, std::string host) {
  co_await await_recorded(id);
  HistoryBundle bundle;
  bundle.is_whole = !roster_.jobs.contains(id) && recorder_.is_idle();
  // One that a start here has taken up is not all that there is.
  const auto past = pasts_.find(id);
  if (past != pasts_.end() && past->second.started == 0) bundle.past = past->second;
  const double now = world_.clock().wall;
  auto tell = [this, id, bundle, host, now]() mutable -> Result<std::string> {
    const auto choices = world_.store->choices();
    if (!choices) return choices.error();
    for (const store::Choice& choice : *choices) {
      if (choice.id == id) bundle.choice = choice;
    }
    const auto positions = world_.store->positions();
    if (!positions) return positions.error();
    const auto at = positions->find(id);
    // A file of the job's own: "/out/log", "tfevents:/out".
    if (at != positions->end() && at->second.log.find('/') != std::string::npos) {
      bundle.position = at->second;
    }
    Result<store::History> history = world_.store->history(id);
    if (history) {
      bundle.has_history = true;
      const double began =
          history->stays.empty() ? history->run.started : history->stays.back().ended;
      history->stays.push_back({host, began, now});
      bundle.history = std::move(*history);
    } else if (!is_absent(history.error())) {
      return history.error();
    }
    return render_bundle(bundle, now);
  };
  co_return co_await effects_.run(std::move(tell));
}

Async<Result<void>> CarryOver::import_history(std::string id, std::string text,
                                              std::string log_path) {
  if (!is_container_id(id)) co_return bad_input("no container has the id " + printable(id, 80));
  const double now = world_.clock().wall;
  auto take = [this, id, text, log_path, now]() -> Result<HistoryBundle> {
    Result<HistoryBundle> read = parse_bundle(text, now);
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
  Result<HistoryBundle> taken = co_await effects_.run(std::move(take));
  if (!taken) co_return taken.error();
  if (taken->position) logs_.set_position(id, *taken->position);
  if (taken->past) pasts_[id] = *taken->past;
  if (!taken->past_problem.empty()) {
    log::warning("cannot read the carry-over of container " + printable(id, 12) +
                 " from other hosts: " + taken->past_problem);
  }
  const store::Choice& choice = taken->choice;
  if (choice.settings.empty() && choice.control.empty() && !choice.released) {
    co_return Result<void>();
  }
  co_return co_await controls_.save(choice);
}

Async<Result<void>> CarryOver::forget_history(std::string id) {
  logs_.forget(id);
  pasts_.erase(id);
  if (Result<void> done = co_await controls_.forget(id); !done) co_return done;
  auto forget = [this, id] { return world_.store->forget_history(id); };
  co_return co_await effects_.run(std::move(forget));
}

Async<void> CarryOver::forget_logs(Containers* containers) {
  for (const std::string& id : kept_logs(state_dir_ + "/lives")) {
    Result<engine::Container> seen = co_await containers->inspect(id);
    if (seen) absences_.see(id);
    if (!is_absent(seen) || !absences_.is_gone(id, world_.clock().steady)) continue;
    if (::unlink(carried_log_path(state_dir_, id).c_str()) == 0) {
      log::info("deleted the earlier log of container " + id.substr(0, 12) + ", which is gone");
    }
  }
}

Async<api::Response> CarryOver::log_of(Containers* containers, api::Call call) {
  Result<engine::Container> seen = co_await containers->inspect(call.name);
  if (!seen) co_return api::failure(502, seen.error());
  const std::string path = carried_log_path(state_dir_, seen->id);
  const auto from = call.number<std::uint64_t>("from", 0);
  json::object body;
  body["id"] = seen->id;
  body["name"] = valid_utf8(seen->name);
  auto read = [path, from, body]() mutable -> Result<json::object> {
    Result<logs::LogFile> file = logs::open_log_file(path);
    const bool is_none = is_absent(file);
    if (!file && !is_none) return file.error();
    Result<std::string> lines = is_none ? Result<std::string>("") : read_lines(*file, from);
    if (!lines) return lines.error();
    body["next"] = lines->empty() ? json::value(nullptr) : json::value(from + lines->size());
    body["lines"] = *lines;
    return body;
  };
  Result<json::object> page = co_await effects_.run(std::move(read));
  if (!page) co_return api::failure(500, page.error().message());
  co_return api::answer_with(*page);
}

}  // namespace flowcon::ctrl
