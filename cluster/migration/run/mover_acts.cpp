// SPDX-License-Identifier: Apache-2.0
// Doing what the journal's rules name. Each act may be repeated; what it comes to shows in the
// facts.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fstream>
#include <sstream>
#include <variant>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/run/mover_processes.h"
#include "cluster/migration/run/mover_state.h"
#include "cluster/peers/bulk.h"
#include "ctrl/pause.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using ctrl::Async;
using ctrl::Pull;
using boost::asio::experimental::awaitable_operators::operator||;

constexpr double kAnswerTime = 20;  // seconds for one answer of a peer
constexpr double kIdleTime = 60;    // seconds without a byte until a transfer is given up
constexpr double kCriuTime = 300;   // seconds for CRIU to write a large job's memory
constexpr double kLook = 0.1;       // seconds between two looks whether the job has ended
constexpr double kOrphanTime = 30;  // seconds in which an engine ends what was not answered
constexpr int kTries = 3;           // of one part, where the connection broke
constexpr double kTryAgain = 2;     // seconds
constexpr double kCheckpointTries = 10;

// The engine's own word, and none that room on its disk would change.
bool is_useless_checkpoint(const Error& error) {
  return error.code == boost::system::errc::invalid_argument &&
         error.message().find("no space left") == std::string::npos;
}

bool is_timeout(const Error& error) { return error.code == boost::system::errc::timed_out; }

// The sentence of a peer's refusal.
std::string refusal_of(const Answer& answer) {
  const Result<json::value> body = parse_json(answer.body);
  const std::string said = body ? text_of(*body, "error") : "";
  return said.empty() ? "it answers with status " + std::to_string(answer.status)
                      : printable(said, 400);
}

// Waits until what was written below `folder` is on its disk.
Result<void> flush_disk(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno_error(errno, "opening " + folder);
  const int code = ::syncfs(file);
  const int why = errno;
  ::close(file);
  return code == 0 ? Result<void>() : errno_error(why, "writing to the disk of " + folder);
}

// Of all that may be answered with 404 only this says that no journal holds the move.
bool says_unknown(const std::string& text) {
  const Result<json::value> body = parse_json(text);
  return body && is_true(*body, "no_such_move");
}

// All of `text`, then nothing.
Pull pull_of(std::string text) {
  auto left = std::make_shared<std::string>(std::move(text));
  return [left]() -> Async<Result<std::string>> {
    constexpr std::size_t kPiece = 65536;
    std::string piece = left->substr(0, kPiece);
    left->erase(0, kPiece);
    co_return piece;
  };
}

}  // namespace

// Ends when nothing more is to be sent, whatever the connection does.
Async<void> Movers::sends_no_more(MovePtr move) {
  const auto is_over = [&] {
    return is_ended_ || !move->give_up.empty() ||
           (move->word == Word::step && move->peer >= Step::undo);
  };
  while (!is_over()) co_await ctrl::pause(kLook);
}

// For acts that are one request to the engine.
Async<bool> Movers::took(MovePtr move, Result<void> result) {
  if (result) co_return true;
  complain(*move, result.error());
  if (is_timeout(result.error())) move->stay_quiet(kOrphanTime);
  co_return false;
}

