// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/group.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cluster/queue/job_rules.h"

namespace flowcon::cluster::queue {
namespace {

constexpr const char* kRemoved = "its container was removed";
constexpr const char* kByHand = "it was started by hand and has left the queue";

GroupStep written_as(JobEntry entry) { return {std::move(entry), {}}; }

bool is_over(const JobEntry& task) { return is_closed(task.state); }

// The first task that came to such an end; null where there is none.
const JobEntry* find_end(const Group& group, TaskEnd end) {
  const auto found =
      std::find_if(group.tasks.begin(), group.tasks.end(),
                   [end](const JobEntry& task) { return task.end == end && !task.has_left; });
  return found == group.tasks.end() ? nullptr : &*found;
}

template <class IsSo>
bool are_workers(const Group& group, IsSo is_so) {
  return std::all_of(group.tasks.begin(), group.tasks.end(), [&](const JobEntry& task) {
    return task.is_ps || task.has_left || is_so(task);
  });
}

// Its start came to nothing: a new task has one version, and one that waits again has more.
bool is_turned_back(const JobEntry& task) {
  const bool waits_again = task.state == JobState::waiting && task.version > 1;
  return waits_again || (is_over(task) && task.attempt == 0);
}

const JobEntry* find_turned_back(const Group& group) {
  const auto found = std::find_if(group.tasks.begin(), group.tasks.end(), is_turned_back);
  return found == group.tasks.end() ? nullptr : &*found;
}

bool has_failed(const JobEntry& task) {
  return task.end != TaskEnd::none && task.end != TaskEnd::done && task.end != TaskEnd::saved;
}

// Its host or its engine went, and it with that.
bool went_with_host(const JobEntry& task) {
  return task.end == TaskEnd::interrupted || task.end == TaskEnd::lost;
}

// Its container has ended; what it has written may be on its way home.
bool has_ended(const JobEntry& task) { return is_over(task) || task.state == JobState::returning; }

// Has the attempt come to its end, by what tasks did themselves? A volume that comes home must not
// be in use there, by servers that serve nobody any more.
bool has_ended_itself(const Group& group) {
  const bool fails = std::any_of(group.tasks.begin(), group.tasks.end(), [](const JobEntry& task) {
    return has_failed(task) && !went_with_host(task) && !task.has_left;
  });
  return fails || are_workers(group, has_ended);
}

// A task that went with its host, so that the attempt has to end; null: there is none.
const JobEntry* find_lost(const Group& group) {
  const auto found = std::find_if(group.tasks.begin(), group.tasks.end(), [](const JobEntry& task) {
    return went_with_host(task) && !task.has_left;
  });
  return found == group.tasks.end() ? nullptr : &*found;
}

// Of one whose end counts before all of it is home, too.
std::string said_of(const JobEntry& task) {
  return task.name + ": " + (task.note.empty() && task.task ? task.task->why : task.note);
}

std::string workers_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " worker" : " workers");
}

// ------------------------------------------------------------------------------- the ways out

// What is left of the attempt ends; `then`: whatever becomes of its tasks.
GroupStep leave(const JobEntry& entry, double now, std::optional<JobState> then = {},
                const std::string& why = "") {
  JobEntry next = entry;
  next.group->then = then;
  next.group->why = why;
  return written_as(moved(std::move(next), JobState::returning, now, why));
}

GroupStep turned_back(const JobEntry& entry, double now, const std::string& why, bool was_refused) {
  JobEntry next = entry;
  if (was_refused) next.is_held = ++next.refusals >= kMostRefusals;
  return leave(next, now, JobState::waiting, why);
}

