// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/queue.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/queue/group.h"
#include "cluster/queue/groups.h"
#include "cluster/queue/job_json.h"
#include "cluster/queue/view_json.h"
#include "ctrl/exposition.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::api::Call;
using ctrl::api::failure;
using ctrl::api::Response;

constexpr std::size_t kEndedShown = 20;
constexpr double kClocks = 60;  // seconds that those of two hosts may differ
constexpr const char* kNotRead =
    "flowcond has just started and does not know its jobs yet: ask again in a moment";

// Running ones first, then those that wait in their order, then those that are held.
bool comes_before(const JobPtr& a, const JobPtr& b) {
  const auto rank = [](const Job& job) {
    return job.entry.state != JobState::waiting ? 0 : job.order_shown > 0 ? 1 : 2;
  };
  const int first = rank(*a), second = rank(*b);
  if (first != second) return first < second;
  if (a->order_shown != b->order_shown) return a->order_shown < b->order_shown;
  if (a->entry.submitted != b->entry.submitted) return a->entry.submitted < b->entry.submitted;
  return a->entry.id < b->entry.id;
}

json::object amounts_json(const policy::Amounts& amounts) {
  json::object out;
  for (const char* kind : {"cpu", "mem", "gpu"}) out[kind] = policy::amount_of(amounts, kind);
  return out;
}

// Why a group keeps the workers that it runs with; "" = it may have others.
std::string why_fixed(const JobEntry& entry, bool may_park) {
  if (entry.state == JobState::waiting) return "";
  if (entry.group->elastic == ctrl::Elastic::no) return "was submitted without --elastic";
  // One that is parked already starts again in any case.
  const bool restarts = entry.group->elastic == ctrl::Elastic::restart;
  if (!restarts || entry.state > JobState::running) return "";
  if (!may_park) return "does not start again by itself under park = off";
  return entry.is_unparkable ? "did not save itself when it was asked to" : "";
}

// How many workers a group is to have from now on, whatever its labels say.
Result<void> take_workers(JobEntry& entry, const std::string& text, bool may_park) {
  if (!entry.group) {
    return bad_input("job " + entry.name + " is one container: it was submitted without --workers");
  }
  if (const std::string why = why_fixed(entry, may_park); !why.empty()) {
    return bad_input("job " + entry.name + " is " + name(entry.state) + " and " + why +
                     ": park it first");
  }
  entry.chosen.workers.reset();
  if (text == "none") return {};
  const Result<ctrl::WorkerRange> workers = ctrl::parse_workers(text);
  if (!workers) return workers.error();
  if (workers->least != workers->most)
    return bad_input("give a single number of workers, not a range");
  const ctrl::WorkerRange range = entry.group->workers;
  const bool is_within = workers->least >= range.least && workers->least <= range.most;
  if (entry.group->elastic == ctrl::Elastic::torchrun && !is_within) {
    return bad_input("torchrun takes the " + std::to_string(range.least) + " to " +
                     std::to_string(range.most) + " workers that job " + entry.name +
                     " was submitted with");
  }
  entry.chosen.workers = workers->least;
  entry.note = "is to have " + std::to_string(workers->least) +
               (workers->least == 1 ? " worker" : " workers");
  return {};
}

// The members of the body of `set`; one without a value is no text.
using Wishes = std::vector<std::pair<std::string, std::optional<std::string>>>;

// Empty: it is no object, or has none.
Wishes wishes_in(const std::string& body) {
  Wishes said;
  const Result<json::value> read = parse_json(body);
  if (!read) return said;
  for (const auto& [key, value] : object_of(*read)) {
    said.emplace_back(key, value.is_string() ? std::optional(text_of(value)) : std::nullopt);
  }
  return said;
}

// As labels have them. Errors: what is wrong with which.
Result<JobEntry> with_settings(const JobEntry& entry, const Wishes& said, bool may_park) {
  if (is_closed(entry.state)) {
    return bad_input("job " + entry.name + " is " + name(entry.state) +
                     ": it cannot be changed; docker rm it and submit it again");
  }
  JobEntry next = entry;
  for (const auto& [name, value] : said) {
    if (!value) return bad_input(printable(name, 40) + " must be text");
    const std::string& text = *value;
    if (name != "request" && name != "priority" && name != "retries" && name != "workers") {
      return bad_input("there is no setting " + printable(name, 40) +
                       "; set takes request, priority, retries and workers");
    }
    if (name == "workers") {
      const Result<void> taken = take_workers(next, text, may_park);
      if (!taken) return taken.error();
      continue;
    }
    ctrl::QueueLabels labels;
    if (text != "none") {
      const Result<void> taken = ctrl::take_queue_label(labels, name, text);
      if (!taken) return taken.error();
    }
    if (name == "request") {
      // What is not named stays as it is.
      const bool is_undone = text == "none";
      if (labels.cpu || is_undone) next.chosen.cpu = labels.cpu;
      if (labels.mem || is_undone) next.chosen.mem = labels.mem;
      if (labels.gpu || is_undone) next.chosen.gpu = labels.gpu;
    } else if (name == "priority") {
      next.chosen.priority.reset();
      if (text != "none") next.chosen.priority = labels.priority;
    } else {
      next.retries = labels.retries;
    }
  }
  ++next.version;
  return next;
}