Async<bool> Movers::carry_out(MovePtr move, Effect effect) {
  const std::string container = move->entry.container;
  const bool changes = effect.act != Act::wait && effect.act != Act::report &&
                       effect.act != Act::send && effect.act != Act::sync &&
                       effect.act != Act::close;
  if (changes) move->is_synced = false;
  switch (effect.act) {
    case Act::wait:
      if (!effect.reason.empty() && move->trouble.empty()) move->trouble = effect.reason;
      co_return false;
    case Act::report:
      if (!effect.reason.empty()) move->trouble = effect.reason;
      co_return co_await report(move);
    case Act::prepare:
      co_return co_await prepare(move);
    case Act::disarm: {
      Result<void> done = co_await engine_.set_policy(container, {});
      co_return co_await took(move, std::move(done));
    }
    case Act::save:
      co_return co_await save_job(move);
    case Act::send:
      co_return co_await send(move);
    case Act::start:
      co_return co_await start_copy(move);
    case Act::stop: {
      Result<void> done = co_await engine_.stop_at_once(container);
      co_return co_await took(move, std::move(done));
    }
    case Act::arm: {
      json::object policy = move->plan.restart_policy;
      Result<void> done = co_await engine_.set_policy(container, std::move(policy));
      co_return co_await took(move, std::move(done));
    }
    case Act::remove:
      co_return co_await remove_copy(move);
    case Act::sync:
      co_return co_await sync_engine(move);
    case Act::close:
      if (move->entry.method == Method::criu &&
          (move->is_source() ? move->seen == Copy::running : move->entry.step == Step::done)) {
        std::string checkpoint = move->checkpoint_name();
        (void)co_await engine_.remove_checkpoint(container, std::move(checkpoint));
      }
      co_return true;
  }
  co_return false;
}

// -------------------------------------------------------------------------------- the other side

// Tells the other side this entry and hears its own.
Async<bool> Movers::report(MovePtr move) {
  if (!may_tell(move->written, move->seen)) co_return false;
  const bool asks = move->is_source() && move->entry.step == Step::reserve;
  json::object body;
  const Result<json::value> entry = parse_json(render(move->written));
  body["entry"] = *entry;
  if (!move->is_source() && move->running_since) {
    body["running_for"] = steady_now() - *move->running_since;
  }
  if (asks) {
    json::object plan = to_json(move->plan);
    plan.erase("checkpoint");
    body["plan"] = std::move(plan);
  }
  const Word word = move->word;
  const Step peer = move->peer;
  std::string method = "POST", target = "/v1/peer/moves";
  if (!asks) target += "/" + move->entry.id;
  std::string other = move->other(), text = render_json(body);
  Result<Answer> answer = co_await network_.ask(std::move(other), std::move(method),
                                                std::move(target), std::move(text), kAnswerTime);
  if (!answer) {
    complain(*move, answer.error());
    co_return false;
  }
  if (answer->status == 404 && !asks && says_unknown(answer->body)) {
    move->word = Word::knows_nothing;
    move->heard = steady_now();
    co_return word != Word::knows_nothing;
  }
  // It has not read its journal yet, or cannot: that is no word about the move.
  if (answer->status == 503) {
    complain(*move, bad_input(peer_name(move->other()) + " does not say: " + refusal_of(*answer)));
    co_return false;
  }
  if (answer->status != 200) {
    const std::string why = peer_name(move->other()) + " refuses: " + refusal_of(*answer);
    move->trouble = why;
    if (asks) move->give_up = why;
    co_return asks;
  }
  const Result<json::value> said = parse_json(answer->body);
  if (!said) co_return false;
  hear(*move, render_json(member(*said, "entry")));
  hear_running(*move, *said);
  if (asks && is_true(*said, "needs_image")) {
    const json::value& there = member(*said, "layers_there");
    move->layers_there = there.is_int64() ? static_cast<std::size_t>(there.get_int64()) : 0;
    const Result<void> sent = co_await send_image_of(move);
    if (!sent) {
      move->give_up = "its image: " + sent.error().message();
      complain(*move, sent.error());
    }
    co_return true;
  }
  co_return move->word != word || move->peer != peer;
}

Async<Result<void>> Movers::send_image_of(MovePtr move) {
  if (move->layers_there > move->plan.image.layers.size()) {
    co_return bad_input("the target says that it has more layers than there are");
  }
  ImageInfo image = move->plan.image;
  Result<Pull> body = co_await send_image(client_, std::move(image), move->layers_there);
  if (!body) co_return body.error();
  std::string part = "image";
  co_return co_await send_one(move, std::move(part), std::move(*body), kImageIdle);
}

