// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/decisions.h"
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a container that was created with the label waits for room and is started") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(2);
  CHECK(bench.engine.runs(id));
  CHECK(bench.engine.lives(id) == 1);
  const boost::json::value job = bench.job("vae");
  CHECK(text_of(job, "state") == "running");
  CHECK(member(job, "attempt").as_int64() == 1);
  CHECK(text_of(member(job, "request"), "mem_from") == "label");
}

TEST_CASE("a job waits while its memory is taken, says what it lacks, and starts when it is free") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=1,mem=5G");
  const std::string second = bench.submit("second", "cpu=1,mem=4G");
  bench.run(30);
  CHECK(bench.engine.runs(first));
  CHECK_FALSE(bench.engine.runs(second));
  CHECK(bench.state("second") == "waiting");
  CHECK(bench.note("second") == "waits for 1 GiB of memory");
  CHECK(member(bench.job("second"), "order").as_int64() == 1);
  bench.engine.end_with(first, 0);
  bench.run(3);
  CHECK(bench.engine.runs(second));
  CHECK(bench.state("first") == "done");
}

TEST_CASE("the end of a job starts the next one without waiting for a pass of the daemon") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=1G");
  const std::string second = bench.submit("second", "cpu=4,mem=1G");
  bench.run(3);
  REQUIRE(bench.engine.runs(first));
  bench.passes = false;
  bench.engine.end_with(first, 0);
  bench.run(0.01);
  CHECK(bench.engine.runs(second));
}

TEST_CASE("memory that other programs use is not given away") {
  QueueBench bench;
  bench.host.view_.available = 2 * kGiB;
  const std::string id = bench.submit("vae", "cpu=1,mem=3G");
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  bench.host.view_.available = 4 * kGiB;
  bench.run(12);
  CHECK(bench.engine.runs(id));
}

TEST_CASE("what a running job has not taken yet of its memory is kept for it") {
  QueueBench bench;
  bench.host.view_.available = 5 * kGiB;
  const std::string first = bench.submit("first", "cpu=1,mem=3G");
  bench.run(3);
  bench.host.uses_[first] = {1, 1 * kGiB};
  bench.host.view_.available = 4 * kGiB;  // of which 2 are first's
  const std::string second = bench.submit("second", "cpu=1,mem=3G");
  bench.run(12);
  CHECK(bench.engine.runs(first));
  CHECK_FALSE(bench.engine.runs(second));
}

TEST_CASE("a container without the label, and one that another host made, are no jobs") {
  QueueBench bench;
  const std::string plain = bench.engine.create("plain", {{"flowcon.metric", "loss"}});
  const std::string moved =
      bench.engine.create("moved", {{"flowcon.queue", "true"}, {kMoveLabel, "0123"}});
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(plain));
  CHECK_FALSE(bench.engine.runs(moved));
  CHECK(bench.call("GET", "/v1/queue/moved").status == 404);
}

TEST_CASE("a job that was created while flowcond did not run is found at its start") {
  QueueBench bench;
  bench.queue->end();
  bench.former.push_back(std::move(bench.queue));
  const std::string id =
      bench.engine.create("vae", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}});
  bench.begin();
  bench.run(5);
  CHECK(bench.engine.runs(id));
}

TEST_CASE("a job that asks for more than the host offers is refused with both amounts") {
  QueueBench bench;
  const std::string id = bench.submit("big", "cpu=8,mem=1G");
  CHECK(bench.state("big") == "refused");
  CHECK(
      bench.note("big") ==
      "it asks for 8 cores and 1024 MiB of memory, and this host offers 4 and 8192 MiB; docker rm "
      "it and submit it with a smaller --request, or raise option offer");
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.engine.boxes_.contains(id));
  // A name means the last job that had it.
  bench.submit("big", "cpu=16,mem=1G");
  CHECK(bench.note("big").find("it asks for 16 cores") == 0);
}

TEST_CASE("the job with the least time left goes first") {
  QueueBench bench;
  bench.expect_seconds("long", 4000);
  bench.expect_seconds("short", 60);
  const std::string running = bench.submit("running", "cpu=4,mem=1G");
  bench.run(3);
  const std::string slow = bench.submit("long", "cpu=3,mem=1G");
  const std::string quick = bench.submit("short", "cpu=3,mem=1G");
  bench.engine.end_with(running, 0);
  bench.run(4);
  CHECK(bench.engine.runs(quick));
  CHECK_FALSE(bench.engine.runs(slow));
}