// A task that is over is only in its group's entry. Null: there is no such job.
const JobEntry* entry_of(const Jobs& jobs, const std::string& id) {
  if (const JobPtr job = jobs.find_id(id)) return &job->entry;
  const JobEntry* found = nullptr;
  const auto look = [&](const Job& job) {
    if (!job.entry.group) return;
    for (const JobEntry& task : job.entry.group->tasks) {
      if (task.id == id) found = &task;
    }
  };
  for (const auto& [key, job] : jobs.open()) look(*job);
  for (const JobPtr& job : jobs.ended()) look(*job);
  return found;
}

// What it said before is no answer to what it is asked now.
Response answer_on(const Job& job, const std::string& before = "") {
  const std::string note = note_of(job);
  const json::object out{{"name", job.entry.name},
                         {"state", name(job.entry.state)},
                         {"note", note == before ? "" : note}};
  return Response{200, render_json(out)};
}

}  // namespace

Queue::Queue(World world, std::function<void()> ended)
    : world_(std::move(world)),
      watch_(world_),
      leases_(world_, [this] { return ports_of(owner_.jobs()); }),
      owner_(world_, watch_, leases_,
             [this, ended = std::move(ended)](const Job& job) {
               conductor_.wake();
               if (is_closed(job.entry.state)) ended();
             }),
      tasks_(
          world_, watch_, [this] { conductor_.hear_of_task(); },
          [this](const cluster::Passage& birth, bool is_early) {
            if (!is_early) return room_.why_no_room(birth);
            return room_.begin_early(birth.entry.container, birth.request);
          }),
      room_(world_, owner_, tasks_),
      conductor_(world_, owner_, tasks_, leases_, room_) {
  world_.give_gpus = [this](json::object& body, const Job& group, std::size_t task) {
    return room_.give_gpus(body, group, task);
  };
}

Async<void> Queue::begin() {
  co_await owner_.begin();
  ctrl::spawn(world_.host.io(), "engine of the queue", watch_.follow());
}

void Queue::look() {
  owner_.look();
  tasks_.look();
  room_.look();
  conductor_.look();
}

bool Queue::is_saving(const std::string& id) const {
  if (tasks_.is_saving(id)) return true;
  const auto found = owner_.jobs().open().find(id);
  return found != owner_.jobs().open().end() && found->second->entry.state == JobState::parking;
}

bool Queue::is_early(const std::string& id) const { return room_.is_early(id); }

bool Queue::goes_on(const std::string& id) const {
  const auto found = owner_.jobs().open().find(id);
  if (found == owner_.jobs().open().end()) return false;
  const JobEntry& entry = found->second->entry;
  const bool is_between = entry.state == JobState::waiting || entry.state == JobState::starting;
  return entry.state == JobState::parking || (is_between && entry.has_parked);
}

bool Queue::is_cut_short(const std::string& id) const {
  const JobEntry* entry = entry_of(owner_.jobs(), id);
  if (entry == nullptr) return tasks_.is_cut_short(id);
  const JobPtr job = owner_.jobs().find_id(id);
  if (job && job->watch.was_ended()) return true;
  if (is_closed(entry->state)) return !entry->task_of.empty() && entry->end != TaskEnd::done;
  const bool has_saved = entry->was_asked_to_save && !entry->is_unparkable;
  return goes_on(id) || has_saved || entry->state == JobState::stopping;
}

std::optional<double> Queue::cores_of(const std::string& id) const {
  if (const auto task = tasks_.held().find(id); task != tasks_.held().end()) {
    return policy::amount_of(task->second->request, "cpu");
  }
  const auto found = owner_.jobs().open().find(id);
  if (found == owner_.jobs().open().end()) return std::nullopt;
  return found->second->entry.cores;
}