// What becomes of it by how its tasks have ended: one that was killed, or whose host went, takes
// others with it.
JobEntry with_outcome(const JobEntry& entry, double now) {
  JobEntry next = entry;
  const Group& group = *entry.group;
  const auto comes_to = [&](JobState state, const std::string& why) {
    next.group->then = state;
    next.group->why = why;
    return written(std::move(next), now, why);
  };
  // Whatever has become of servers that served nobody any more.
  const bool is_done = is_finishing(group) && are_workers(group, [](const JobEntry& task) {
                         return task.end == TaskEnd::done;
                       });
  if (is_done) {
    next.status = 0;
    return comes_to(JobState::done, "");
  }
  if (const JobEntry* task = find_end(group, TaskEnd::memory)) {
    next.status = task->status;
    if (entry.has_doubled) return comes_to(JobState::failed, said_of(*task) + " again");
    next = doubled(std::move(next), task->least_memory);
    return comes_to(JobState::waiting, said_of(*task) + ", all start again with twice as much");
  }
  if (const JobEntry* task = find_lost(group)) {
    next.has_parked = entry.has_parked || find_end(group, TaskEnd::saved) != nullptr;
    return comes_to(JobState::waiting, said_of(*task));
  }
  if (const JobEntry* task = find_end(group, TaskEnd::stopped)) {
    next.status = task->status;
    return comes_to(JobState::cancelled, said_of(*task));
  }
  // What fails when others have saved themselves and gone goes on with them.
  const JobEntry* unsaved = find_end(group, TaskEnd::unsaved);
  if (unsaved != nullptr || find_end(group, TaskEnd::saved) != nullptr) {
    next.has_parked = true;
    next.has_saved = unsaved == nullptr;
    next.is_unparkable = entry.is_unparkable || unsaved != nullptr;
    return comes_to(JobState::waiting, unsaved != nullptr ? said_of(*unsaved) : "has saved itself");
  }
  if (const JobEntry* task = find_end(group, TaskEnd::failed)) {
    next.status = task->status;
    if (entry.retries <= 0) return comes_to(JobState::failed, said_of(*task));
    --next.retries;
    return comes_to(JobState::waiting, said_of(*task) + ", all start again");
  }
  // Workers that have left say nothing, and those that were to join may never have begun.
  if (!is_finishing(group)) return comes_to(JobState::waiting, "none of its workers is left");
  next.status = 0;
  return comes_to(JobState::done, "");
}

// What has happened to the ticket that takes the group out of the queue; "" = nothing.
std::string why_it_leaves(const JobEntry& entry, const GroupFacts& facts) {
  if (facts.copy == TicketCopy::absent) return kRemoved;
  const bool was_started = facts.copy == TicketCopy::running || facts.life != entry.life;
  return was_started ? kByHand : "";
}

// ---------------------------------------------------------------------------------- the steps

void add_tasks(JobEntry& entry, std::int64_t count, bool are_ps, const std::string& at,
               double now) {
  Group& group = *entry.group;
  std::int64_t& next = are_ps ? group.next_ps : group.next_worker;
  for (std::int64_t i = 0; i < count; ++i) {
    JobEntry task;
    task.at = at;
    task.name = task_name(entry, are_ps, next++);
    task.alias = alias_of(entry, task.name);
    task.task_of = entry.id;
    task.is_ps = are_ps;
    task.submitted = task.since = now;
    task.version = 1;
    task.steps.push_back({task.state, now, ""});
    group.tasks.push_back(std::move(task));
  }
}

// Whether it may be so is not the coordinator's to say. `enough`: so many are, whatever is wanted.
bool is_possible(const JobEntry& entry, const std::vector<TaskPlace>& places,
                 std::int64_t enough = std::numeric_limits<std::int64_t>::max()) {
  const ctrl::WorkerRange range = workers_of(entry);
  const std::int64_t workers = workers_in(places);
  const auto is_one = [&](const TaskPlace& place) {
    const auto is_same = [&](const TaskPlace& other) { return other.host == place.host; };
    return place.workers >= 0 && place.ps >= 0 &&
           std::count_if(places.begin(), places.end(), is_same) == 1;
  };
  return workers >= std::min(range.least, enough) && workers <= range.most &&
         std::all_of(places.begin(), places.end(), is_one);
}

bool is_ordered_here(const JobEntry& entry, const GroupFacts& facts, Order::Op op) {
  JobFacts ordered;
  ordered.order = facts.order;
  return is_ordered(entry, ordered, op);
}

GroupStep from_waiting(const JobEntry& entry, const GroupFacts& facts) {
  if (const std::string why = why_it_leaves(entry, facts); !why.empty()) {
    return written_as(moved(entry, JobState::cancelled, facts.now, why));
  }
  if (!is_ordered_here(entry, facts, Order::Op::start)) return {};
  const std::vector<TaskPlace>& places = facts.order->places;
  std::int64_t ps = 0;
  for (const TaskPlace& place : places) ps += place.ps;
  const bool needs_network = places.size() > 1 || facts.is_in_network;
  if (!is_possible(entry, places) || ps != entry.group->ps) return {};
  if (needs_network && facts.network.empty()) return {};
  JobEntry next = entry;
  Group& group = *next.group;
  group.network = needs_network || may_grow(entry) ? facts.network : "";
  group.then.reset();
  group.why.clear();
  for (const TaskPlace& on : places) add_tasks(next, on.workers, false, on.host, facts.now);
  for (const TaskPlace& on : places) add_tasks(next, on.ps, true, on.host, facts.now);
  return written_as(moved(std::move(next), JobState::placing, facts.now));
}