TEST_CASE("a priority makes the rest of a job shorter, guessed ones too") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=4,mem=1G");
  bench.run(3);
  const std::string first = bench.submit("first", "cpu=3,mem=1G");
  const std::string second = bench.submit("second", "cpu=3,mem=1G", {{"flowcon.priority", "5"}});
  bench.engine.end_with(running, 0);
  bench.run(4);
  CHECK(bench.engine.runs(second));
  CHECK_FALSE(bench.engine.runs(first));
}

TEST_CASE("under fifo a later job never starts before an earlier one, even where it would fit") {
  QueueBench bench;
  bench.host.config_.queue.policy = "fifo";
  const std::string running = bench.submit("running", "cpu=2,mem=1G");
  bench.run(3);
  const std::string large = bench.submit("large", "cpu=3,mem=1G");
  const std::string small = bench.submit("small", "cpu=1,mem=1G");
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(large));
  CHECK_FALSE(bench.engine.runs(small));
  bench.engine.end_with(running, 0);
  bench.run(4);
  CHECK(bench.engine.runs(large));
  CHECK(bench.engine.runs(small));
}

TEST_CASE("a job that has waited beyond starve-limit is not passed by later ones any more") {
  QueueBench bench;
  bench.host.config_.queue.starve_limit = 100;
  const std::string running = bench.submit("running", "cpu=2,mem=1G");
  bench.run(3);
  const std::string large = bench.submit("large", "cpu=3,mem=1G");
  const std::string early = bench.submit("early", "cpu=1,mem=1G");
  bench.run(5);
  CHECK(bench.engine.runs(early));
  bench.run(120);
  const std::string late = bench.submit("late", "cpu=1,mem=1G");
  bench.run(20);
  CHECK_FALSE(bench.engine.runs(late));
  bench.engine.end_with(running, 0);
  bench.run(5);
  CHECK(bench.engine.runs(large));
  CHECK_FALSE(bench.engine.runs(late));
}

TEST_CASE("a held job is not started until it is released") {
  QueueBench bench;
  const std::string id =
      bench.engine.create("vae", {{"flowcon.queue", "hold"}, {"flowcon.request", "cpu=1,mem=1G"}});
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.note("vae") == "is held");
  CHECK(bench.call("POST", "/v1/queue/vae/release", "{}").status == 200);
  bench.run(5);
  CHECK(bench.engine.runs(id));
  CHECK(bench.call("POST", "/v1/queue/vae/hold", "{}").status == 409);
}

TEST_CASE("a waiting job that is cancelled is removed, a running one is stopped and stays") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=4,mem=1G");
  bench.run(3);
  const std::string waiting = bench.submit("waiting", "cpu=4,mem=1G");
  CHECK(bench.call("POST", "/v1/queue/waiting/cancel", "{}").status == 200);
  CHECK(bench.call("POST", "/v1/queue/running/cancel", "{}").status == 200);
  bench.run(20);
  CHECK_FALSE(bench.engine.boxes_.contains(waiting));
  CHECK(bench.engine.boxes_.contains(running));
  CHECK_FALSE(bench.engine.runs(running));
  CHECK(bench.state("waiting") == "cancelled");
  CHECK(bench.state("running") == "cancelled");
}

TEST_CASE("a job whose container is removed is cancelled, one that is started by hand leaves") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=4,mem=1G");
  bench.run(3);
  const std::string removed = bench.submit("removed", "cpu=4,mem=1G");
  const std::string started = bench.submit("started", "cpu=4,mem=1G");
  bench.engine.boxes_.erase(removed);
  bench.engine.tell("destroy", removed);
  Box& box = bench.engine.boxes_.at(started);
  box.copy = Copy::running;
  ++box.lives;
  bench.engine.tell("start", started);
  bench.run(5);
  CHECK(bench.state("removed") == "cancelled");
  CHECK(bench.note("started") == "it was started by hand and has left the queue");
  CHECK(bench.engine.runs(started));
}

