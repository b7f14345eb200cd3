// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/random.h"
#include "sim/share.h"

namespace flowcon::sim {
namespace {

constexpr std::size_t kKeptHead = 8;
constexpr double kLeastWeight = 1e-9;
constexpr double kLeastCap = 1e-6;  // cores
constexpr double kDone = 1e-12;     // share of the work that rounding may leave over
constexpr double kBusy = 0.9;       // as ctrl/daemon/decide.cpp

// Seconds that an end may be off by rounding: late in time the clock itself takes longer steps.
double tolerance_at(double now) {
  return std::max(1e-7, 4 * std::numeric_limits<double>::epsilon() * now);
}

// A job that is on some host, or on its way to one.
struct Live {
  const JobSpec* spec = nullptr;
  std::size_t number = 0;
  Known known;
  double done = 0;        // CPU seconds of work
  double used = 0;        // CPU seconds
  double rate = 0;        // cores
  double guaranteed = 0;  // cores
  double work90 = 0;      // CPU seconds of work
  std::uint32_t printed = 0;
  std::vector<ctrl::Sample> fresh;  // printed since the last look
  bool has_range = false;           // a finite value was printed
  std::size_t host = 0;
  std::size_t landing = 0;  // host that it is on its way to
};

struct Host {
  HostSpec spec;
  std::vector<Live*> jobs;
  double time = 0;        // jobs are as of then
  double efficiency = 1;  // work done in a CPU second
  double next_decision = kNever;
  double next_end = kNever;
  bool has_changed = false;
  std::uint64_t version = 0;
};

struct Event {
  double time = 0;
  enum class Kind : std::uint8_t { host, landing, kill, cluster } kind = Kind::host;
  std::size_t index = 0;
  std::uint64_t version = 0;
  bool operator>(const Event& other) const {
    if (time != other.time) return time > other.time;
    if (kind != other.kind) return kind > other.kind;
    return index != other.index ? index > other.index : version > other.version;
  }
};

class Engine {
 public:
  Engine(const Schedule& schedule, PolicySet& policy, const EngineParameters& parameters)
      : schedule_(schedule), policy_(policy), parameters_(parameters), random_(schedule.seed) {
    for (const HostSpec& spec : schedule.hosts)
      hosts_.push_back({spec, {}, 0, 1, kNever, kNever, false, 0});
    live_.resize(schedule.jobs.size());
    result_.jobs.resize(schedule.jobs.size());
  }

  RunResult run();

 private:
  void advance(Host& host, double now);
  void print_lines(Live& job, double from, double before);
  void end_jobs(Host& host, double now);
  void finish(Live& job, double now, Outcome::End end);
  void arrive(std::size_t number, double now);
  std::size_t place(const JobSpec& spec);
  void join(Live& job, std::size_t host, double now);
  void land(Live& job, double now);
  void leave(Live& job);
  void look(Host& host, double now);
  void settle(std::size_t number, double now);
  void set_rates(Host& host, std::vector<Grant> grants);
  static void guarantee_caps(Host& host, const std::vector<Grant>& grants);
  void predict(std::size_t number);
  void balance(double now);
  void end_due(Host& host, double now);
  bool take(const Event& event, double now);
  SimHost view_of(std::size_t number, double now) const;