// What makes tasks ready, and starts those of this host where they `may_start`. No host takes more
// than two at a time. Where each one listens has to be known before any is made.
void bring_in(GroupStep& step, const Group& group, const std::vector<bool>& ready, bool may_start) {
  for (std::size_t i = 0; i < group.tasks.size(); ++i) {
    const JobEntry& task = group.tasks[i];
    if (!listens(group, task) || task.endpoint || !is_present(task)) continue;
    step.deeds.push_back({GroupAct::lease, i});
    return;
  }
  constexpr std::size_t kAtATime = 2;
  std::map<std::string, std::size_t> on_their_way;
  for (std::size_t i = 0; i < group.tasks.size(); ++i) {
    const JobEntry& task = group.tasks[i];
    if (task.state == JobState::placing && !ready[i]) ++on_their_way[task.at];
  }
  for (std::size_t i = 0; i < group.tasks.size(); ++i) {
    const JobEntry& task = group.tasks[i];
    if (task.has_left || task.state != JobState::waiting) continue;
    if (task.id.empty()) {
      step.deeds.push_back({GroupAct::make, i});
    } else if (!task.at.empty()) {
      if (on_their_way[task.at]++ < kAtATime) step.deeds.push_back({GroupAct::place, i});
    } else if (may_start) {
      step.deeds.push_back({GroupAct::start, i});
    }
  }
}

GroupStep from_placing(const JobEntry& entry, const GroupFacts& facts) {
  if (const std::string why = why_it_leaves(entry, facts); !why.empty()) {
    return leave(entry, facts.now, JobState::cancelled, why);
  }
  const Group& group = *entry.group;
  if (!facts.make_refusal.empty()) {
    return turned_back(entry, facts.now, "could not be placed: " + facts.make_refusal,
                       !facts.may_be_made_later);
  }
  if (const JobEntry* task = find_turned_back(group)) {
    return turned_back(entry, facts.now, said_of(*task), task->refusals > 0);
  }
  if (std::all_of(facts.ready.begin(), facts.ready.end(), [](bool is) { return is; })) {
    JobEntry next = entry;
    ++next.attempt;
    return written_as(moved(std::move(next), JobState::starting, facts.now));
  }
  GroupStep step;
  bring_in(step, group, facts.ready, false);
  return step;
}

// The ticket of one that runs. Empty: it is as it should be.
std::optional<GroupStep> unless_ticket_rests(const JobEntry& entry, const GroupFacts& facts) {
  if (facts.copy == TicketCopy::absent) {
    return leave(entry, facts.now, JobState::cancelled, kRemoved);
  }
  if (facts.copy == TicketCopy::running) return GroupStep{{}, {{GroupAct::halt, 0}}};
  return std::nullopt;
}

GroupStep from_starting(const JobEntry& entry, const GroupFacts& facts) {
  if (const auto step = unless_ticket_rests(entry, facts)) return *step;
  const Group& group = *entry.group;
  if (const JobEntry* task = find_turned_back(group)) {
    return turned_back(entry, facts.now, said_of(*task), task->refusals > 0);
  }
  const auto has_begun = [](const JobEntry& task) {
    return has_ended(task) || task.state == JobState::running;
  };
  if (std::all_of(group.tasks.begin(), group.tasks.end(), has_begun)) {
    JobEntry next = entry;
    next.refusals = 0;
    return written_as(moved(std::move(next), JobState::running, facts.now));
  }
  GroupStep step;
  bring_in(step, group, facts.ready, true);
  return step;
}

// Workers that go on or have done their part. One that is to join may never come.
std::int64_t useful(const Group& group) {
  return std::count_if(group.tasks.begin(), group.tasks.end(), [](const JobEntry& task) {
    const bool runs = task.state == JobState::running || task.state == JobState::parking;
    const bool goes_on = runs && task.end == TaskEnd::none;
    return !task.is_ps && !task.has_left && (goes_on || task.end == TaskEnd::done);
  });
}

// The worker without which none goes on; "" = there is none. At the first one torchrun's agents
// meet. What comes home of one that was first elsewhere would replace what others write until then.
std::string needed_of(const Group& group, bool has_volumes) {
  const auto first = std::find_if(group.tasks.begin(), group.tasks.end(), [](const JobEntry& task) {
    return !task.is_ps && !task.has_left;
  });
  if (first == group.tasks.end()) return "";
  const bool brings_volumes = has_volumes && first == group.tasks.begin() && !first->at.empty();
  return brings_volumes || group.elastic == ctrl::Elastic::torchrun ? first->name : "";
}