TEST_CASE("a job that was killed for memory runs once more with twice as much") {
  QueueBench bench;
  const std::string id = bench.engine.create(
      "vae", {{"flowcon.queue", "true"}},
      {{"Memory", 2 * static_cast<std::int64_t>(kGiB)}, {"NanoCpus", 1'000'000'000}});
  bench.run(4);
  REQUIRE(bench.engine.runs(id));
  bench.engine.kill_for_memory(id);
  bench.run(5);
  CHECK(bench.engine.runs(id));
  CHECK(bench.engine.lives(id) == 2);
  const boost::json::value job = bench.job("vae");
  CHECK(member(member(job, "request"), "mem").to_number<double>() == 4 * kGiB);
  CHECK(text_of(member(job, "request"), "mem_from") == "doubled");
  CHECK(std::count(bench.engine.acts_.begin(), bench.engine.acts_.end(), "memory 4294967296") == 1);
  bench.engine.kill_for_memory(id);
  bench.run(5);
  CHECK(bench.state("vae") == "failed");
  CHECK(bench.note("vae") == "was killed for memory again");
}

TEST_CASE("a job that fails starts again as often as it may") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.retries", "1"}});
  bench.run(3);
  bench.engine.end_with(id, 3);
  bench.run(5);
  CHECK(bench.engine.lives(id) == 2);
  bench.engine.end_with(id, 3);
  bench.run(5);
  CHECK(bench.state("vae") == "failed");
  CHECK(bench.note("vae") == "ended with status 3; see docker flowcon logs vae");
  CHECK(member(bench.job("vae"), "exit").as_int64() == 3);
}

TEST_CASE("a job that a person stops does not start again") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.retries", "5"}});
  bench.run(3);
  bench.engine.tell("kill", id);
  bench.engine.end(id, Copy::stopped, 143);
  bench.run(10);
  CHECK(bench.engine.lives(id) == 1);
  CHECK(bench.state("vae") == "cancelled");
  CHECK(bench.note("vae") == "was stopped by hand, ended with status 143");
}

TEST_CASE("a stop by a person counts though the engine forgot the start, after a restart, too") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.retries", "5"}});
  bench.run(3);
  bench.engine.forgets_ = true;
  bench.restart();
  bench.run(5);
  bench.engine.tell("kill", id);
  bench.engine.end(id, Copy::stopped, 143);
  bench.run(10);
  CHECK(bench.state("vae") == "cancelled");
  CHECK(bench.engine.lives(id) == 1);
}

TEST_CASE("nothing is started that is not in the journal first") {
  QueueBench bench;
  bench.rows.is_full_ = true;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.note("vae").find("writing the journal") != std::string::npos);
  bench.rows.is_full_ = false;
  bench.run(20);
  CHECK(bench.engine.runs(id));
  CHECK(bench.engine.lives(id) == 1);
}

TEST_CASE("a journal that cannot be read starts nothing and says so") {
  QueueBench bench;
  bench.rows.is_unreadable_ = true;
  bench.restart();
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.call("GET", "/v1/queue/vae").status == 503);
  const auto list = bench.call("GET", "/v1/queue");
  CHECK(list.status == 503);
  CHECK(text_of(list.body, "error").find("its journal cannot be read") != std::string::npos);
  REQUIRE_FALSE(bench.host.warnings_.empty());
  CHECK(bench.host.warnings_.back().find("its journal cannot be read") != std::string::npos);
  bench.rows.is_unreadable_ = false;
  bench.run(20);
  CHECK(bench.engine.runs(id));
  CHECK(bench.host.warnings_.size() == 1);
}

TEST_CASE(
    "where the journal has lost entries what is found waits for a person, what is new does not") {
  QueueBench bench;
  bench.queue->end();
  bench.former.push_back(std::move(bench.queue));
  const std::string found =
      bench.engine.create("vae", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}});
  bench.rows.is_whole_ = false;
  bench.begin();
  bench.run(20);
  CHECK_FALSE(bench.engine.runs(found));
  CHECK(bench.note("vae").find("has lost entries") != std::string::npos);
  CHECK(bench.engine.runs(bench.submit("new", "cpu=1,mem=1G")));
  bench.call("POST", "/v1/queue/vae/release", "{}");
  bench.run(5);
  CHECK(bench.engine.runs(found));
}

TEST_CASE("flowcond that starts again goes on with its jobs and starts none twice") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=4,mem=1G");
  bench.run(3);
  const std::string waiting = bench.submit("waiting", "cpu=4,mem=1G");
  bench.restart();
  bench.run(10);
  CHECK(bench.engine.lives(running) == 1);
  CHECK_FALSE(bench.engine.runs(waiting));
  bench.engine.end_with(running, 0);
  bench.run(5);
  CHECK(bench.engine.runs(waiting));
  CHECK(bench.state("running") == "done");
}

TEST_CASE("a start whose answer was lost is found, and not made twice") {
  QueueBench bench;
  bench.engine.is_start_unheard_ = true;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(20);
  CHECK(bench.engine.lives(id) == 1);
  CHECK(bench.state("vae") == "running");
}

