// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kNow = 1000;

JobEntry job_in(JobState state, const std::string& life = "") {
  JobEntry entry;
  entry.name = "vae";
  entry.state = state;
  entry.life = life;
  entry.version = 4;
  entry.attempt = life.empty() ? 0 : 1;
  entry.since = kNow - 10;
  return entry;
}

JobEntry asked_job() {
  JobEntry entry = job_in(JobState::parking, "1");
  entry.was_asked_to_save = true;
  return entry;
}

JobFacts seen(TicketCopy copy, const std::string& life = "", std::int64_t status = 0) {
  JobFacts facts;
  facts.now = kNow;
  facts.copy = copy;
  facts.life = life;
  facts.status = status;
  return facts;
}

JobFacts with_order(JobFacts facts, Order::Op op, std::int64_t version = 4) {
  facts.order = Order{op, version};
  return facts;
}

// "running, save", or "nothing".
std::string told(const Step& step) {
  if (!step.entry) return step.act == Act::none ? "nothing" : name(step.act);
  const std::string act = step.act == Act::none ? "" : std::string(", ") + name(step.act);
  return name(step.entry->state) + act;
}

TEST_CASE("a waiting job starts when it is ordered to, and that is written first") {
  const JobFacts facts = seen(TicketCopy::created);
  CHECK(told(next_step(job_in(JobState::waiting), facts)) == "nothing");
  JobFacts ordered = with_order(facts, Order::Op::start);
  ordered.cores = 2;
  const Step step = next_step(job_in(JobState::waiting), ordered);
  CHECK(told(step) == "starting, start");
  CHECK(step.entry->attempt == 1);
  CHECK(step.entry->version == 5);
  CHECK(step.entry->cores == 2.0);
  CHECK(step.entry->waited == 10);
  // Its group has given up since.
  ordered.may_start = false;
  CHECK(told(next_step(job_in(JobState::waiting), ordered)) == "nothing");
}

TEST_CASE("a late order, one for another state and one for a held job are not carried out") {
  const JobFacts created = seen(TicketCopy::created);
  const JobEntry waiting = job_in(JobState::waiting);
  CHECK(told(next_step(waiting, with_order(created, Order::Op::start, 3))) == "nothing");
  CHECK(told(next_step(waiting, with_order(created, Order::Op::park))) == "nothing");
  JobEntry held = waiting;
  held.is_held = true;
  CHECK(told(next_step(held, with_order(created, Order::Op::start))) == "nothing");
  const JobFacts running = seen(TicketCopy::running, "1");
  const JobEntry job = job_in(JobState::running, "1");
  CHECK(told(next_step(job, with_order(running, Order::Op::start))) == "nothing");
  CHECK(told(next_step(job, with_order(running, Order::Op::park, 5))) == "nothing");
}

TEST_CASE("nothing is done while the engine does not answer, or after a job has closed") {
  for (const JobState state : {JobState::waiting, JobState::starting, JobState::running,
                               JobState::parking, JobState::stopping}) {
    const JobFacts facts = with_order(seen(TicketCopy::unknown), Order::Op::start);
    CHECK(told(next_step(job_in(state), facts)) == "nothing");
  }
  for (const JobState state :
       {JobState::done, JobState::failed, JobState::cancelled, JobState::refused}) {
    const JobFacts facts = with_order(seen(TicketCopy::created), Order::Op::start);
    CHECK(told(next_step(job_in(state), facts)) == "nothing");
  }
}

TEST_CASE("a job whose container is gone is cancelled, whatever it did") {
  for (const JobState state : {JobState::waiting, JobState::starting, JobState::running,
                               JobState::parking, JobState::stopping}) {
    CHECK(told(next_step(job_in(state, "1"), seen(TicketCopy::absent))) == "cancelled");
  }
}