// One that joined and cannot be had, or comes too late, or that failed while enough others are
// left, is done without.
std::optional<GroupStep> unless_all_stay(const JobEntry& entry, const GroupFacts& facts) {
  if (!ctrl::joins(entry.group->elastic)) return std::nullopt;
  JobEntry next = entry;
  std::string why;
  const std::int64_t least = std::min(workers_of(entry).least, entry.group->workers.least);
  const std::string needed = needed_of(*entry.group, facts.has_volumes);
  const bool finishes = is_finishing(*entry.group);
  for (JobEntry& task : next.group->tasks) {
    if (task.has_left || task.is_ps) continue;
    const bool cannot_be_made = task.id.empty() && !facts.make_refusal.empty();
    // The next one would be killed, too: all start again with more.
    const bool lacks_memory = task.end == TaskEnd::memory && !entry.has_doubled && !finishes;
    const bool has_gone = !lacks_memory && (has_failed(task) || task.end == TaskEnd::saved);
    const bool is_lost = has_gone && task.name != needed && useful(*entry.group) >= least;
    const bool is_late = finishes && task.attempt == 0 && !is_over(task);
    if (!cannot_be_made && !is_turned_back(task) && !is_lost && !is_late) continue;
    task.has_left = true;
    why = cannot_be_made ? task.name + " could not be made: " + facts.make_refusal
          : is_late      ? task.name + " is not needed any more"
                         : said_of(task);
  }
  if (why.empty()) return std::nullopt;
  const std::int64_t rest = present(*next.group, false);
  if (rest > 0) why += "; goes on with " + workers_text(rest);
  return written_as(written(std::move(next), facts.now, why));
}

// Of so many on one host those that came last go.
void let_go(Group& group, const std::string& host, std::int64_t count) {
  for (auto task = group.tasks.rbegin(); task != group.tasks.rend() && count > 0; ++task) {
    if (task->is_ps || task->at != host || !is_present(*task)) continue;
    task->has_left = true;
    --count;
  }
}

// More of them, or fewer, host by host.
std::optional<GroupStep> unless_it_keeps_its_size(const JobEntry& entry, const GroupFacts& facts) {
  const bool may_join = ctrl::joins(entry.group->elastic);
  if (!may_join || !is_ordered_here(entry, facts, Order::Op::resize)) return std::nullopt;
  const std::vector<TaskPlace>& wanted = facts.order->places;
  const std::int64_t now = present(*entry.group, false), then = workers_in(wanted);
  const bool has_network = wanted.size() <= 1 || !entry.group->network.empty();
  // A part of the way to as many as a person wants is possible, too.
  if (!is_possible(entry, wanted, now) || !has_network) return std::nullopt;
  std::map<std::string, std::int64_t> more;
  for (const TaskPlace& place : wanted) more[place.host] += place.workers;
  for (const TaskPlace& place : places_of(*entry.group)) more[place.host] -= place.workers;
  JobEntry next = entry;
  std::int64_t come = 0, go = 0;
  for (const auto& [host, count] : more) {
    come += std::max<std::int64_t>(count, 0);
    go -= std::min<std::int64_t>(count, 0);
    let_go(*next.group, host, -count);
    add_tasks(next, count, false, host, facts.now);
  }
  if (come == 0 && go == 0) return std::nullopt;
  const auto count = static_cast<std::int64_t>(entry.group->tasks.size());
  const bool may_come = !is_finishing(*entry.group) && count + come <= kMostTasks;
  if (come > 0 && !may_come) return std::nullopt;
  const std::string from = (then > now ? "grows from " : "shrinks from ") + std::to_string(now);
  return written_as(written(std::move(next), facts.now, from + " to " + workers_text(then)));
}

bool is_ending(const JobEntry& task) {
  return task.state == JobState::stopping || task.state == JobState::returning;
}

void end_task(GroupStep& step, const JobEntry& task, std::size_t i) {
  step.deeds.push_back({task.id.empty() ? GroupAct::remove : GroupAct::cancel, i});
}

