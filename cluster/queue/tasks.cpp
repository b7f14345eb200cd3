// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/tasks.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "cluster/queue/jobs.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::api::failure;
using ctrl::api::Response;
using migration::Copy;
using migration::Seen;

constexpr double kTellEach = 10;     // seconds: an owner that missed a word hears of it again
constexpr double kAnswerTime = 5;    // seconds that an owner has
constexpr double kLongestWait = 60;  // seconds between two returns of which the first was undone
constexpr double kLookAgain = 1;     // seconds until what could not be seen is looked at again

TicketCopy copy_of(const Seen& seen) {
  switch (seen.copy) {
    case Copy::absent:
      return TicketCopy::absent;
    case Copy::created:
      return TicketCopy::created;
    case Copy::running:
      return TicketCopy::running;
    case Copy::unknown:
      return TicketCopy::unknown;
    default:
      return TicketCopy::ended;
  }
}

bool is_birth_to_here(const cluster::Passage& passage) {
  return passage.entry.method == migration::Method::birth &&
         passage.entry.side == migration::Side::target;
}

}  // namespace

Tasks::Tasks(World& world, EngineWatch& watch, std::function<void()> changed, KeepRoom keep_room)
    : world_(world),
      watch_(watch),
      parking_(world),
      changed_(std::move(changed)),
      keep_room_(std::move(keep_room)) {
  watch_.join(*this);
}

HeldTaskPtr Tasks::find(const std::string& birth) const {
  const auto found = std::find_if(held_.begin(), held_.end(),
                                  [&](const auto& one) { return one.second->birth == birth; });
  return found == held_.end() ? nullptr : found->second;
}

bool Tasks::is_saving(const std::string& container) const {
  const auto found = held_.find(container);
  return found != held_.end() && found->second->saving != nullptr;
}

bool Tasks::is_cut_short(const std::string& container) const {
  const auto found = held_.find(container);
  if (found == held_.end()) return false;
  const HeldTask& task = *found->second;
  const bool has_saved = !task.save_key.empty() && task.save_failure.empty();
  return has_saved || task.is_stopping || task.watch.was_ended();
}

// ---------------------------------------------------------------------------- what is here

// One that was made early and does not run has room only once its owner has asked for it.
std::vector<Tasks::Resident> Tasks::residents() const {
  std::vector<Resident> all;
  std::set<std::string> seen;
  for (const auto& [id, task] : held_) {
    seen.insert(task->birth);
    const bool is_guest =
        task->copy == TicketCopy::created && task->is_early && !claimed_.contains(task->birth);
    if (task->copy == TicketCopy::ended || is_guest) continue;
    const Ticket& ticket = task->ticket;
    all.push_back({task->birth, task->owner, id, task->request, ticket.name, ticket.gpus});
  }
  for (const cluster::Passage& birth : world_.moves.expected_births()) {
    const std::string& id = birth.entry.id;
    if (seen.contains(id) || (birth.is_early && !claimed_.contains(id))) continue;
    all.push_back({id, birth.entry.source, "", birth.request, birth.entry.name, birth.gpus});
  }
  return all;
}

double Tasks::wanted_since(double now) const {
  // Of how one ended while nobody listened its engine tells no more than this.
  constexpr double kRemembered = 60;
  return held_.empty() ? now : now - kRemembered;
}

void Tasks::connected() { ctrl::spawn(world_.host.io(), "tasks", list()); }

void Tasks::lost() {
  for (const auto& [id, task] : held_) {
    task->watch.was_lost = task->watch.was_lost || task->copy == TicketCopy::running;
    task->watch.is_watched = task->watch.was_stopped = false;
  }
}