std::optional<ctrl::QueueCounts> Queue::counts() const {
  if (owner_.jobs().open().empty() && owner_.jobs().ended().empty()) return std::nullopt;
  ctrl::QueueCounts counts;
  for (const auto& [id, job] : owner_.jobs().open()) {
    if (job->group) continue;
    ++(job->entry.state == JobState::waiting ? counts.waiting : counts.running);
  }
  return counts;
}

std::int64_t Queue::unreturned() const {
  const auto& held = tasks_.held();
  return std::count_if(held.begin(), held.end(), [this](const auto& one) {
    return one.second->copy == TicketCopy::ended && !world_.moves.is_moving(one.first);
  });
}

void Queue::add_metrics(ctrl::Exposition& out) const {
  if (!counts()) return;
  std::map<JobState, std::size_t> states;
  double longest = 0;
  for (const auto& [id, job] : owner_.jobs().open()) {
    if (job->group) continue;
    ++states[job->entry.state];
    if (job->entry.state != JobState::waiting) continue;
    longest = std::max(longest, waited(job->entry, world_.clock.wall()));
  }
  for (const JobState state :
       {JobState::waiting, JobState::placing, JobState::starting, JobState::running,
        JobState::parking, JobState::returning, JobState::stopping}) {
    out.add("flowcon_queue_jobs", {{"state", name(state)}}, static_cast<double>(states[state]));
  }
  for (const auto& [id, job] : owner_.jobs().open()) {
    const std::optional<Group>& group = job->entry.group;
    if (!group || group->tasks.empty()) continue;
    const std::int64_t workers = present(*group, false);
    out.add("flowcon_job_workers", {{"job", job->entry.name}}, static_cast<double>(workers));
  }
  out.add("flowcon_queue_wait_seconds", longest);
  out.add("flowcon_job_resizes_total", static_cast<double>(owner_.jobs().resizes()));
}

ctrl::api::Routes Queue::peer_routes() {
  using ctrl::api::at_once, ctrl::api::get, ctrl::api::post;
  // What only one can answer that has read its journal.
  const auto once_read = [this](ctrl::api::Answer answer) -> ctrl::api::Answer {
    return [this, answer = std::move(answer)](Call call) {
      return is_ready() ? answer(std::move(call)) : at_once(failure(503, kNotRead));
    };
  };
  return {
      post("/v1/peer/queue/task", "An owner asks for its task here, or of it.",
           [this](Call call) { return tasks_.answer(std::move(call.body), std::move(call.peer)); }),
      post("/v1/peer/queue/wake", "Something has changed.",
           [this](const Call&) {
             conductor_.wake();
             return at_once({200, "{}"});
           }),
      post("/v1/peer/queue/ports", "An owner leases ports for its tasks.",
           once_read([this](Call call) {
             return leases_.answer(std::move(call.body), std::move(call.peer));
           })),
      get("/v1/peer/queue/jobs", "Offer, free resources and jobs of this host.",
          once_read([this](const Call&) {
            return at_once({200, render(conductor_.report())});
          })),
      post("/v1/peer/queue/order", "The coordinator's orders for jobs of this host.",
           once_read([this](const Call& call) {
             return at_once(conductor_.take_orders(call.body, call.peer));
           })),
      post("/v1/peer/queue/decisions", "The last decisions about a job.",
           once_read([this](const Call& call) {
             return at_once(conductor_.answer_decisions(call.body));
           })),
      post("/v1/peer/queue/news", "Tasks of jobs of this host have changed.",
           once_read([this](const Call& call) {
             const Result<std::vector<std::string>> births = parse_births(call.body);
             if (!births) return at_once(failure(422, births.error().what));
             return at_once({200, render_births(owner_.hear_news(*births, call.peer))});
           }))};
}

ctrl::api::Routes Queue::routes() {
  using ctrl::api::get, ctrl::api::post, ctrl::api::by;
  const auto verb = [this](const char* word) {
    return [this, word](Call call) { return change(std::move(call), word); };
  };
  return {
      get("/v1/queue", "The jobs that wait or run, and the last ones that have ended.",
          by(*this, &Queue::list), {{"ended", true, 0, kKeptJobs}}),
      // Before the next, whose NAME may have a slash.
      get("/v1/queue/NAME/explain", "The coordinator's last decisions about a job, and why.",
          by(*this, &Queue::explain), {{"last", true, 1, 1000}}),
      get("/v1/queue/NAME", "All that is known of a job; the coordinator is asked for `decisions`.",
          by(*this, &Queue::show), {{"decisions", true, 0, 1}}),
      post("/v1/queue/NAME/hold", "Keeps a waiting job from being started.", verb("hold")),
      post("/v1/queue/NAME/release", "Takes hold back.", verb("release")),
      post("/v1/queue/NAME/cancel", "Removes a waiting job, stops a running one.", verb("cancel")),
      post("/v1/queue/NAME/park", "A running job saves itself and waits, held.", verb("park")),
      post("/v1/queue/NAME/restart", "Starts a job again without its host, which is lost.",
           by(*this, &Queue::restart)),
      post("/v1/queue/NAME/set", "Other values for request, priority, retries, workers.",
           by(*this, &Queue::set))};
}

