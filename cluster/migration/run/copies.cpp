// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/copies.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/json.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/refusals.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kOrphanTime = 30;  // seconds in which an engine ends what was not answered
constexpr int kCheckpointTries = 10;

// The engine's own word, and none that room on its disk would change.
bool is_useless_checkpoint(const Error& error) {
  return error.code == boost::system::errc::invalid_argument &&
         error.message().find("no space left") == std::string::npos;
}

// Of a copy that cannot be made or started: that the engine does not answer may be over soon.
std::string reason_of(const Error& error) {
  const bool is_silent = is_timeout(error) ||
                         error.code == boost::system::errc::connection_refused ||
                         error.code == boost::system::errc::connection_reset;
  return (is_silent ? kSilentEngine : "") + error.message();
}

}  // namespace

// Is the data that need not travel still there?
Async<bool> CopyKeeper::has_its_data(MovePtr move) {
  std::set<std::string> counted;
  for (const auto& [name, part] : wanted_data(move->plan)) {
    if (move->travel.received.contains(part)) counted.insert(name);
  }
  if (counted.empty()) co_return true;
  const Result<std::map<std::string, std::string>> whole = co_await cache_.whole();
  if (!whole) co_return false;
  co_return std::all_of(counted.begin(), counted.end(),
                        [&](const std::string& name) { return whole->contains(name); });
}

Async<bool> CopyKeeper::prepare(MovePtr move) {
  const Result<ImageInfo> there = co_await world_.goods.image_info(move->plan.image.id);
  if (!there) {
    const bool is_missing = is_absent(there.error());
    if (!is_missing) move->complain(there.error());
    move->travel.needs_image = is_missing;
    move->plan.has_brought_image = move->plan.has_brought_image || is_missing;
    move->travel.has_asked = move->travel.has_asked || is_missing;
    co_return false;
  }
  move->travel.needs_image = false;
  std::string name = move->entry.name, id = move->entry.id;
  Plan plan = move->plan;
  ImageInfo info = plan.image;
  Result<std::string> shown =
      co_await world_.goods.call_image(std::move(info), plan.image_name, plan.has_brought_image);
  if (!shown) {
    move->complain(shown.error());
    shown = plan.image.id;  // it has no name then
  }
  Result<std::string> made =
      co_await world_.engine.make(std::move(name), std::move(plan), std::move(id), *shown);
  if (!made) {
    if (is_timeout(made.error())) move->stay_quiet(kOrphanTime);
    move->give_up = reason_of(made.error());
    move->complain(made.error());
    co_return true;
  }
  // A container that is there keeps it from now on.
  if (!co_await has_its_data(move)) {
    move->give_up = kDataGone;
    co_return true;
  }
  Entry next = move->entry;
  next.container = *made;
  Entry same = next;
  const Result<void> saved = co_await records_.save(move, std::move(same));
  if (saved) {
    move->entry = std::move(next);
  } else {
    move->give_up = saved.error().what;
  }
  co_return true;
}

// Restart policies and what runs are in the engine's own files.
Async<bool> CopyKeeper::sync_engine(MovePtr move) {
  Result<std::string> folder = co_await world_.engine.containers_folder();
  Result<void> synced = folder ? Result<void>() : Result<void>(folder.error());
  if (folder) synced = co_await world_.files.sync(std::move(*folder));
  move->copy.is_synced = synced.has_value();
  if (!synced && move->entry.step <= Step::ready && move->give_up.empty()) {
    move->give_up = synced.error().message();
  }
  co_return move->took(synced);
}

// The engine that made a checkpoint may for a moment not take it back (moby 42900).
Async<Result<void>> CopyKeeper::start_from(MovePtr move, std::string checkpoint) {
  const std::string container = move->entry.container;
  Result<void> started = co_await world_.engine.start(container, checkpoint);
  const bool is_taken_back = move->is_source() && !checkpoint.empty();
  for (int tried = 1; is_taken_back && !started && is_useless_checkpoint(started.error()) &&
                      tried < kCheckpointTries;
       ++tried) {
    co_await world_.clock.pause(1);
    started = co_await world_.engine.start(container, checkpoint);
  }
  if (is_taken_back && !started && is_useless_checkpoint(started.error())) {
    move->complain(wrap(started.error(), "it starts from its beginning"));
    started = co_await world_.engine.start(container, "");
  }
  co_return started;
}