Async<void> Tasks::list() {
  const Result<std::vector<ctrl::engine::Listed>> all = co_await world_.engine.list();
  if (world_.is_ended) co_return;
  list_at_ = all ? 0 : world_.clock.steady() + kRetry;
  if (!all) {
    ctrl::log::warning("looking for tasks of other hosts: " + all.error().message());
    co_return;
  }
  for (const ctrl::engine::Listed& one : *all) {
    if (!one.labels.contains("flowcon.queue") || !one.labels.contains(ctrl::kMovedLabel)) continue;
    co_await take(one.id);
  }
  if (listed_at_ > 0) co_return;
  listed_at_ = world_.clock.steady();
  ctrl::spawn(world_.host.io(), "removed tasks", find_removed());
}

// Tasks that somebody removed while flowcond did not run, as far as the engine remembers it.
Async<void> Tasks::find_removed() {
  auto told = co_await world_.engine.removals(world_.clock.wall());
  while (!told && !world_.is_ended) {
    ctrl::log::debug(told.error().message());
    co_await world_.clock.pause(kRetry);
    if (!world_.is_ended) told = co_await world_.engine.removals(world_.clock.wall());
  }
  if (!told) co_return;
  std::vector<migration::Removal> left = std::move(*told);
  while (!left.empty()) {
    std::vector<migration::Removal> later;
    for (const migration::Removal& one : left) {
      if (world_.is_ended) co_return;
      migration::Removal removal = one;
      const bool is_seen = co_await lose_removed(std::move(removal));
      if (!is_seen) later.push_back(one);
    }
    left = std::move(later);
    if (!left.empty()) co_await world_.clock.pause(kRetry);
  }
}

// False where it has to be seen again: the journal of moves, which is read a moment after the
// start, or the engine does not answer, or its move is under way.
Async<bool> Tasks::lose_removed(migration::Removal removal) {
  const std::string& container = removal.container;
  if (!is_random_id(removal.move)) co_return true;
  std::string move = removal.move, made_for = removal.move;
  const Result<std::optional<cluster::Passage>> passage =
      co_await world_.moves.passage(std::move(move));
  if (!passage) co_return false;
  if (!*passage || !is_birth_to_here(**passage)) co_return true;
  const migration::Entry& birth = (*passage)->entry;
  if (birth.container != container) co_return true;
  if (world_.moves.is_moving(container)) co_return false;
  // One that has come home was removed by its move.
  const std::vector<cluster::Way> ways = world_.moves.ways();
  const bool is_home = std::any_of(ways.begin(), ways.end(), [&](const cluster::Way& way) {
    return way.container == container && way.target == birth.source;
  });
  if (is_home) co_return true;
  const Result<std::vector<std::string>> volumes =
      co_await world_.engine.volumes_made(std::move(made_for));
  if (!volumes || world_.is_ended) co_return false;
  if (volumes->empty()) co_return true;
  HeldTask gone;
  gone.birth = removal.move;
  gone.owner = birth.source;
  gone.container = container;
  gone.ticket.name = birth.name;
  gone.copy = TicketCopy::ended;
  if (removal.killed) gone.killed_at = world_.clock.steady() - *removal.killed;
  lose(gone);
  co_return true;
}

// One whose move cannot be read must not stop the queue for ever: its memory counts as it is used.
bool Tasks::is_ready() const {
  if (listed_at_ == 0) return false;
  return unseen_.empty() || world_.clock.steady() - listed_at_ >= kLongestLook;
}

Async<void> Tasks::take(std::string id) {
  bool is_known = held_.contains(id);
  if (!is_known) {
    is_known = co_await try_to_take(id);
  }
  if (is_known) {
    unseen_.erase(id);
  } else {
    unseen_.insert(id);
  }
}

// Whoever ends it from then on is a person.
Async<void> Tasks::see(HeldTaskPtr task) {
  const Result<TaskView> seen = co_await view(std::move(task));
  if (!seen) ctrl::log::debug(seen.error().message());
}