// Why jobs of several containers cannot span hosts as they are to; "" = nothing is known against
// it.
std::string Queue::why_one_host() const {
  const ctrl::QueueOptions& options = world_.host.config().queue;
  const std::string& network = options.group_network;
  if (network == ctrl::kNoNetwork) return "jobs of several containers stay on one host";
  const bool is_overlay =
      network != ctrl::kAutoNetwork && network != kHostNetwork && network != kPublished;
  if (is_overlay) {
    return conductor_.has_no_swarm() ? "an overlay network, but this host is in no Docker Swarm"
                                     : "";
  }
  if (!leases_.has_address()) {
    return options.advertise.empty() ? "it needs advertise, an address of this host"
                                     : "advertise is no address of this host";
  }
  const bool is_closed = network == kHostNetwork && !leases_.is_open();
  return is_closed ? "accept-host-network is off: other hosts' jobs cannot span to this one" : "";
}

Async<Response> Queue::list(Call call) {
  if (!owner_.is_read()) {
    co_return failure(503, owner_.trouble().empty() ? kNotRead : owner_.trouble());
  }
  const double now = world_.clock.wall();
  std::vector<JobPtr> jobs;
  for (const auto& [id, job] : owner_.jobs().open()) {
    if (!job->group) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(), comes_before);
  json::array shown;
  for (const JobPtr& job : jobs) shown.push_back(view_of(*job, conductor_.left(*job), now));
  const std::vector<JobPtr>& ended = owner_.jobs().ended();
  const std::size_t most = call.number("ended", kEndedShown);
  for (std::size_t i = 0; i < std::min(ended.size(), most); ++i) {
    shown.push_back(view_of(*ended[i], std::nullopt, now));
  }
  const Offer offer = owner_.sizing().offer();
  const ctrl::QueueOptions& options = world_.host.config().queue;
  json::object out{{"policy", options.policy},
                   {"offer", amounts_json(offer.amounts())},
                   {"free", amounts_json(room_.room().free)},
                   {"starve_limit", options.starve_limit},
                   {"groups", {{"network", options.group_network}, {"why", why_one_host()}}},
                   {"jobs", std::move(shown)}};
  co_return Response{200, render_json(out)};
}

// A job may only seem to be none, as long as not all are known.
Response Queue::unknown(const Error& error) const {
  return is_ready() ? failure(404, error.what) : failure(503, kNotRead);
}

// One that has ended and is remembered no more: the journal has it as long as its container is
// there.
Async<Result<JobPtr>> Queue::find(std::string name) {
  Result<JobPtr> job = owner_.jobs().find(name);
  if (job || !is_ready()) co_return job;
  const auto row = co_await world_.rows.find(std::move(name));
  if (!row || !*row) co_return job;
  Result<JobEntry> entry = parse_entry((*row)->entry);
  if (!entry) co_return job;
  co_return std::make_shared<Job>(world_.host.io(), std::move(*entry));
}

Async<Response> Queue::show(Call call) {
  std::string name = call.name;
  const Result<JobPtr> job = co_await find(std::move(name));
  if (!job) co_return unknown(job.error());
  json::object out = details_of(**job, world_.network, conductor_.left(**job), world_.clock.wall());
  std::string id = (*job)->entry.id;
  const bool asks = call.number("decisions", 0) == 1 && !is_closed((*job)->entry.state);
  json::object decided = decisions_in("");
  if (asks) decided = co_await conductor_.decisions(std::move(id));
  for (auto& member : decided) out[member.key()] = std::move(member.value());
  co_return Response{200, render_json(out)};
}

// What the coordinator has recorded since the job came, however the two clocks differ.
Async<Response> Queue::explain(Call call) {
  const Result<JobPtr> job = co_await find(call.name);
  if (!job) co_return unknown(job.error());
  const JobEntry& entry = (*job)->entry;
  const double since = std::max(0.0, entry.submitted - kClocks);
  const std::string asked =
      "/v1/containers/" + entry.id + "/explain?since=" + render_number(since) + "&last=";
  auto last = call.number<std::size_t>("last", 1);
  for (;; last /= 2) {
    Response said = co_await conductor_.ask_coordinator(asked + std::to_string(last));
    // 413: peers tell less at a time.
    if (said.status != 413 || last == 1) co_return said;
  }
}