// One part over a connection of its own; the other side has to have got the same bytes.
Async<Result<void>> Movers::send_one(MovePtr move, std::string part, Pull body, double idle) {
  Result<std::vector<std::string>> words = network_.dial(move->other());
  if (!words) co_return words.error();
  Metered metered;
  Pull counted = metered.wrap(std::move(body));
  // Nothing more is sent once the move is to be undone.
  Pull watched = [this, move, counted]() -> Async<Result<std::string>> {
    if (is_ended_) co_return bad_input("flowcond stops");
    if (!move->give_up.empty()) co_return bad_input(move->give_up);
    if (move->word == Word::step && move->peer >= Step::undo) {
      co_return bad_input("the target turned it down");
    }
    Result<std::string> piece = co_await counted();
    co_return piece;
  };
  move->passing = metered;
  move->sending_since = steady_now();
  std::string method = "PUT", target = "/v1/peer/moves/" + move->entry.id + "/" + part;
  Async<Result<Answer>> sending = peers::send_body(host_.io(), std::move(*words), std::move(method),
                                                   std::move(target), std::move(watched), idle);
  Async<void> waiting = sends_no_more(move);
  auto first = std::move(sending) || std::move(waiting);
  std::variant<Result<Answer>, std::monostate> ended = co_await std::move(first);
  Result<Answer> answer = bad_input("it is sent no more");
  if (ended.index() == 0) answer = std::move(std::get<0>(ended));
  move->account.bytes += metered.bytes();
  move->account.sending_seconds += steady_now() - *move->sending_since;
  move->passing.reset();
  move->sending_since.reset();
  if (!answer) co_return answer.error();
  if (answer->status != 200) {
    co_return Error{boost::system::errc::make_error_code(boost::system::errc::invalid_argument),
                    refusal_of(*answer)};
  }
  const Result<json::value> sum = parse_json(answer->body);
  const bool is_same = sum && metered.is_whole() && text_of(*sum, "sha256") == metered.sha256();
  if (!is_same) co_return bad_input("other bytes arrived than were sent");
  move->sent.insert(part);
  move->heard = steady_now();
  co_return Result<void>();
}

Async<Result<Pull>> Movers::open_part(MovePtr move, std::string part) {
  if (part == "life") {
    std::string id = move->entry.container;
    Result<std::string> life = co_await lives_.export_life(std::move(id));
    if (!life) co_return life.error();
    co_return pull_of(std::move(*life));
  }
  for (const Part& one : move->plan.parts) {
    if (one.name != part) continue;
    std::string id = move->entry.container, state = host_.config().state_dir;
    Result<CopyPlace> place = co_await find_place(client_, std::move(id), std::move(state));
    if (!place) co_return place.error();
    Part wanted = one;
    co_return co_await send_part(client_, std::move(*place), std::move(wanted));
  }
  co_return bad_input("there is no part " + part);
}

Async<bool> Movers::send(MovePtr move) {
  std::vector<std::string> names;
  for (const Part& part : move->plan.parts) names.push_back(part.name);
  names.emplace_back("life");
  for (const std::string& part : names) {
    for (int tried = 1; !move->sent.contains(part); ++tried) {
      std::string wanted = part;
      Result<Pull> body = co_await open_part(move, std::move(wanted));
      Result<void> sent = body ? Result<void>() : Result<void>(body.error());
      if (body) {
        std::string again = part;
        sent = co_await send_one(move, std::move(again), std::move(*body), kIdleTime);
      }
      if (sent) break;
      if (is_ended_) co_return false;
      const bool is_over = !move->give_up.empty() || move->peer >= Step::undo;
      const bool is_refused = sent.error().code == boost::system::errc::invalid_argument;
      if (is_over || is_refused || tried >= kTries) {
        complain(*move, sent.error());
        if (move->give_up.empty()) {
          move->give_up = "sending its " + part + ": " + sent.error().message();
        }
        co_return true;
      }
      co_await ctrl::pause(kTryAgain);
    }
  }
  if (move->sent_at == 0) move->sent_at = steady_now();
  co_return co_await report(move);
}