// False where that has to be seen again: the engine or the journal of moves does not answer yet.
Async<bool> Tasks::try_to_take(std::string id) {
  Result<Seen> seen = co_await world_.engine.look(id);
  if (!seen) co_return is_absent(seen);
  if (!seen->labels.contains("flowcon.queue")) co_return true;
  const auto label = seen->labels.find(ctrl::kMovedLabel);
  if (label == seen->labels.end() || !is_random_id(label->second)) co_return true;
  const Result<std::optional<cluster::Passage>> passage =
      co_await world_.moves.passage(label->second);
  if (!passage) co_return false;
  if (!*passage || !is_birth_to_here(**passage) || world_.is_ended) co_return true;
  Result<Ticket> ticket = parse_ticket(seen->inspect);
  // One that was committed from it, or made like it, has its label.
  const std::string& made = (*passage)->entry.container;
  const bool is_it = made.empty() || made == id;
  if (!ticket || !is_it || held_.contains(id)) co_return true;
  auto task = std::make_shared<HeldTask>();
  task->birth = (*passage)->entry.id;
  task->owner = (*passage)->entry.source;
  task->container = id;
  task->request = (*passage)->request;
  task->is_early = (*passage)->is_early;
  task->ticket = std::move(*ticket);
  task->copy = copy_of(*seen);
  held_[id] = task;
  left_.erase(task->birth);
  changed_();
  tell_soon(task->owner);
  co_return true;
}

void Tasks::hear(const ctrl::engine::EngineEvent& event) {
  const auto found = held_.find(event.id);
  if (found == held_.end()) {
    const bool may_be_one = event.action == "create" || event.action == "start";
    if (may_be_one && !world_.network.neighbours().empty()) {
      ctrl::spawn(world_.host.io(), "task " + event.id.substr(0, 12), take(event.id));
    }
    return;
  }
  const HeldTaskPtr task = found->second;
  const bool is_killed =
      event.action == "kill" && event.signal == SIGKILL && !task->ticket.hides_signal;
  if (is_killed) task->killed_at = world_.clock.steady();
  const bool ends = is_end(event, &task->ticket) && !task->saving;
  if (ends) task->watch.hear_signal(true, watch_.remembers());
  if (event.action == "start") {
    claimed_.erase(task->birth);
    task->watch.begin();
    task->killed_at = 0;
    task->copy = TicketCopy::running;
    task->has_saved = false;
  }
  if (event.action == "die") task->copy = TicketCopy::ended;
  if (event.action == "destroy") {
    claimed_.erase(task->birth);
    lose(*task);
  }
  changed_();
  tell_soon(task->owner);
}

void Tasks::lose(const HeldTask& task) {
  // One that comes home, or has, is removed by its move.
  if (!task.back.empty() && !task.is_given_up) {
    held_.erase(task.container);
    return;
  }
  if (keeps_volumes(task)) {
    ctrl::log::warning("task " + printable(task.ticket.name, 80) +
                       " was removed before its results came home; they stay in the volumes with "
                       "the label " +
                       std::string(ctrl::kMovedLabel) + "=" + task.birth);
  } else {
    left_[task.birth] = task.owner;
  }
  held_.erase(task.container);
}

// What was not ended by `docker rm -f` may have left its results there.
bool Tasks::keeps_volumes(const HeldTask& task) const {
  constexpr double kRemoval = 10;  // seconds from the signal until the container is gone
  const bool was_killed = task.killed_at > 0 && world_.clock.steady() - task.killed_at < kRemoval;
  return task.copy != TicketCopy::created && !task.is_given_up && !was_killed;
}

void Tasks::look() {
  if (world_.is_ended) return;
  for (const auto& [id, task] : held_) {
    if (const auto use = world_.host.use_of(id)) {
      task->watch.peak_memory = std::max(task->watch.peak_memory, use->memory);
    }
  }
  const double now = world_.clock.steady();
  if (list_at_ > 0 && now >= list_at_ && watch_.stream() != 0) {
    list_at_ = 0;
    connected();
  }
  if (now >= next_look_) {
    next_look_ = now + kLookAgain;
    const std::set<std::string> unseen = unseen_;  // it changes meanwhile
    for (const std::string& id : unseen) {
      ctrl::spawn(world_.host.io(), "task " + id.substr(0, 12), take(id));
    }
    const std::map<std::string, HeldTaskPtr> held = held_;
    for (const auto& [id, task] : held) {
      const bool is_watched = task->watch.is_watched || watch_.stream() == 0;
      if (task->copy != TicketCopy::running || is_watched) continue;
      ctrl::spawn(world_.host.io(), "task " + id.substr(0, 12), see(task));
    }
  }
  if (now < next_telling_) return;
  next_telling_ = now + kTellEach;
  std::set<std::string> owners;
  for (const auto& [id, task] : held_) owners.insert(task->owner);
  for (const auto& [birth, owner] : left_) owners.insert(owner);
  for (const std::string& owner : owners) tell_soon(owner);
}