TEST_CASE("a job that the engine refuses to start three times is held, with the engine's words") {
  QueueBench bench;
  bench.engine.refuses_start_ = "no such runtime";
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(30);  // a moment of trouble is over by then
  CHECK_FALSE(bench.note("vae").starts_with("is held"));
  bench.run(50);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.note("vae") == "is held: could not be started: no such runtime");
  CHECK(std::count(bench.engine.acts_.begin(), bench.engine.acts_.end(), "start") == 3);
}

TEST_CASE("a job that lacks what its engine has not is held, too") {
  QueueBench bench;
  bench.engine.lacks_ = "network trian not found";
  bench.submit("vae", "cpu=1,mem=1G");
  bench.run(80);
  CHECK(bench.note("vae").starts_with("is held: could not be started: network trian not found"));
  CHECK(std::count(bench.engine.acts_.begin(), bench.engine.acts_.end(), "start") == 3);
}

TEST_CASE("an engine that does not say what there is is asked again") {
  QueueBench bench;
  bench.queue->end();
  bench.former.push_back(std::move(bench.queue));
  const std::string id =
      bench.engine.create("vae", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}});
  bench.engine.unheard_lists_ = 4;  // owner and tasks, twice each
  bench.begin();
  bench.run(20);
  CHECK(bench.engine.runs(id));
}

TEST_CASE("the ticket of a job that ended long ago is no new job") {
  QueueBench bench;
  const std::string id = bench.submit("big", "cpu=8,mem=1G");
  REQUIRE(bench.state("big") == "refused");
  bench.host.view_.cores = 16;
  bench.rows.read_at_most_ = 0;
  bench.restart();
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.state("big") == "refused");
  CHECK(bench.rows.kept_ == queue::kKeptJobs);
  CHECK(bench.rows.there_ == std::vector<std::string>{id});
}

