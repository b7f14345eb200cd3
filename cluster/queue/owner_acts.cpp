// SPDX-License-Identifier: Apache-2.0
// What the owner asks of its engine and of other hosts for a job.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/owner.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kSoon = 0.5;  // seconds until it is seen what has come of it

// What was asked may have been carried out, or may be yet, where the engine has not answered.
void doubt(Job& job, const Error& error) {
  const bool is_sent = error.code != boost::system::errc::connection_refused;
  if (is_sent && !is_answer(error)) job.quiet_from = kUnheard;
}

}  // namespace

Async<bool> Owner::carry_out(JobPtr job, Act act) {
  if (job->entry.task) co_return co_await carry_out_elsewhere(std::move(job), act);
  std::string id = job->entry.id;
  Result<void> done;
  switch (act) {
    case Act::start:
      co_return co_await start(std::move(job));
    case Act::save:
      co_return co_await save(std::move(job));
    case Act::stop:
      done = co_await world_.engine.stop(std::move(id));
      break;
    case Act::remove:
      done = co_await world_.engine.remove(std::move(id));
      break;
    default:
      co_return false;
  }
  if (!done) {
    doubt(*job, done.error());
    job->trouble = done.error().message();
    job->retry_at = world_.clock.steady() + kRetry;
  }
  job->was_told_to_stop = job->was_told_to_stop || (done && act == Act::stop);
  co_return done.has_value();
}

Async<bool> Owner::carry_out_elsewhere(JobPtr job, Act act) {
  const Result<void> done = co_await errands_.carry_out(job, act);
  // What comes of it is seen when it is looked at again.
  const double soon = world_.clock.steady() + (done ? kSoon : kRetry);
  job->retry_at = job->retry_at > 0 ? std::min(job->retry_at, soon) : soon;
  job->was_told_to_stop = job->was_told_to_stop || (done && act == Act::stop);
  if (done) co_return act == Act::claim;
  job->trouble = done.error().message();
  const bool may_be_refused = act == Act::bear || act == Act::claim;
  const bool is_refused = may_be_refused && !is_timeout(done.error());
  if (is_refused) job->start_refusal = done.error().message();
  if (is_refused && job->begins_early) {
    job->not_early_before = world_.clock.steady() + kAvoided;
  } else if (is_refused) {
    avoid(*job, !migration::is_passing_refusal(job->start_refusal));
  }
  if (is_refused && act == Act::bear) {
    job->freight.reset();
    job->weigh_at = 0;
  }
  co_return is_refused;
}

void Owner::avoid(Job& job, bool is_lasting) const {
  Job& whole = job.group ? *job.group : job;
  const std::string host = job.entry.task ? job.entry.task->host : world_.network.own_id();
  const int doublings = is_lasting && sizing_.may_run_here(job) ? job.times_refused++ : 0;
  whole.avoided[host] =
      world_.clock.steady() + std::min(std::ldexp(kAvoided, doublings), kLongestAvoided);
}

Async<bool> Owner::save(JobPtr job) {
  world_.host.apply_limits();
  auto asked = std::make_shared<Save>();
  asked->container = job->entry.id;
  if (job->ticket) {
    asked->how = job->ticket->checkpoint;
    asked->saves_itself = job->ticket->saves_itself;
  }
  asked->is_wanted = [job] { return job->entry.state == JobState::parking; };
  const Result<void> saved = co_await parking_.save(asked);
  job->has_saved = asked->has_saved;
  if (!saved) job->save_failure = saved.error().message();
  if (!saved) doubt(*job, saved.error());
  co_return true;
}

Async<bool> Owner::start(JobPtr job) {
  job->watch.begin();
  Result<void> done = co_await errands_.raise_memory(job);
  if (done) {
    done = co_await world_.engine.start(job->entry.id, "");
  }
  if (done) co_return true;
  if (is_answer(done.error())) {
    job->start_refusal = done.error().message();
    avoid(*job, false);
    co_return true;
  }
  doubt(*job, done.error());
  job->trouble = done.error().message();
  job->retry_at = world_.clock.steady() + kRetry;
  co_return false;
}

}  // namespace flowcon::cluster::queue