  const Schedule& schedule_;
  PolicySet& policy_;
  EngineParameters parameters_;
  Random random_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Live>> live_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::size_t> touched_;
  std::size_t next_arrival_ = 0;
  std::size_t next_host_ = 0;
  std::size_t unended_ = 0;
  bool is_balance_due_ = false;
  double next_cluster_ = kNever;
  std::vector<std::size_t> moving_;     // numbers of jobs that are on their way
  std::optional<double> move_seconds_;  // as measured
  RunResult result_;
};

void Engine::print_lines(Live& job, double from, double before) {
  const JobSpec& spec = *job.spec;
  const double speed = job.rate * hosts_[job.host].efficiency;
  const double x = spec.progress(job.done);
  while (job.printed < spec.lines) {
    const double at = static_cast<double>(job.printed + 1) / spec.lines;
    // The last step is not missed by a rounding.
    if (at > x + kDone) break;
    ++job.printed;
    const double time = speed > 0 ? from + std::max(0.0, spec.used_at(at) - before) / speed : from;
    double value = spec.curve->value(at);
    if (spec.noise > 0) {
      value += spec.noise * spec.curve->range() * normal_of(spec.noise_seed, job.printed);
    }
    job.fresh.push_back({time, value});
    if (spec.has_counter) job.known.report.counter = {at, 1};
  }
  Outcome& outcome = result_.jobs[job.number];
  const double work90 = job.work90;
  if (!outcome.reached90 && job.done >= work90 * (1 - kDone)) {
    outcome.reached90 = speed > 0 ? from + std::max(0.0, work90 - before) / speed : from;
  }
}

void Engine::advance(Host& host, double now) {
  const double elapsed = now - host.time;
  if (elapsed > 0) {
    for (Live* job : host.jobs) {
      const double before = job->done;
      job->used += job->rate * elapsed;
      job->done = std::min(job->spec->end_work(), before + job->rate * host.efficiency * elapsed);
      print_lines(*job, host.time, before);
    }
  }
  host.time = now;
}

// The daemon's readings at a tick: counters of the kernel, lines of the log.
void Engine::look(Host& host, double now) {
  for (Live* job : host.jobs) {
    Known& known = job->known;
    known.used = job->used;
    known.memory = job->spec->memory;
    ctrl::metrics::Report& seen = known.report;
    if (!job->fresh.empty()) seen.metric = "loss";
    for (const ctrl::Sample& sample : job->fresh) {
      if (seen.head.size() < kKeptHead) seen.head.push_back(sample);
      if (std::isfinite(sample.value)) {
        seen.low = job->has_range ? std::min(seen.low, sample.value) : sample.value;
        seen.high = job->has_range ? std::max(seen.high, sample.value) : sample.value;
        job->has_range = true;
      }
      ++seen.count;
    }
    seen.samples.insert(seen.samples.end(), job->fresh.begin(), job->fresh.end());
    if (seen.samples.size() > ctrl::metrics::kKeptSamples) {
      seen.samples.erase(seen.samples.begin(), seen.samples.end() - ctrl::metrics::kKeptSamples);
    }
    std::optional<double> done;
    if (seen.counter) done = seen.counter->done;
    known.track.look({now, job->used, job->guaranteed, done}, job->fresh);
    job->fresh.clear();
  }
}

void Engine::finish(Live& job, double now, Outcome::End end) {
  Outcome& outcome = result_.jobs[job.number];
  outcome.end = end;
  outcome.finished = now;
  outcome.worked = job.done;
  outcome.moves = job.known.moves;
  outcome.host = job.host;
  if (end == Outcome::End::complete && !outcome.reached90) outcome.reached90 = now;
  result_.worked += job.done;
  --unended_;
}

void Engine::end_jobs(Host& host, double now) {
  std::vector<Live*> ended;
  for (Live* job : host.jobs) {
    if (job->done >= job->spec->end_work() * (1 - kDone)) ended.push_back(job);
  }
  if (ended.empty()) return;
  look(host, now);
  for (Live* job : ended) {
    const bool is_complete = !job->spec->crash_at;
    finish(*job, now, is_complete ? Outcome::End::complete : Outcome::End::crashed);
    policy_.hosts[job->host]->end(job->known, now, is_complete);
    leave(*job);
    live_[job->number].reset();
  }
}

void Engine::leave(Live& job) {
  Host& host = hosts_[job.host];
  std::erase(host.jobs, &job);
  host.has_changed = true;
  job.rate = 0;
}

void Engine::join(Live& job, std::size_t number, double now) {
  Host& host = hosts_[number];
  advance(host, now);
  job.host = number;
  job.rate = job.guaranteed = 0;
  host.jobs.push_back(&job);
  host.has_changed = true;
  touched_.push_back(number);
}

// As flowcond has it (ctrl/job.h): its track came along.
void Engine::land(Live& job, double now) {
  join(job, job.landing, now);
  std::erase(moving_, job.number);
  move_seconds_ = parameters_.move_seconds;
  job.known.arrived = now;
  job.known.track = ctrl::growth::Track(job.known.track.record(), now);
}

std::size_t Engine::place(const JobSpec& spec) {
  if (spec.host) return *spec.host % hosts_.size();
  switch (schedule_.start) {
    case Start::random:
      return random_.below(hosts_.size());
    case Start::least: {
      std::size_t best = 0;
      for (std::size_t i = 1; i < hosts_.size(); ++i) {
        if (hosts_[i].jobs.size() < hosts_[best].jobs.size()) best = i;
      }
      return best;
    }
    case Start::balanced:
      break;
  }
  return next_host_++ % hosts_.size();
}

void Engine::arrive(std::size_t number, double now) {
  const JobSpec& spec = schedule_.jobs[number];
  auto job = std::make_unique<Live>();
  job->spec = &spec;
  job->number = number;
  job->work90 = spec.work90();
  job->known.number = number;
  job->known.model = spec.model;
  job->known.arrived = now;
  job->known.report.goal = spec.curve->goal();
  if (spec.kill_after) {
    events_.push({now + *spec.kill_after, Event::Kind::kill, number, 0});
  }
  ++unended_;
  join(*job, place(spec), now);
  live_[number] = std::move(job);
}

SimHost Engine::view_of(std::size_t number, double now) const {
  const Host& host = hosts_[number];
  SimHost view{number, now, host.spec.cores, host.spec.memory, host.has_changed, {}};
  view.jobs.reserve(host.jobs.size());
  for (const Live* job : host.jobs) view.jobs.push_back(&job->known);
  return view;
}

// Where there are caps, what one may not have falls to the others. flowcond takes nothing for
// guaranteed while caps leave some of the host idle.
void Engine::guarantee_caps(Host& host, const std::vector<Grant>& grants) {
  std::vector<Demand> wishes;
  double used = 0;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    wishes.push_back({std::max(kLeastWeight, grants[i].weight),
                      std::max(kLeastCap, std::min(1.0, grants[i].quota) * host.spec.cores)});
    used += host.jobs[i]->rate;
  }
  const std::vector<double> guaranteed = water_fill(wishes, host.spec.cores);
  const bool is_busy = used >= kBusy * host.spec.cores;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    host.jobs[i]->guaranteed = is_busy ? guaranteed[i] : 0;
  }
}