// -------------------------------------------------------------------------------- the engine

Async<bool> Movers::prepare(MovePtr move) {
  std::string image = move->plan.image.id;
  const Result<ImageInfo> there = co_await image_info(client_, std::move(image));
  if (!there) {
    const bool is_missing = there.error().code == boost::system::errc::no_such_file_or_directory;
    if (!is_missing) complain(*move, there.error());
    move->needs_image = is_missing;
    co_return false;
  }
  move->needs_image = false;
  std::string name = move->entry.name, id = move->entry.id;
  Plan plan = move->plan;
  ImageInfo info = plan.image;
  std::string called = plan.image_name;
  Result<std::string> shown =
      co_await call_image(client_, std::move(info), std::move(called), plan.has_brought_image);
  if (!shown) {
    complain(*move, shown.error());
    shown = plan.image.id;  // it has no name then
  }
  std::string as = *shown;
  Result<std::string> made =
      co_await engine_.make(std::move(name), std::move(plan), std::move(id), std::move(as));
  if (!made) {
    if (is_timeout(made.error())) move->stay_quiet(kOrphanTime);
    move->give_up = made.error().message();
    complain(*move, made.error());
    co_return true;
  }
  Entry next = move->entry;
  next.container = *made;
  Entry same = next;
  const Result<void> saved = co_await save(move, std::move(same));
  if (saved) {
    move->entry = std::move(next);
  } else {
    move->give_up = saved.error().what;
  }
  co_return true;
}

Async<Result<void>> Movers::sync_disk(std::string folder) {
  auto sync = [folder]() -> Async<Result<void>> { co_return flush_disk(folder); };
  auto synced =
      boost::asio::co_spawn(disk_.get_executor(), std::move(sync), boost::asio::use_awaitable);
  co_return co_await std::move(synced);
}

// Restart policies and what runs are in the engine's own files.
Async<bool> Movers::sync_engine(MovePtr move) {
  Result<std::string> folder = co_await engine_.containers_folder();
  Result<void> synced = folder ? Result<void>() : Result<void>(folder.error());
  if (folder) synced = co_await sync_disk(std::move(*folder));
  move->is_synced = synced.has_value();
  if (!synced && move->entry.step <= Step::ready && move->give_up.empty()) {
    move->give_up = synced.error().message();
  }
  co_return co_await took(move, std::move(synced));
}

Async<bool> Movers::save_job(MovePtr move) {
  if (!move->stopped_at) move->stopped_at = steady_now();
  move->was_asked = true;
  host_.apply_limits();
  Result<void> saved;
  if (move->entry.method == Method::app) {
    saved = co_await save_by_application(move);
  } else {
    saved = co_await save_by_criu(move);
  }
  if (saved) {
    std::string id = move->entry.container;
    const Result<Seen> seen = co_await engine_.look(std::move(id));
    if (seen) move->saved_life = seen->started;
    move->is_saved = true;
  } else {
    co_await note_end(move);
    if (is_timeout(saved.error())) move->stay_quiet(kOrphanTime);
    move->give_up = saved.error().what;
    complain(*move, saved.error());
  }
  // Saving may take long; how long the other side is silent counts from here.
  move->heard = steady_now();
  co_return true;
}

Async<Result<void>> Movers::save_by_criu(MovePtr move) {
  move->is_dumping = true;
  ctrl::spawn(host_.io(), "dump " + move->entry.name, watch_dump(move));
  std::string id = move->entry.container, checkpoint = move->checkpoint_name();
  Result<void> saved =
      co_await engine_.make_checkpoint(std::move(id), std::move(checkpoint), kCriuTime);
  move->is_dumping = false;
  if (!saved && !move->give_up.empty()) co_return bad_input(move->give_up);
  co_return saved;
}