TEST_CASE("a job that a person starts leaves the queue, whether it still runs or not") {
  const Step runs = next_step(job_in(JobState::waiting), seen(TicketCopy::running, "1"));
  CHECK(told(runs) == "cancelled");
  CHECK(runs.entry->note == "it was started by hand and has left the queue");
  const Step ran = next_step(job_in(JobState::waiting), seen(TicketCopy::ended, "1", 3));
  CHECK(told(ran) == "cancelled");
  CHECK(ran.entry->status == 3);
}

TEST_CASE("a start counts where the container has another life, even one that has ended") {
  JobEntry starting = job_in(JobState::starting);
  starting.refusals = 2;
  const Step runs = next_step(starting, seen(TicketCopy::running, "1"));
  CHECK(told(runs) == "running");
  CHECK(runs.entry->life == "1");
  CHECK(runs.entry->refusals == 0);
  CHECK(told(next_step(starting, seen(TicketCopy::ended, "1"))) == "running");
}

TEST_CASE("a start is asked for again once the one before cannot come any more") {
  const JobEntry starting = job_in(JobState::starting);
  JobFacts facts = seen(TicketCopy::created);
  facts.is_quiet = false;
  CHECK(told(next_step(starting, facts)) == "nothing");
  facts.is_quiet = true;
  CHECK(told(next_step(starting, facts)) == "start");
}

TEST_CASE("what keeps a task from being made for a while holds no job") {
  JobEntry placing = job_in(JobState::placing);
  placing.task = Task();
  placing.refusals = kMostRefusals - 1;
  JobFacts facts = seen(TicketCopy::created);
  facts.task.birth = Stage::none;
  facts.start_refusal = "its data is written to";
  const Step later = next_step(placing, facts);
  CHECK(told(later) == "waiting");
  CHECK_FALSE(later.entry->is_held);
  CHECK(later.entry->note == "could not be placed: its data is written to");
  facts.task.was_refused = true;
  CHECK(next_step(placing, facts).entry->is_held);
}

TEST_CASE("a full disk holds no job: it may have room again") {
  JobEntry starting = job_in(JobState::starting);
  starting.refusals = kMostRefusals - 1;
  JobFacts facts = seen(TicketCopy::created);
  facts.start_refusal = "Error response from daemon: no space left on device";
  const Step step = next_step(starting, facts);
  REQUIRE(step.entry);
  CHECK(step.entry->state == JobState::waiting);
  CHECK_FALSE(step.entry->is_held);
}

TEST_CASE("the third refusal in a row holds the job with the engine's words") {
  JobEntry starting = job_in(JobState::starting);
  JobFacts facts = seen(TicketCopy::created);
  facts.start_refusal = "no such runtime";
  const Step first = next_step(starting, facts);
  CHECK(told(first) == "waiting");
  CHECK_FALSE(first.entry->is_held);
  starting.refusals = kMostRefusals - 1;
  const Step third = next_step(starting, facts);
  CHECK(third.entry->is_held);
  CHECK(third.entry->note == "could not be started: no such runtime");
  facts.is_quiet = false;
  CHECK(told(next_step(starting, facts)) == "nothing");
}

TEST_CASE("a job that ends with 0 is done") {
  const Step step = next_step(job_in(JobState::running, "1"), seen(TicketCopy::ended, "1"));
  CHECK(told(step) == "done");
  CHECK(step.entry->status == 0);
  CHECK(step.entry->served == 10);
}

TEST_CASE("no end counts while a request may come that nobody heard the answer of") {
  JobFacts facts = seen(TicketCopy::ended, "1");
  facts.is_quiet = false;
  CHECK(told(next_step(job_in(JobState::running, "1"), facts)) == "nothing");
  CHECK(told(next_step(asked_job(), facts)) == "nothing");
  CHECK(told(next_step(job_in(JobState::stopping, "1"), facts)) == "nothing");
}