// Those that leave. Of one that never began nothing is kept, nor of the oldest where many have
// left, so that others may come; but for the first task, from which ranks are counted.
void bring_out(GroupStep& step, const Group& group) {
  const std::int64_t kept = group.tasks.size() > kMostTasks / 2 ? 1 : 32;
  const auto is_gone = [](const JobEntry& task) { return task.has_left && is_over(task); };
  const auto oldest = std::find_if(group.tasks.begin() + 1, group.tasks.end(), is_gone);
  const bool are_many = std::count_if(oldest, group.tasks.end(), is_gone) > kept;
  for (std::size_t i = group.tasks.size(); i-- > 0;) {
    const JobEntry& task = group.tasks[i];
    if (task.has_left && !is_over(task) && !is_ending(task)) end_task(step, task, i);
    const bool is_kept = task.attempt > 0 && !(are_many && &task == &*oldest);
    if (is_gone(task) && !is_kept) step.deeds.push_back({GroupAct::remove, i});
  }
}

GroupStep from_running(const JobEntry& entry, const GroupFacts& facts) {
  if (const auto step = unless_ticket_rests(entry, facts)) return *step;
  if (const auto step = unless_all_stay(entry, facts)) return *step;
  const Group& group = *entry.group;
  if (has_ended_itself(group)) return leave(entry, facts.now);
  // One has saved itself after its time: all start again from that.
  if (find_end(group, TaskEnd::saved) != nullptr) return leave(entry, facts.now);
  if (const JobEntry* lost = find_lost(group)) {
    if (!facts.saves_itself) return leave(entry, facts.now);
    const std::string why = said_of(*lost) + "; the others save themselves";
    return written_as(moved(entry, JobState::parking, facts.now, why));
  }
  if (const auto step = unless_it_keeps_its_size(entry, facts)) return *step;
  if (is_ordered_here(entry, facts, Order::Op::park) && !entry.is_unparkable) {
    const std::int64_t workers = facts.order->workers;
    return written_as(
        moved(entry, JobState::parking, facts.now,
              workers > 0 ? "starts again with " + workers_text(workers) : "gives up its room"));
  }
  GroupStep step;
  bring_out(step, group);
  // What is removed changes the places of those behind it.
  if (!step.deeds.empty()) return step;
  bring_in(step, group, facts.ready, true);
  return step;
}

// One that cannot be saved runs on, and so do all; where others have saved themselves by then, all
// start again from that.
GroupStep not_parked(const JobEntry& entry, const GroupFacts& facts, const JobEntry& task) {
  JobEntry next = entry;
  next.is_unparkable = true;
  next.is_held = false;
  const auto runs = [](const JobEntry& one) {
    return one.state == JobState::running || is_turned_back(one);
  };
  const bool has_lost = find_lost(*entry.group) != nullptr;
  if (has_lost || !are_workers(*entry.group, runs)) {
    return leave(next, facts.now, JobState::waiting, said_of(task));
  }
  return written_as(moved(std::move(next), JobState::running, facts.now, said_of(task)));
}

GroupStep from_parking(const JobEntry& entry, const GroupFacts& facts) {
  if (const auto step = unless_ticket_rests(entry, facts)) return *step;
  const Group& group = *entry.group;
  // Who ends because its partner has gone does not take those with it that still save themselves.
  const auto saves = [](const JobEntry& task) {
    return !task.is_ps && !task.has_left && task.state == JobState::parking;
  };
  const bool is_saving = std::any_of(group.tasks.begin(), group.tasks.end(), saves);
  if (has_ended_itself(group) && !is_saving) return leave(entry, facts.now);
  GroupStep step;
  const JobEntry* unsaved = nullptr;
  for (std::size_t i = group.tasks.size(); i-- > 0;) {
    const JobEntry& task = group.tasks[i];
    if (task.is_ps || task.has_left) continue;
    // It was to join, and has nothing to save.
    if (task.state == JobState::waiting || task.state == JobState::placing) end_task(step, task, i);
    if (task.state != JobState::running) continue;
    const bool was_asked_now = task.is_unparkable && task.since >= entry.since;
    if (was_asked_now) {
      unsaved = &task;
    } else {
      step.deeds.push_back({GroupAct::save, i});
    }
  }
  const bool waits = is_saving || !step.deeds.empty() || unsaved == nullptr;
  return waits ? step : not_parked(entry, facts, *unsaved);
}