// The engine ends no CRIU that nobody waits for any more, and the job would stand still with it.
Async<void> Movers::watch_dump(MovePtr move) {
  while (move->is_dumping && !is_ended_) {
    co_await ctrl::pause(kLook);
    if (move->give_up.empty()) continue;
    std::string id = move->entry.container;
    const Result<Seen> seen = co_await engine_.look(std::move(id));
    if (seen && move->is_dumping) end_dump(seen->pid, move->entry.container);
  }
}

Async<Result<void>> Movers::save_by_application(MovePtr move) {
  const ctrl::Checkpoint& how = move->plan.checkpoint;
  if (how.command.empty()) {
    co_return co_await save_by_signal(move, how.signal > 0 ? how.signal : SIGTERM);
  }
  std::string id = move->entry.container;
  std::vector<std::string> words = how.command;
  Result<std::int64_t> status =
      co_await engine_.execute(std::move(id), std::move(words), how.timeout);
  if (!status) co_return status.error();
  if (*status != 0) {
    co_return bad_input("its checkpoint command failed with status " + std::to_string(*status));
  }
  co_await note_end(move);
  if (move->has_ended) co_return bad_input("it ended by itself while its checkpoint command ran");
  move->was_told_to_end = true;
  move->stay_quiet(how.timeout + kOrphanTime);
  std::string again = move->entry.container;
  const Result<void> stopped = co_await engine_.stop(std::move(again));
  if (!stopped) co_return stopped;
  move->quiet_from = 0;
  co_return co_await believe_saved(move, std::nullopt);
}

// The job saves when it gets the signal, and ends with status 0.
Async<Result<void>> Movers::save_by_signal(MovePtr move, int signal) {
  std::string id = move->entry.container;
  timespec asked{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &asked);  // the clock of file times
  const double asked_at = steady_now();
  const double timeout = move->plan.checkpoint.timeout;
  // Whatever comes in between: it may save and end yet.
  move->stay_quiet(timeout + kOrphanTime);
  Result<void> sent = co_await engine_.kill(std::move(id), signal);
  if (!sent && !is_timeout(sent.error())) co_return sent;
  move->was_told_to_end = true;
  if (!sent) co_return sent;
  move->has_signal = true;
  const double until = steady_now() + timeout;
  for (;;) {
    std::string again = move->entry.container;
    const Result<Seen> seen = co_await engine_.look(std::move(again));
    if (!seen && (steady_now() >= until || !move->give_up.empty())) co_return seen.error();
    if (!seen) {
      co_await ctrl::pause(kLook);
      continue;
    }
    if (seen->copy != Copy::running) {
      move->quiet_from = 0;
      // A clock that was set back says nothing of what is new.
      const double passed =
          wall_now() - static_cast<double>(asked.tv_sec) - static_cast<double>(asked.tv_nsec) / 1e9;
      const bool is_set_back = passed < steady_now() - asked_at - 0.1;
      std::optional<timespec> since = asked;
      if (is_set_back) since.reset();
      if (seen->exit_code == 0) co_return co_await believe_saved(move, since);
      const std::string how = seen->exit_code == 128 + signal
                                  ? "it was ended by " + ctrl::signal_name(signal) +
                                        " and has not saved: it has no handler for that signal"
                                  : "it ended with status " + std::to_string(seen->exit_code) +
                                        " when it got " + ctrl::signal_name(signal) +
                                        " (0 says that it has saved)";
      co_return bad_input(how);
    }
    if (steady_now() >= until || !move->give_up.empty()) {
      move->stay_quiet(timeout);
      if (!move->give_up.empty()) co_return bad_input(move->give_up);
      const std::string shell = why_deaf(seen->pid, signal);
      co_return errno_error(ETIMEDOUT, "it has not ended " + render_number(timeout) + " s after " +
                                           ctrl::signal_name(signal) +
                                           (shell.empty() ? "" : ": " + shell));
    }
    co_await ctrl::pause(kLook);
  }
}