TEST_CASE("a job that fails runs again while it has retries, then it has failed") {
  JobEntry running = job_in(JobState::running, "1");
  running.retries = 1;
  const Step again = next_step(running, seen(TicketCopy::ended, "1", 3));
  CHECK(told(again) == "waiting");
  CHECK(again.entry->retries == 0);
  CHECK(again.entry->note == "ended with status 3, starts again");
  running.retries = 0;
  const Step failed = next_step(running, seen(TicketCopy::ended, "1", 3));
  CHECK(told(failed) == "failed");
  CHECK(failed.entry->note == "ended with status 3; see docker flowcon logs vae");
}

TEST_CASE("a job that is killed for memory runs once more with twice as much, at no retry") {
  JobEntry running = job_in(JobState::running, "1");
  JobFacts facts = seen(TicketCopy::ended, "1", 137);
  facts.was_killed_for_memory = true;
  facts.memory = 100;
  running.chosen = {1.0, 50.0, 2.0};
  const Step again = next_step(running, facts);
  CHECK(told(again) == "waiting");
  CHECK(again.entry->least_memory == 200);
  CHECK(again.entry->chosen == Chosen{1.0, {}, 2.0});
  running.has_doubled = true;
  const Step failed = next_step(running, facts);
  CHECK(told(failed) == "failed");
  CHECK(failed.entry->note == "was killed for memory again");
}

TEST_CASE("a job that ends with 0 is done, though one of its processes was killed for memory") {
  JobFacts facts = seen(TicketCopy::ended, "1", 0);
  facts.was_killed_for_memory = true;
  JobEntry running = job_in(JobState::running, "1");
  CHECK(told(next_step(running, facts)) == "done");
  running.task_of = std::string(64, 'a');
  CHECK(next_step(running, facts).entry->end == TaskEnd::done);
}

TEST_CASE("an interrupted job runs again at no retry, even where it ended with 0") {
  JobEntry running = job_in(JobState::running, "1");
  running.retries = 2;
  for (const std::int64_t status : {0, 137, 255}) {
    JobFacts facts = seen(TicketCopy::ended, "1", status);
    facts.was_interrupted = true;
    const Step step = next_step(running, facts);
    CHECK(told(step) == "waiting");
    CHECK(step.entry->retries == 2);
  }
}

TEST_CASE("a job that a person stops is cancelled, whatever retries it has") {
  JobEntry running = job_in(JobState::running, "1");
  running.retries = 5;
  JobFacts facts = seen(TicketCopy::ended, "1", 143);
  facts.was_stopped = true;
  const Step step = next_step(running, facts);
  CHECK(told(step) == "cancelled");
  CHECK(step.entry->note == "was stopped by hand, ended with status 143");
}

TEST_CASE("a running job that a person restarts stays in the queue with its new life") {
  const Step step = next_step(job_in(JobState::running, "1"), seen(TicketCopy::running, "2"));
  CHECK(told(step) == "running");
  CHECK(step.entry->life == "2");
}

TEST_CASE("a job that is to give its room away is asked to save, and waits when it has ended") {
  const JobFacts running = seen(TicketCopy::running, "1");
  const Step parks =
      next_step(job_in(JobState::running, "1"), with_order(running, Order::Op::park));
  CHECK(told(parks) == "parking, save");
  CHECK(told(next_step(*parks.entry, running)) == "save");
  const Step parked = next_step(*parks.entry, seen(TicketCopy::ended, "1"));
  CHECK(told(parked) == "waiting");
  CHECK(parked.entry->note == "has saved itself");
  CHECK(parked.entry->has_saved);
  CHECK_FALSE(parked.entry->was_asked_to_save);
  JobFacts stopped = seen(TicketCopy::ended, "1", 143);
  stopped.has_saved = true;
  CHECK_FALSE(next_step(*parks.entry, stopped).entry->is_unparkable);
}