TEST_CASE("a running job with a checkpoint is parked for one with much less left, and comes back") {
  QueueBench bench;
  bench.expect_seconds("long", 4000);
  bench.expect_seconds("short", 60);
  const std::string slow =
      bench.submit("long", "cpu=3,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.engine.runs(slow));
  const std::string quick = bench.submit("short", "cpu=3,mem=1G");
  bench.run(8);
  // It has only just begun.
  CHECK(bench.engine.runs(slow));
  bench.run(30);
  CHECK(bench.engine.runs(quick));
  CHECK_FALSE(bench.engine.runs(slow));
  CHECK(bench.state("long") == "waiting");
  bench.engine.end_with(quick, 0);
  bench.run(5);
  CHECK(bench.engine.runs(slow));
  CHECK(bench.engine.lives(slow) == 2);
}

TEST_CASE("what a run said of its end counts while its job waits again") {
  QueueBench bench;
  bench.expect_seconds("long", 200);
  bench.expect_seconds("short", 60);
  const std::string slow =
      bench.submit("long", "cpu=3,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.engine.runs(slow));
  bench.host.lefts_[slow] = 6000;  // CPU seconds: ten times what earlier runs say
  const std::string quick = bench.submit("short", "cpu=3,mem=1G");
  bench.run(38);
  REQUIRE(bench.engine.runs(quick));
  bench.host.lefts_.erase(slow);
  CHECK(real_of(member(bench.job("long"), "left")) == 2000);
}

TEST_CASE("without a checkpoint, or with park off, a running job keeps its place") {
  QueueBench bench;
  bench.expect_seconds("long", 4000);
  bench.expect_seconds("short", 60);
  const bool has_checkpoint = GENERATE(false, true);
  bench.host.config_.queue.park = !has_checkpoint;
  std::map<std::string, std::string> labels;
  if (has_checkpoint) labels["flowcon.checkpoint.signal"] = "SIGTERM";
  const std::string slow = bench.submit("long", "cpu=3,mem=1G", labels);
  bench.run(3);
  const std::string quick = bench.submit("short", "cpu=3,mem=1G");
  bench.run(30);
  CHECK(bench.engine.runs(slow));
  CHECK_FALSE(bench.engine.runs(quick));
}

TEST_CASE("a job that does not save itself in its time runs on, and says why") {
  QueueBench bench;
  bench.engine.ignores_signals_ = true;
  const std::string id =
      bench.submit("vae", "cpu=1,mem=1G",
                   {{"flowcon.checkpoint.signal", "SIGTERM"}, {"flowcon.checkpoint.timeout", "5"}});
  bench.run(3);
  CHECK(bench.call("POST", "/v1/queue/vae/park", "{}").status == 200);
  bench.run(10);
  CHECK(bench.engine.runs(id));
  CHECK(bench.state("vae") == "running");
  CHECK(bench.note("vae").starts_with("could not be parked: it has not ended 5 s after SIGTERM"));
}

TEST_CASE("a person parks a job, which waits until it is released") {
  QueueBench bench;
  const std::string id =
      bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  CHECK(bench.call("POST", "/v1/queue/vae/park", "{}").status == 200);
  bench.run(30);
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.state("vae") == "waiting");
  CHECK(bench.call("POST", "/v1/queue/vae/release", "{}").status == 200);
  bench.run(5);
  CHECK(bench.engine.runs(id));
  const std::string plain = bench.submit("plain", "cpu=1,mem=1G");
  bench.run(3);
  CHECK(bench.call("POST", "/v1/queue/plain/park", "{}").status == 409);
  CHECK(bench.engine.runs(plain));
}

TEST_CASE("the list has what is offered and free, running jobs first") {
  QueueBench bench;
  bench.submit("running", "cpu=3,mem=2G");
  bench.submit("waiting", "cpu=2,mem=1G");
  bench.run(3);
  const boost::json::value list = bench.call("GET", "/v1/queue").body;
  CHECK(text_of(list, "policy") == "left");
  CHECK(member(member(list, "free"), "cpu").to_number<double>() == 1);
  CHECK(member(member(list, "free"), "mem").to_number<double>() == 6 * kGiB);
  const boost::json::array& jobs = list_of(list, "jobs");
  REQUIRE(jobs.size() == 2);
  CHECK(text_of(jobs[0], "name") == "running");
  CHECK(text_of(jobs[1], "note") == "waits for 1 core");
  const boost::json::value job = bench.job("waiting");
  const std::string sentence = text_of(member(job, "decision"), "sentence");
  CHECK_FALSE(sentence.empty());
}

TEST_CASE("of what another host tells of its decisions only objects count") {
  for (const char* text : {"", "[]", "7", R"({"decision":7,"placement":[1]})", R"({"decision":)"}) {
    INFO(text);
    for (const auto& told : queue::decisions_in(text)) CHECK(told.value().is_null());
  }
  const auto both = queue::decisions_in(R"({"decision":{"time":1},"placement":null,"x":{}})");
  CHECK(both.size() == 2);
  CHECK(both.at("decision").is_object());
}

TEST_CASE("a job that its engine took down with itself runs again") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  REQUIRE(bench.engine.runs(id));
  // Its stop is not told to anybody, and the engine that comes back remembers no start.
  Box& box = bench.engine.boxes_.at(id);
  box.copy = Copy::stopped;
  box.exit_code = 137;
  bench.engine.forgets_ = true;
  bench.restart();
  bench.run(10);
  CHECK(bench.engine.runs(id));
  CHECK(bench.engine.lives(id) == 2);
  CHECK(bench.state("vae") == "running");
}

TEST_CASE("a job that an engine which comes back ends was stopped by nobody, and runs again") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  bench.engine.stream_lasts_ = 5;
  bench.restart();
  bench.engine.stream_lasts_ = 1e9;
  bench.engine.forgets_ = true;
  bench.engine.leftovers_ = {id};
  bench.run(10);
  CHECK(bench.engine.leftovers_.empty());
  CHECK(bench.state("vae") == "running");
  CHECK(bench.engine.lives(id) == 2);
}

TEST_CASE("nor was one that it ended while flowcond was away") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  bench.engine.forgets_ = true;
  bench.engine.leftovers_ = {id};
  bench.engine.boxes_.at(id).exit_code = 137;
  bench.restart();
  bench.run(10);
  CHECK(bench.engine.leftovers_.empty());
  CHECK(bench.state("vae") == "running");
  CHECK(bench.engine.lives(id) == 2);
}

TEST_CASE(
    "what ended with status 0 while flowcond was down is done, unless the host was booted since") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  Box& box = bench.engine.boxes_.at(id);
  box.copy = Copy::finished;
  bench.engine.forgets_ = true;
  if (GENERATE(false, true)) {
    bench.booted = bench.clock.wall();
    bench.restart();
    bench.run(10);
    CHECK(bench.engine.lives(id) == 2);
  } else {
    bench.restart();
    bench.run(10);
    CHECK(bench.state("vae") == "done");
  }
}

}  // namespace
}  // namespace flowcon::cluster::test