// A job without a share of the policy gets the same as any other.
void Engine::set_rates(Host& host, std::vector<Grant> grants) {
  grants.resize(host.jobs.size());
  std::vector<Demand> demands;
  demands.reserve(grants.size());
  double weights = 0;
  double memory = 0;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    const double quota = std::max(kLeastCap, grants[i].quota * host.spec.cores);
    demands.push_back({std::max(kLeastWeight, grants[i].weight),
                       std::min(host.jobs[i]->spec->parallelism, quota)});
    weights += demands.back().weight;
    memory += host.jobs[i]->spec->memory;
  }
  const std::vector<double> rates = water_fill(demands, host.spec.cores);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    host.jobs[i]->rate = rates[i];
    host.jobs[i]->guaranteed = host.spec.cores * demands[i].weight / weights;
  }
  const auto has_cap = [](const Grant& grant) { return grant.quota < 1; };
  if (std::any_of(grants.begin(), grants.end(), has_cap)) guarantee_caps(host, grants);
  const double sharers = effective_sharers(rates);
  host.efficiency = 1 / (1 + parameters_.contention * std::max(0.0, sharers - 1));
  // What does not fit is paged: everybody waits in proportion.
  if (memory > host.spec.memory) host.efficiency *= host.spec.memory / memory;
}

void Engine::predict(std::size_t number) {
  Host& host = hosts_[number];
  host.next_end = kNever;
  for (const Live* job : host.jobs) {
    const double left = job->spec->end_work() - job->done;
    const double speed = job->rate * host.efficiency;
    if (speed > 0) host.next_end = std::min(host.next_end, host.time + std::max(0.0, left) / speed);
  }
  const double next = std::min(host.next_end, host.next_decision);
  if (next < kNever) events_.push({next, Event::Kind::host, number, ++host.version});
}