TEST_CASE("a ticket with results is not removed, though the clock was set back while it ran") {
  JobFacts facts = seen(TicketCopy::ended, "1", 137);
  facts.was_interrupted = true;
  facts.now = -1000;
  JobEntry entry = *next_step(job_in(JobState::running, "1"), facts).entry;
  entry = *cancel(entry, -999);
  JobFacts home = seen(TicketCopy::created);
  CHECK(told(next_step(entry, home)) == "cancelled");
}

TEST_CASE("a job is not asked to save itself again while the first request may be at it") {
  JobFacts facts = seen(TicketCopy::running, "1");
  facts.is_quiet = false;
  CHECK(told(next_step(asked_job(), facts)) == "nothing");
  facts.is_quiet = true;
  CHECK(told(next_step(asked_job(), facts)) == "save");
}

TEST_CASE("a job that ends with an error when it is asked to save waits, and is not asked again") {
  const Step parked = next_step(asked_job(), seen(TicketCopy::ended, "1", 1));
  CHECK(told(parked) == "waiting");
  CHECK(parked.entry->is_unparkable);
  CHECK_FALSE(parked.entry->has_saved);
  JobEntry running = job_in(JobState::running, "1");
  running.is_unparkable = true;
  const JobFacts facts = with_order(seen(TicketCopy::running, "1"), Order::Op::park);
  CHECK(told(next_step(running, facts)) == "nothing");
}

TEST_CASE("a job that does not save itself runs on once its request cannot come any more") {
  JobEntry parking = asked_job();
  parking.is_held = true;
  JobFacts facts = seen(TicketCopy::running, "1");
  facts.save_failure = "it takes too long";
  facts.is_quiet = false;
  CHECK(told(next_step(parking, facts)) == "nothing");
  facts.is_quiet = true;
  const Step step = next_step(parking, facts);
  CHECK(told(step) == "running");
  CHECK(step.entry->note == "could not be parked: it takes too long");
  CHECK_FALSE(step.entry->is_held);
}

TEST_CASE("a job that saves itself too late waits, and its next life that ends with 0 is done") {
  JobEntry running = job_in(JobState::running, "1");
  running.was_asked_to_save = running.is_unparkable = true;
  CHECK(told(next_step(running, seen(TicketCopy::ended, "1"))) == "waiting");
  CHECK(told(next_step(running, seen(TicketCopy::ended, "2"))) == "done");
}

TEST_CASE("a group's task that saves itself too late has not come to its end either") {
  JobEntry running = job_in(JobState::running, "1");
  running.task_of = "group";
  running.was_asked_to_save = running.is_unparkable = true;
  CHECK(next_step(running, seen(TicketCopy::ended, "1")).entry->end == TaskEnd::saved);
  CHECK(next_step(running, seen(TicketCopy::ended, "1", 1)).entry->end == TaskEnd::failed);
  CHECK(next_step(running, seen(TicketCopy::ended, "2")).entry->end == TaskEnd::done);
}

TEST_CASE("a job that a person parks after its end is done, and never starts again") {
  const JobEntry parking = *park(job_in(JobState::running, "1"), kNow);
  CHECK(told(next_step(parking, seen(TicketCopy::ended, "1"))) == "done");
}

TEST_CASE("a job that a person parks is asked to save when it is seen to run, and is held") {
  const JobEntry parking = *park(job_in(JobState::running, "1"), kNow);
  const Step asks = next_step(parking, seen(TicketCopy::running, "1"));
  CHECK(told(asks) == "parking, save");
  CHECK(is_saving(*asks.entry));
  const Step parked = next_step(*asks.entry, seen(TicketCopy::ended, "1"));
  CHECK(told(parked) == "waiting");
  CHECK(parked.entry->is_held);
}