Async<bool> Movers::start_copy(MovePtr move) {
  const std::string container = move->entry.container;
  Result<Seen> seen = co_await engine_.look(container);
  if (!seen) co_return co_await took(move, seen.error());
  // Links that were made since it was judged.
  if (!move->is_source() && move->entry.step == Step::start) {
    json::object body = move->plan.body;
    const std::vector<std::string> unfit = co_await look_at_paths(std::move(body));
    if (!unfit.empty()) {
      move->give_up = unfit.front();
      complain(*move, bad_input(unfit.front()));
      co_return true;
    }
  }
  const bool is_criu = move->entry.method == Method::criu;
  const bool has_checkpoint = is_criu && (move->is_source() || seen->copy == Copy::created);
  const std::string checkpoint = has_checkpoint ? move->checkpoint_name() : "";
  Result<void> started = co_await engine_.start(container, checkpoint);
  // The engine that made a checkpoint may for a moment not take it back (moby 42900).
  const bool is_taken_back = move->is_source() && has_checkpoint;
  for (int tried = 1; is_taken_back && !started && is_useless_checkpoint(started.error()) &&
                      tried < kCheckpointTries;
       ++tried) {
    co_await ctrl::pause(1);
    started = co_await engine_.start(container, checkpoint);
  }
  if (is_taken_back && !started && is_useless_checkpoint(started.error())) {
    complain(*move, wrap(started.error(), "it starts from its beginning"));
    started = co_await engine_.start(container, "");
  }
  if (started) {
    move->shown_at.reset();
    move->running_since = steady_now();
    co_return true;
  }
  if (is_timeout(started.error())) {
    move->stay_quiet(kOrphanTime);
  } else if (!move->is_source() && move->entry.step == Step::start) {
    move->give_up = started.error().message();
  }
  complain(*move, started.error());
  co_return !move->give_up.empty() && !move->is_source();
}

// This side's copy and all that belongs to it.
Async<bool> Movers::remove_copy(MovePtr move) {
  std::string container = move->entry.container;
  std::vector<std::string> volumes;
  if (move->is_source()) {
    for (const PlannedVolume& volume : move->plan.volumes) volumes.push_back(volume.name);
  } else {
    std::string id = move->entry.id, again = move->entry.id;
    Result<Seen> made = co_await engine_.look_made(std::move(id));
    if (!made) co_return co_await took(move, made.error());
    if (made->copy != Copy::absent) container = made->id;
    Result<std::vector<std::string>> found = co_await engine_.volumes_made(std::move(again));
    if (!found) co_return co_await took(move, found.error());
    volumes = *found;
  }
  if (!container.empty()) {
    Result<void> removed = co_await engine_.remove(container);
    if (!removed) co_return co_await took(move, std::move(removed));
  }
  for (const std::string& volume : volumes) {
    Result<void> removed = co_await engine_.remove_volume(volume);
    if (!removed) co_return co_await took(move, std::move(removed));
  }
  if (!container.empty()) {
    const std::string lives = host_.config().state_dir + "/lives";
    const Result<void> forgotten = forget_past_log(lives, container);
    if (!forgotten) co_return co_await took(move, forgotten);
  }
  if (!move->is_source()) {
    if (!container.empty()) (void)co_await lives_.forget_life(container);
  }
  // An image that is still being loaded has no name yet, and nobody would ever find it.
  if (move->taking.contains("image")) co_return false;
  // Of the source only one that an earlier move has brought.
  if (move->is_source() || move->plan.has_brought_image) {
    std::string image = move->plan.image.id;
    Result<void> removed = co_await remove_image(client_, std::move(image), move->is_source());
    if (!removed) {
      complain(*move, removed.error());
      // Whoever waits for the end of this move need not wait for that.
      leftovers_[move->plan.image.id] = move->is_source();
    }
  }
  // Nothing can be written any more into what is gone.
  move->taking.clear();
  move->is_cleared = true;
  co_return true;
}

}  // namespace flowcon::cluster::migration