// ------------------------------------------------------------------------- what owners hear

void Tasks::tell_soon(const std::string& owner) {
  due_.insert(owner);
  if (telling_.contains(owner) || world_.is_ended) return;
  std::vector<std::string> births;
  for (const auto& [id, task] : held_) {
    if (task->owner == owner && births.size() < kMostBirths) births.push_back(task->birth);
  }
  for (const auto& [birth, whose] : left_) {
    if (whose == owner && births.size() < kMostBirths) births.push_back(birth);
  }
  due_.erase(owner);
  telling_.insert(owner);
  ctrl::spawn(world_.host.io(), "tasks of " + owner.substr(0, 8),
              tell_owner(owner, std::move(births)));
}

// What it does not know of, and whose birth is over, has been given up by a person there.
Async<void> Tasks::tell_owner(std::string owner, std::vector<std::string> births) {
  const Result<Answer> answer = co_await world_.network.ask(owner, "POST", "/v1/peer/queue/news",
                                                            render_births(births), kAnswerTime);
  telling_.erase(owner);
  if (due_.contains(owner)) tell_soon(owner);
  if (!answer || answer->status != 200) co_return;
  const Result<std::vector<std::string>> unknown = parse_births(answer->body);
  if (!unknown) co_return;
  for (const std::string& birth : *unknown) {
    const HeldTaskPtr task = find(birth);
    const auto left = left_.find(birth);
    const bool is_left = !task && left != left_.end() && left->second == owner;
    if (!is_left && (!task || task->owner != owner)) continue;
    std::string move = birth;
    const auto passage = co_await world_.moves.passage(std::move(move));
    if (!passage || !*passage || !migration::is_closed((*passage)->entry)) continue;
    if (is_left) {
      co_await clear(birth);
      continue;
    }
    ctrl::log::warning("task " + printable(task->ticket.name, 80) +
                       " is removed: the host of its job has given it up");
    HeldTaskPtr given_up = task;
    (void)co_await discard(std::move(given_up));
  }
}

// -------------------------------------------------------------------------- what owners ask

Async<Response> Tasks::answer(std::string body, std::string speaker) {
  const Result<TaskCall> call = parse_task_call(body);
  if (!call) co_return failure(422, call.error().what);
  const HeldTaskPtr task = find(call->birth);
  if (task && task->owner != speaker) co_return failure(403, "it is not your task");
  if (task && call->verb != TaskVerb::claim) {
    TaskCall asked = *call;
    co_return co_await answer_call(std::move(asked), task);
  }
  Result<std::optional<cluster::Passage>> passage = co_await world_.moves.passage(call->birth);
  if (!passage) co_return failure(503, passage.error().message());
  if (!*passage || !is_birth_to_here(**passage)) {
    co_return failure(404, "there is no such task here");
  }
  if ((*passage)->entry.source != speaker) co_return failure(403, "it is not your task");
  if (call->verb == TaskVerb::claim) {
    co_return answer_claim(**passage, call->is_early);
  }
  cluster::Passage absent = std::move(**passage);
  co_return co_await answer_absent(std::move(absent));
}