Async<bool> CopyKeeper::start(MovePtr move) {
  const std::string container = move->entry.container;
  Result<Seen> seen = co_await world_.engine.look(container);
  if (!seen) co_return move->took(seen.error());
  const bool is_first = !move->is_source() && move->entry.step == Step::start;
  // Links that were made since it was judged.
  if (is_first) {
    json::object body = move->plan.body;
    AcceptPolicy policy{world_.host.config().accept};
    const std::vector<std::string> unfit =
        co_await world_.files.unfit_paths(std::move(body), std::move(policy));
    if (!unfit.empty()) {
      move->give_up = unfit.front();
      move->complain(bad_input(unfit.front()));
      co_return true;
    }
  }
  const bool is_criu = move->entry.method == Method::criu;
  const bool has_checkpoint = is_criu && (move->is_source() || seen->copy == Copy::created);
  std::string checkpoint = has_checkpoint ? move->checkpoint_name() : "";
  const Result<void> started = co_await start_from(move, std::move(checkpoint));
  if (started) {
    move->copy.shown_at.reset();
    move->copy.running_since = world_.clock.steady();
    co_return true;
  }
  if (is_timeout(started.error())) {
    move->stay_quiet(kOrphanTime);
  } else if (is_first) {
    move->give_up = reason_of(started.error());
  }
  move->complain(started.error());
  co_return !move->give_up.empty() && !move->is_source();
}

Async<void> CopyKeeper::remove_image_of(MovePtr move) {
  // One that has a name by now is kept for jobs to come.
  if (move->is_source() || !move->plan.has_brought_image) co_return;
  const Result<void> removed =
      co_await world_.goods.remove_image(move->plan.image.id, ImageName::none);
  if (removed) co_return;
  move->complain(removed.error());
  // Whoever waits for the end of this move need not wait for that.
  cache_.leave(move->plan.image.id);
}

// This side's copy and all that belongs to it.
Async<bool> CopyKeeper::remove(MovePtr move) {
  std::string container = move->entry.container;
  std::vector<std::string> volumes;
  if (move->is_source()) {
    for (const PlannedVolume& volume : move->plan.volumes) {
      if (!is_data_volume(volume.name)) volumes.push_back(volume.name);
    }
  } else {
    std::string again = move->entry.id;
    Result<Seen> made = co_await world_.engine.look_made(move->entry.id);
    if (!made) co_return move->took(made.error());
    if (made->copy != Copy::absent) container = made->id;
    Result<std::vector<std::string>> found = co_await world_.engine.volumes_made(std::move(again));
    if (!found) co_return move->took(found.error());
    volumes = *found;
  }
  if (!container.empty()) {
    Result<void> removed = co_await world_.engine.remove(container);
    if (!removed) co_return move->took(removed);
  }
  for (const std::string& volume : volumes) {
    Result<void> removed = co_await world_.engine.remove_volume(volume);
    if (!removed) co_return move->took(removed);
  }
  if (!container.empty()) {
    const std::string lives = world_.host.config().state_dir + "/lives";
    const Result<void> forgotten = forget_past_log(lives, container);
    if (!forgotten) co_return move->took(forgotten);
  }
  if (!move->is_source()) {
    if (!container.empty()) (void)co_await world_.lives.forget_life(container);
  }
  // An image that is still being loaded has no name yet, and nobody would ever find it.
  if (move->arrival.taking.contains("image")) co_return false;
  co_await remove_image_of(move);
  // Nothing can be written any more into what is gone.
  move->arrival.taking.clear();
  move->copy.is_cleared = true;
  co_return true;
}

}  // namespace flowcon::cluster::migration