GroupStep from_returning(const JobEntry& entry, const GroupFacts& facts) {
  const Group& group = *entry.group;
  GroupStep step;
  for (std::size_t i = group.tasks.size(); i-- > 0;) {
    const JobEntry& task = group.tasks[i];
    if (!is_over(task) && !is_ending(task)) end_task(step, task, i);
  }
  if (!step.deeds.empty()) return step;
  if (!std::all_of(group.tasks.begin(), group.tasks.end(), is_over)) return {};
  if (!group.then) return written_as(with_outcome(entry, facts.now));
  const bool is_removed = facts.copy == TicketCopy::absent;
  const bool goes_on = *group.then == JobState::waiting && !is_removed;
  const bool is_by_hand = goes_on && facts.copy == TicketCopy::running;
  if (is_by_hand) return GroupStep{{}, {{GroupAct::halt, 0}}};
  // Of what is over the containers stay, as a job's ticket does: they have its logs.
  if (goes_on || is_removed) {
    for (std::size_t i = group.tasks.size(); i-- > 0;) {
      step.deeds.push_back({GroupAct::remove, i});
    }
    if (!step.deeds.empty()) return step;
  }
  const bool was_to_wait = *group.then == JobState::waiting && is_removed;
  JobEntry next = entry;
  // A person may have started it, and it was halted.
  if (!is_removed) next.life = facts.life;
  return written_as(moved(std::move(next), was_to_wait ? JobState::cancelled : *group.then,
                          facts.now, was_to_wait ? kRemoved : group.why));
}

}  // namespace

ctrl::WorkerRange workers_of(const JobEntry& entry) {
  if (entry.chosen.workers) return {*entry.chosen.workers, *entry.chosen.workers};
  return entry.group->workers;
}

bool may_grow(const JobEntry& entry) {
  const ctrl::WorkerRange range = workers_of(entry);
  return ctrl::joins(entry.group->elastic) && range.most > range.least;
}

bool is_finishing(const Group& group) {
  return std::any_of(group.tasks.begin(), group.tasks.end(), [](const JobEntry& task) {
    return !task.is_ps && !task.has_left && task.end == TaskEnd::done;
  });
}

bool had_task(const JobEntry& entry, std::string_view name) {
  const auto is_one = [&](bool is_ps, std::int64_t next) {
    for (std::int64_t number = 0; number < next; ++number) {
      if (name == task_name(entry, is_ps, number)) return true;
    }
    return false;
  };
  return is_one(false, entry.group->next_worker) || is_one(true, entry.group->next_ps);
}

bool listens(const Group& group, const JobEntry& task) {
  return group.network == kHostNetwork || (group.network == kPublished && task.is_ps);
}

bool has_just_failed(const Group& group, double now) {
  constexpr double kSoon = 180, kFirst = 10, kLongest = 600;  // seconds
  double wait = kFirst;
  for (const JobEntry& task : group.tasks) {
    const bool failed = task.has_left && has_failed(task) && !went_with_host(task);
    if (!failed || task.served > kSoon) continue;
    // The clock may have been set back.
    if (now >= task.since && now < task.since + wait) return true;
    wait = std::min(kLongest, 2 * wait);
  }
  return false;
}

bool is_present(const JobEntry& task) { return !task.has_left && !is_over(task); }

std::int64_t present(const Group& group, bool are_ps) {
  return std::count_if(group.tasks.begin(), group.tasks.end(), [are_ps](const JobEntry& task) {
    return task.is_ps == are_ps && is_present(task);
  });
}

std::vector<TaskPlace> places_of(const Group& group) {
  std::vector<TaskPlace> places;
  for (const JobEntry& task : group.tasks) {
    if (!is_present(task)) continue;
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const TaskPlace& one) { return one.host == task.at; });
    if (place == places.end()) place = places.insert(places.end(), TaskPlace{task.at});
    ++(task.is_ps ? place->ps : place->workers);
  }
  return places;
}

std::int64_t workers_in(const std::vector<TaskPlace>& places) {
  std::int64_t workers = 0;
  for (const TaskPlace& place : places) workers += place.workers;
  return workers;
}

GroupStep group_step(const JobEntry& entry, const GroupFacts& facts) {
  if (is_closed(entry.state) || facts.copy == TicketCopy::unknown) return {};
  switch (entry.state) {
    case JobState::waiting:
      return from_waiting(entry, facts);
    case JobState::placing:
      return from_placing(entry, facts);
    case JobState::starting:
      return from_starting(entry, facts);
    case JobState::running:
      return from_running(entry, facts);
    case JobState::parking:
      return from_parking(entry, facts);
    case JobState::returning:
      return from_returning(entry, facts);
    default:
      return leave(entry, facts.now, JobState::cancelled, "was cancelled");
  }
}

}  // namespace flowcon::cluster::queue