Async<Response> Queue::change(Call call, std::string verb) {
  std::string name = std::move(call.name);
  if (verb == "park") {
    const Result<JobPtr> job = owner_.jobs().find(name);
    if (job && (*job)->ticket && !(*job)->ticket->saves_itself) {
      co_return failure(409, "job " + printable((*job)->entry.name, 80) +
                                 " cannot be parked: its labels do not say how it saves itself "
                                 "(flowcon.checkpoint.signal or .command)");
    }
  }
  const auto how = verb == "hold"      ? hold
                   : verb == "release" ? release
                   : verb == "cancel"  ? cancel
                                       : park;
  std::function<Result<JobEntry>(const JobEntry&, double)> decision = how;
  co_return co_await edit(std::move(name), std::move(decision));
}

// The person names the host, so that it is the one they mean.
Async<Response> Queue::restart(Call call) {
  const Result<JobPtr> found = owner_.jobs().find(call.name);
  if (!found) co_return unknown(found.error());
  const JobPtr job = *found;
  const std::string shown = printable(job->entry.name, 80);
  const Result<json::value> said = parse_json(call.body);
  const std::string host = said ? text_of(*said, "without") : "";
  std::vector<JobPtr> away, lost;
  std::string where;
  for (const auto& [id, one] : owner_.jobs().open()) {
    if ((one != job && one->group != job) || !one->entry.task) continue;
    away.push_back(one);
    const bool is_there = one->host_shown == host || one->entry.task->host == host;
    if (is_there && !host.empty()) lost.push_back(one);
    if (where.find(one->host_shown) == std::string::npos) {
      where += (where.empty() ? "" : " and ") + one->host_shown;
    }
  }
  if (away.empty()) co_return failure(409, "job " + shown + " is on no other host");
  if (lost.empty()) {
    co_return failure(
        422, "job " + shown + " is on " + printable(where, 200) + ": name the host that is lost");
  }
  const std::string there = lost.front()->entry.task->host;
  for (const Neighbour& one : world_.network.neighbours()) {
    if (one.id != there || !one.is_reachable) continue;
    co_return failure(409, printable(one.name, 80) +
                               " is reachable, and the job goes on by itself; cancel it, or stop "
                               "its container there");
  }
  for (const JobPtr& one : lost) {
    if (!one->entry.task) continue;
    world_.moves.take_back(one->entry.task->birth);
    Owner::Change decision = queue::abandon;
    const Result<void> done = co_await owner_.edit(one, std::move(decision));
    if (!done) co_return failure(done.error().code ? 503 : 409, done.error().message());
  }
  co_return answer_on(*job);
}

Async<Response> Queue::set(Call call) {
  const Wishes settings = wishes_in(call.body);
  if (settings.empty()) {
    co_return failure(422, "set takes a JSON object with request, priority, retries or workers");
  }
  const Result<JobPtr> job = owner_.jobs().find(call.name);
  if (!job) co_return unknown(job.error());
  const bool may_park = world_.host.config().queue.park;
  const Result<JobEntry> tried = with_settings((*job)->entry, settings, may_park);
  if (!tried) co_return failure(is_closed((*job)->entry.state) ? 409 : 422, tried.error().what);
  const bool asks = std::any_of(settings.begin(), settings.end(), [](const auto& one) {
    return one.first == "request" || one.first == "workers";
  });
  const std::string hopeless = asks ? owner_.sizing().why_hopeless(**job, *tried) : "";
  if (!hopeless.empty()) co_return failure(422, hopeless);
  std::string name = std::move(call.name);
  std::function<Result<JobEntry>(const JobEntry&, double)> decision =
      [settings, may_park](const JobEntry& entry, double) {
        return with_settings(entry, settings, may_park);
      };
  co_return co_await edit(std::move(name), std::move(decision));
}

Async<Response> Queue::edit(std::string name,
                            std::function<Result<JobEntry>(const JobEntry&, double now)> change) {
  const Result<JobPtr> found = owner_.jobs().find(name);
  if (!found) co_return unknown(found.error());
  JobPtr job = *found;
  if (job->group) {
    co_return failure(409, printable(job->entry.name, 80) + " is a task of job " +
                               printable(job->group->entry.name, 80) + ": name that job");
  }
  const std::string before = note_of(*job);
  const Result<void> done = co_await owner_.edit(job, std::move(change));
  if (!done) {
    const int status = done.error().code ? 503 : 409;
    co_return failure(status, done.error().message());
  }
  co_return answer_on(*job, before);
}

}  // namespace flowcon::cluster::queue