// The host decides if something changed or its time has come.
void Engine::settle(std::size_t number, double now) {
  Host& host = hosts_[number];
  if (host.jobs.empty()) {
    host.has_changed = false;
    host.next_decision = kNever;
    ++host.version;
    return;
  }
  if (host.has_changed || now >= host.next_decision) {
    look(host, now);
    const HostGrants decision = policy_.hosts[number]->decide(view_of(number, now));
    ++result_.decisions;
    host.has_changed = false;
    host.next_decision = now + std::max(1e-3, decision.next);
    set_rates(host, decision.grants);
  }
  predict(number);
}

void Engine::balance(double now) {
  SimCluster view{now, move_seconds_, {}, moving_};
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    advance(hosts_[i], now);
    look(hosts_[i], now);
    view.hosts.push_back(view_of(i, now));
  }
  const ClusterMoves decision = policy_.cluster->decide(view);
  ++result_.decisions;
  for (const JobMove& order : decision.moves) {
    Live* job = order.job < live_.size() ? live_[order.job].get() : nullptr;
    if (!job || order.to >= hosts_.size() || job->host == order.to) continue;
    Host& source = hosts_[job->host];
    if (std::find(source.jobs.begin(), source.jobs.end(), job) == source.jobs.end()) continue;
    touched_.push_back(job->host);
    leave(*job);
    ++job->known.moves;
    job->landing = order.to;
    moving_.push_back(order.job);
    events_.push({now + parameters_.move_seconds, Event::Kind::landing, order.job, 0});
  }
  next_cluster_ = now + std::max(1e-3, decision.next);
  if (next_cluster_ < kNever) events_.push({next_cluster_, Event::Kind::cluster, 0, 0});
}

// The one that was to end has ended, whatever rounding says.
void Engine::end_due(Host& host, double now) {
  for (Live* job : host.jobs) {
    const double left = job->spec->end_work() - job->done;
    if (left > job->rate * host.efficiency * tolerance_at(now)) continue;
    const double before = job->done;
    job->done = job->spec->end_work();
    print_lines(*job, now, before);
  }
  end_jobs(host, now);
}

// True where jobs have come to a host or left one.
bool Engine::take(const Event& event, double now) {
  switch (event.kind) {
    case Event::Kind::host: {
      Host& host = hosts_[event.index];
      const bool is_end = host.next_end <= now;
      advance(host, now);
      if (is_end) end_due(host, now);
      touched_.push_back(event.index);
      return is_end;
    }
    case Event::Kind::landing:
      if (!live_[event.index]) return false;
      land(*live_[event.index], now);
      return true;
    case Event::Kind::kill: {
      if (!live_[event.index]) return false;
      Live& job = *live_[event.index];
      advance(hosts_[job.host], now);
      finish(job, now, Outcome::End::killed);
      touched_.push_back(job.host);
      leave(job);
      std::erase(moving_, event.index);
      live_[event.index].reset();
      return true;
    }
    case Event::Kind::cluster:
      is_balance_due_ = is_balance_due_ || event.time == next_cluster_;
      return false;
  }
  return false;
}

RunResult Engine::run() {
  const auto& jobs = schedule_.jobs;
  is_balance_due_ = policy_.cluster != nullptr;
  while (next_arrival_ < jobs.size() || unended_ > 0) {
    double now = next_arrival_ < jobs.size() ? jobs[next_arrival_].arrival : kNever;
    if (!events_.empty()) now = std::min(now, events_.top().time);
    if (now >= kNever) break;
    touched_.clear();
    bool has_change = false;
    while (!events_.empty() && events_.top().time <= now) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Event::Kind::host && hosts_[event.index].version != event.version) continue;
      ++result_.events;
      has_change = take(event, now) || has_change;
    }
    while (next_arrival_ < jobs.size() && jobs[next_arrival_].arrival <= now) {
      arrive(next_arrival_++, now);
      has_change = true;
    }
    const bool wants = policy_.cluster && has_change && policy_.cluster->wants_changes();
    if (policy_.cluster && (is_balance_due_ || wants)) {
      is_balance_due_ = false;
      balance(now);
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::size_t number : touched_) {
      advance(hosts_[number], now);
      settle(number, now);
    }
  }
  return std::move(result_);
}

}  // namespace

RunResult run(const Schedule& schedule, PolicySet& policy, const EngineParameters& parameters) {
  return Engine(schedule, policy, parameters).run();
}

}  // namespace flowcon::sim