// Forgotten when flowcond ends: the coordinator counts the room until the task runs.
Response Tasks::answer_claim(const cluster::Passage& birth, bool is_early) {
  const bool is_here = birth.entry.step <= migration::Step::ready;
  const bool is_guest = is_here && birth.is_early && !claimed_.contains(birth.entry.id);
  if (is_guest) {
    const std::string why = keep_room_(birth, is_early);
    if (!why.empty()) return failure(409, why);
    claimed_.insert(birth.entry.id);
  }
  return Response{200, render(TaskView())};
}

// It is gone only where the journal knows it, and the engine says so.
Async<Response> Tasks::answer_absent(cluster::Passage birth) {
  TaskView view;
  const Result<Seen> seen = co_await world_.engine.look_made(birth.entry.id);
  if (!seen) co_return failure(503, seen.error().message());
  if (seen->copy == Copy::absent && birth.entry.step >= migration::Step::start) {
    view.copy = TicketCopy::absent;
  } else if (seen->copy != Copy::absent) {
    co_await take(seen->id);
  }
  co_return Response{200, render(view)};
}

Async<Response> Tasks::answer_call(TaskCall call, HeldTaskPtr task) {
  if (call.verb != TaskVerb::look) {
    TaskCall asked = call;
    const Result<void> done = co_await carry_out(std::move(asked), task);
    if (!done) co_return failure(409, done.error().message());
  }
  const Result<TaskView> view_now = co_await view(task);
  if (!view_now) co_return failure(503, view_now.error().message());
  co_return Response{200, render(*view_now)};
}

Async<Result<TaskView>> Tasks::view(HeldTaskPtr task) {
  const unsigned stream = watch_.stream();
  const Result<Seen> seen = co_await world_.engine.look(task->container);
  TaskView view;
  if (is_absent(seen)) {
    lose(*task);
    view.copy = TicketCopy::absent;
    co_return view;
  }
  if (!seen) co_return seen.error();
  view.copy = task->copy = copy_of(*seen);
  view.life = seen->started;
  view.status = seen->exit_code;
  view.was_killed_for_memory = seen->was_killed_for_memory;
  view.was_stopped = task->watch.was_stopped;
  const double asked = policy::amount_of(task->request, "mem");
  const double limit = task->ticket.docker_mem.value_or(0);
  view.memory = std::max(std::max(task->watch.peak_memory, asked), limit);
  view.is_saving = task->saving != nullptr;
  view.save_key = task->save_key;
  view.save_failure = task->save_failure;
  view.has_saved = task->has_saved;
  view.undone_back = task->undone_back;
  if (view.copy == TicketCopy::running) watch_.note_running(task->watch, stream);
  if (view.copy == TicketCopy::ended) {
    const std::optional<bool> was_interrupted =
        watch_.was_interrupted(task->watch, stream, view.status, task->ticket.saves_itself,
                               start_of(seen->started).value_or(0));
    if (!was_interrupted) view.copy = TicketCopy::unknown;
    view.was_interrupted = was_interrupted.value_or(false);
  }
  if (const auto forecast = world_.host.forecast(task->container)) {
    view.left = forecast->left;
    view.width = forecast->width;
    view.done = forecast->done;
  }
  co_return view;
}

Async<Result<void>> Tasks::carry_out(TaskCall call, HeldTaskPtr task) {
  switch (call.verb) {
    case TaskVerb::save:
      if (task->saving || task->save_key == call.key) co_return Result<void>();
      task->save_key = call.key;
      task->save_failure.clear();
      ctrl::spawn(world_.host.io(), "save " + task->container.substr(0, 12), save(task));
      co_return Result<void>();
    case TaskVerb::stop:
      // A second signal would interrupt what it does at the first one.
      if (std::exchange(task->is_stopping, true)) co_return Result<void>();
      ctrl::spawn(world_.host.io(), "stop " + task->container.substr(0, 12), stop(task));
      co_return Result<void>();
    case TaskVerb::fetch:
      co_return co_await fetch(std::move(task), std::move(call.key));
    case TaskVerb::discard:
      co_return co_await discard(std::move(task));
    default:
      co_return Result<void>();
  }
}