TEST_CASE("a person may park again what did not save itself before") {
  JobEntry running = job_in(JobState::running, "1");
  running.was_asked_to_save = running.is_unparkable = true;
  const JobEntry parking = *park(running, kNow);
  CHECK_FALSE(is_saving(parking));
  const Step asks = next_step(parking, seen(TicketCopy::running, "1"));
  CHECK(told(asks) == "parking, save");
  CHECK(is_saving(*asks.entry));
  CHECK(told(next_step(parking, seen(TicketCopy::ended, "1"))) == "waiting");
  CHECK(told(next_step(parking, seen(TicketCopy::ended, "2"))) == "done");
}

TEST_CASE("a parking job that a person restarts is asked anew") {
  const Step step = next_step(asked_job(), seen(TicketCopy::running, "2"));
  CHECK(told(step) == "parking, save");
  CHECK(step.entry->life == "2");
}

TEST_CASE("a cancelled job is stopped or its container removed before it is cancelled") {
  const JobEntry stopping = *cancel(job_in(JobState::running, "1"), kNow);
  CHECK(told(next_step(stopping, seen(TicketCopy::running, "1"))) == "stop");
  CHECK(told(next_step(stopping, seen(TicketCopy::ended, "1", 143))) == "cancelled");
  JobEntry waiting = *cancel(job_in(JobState::waiting), kNow);
  CHECK(told(next_step(waiting, seen(TicketCopy::created))) == "remove");
  CHECK(told(next_step(waiting, seen(TicketCopy::absent))) == "cancelled");
  // What it has written elsewhere is in it.
  waiting.served = 5;
  JobFacts created = seen(TicketCopy::created);
  CHECK(told(next_step(waiting, created)) == "cancelled");
  created.is_quiet = false;
  CHECK(told(next_step(waiting, created)) == "nothing");
}

TEST_CASE("only a waiting job is held, and only a held one released") {
  const JobEntry held = *hold(job_in(JobState::waiting), kNow);
  CHECK(held.is_held);
  CHECK(held.version == 5);
  CHECK(held.note == "is held");
  JobEntry refused = held;
  refused.refusals = 3;
  const JobEntry released = *release(refused, kNow);
  CHECK_FALSE(released.is_held);
  CHECK(released.refusals == 0);
  CHECK(released.note.empty());
  CHECK(hold(job_in(JobState::running), kNow).error().message() ==
        "job vae is running: only a waiting job can be held; park saves a running one");
  CHECK(release(released, kNow).error().message() == "job vae is waiting: it is not held");
}

TEST_CASE("a closed job is neither held, released, parked nor cancelled") {
  JobEntry closed = job_in(JobState::cancelled);
  closed.is_held = true;
  CHECK_FALSE(hold(closed, kNow).has_value());
  CHECK_FALSE(release(closed, kNow).has_value());
  CHECK_FALSE(park(closed, kNow).has_value());
  CHECK(cancel(closed, kNow).error().message() ==
        "job vae is cancelled: there is nothing to cancel");
}

TEST_CASE("time is counted as waited or served, and never backwards") {
  JobEntry waiting = job_in(JobState::waiting);
  waiting.waited = 5;
  CHECK(waited(waiting, kNow) == 15);
  CHECK(served(waiting, kNow) == 0);
  CHECK(waited(waiting, kNow - 100) == 5);
  const JobEntry running = job_in(JobState::running, "1");
  CHECK(served(running, kNow) == 10);
  CHECK(waited(running, kNow) == 0);
}

TEST_CASE("the last steps are kept, the newest last") {
  JobEntry entry = job_in(JobState::waiting);
  for (std::size_t i = 0; i < kKeptSteps + 5; ++i) {
    entry = i % 2 == 0 ? *hold(entry, kNow + static_cast<double>(i))
                       : *release(entry, kNow + static_cast<double>(i));
  }
  CHECK(entry.steps.size() == kKeptSteps);
  CHECK(entry.steps.back().time == kNow + static_cast<double>(kKeptSteps + 4));
}