Async<void> Tasks::save(HeldTaskPtr task) {
  auto asked = std::make_shared<Save>();
  asked->container = task->container;
  asked->how = task->ticket.checkpoint;
  asked->saves_itself = task->ticket.saves_itself;
  task->saving = asked;
  world_.host.apply_limits();
  const Result<void> saved = co_await parking_.save(asked);
  task->has_saved = asked->has_saved;
  task->saving.reset();
  if (!saved) task->save_failure = saved.error().message();
  world_.host.apply_limits();
  tell_soon(task->owner);
}

Async<void> Tasks::stop(HeldTaskPtr task) {
  const Result<void> done = co_await world_.engine.stop(task->container);
  task->is_stopping = false;
  if (!done) ctrl::log::warning("stopping a task: " + done.error().message());
  tell_soon(task->owner);
}

// Why the last return came to nothing, if the next one is not to begin yet; "" = it is.
Async<std::string> Tasks::why_not_yet(HeldTaskPtr task, std::string id) {
  const double now = world_.clock.steady();
  const bool is_another = !task->back.empty() && task->back != id;
  if (is_another && task->next_back != id) {
    task->next_back = id;
    task->back_wait = std::clamp(2 * task->back_wait, 1.0, kLongestWait);
    task->next_back_at = now + task->back_wait;
  }
  if (!is_another || now >= task->next_back_at) {
    task->back = id;
    co_return "";
  }
  const auto passage = co_await world_.moves.passage(task->back);
  const std::string why = passage && *passage ? (*passage)->entry.reason : "";
  co_return "it could not come home" + (why.empty() ? "" : ": " + why);
}

Async<Result<void>> Tasks::fetch(HeldTaskPtr task, std::string id) {
  const std::string why = co_await why_not_yet(task, id);
  if (!why.empty()) co_return bad_input(why);
  MoveOrder order;
  order.container = task->container;
  order.target = task->owner;
  order.method = migration::Method::home;
  order.id = std::move(id);
  order.birth = task->birth;
  order.cause = kQueue;
  const std::string back = order.id;
  const Result<std::string> begun = co_await world_.moves.begin(std::move(order));
  const bool is_known = !begun && begun.error().code == boost::system::errc::file_exists;
  if (begun || !is_known) co_return begun ? Result<void>() : Result<void>(begun.error());
  // The owner may have turned it down before it wrote anything of it.
  std::string move = back;
  const auto passage = co_await world_.moves.passage(std::move(move));
  if (passage && *passage && (*passage)->entry.step == migration::Step::undone) {
    task->undone_back = back;
  }
  co_return Result<void>();
}

Async<Result<void>> Tasks::discard(HeldTaskPtr task) {
  std::string made_for = task->birth;
  task->is_given_up = true;
  const Result<void> removed = co_await world_.engine.remove(task->container);
  if (!removed) co_return removed;
  const Result<std::vector<std::string>> volumes =
      co_await world_.engine.volumes_made(std::move(made_for));
  if (!volumes) co_return volumes.error();
  for (const std::string& volume : *volumes) {
    const Result<void> gone = co_await world_.engine.remove_volume(volume);
    if (!gone) co_return gone;
  }
  lose(*task);
  changed_();
  co_return Result<void>();
}

// Somebody has removed its container. What another one uses stays, and is tried again.
Async<void> Tasks::clear(std::string birth) {
  const Result<Seen> seen = co_await world_.engine.look_made(birth);
  if (!seen || seen->copy != Copy::absent) co_return;
  const Result<void> dropped = co_await world_.engine.drop_networks();
  if (!dropped) ctrl::log::debug(dropped.error().message());
  const Result<std::vector<std::string>> volumes = co_await world_.engine.volumes_made(birth);
  if (!volumes) co_return;
  if (volumes->empty()) left_.erase(birth);
  for (const std::string& volume : *volumes) {
    const Result<void> gone = co_await world_.engine.remove_volume(volume);
    if (!gone) ctrl::log::warning(gone.error().message());
  }
}

}  // namespace flowcon::cluster::queue