TEST_CASE("each state has a name that is read back") {
  for (int i = 0; i <= static_cast<int>(JobState::refused); ++i) {
    const auto state = static_cast<JobState>(i);
    CHECK(parse_job_state(name(state)) == state);
  }
  CHECK_FALSE(parse_job_state("asleep").has_value());
}

// Its partner failed since it was gone, and was heard of first.
TEST_CASE("a group is told how a task ended before it was to be stopped, and of no stop of ours") {
  struct Row {
    bool was_killed, was_interrupted, was_stopped;
    TaskEnd end;
  };
  const std::vector<Row> rows{
      {true, false, false, TaskEnd::memory},     {false, true, false, TaskEnd::interrupted},
      {true, true, false, TaskEnd::interrupted}, {true, false, true, TaskEnd::none},
      {false, true, true, TaskEnd::none},        {false, false, false, TaskEnd::none}};
  for (const Row& row : rows) {
    INFO(row.was_killed << row.was_interrupted << row.was_stopped);
    JobEntry entry = job_in(JobState::stopping, "1");
    entry.task_of = "net";
    const JobState over = row.end == TaskEnd::none ? JobState::cancelled : JobState::failed;
    JobFacts facts = seen(TicketCopy::ended, "1", 137);
    facts.was_killed_for_memory = row.was_killed;
    facts.was_interrupted = row.was_interrupted;
    facts.was_stopped = row.was_stopped;
    facts.memory = 100;
    const Step here = next_step(entry, facts);
    REQUIRE(here.entry);
    CHECK(here.entry->state == over);
    CHECK(here.entry->end == row.end);
    CHECK(here.entry->least_memory == (row.end == TaskEnd::memory ? 200 : 0));

    entry.task = Task();
    entry.task->host = "2";
    entry.task->birth = "b";
    facts = seen(TicketCopy::created, "1");
    facts.task.birth = Stage::done;
    facts.task.back = Stage::none;
    facts.task.copy = TicketCopy::ended;
    facts.task.status = 137;
    facts.task.life = "7";
    facts.task.next_id = "r";
    facts.task.was_killed_for_memory = row.was_killed;
    facts.task.was_interrupted = row.was_interrupted;
    facts.task.was_stopped = row.was_stopped;
    facts.task.memory = 100;
    const Step there = next_step(entry, facts);
    REQUIRE(told(there) == "returning, fetch");
    CHECK(there.entry->version == entry.version + 1);
    CHECK(there.entry->end == row.end);
    CHECK(there.entry->task->then == over);
    CHECK(there.entry->task->life == "7");
    CHECK(there.entry->task->why ==
          (row.end == TaskEnd::none ? "was cancelled" : here.entry->note));
    CHECK(there.entry->least_memory == (row.end == TaskEnd::memory ? 200 : 0));
  }
}

// What has ended elsewhere goes into volumes that a task of its group may have here.
TEST_CASE("what a task has written comes home once no task of its group runs here") {
  JobEntry entry = job_in(JobState::running, "1");
  entry.task_of = "net";
  entry.task = Task();
  entry.task->host = "2";
  entry.task->birth = "b";
  JobFacts facts = seen(TicketCopy::created);
  facts.task.birth = Stage::done;
  facts.task.copy = TicketCopy::ended;
  facts.task.life = "1";
  facts.task.next_id = "r";
  facts.task.back = Stage::none;
  facts.task.is_awaited_here = true;
  for (const JobState state : {JobState::running, JobState::stopping}) {
    entry.state = state;
    const Step ends = next_step(entry, facts);
    REQUIRE(told(ends) == "returning");
    CHECK(ends.entry->task->back.empty());
    CHECK(told(next_step(*ends.entry, facts)) == "nothing");
    JobFacts free = facts;
    free.task.is_awaited_here = false;
    const Step comes = next_step(*ends.entry, free);
    CHECK(told(comes) == "returning, fetch");
    CHECK(comes.entry->task->back == "r");
  }
}

}  // namespace
}  // namespace flowcon::cluster::queue
