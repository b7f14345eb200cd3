// SPDX-License-Identifier: Apache-2.0
// Jobs that run on another host, through the real queues and migrators of both: where they go, what
// becomes of them, and that none is lost or run twice whoever dies, and whenever.
#include "tests/cluster/queue/two_queues.h"

#include <csignal>

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a job without room at home runs where there is room, and comes home") {
  const Quiet quiet;
  TwoQueues hosts;
  const std::string ticket = hosts.submit("vae", 4);
  REQUIRE(hosts.until([&] { return hosts.runs_there(); }, 20));
  REQUIRE(hosts.comes_to("vae", "running", 5));
  CHECK(text_of(hosts.job("vae"), "host") == "h1");
  CHECK(hosts.h2.engine.lives(ticket) == 0);
  hosts.run(20);
  hosts.end_task(3);
  REQUIRE(hosts.comes_to("vae", "failed", 20));
  CHECK(hosts.job("vae").at("exit").to_number<int>() == 3);
  CHECK(hosts.h1.engine.boxes_.empty());
  CHECK(hosts.h2.goods.parts_.at("log") == "bytes of log");
  CHECK(hosts.job("vae").at("host").is_null());
}

TEST_CASE("a second container with the labels of a task is not taken for it") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 4);
  REQUIRE(hosts.comes_to("vae", "running", 30));
  const std::string task = hosts.h1.task()->id;
  const std::string other = hosts.h1.engine.create(
      "other",
      {{"flowcon.queue", "true"}, {ctrl::kMovedLabel, hosts.h1.task()->labels.at(kMoveLabel)}});
  hosts.h1.engine.boxes_.at(other).copy = Copy::running;
  hosts.h1.engine.tell("start", other);
  hosts.run(2);
  hosts.h1.engine.end_with(other, 3);
  hosts.run(15);
  CHECK(hosts.state("vae") == "running");
  CHECK(hosts.h1.engine.runs(task));
}

TEST_CASE("a job that fits at home stays there with its image, although another host is idler") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.h2.goods.image_bytes_ = 1U << 30;
  const std::string ticket = hosts.submit("small", 1);
  REQUIRE(hosts.comes_to("small", "running", 20));
  CHECK(hosts.h2.engine.runs(ticket));
  CHECK(hosts.h1.engine.boxes_.empty());
}

TEST_CASE("a host whose engine is silent has no room for anybody until it is heard again") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.kill(hosts.h1);
  hosts.h1.engine.is_deaf_ = true;
  hosts.start(hosts.h1);
  hosts.run(30);
  hosts.submit("vae", 4);
  hosts.run(60);
  CHECK(hosts.state("vae") == "waiting");
  CHECK(hosts.h1.engine.boxes_.empty());
  hosts.h1.engine.is_deaf_ = false;
  CHECK(hosts.comes_to("vae", "running", 60));
}

TEST_CASE("a job that is killed for memory there comes home and asks for twice as much") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h1.engine.kill_for_memory(hosts.h1.task()->id);
  REQUIRE(hosts.until([&] { return hosts.job("vae").at("attempt").to_number<int>() == 2; }, 60));
  CHECK(hosts.job("vae").at("request").at("mem").to_number<double>() == 4 * kGiB);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.end_task(0);
  CHECK(hosts.comes_to("vae", "done", 20));
}

TEST_CASE("a job that was killed at docker's limit has twice that on another host, too") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.h2.engine.create("vae", {{"flowcon.queue", "true"}},
                         {{"Memory", 2 * static_cast<std::int64_t>(kGiB)}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h1.engine.kill_for_memory(hosts.h1.task()->id);
  REQUIRE(hosts.until([&] { return hosts.job("vae").at("attempt").to_number<int>() == 2; }, 60));
  const std::vector<std::string>& acts = hosts.h2.engine.acts_;
  CHECK(std::find(acts.begin(), acts.end(), "memory 4294967296") != acts.end());
}

TEST_CASE("a job that fails there is tried again where it has retries left") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2, {{"flowcon.retries", "1"}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.end_task(1);
  REQUIRE(hosts.until([&] { return hosts.job("vae").at("attempt").to_number<int>() == 2; }, 60));
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.end_task(1);
  CHECK(hosts.comes_to("vae", "failed", 20));
}

TEST_CASE("a job is parked there, comes home held, and starts again when it is released") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2, {{"flowcon.checkpoint.signal", "SIGUSR1"}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.call("POST", "/v1/queue/vae/park");
  REQUIRE(hosts.comes_to("vae", "waiting", 30));
  CHECK(hosts.h2.host.told_.back().kind == ctrl::EventKind::job_parked);
  CHECK(hosts.job("vae").at("held").as_bool());
  CHECK(hosts.h1.engine.boxes_.empty());
  hosts.call("POST", "/v1/queue/vae/release");
  CHECK(hosts.comes_to("vae", "running", 20));
}

TEST_CASE("a job that has run there and is cancelled while it waits keeps what it has written") {
  const Quiet quiet;
  TwoQueues hosts;
  const std::string ticket = hosts.submit("vae", 2, {{"flowcon.checkpoint.signal", "SIGUSR1"}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.run(5);
  hosts.call("POST", "/v1/queue/vae/park");
  REQUIRE(hosts.comes_to("vae", "waiting", 30));
  hosts.call("POST", "/v1/queue/vae/cancel");
  CHECK(hosts.comes_to("vae", "cancelled", 60));
  CHECK(hosts.h2.engine.boxes_.contains(ticket));
}

TEST_CASE("a job that does not save itself there runs on") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2,
               {{"flowcon.checkpoint.signal", "SIGUSR1"}, {"flowcon.checkpoint.timeout", "5"}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h1.engine.ignores_signals_ = true;
  hosts.call("POST", "/v1/queue/vae/park");
  CHECK(hosts.until([&] { return text_of(hosts.job("vae"), "note").starts_with("could not"); }));
  CHECK(hosts.state("vae") == "running");
}

TEST_CASE("a cancelled job is stopped there and comes home") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.call("POST", "/v1/queue/vae/cancel");
  REQUIRE(hosts.comes_to("vae", "cancelled", 30));
  CHECK(hosts.h1.engine.boxes_.empty());
  CHECK(hosts.h2.engine.boxes_.size() == 1);
}

TEST_CASE("a ticket that is removed takes its task with it") {
  const Quiet quiet;
  TwoQueues hosts;
  const std::string ticket = hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h2.engine.boxes_.erase(ticket);
  hosts.h2.engine.tell("destroy", ticket);
  REQUIRE(hosts.comes_to("vae", "cancelled", 60));
  CHECK(hosts.h1.engine.boxes_.empty());
}

TEST_CASE("a ticket that is started by hand beside its task is stopped") {
  const Quiet quiet;
  TwoQueues hosts;
  const std::string ticket = hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  Box& box = hosts.h2.engine.boxes_.at(ticket);
  box.copy = Copy::running;
  ++box.lives;
  hosts.h2.engine.tell("start", ticket);
  REQUIRE(hosts.until([&] { return !hosts.h2.engine.runs(ticket); }, 20));
  hosts.end_task(0);
  CHECK(hosts.comes_to("vae", "done", 30));
}

TEST_CASE("a host that has no room after all is asked no more for a while") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.h1.engine.conflicts_ = {"there is a container of that name"};
  hosts.submit("vae", 2);
  REQUIRE(hosts.until(
      [&] { return text_of(hosts.job("vae"), "note").find("of that name") != std::string::npos; },
      20));
  CHECK(hosts.until([&] { return hosts.job("vae").at("held").as_bool(); }, 120));
  hosts.h1.engine.conflicts_.clear();
  hosts.call("POST", "/v1/queue/vae/release");
  CHECK(hosts.comes_to("vae", "running", 60));
}

TEST_CASE("a task that was renamed on its host comes home all the same") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h1.engine.boxes_.at(hosts.h1.task()->id).name = "mine-now";
  hosts.end_task(0);
  CHECK(hosts.comes_to("vae", "done", 60));
}

TEST_CASE("a job that its own host cannot look at keeps no room from others") {
  const Quiet quiet;
  TwoQueues hosts;
  const std::string ticket = hosts.h2.engine.create(
      "vae", {{"flowcon.queue", "hold"}, {"flowcon.request", "cpu=1,mem=6G"}});
  REQUIRE(hosts.comes_to("vae", "waiting", 20));
  hosts.h2.engine.is_silent_about_ = ticket;
  hosts.call("POST", "/v1/queue/vae/release");
  hosts.run(5);
  const std::string mine = hosts.h1.engine.create(
      "mine", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=4G"}});
  CHECK(hosts.until([&] { return hosts.h1.engine.runs(mine); }, 30));
  hosts.h2.engine.is_silent_about_.clear();
  hosts.h1.engine.end_with(mine, 0);
  CHECK(hosts.comes_to("vae", "running", 60));
}

TEST_CASE("a job whose image is not for the other hosts waits, and is asked of none") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.h1.engine.architecture_ = "arm64";
  hosts.submit("vae", 2);
  const auto note = [&] { return text_of(hosts.job("vae"), "note"); };
  REQUIRE(hosts.until([&] { return note().find("is for amd64") != std::string::npos; }, 60));
  const std::size_t asked = hosts.h1.rows.rows_.size();
  hosts.run(300);
  CHECK(hosts.h1.rows.rows_.size() == asked);
  CHECK_FALSE(hosts.job("vae").at("held").as_bool());
  hosts.h1.engine.architecture_ = "amd64";
  CHECK(hosts.comes_to("vae", "running", 120));
}

TEST_CASE("a job that another host's engine does not start is held, with its words") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.h1.engine.refuses_start_ = "no such runtime";
  hosts.submit("vae", 2);
  CHECK(hosts.until([&] { return hosts.job("vae").at("held").as_bool(); }, 200));
  CHECK(text_of(hosts.job("vae"), "note").find("no such runtime") != std::string::npos);
  CHECK(hosts.h1.engine.boxes_.empty());
}

TEST_CASE("a return for which its owner has no room is asked for again, and says why") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h2.files.room_ = "not enough room on its disk";
  hosts.end_task(0);
  hosts.run(120);
  CHECK(hosts.state("vae") == "returning");
  CHECK(text_of(hosts.job("vae"), "note").find("not enough room on its disk") != std::string::npos);
  CHECK(hosts.h1.rows.rows_.size() < 10);
  hosts.h2.files.room_.clear();
  CHECK(hosts.comes_to("vae", "done", 120));
}

TEST_CASE("a return that its owner turned down before it knew of it is asked for anew") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  ::setenv("FLOWCON_FAILPOINTS", "move.source.reserve:5", 1);
  hosts.end_task(0);
  REQUIRE(hosts.until([&] { return hosts.h1.rows.rows_.size() == 2; }, 20));
  hosts.kill(hosts.h2);
  hosts.is_mute = true;
  hosts.start(hosts.h2);
  hosts.run(20);
  ::setenv("FLOWCON_FAILPOINTS", "", 1);
  CHECK(hosts.state("vae") == "returning");
  CHECK(hosts.h1.task() != nullptr);
  hosts.is_mute = false;
  CHECK(hosts.comes_to("vae", "done", 60));
}

TEST_CASE("while the host is not heard its task counts as running, and its end is heard later") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.is_cut = true;
  hosts.end_task(0);
  hosts.run(600);
  CHECK(hosts.state("vae") == "running");
  hosts.is_cut = false;
  CHECK(hosts.comes_to("vae", "done", 60));
}

TEST_CASE("a job whose host is given up starts again, and what is left there goes") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.kill(hosts.h1);
  hosts.h2.network.neighbours_[0].is_reachable = false;
  const auto said = hosts.call("POST", "/v1/queue/vae/restart", R"({"without":"h1"})");
  CHECK(text_of(said, "state") == "waiting");
  hosts.h2.network.neighbours_[0].is_reachable = true;
  hosts.start(hosts.h1);
  const std::string first = hosts.h1.task()->id;
  REQUIRE(hosts.until([&] { return !hosts.h1.engine.boxes_.contains(first); }, 60));
  CHECK(hosts.comes_to("vae", "running", 60));
}

TEST_CASE("a group that mounts a folder of its host waits for that host, and is not held") {
  TwoQueues hosts;
  const std::string ticket = hosts.submit("net", 2, {{"flowcon.workers", "2"}});
  boost::json::array mounts;
  mounts.push_back(
      {{"Type", "bind"}, {"Source", "/data"}, {"Destination", "/data"}, {"RW", false}});
  hosts.h2.engine.inspects_.at(ticket)["Mounts"] = mounts;
  hosts.run(200);
  CHECK(hosts.state("net") == "waiting");
  CHECK_FALSE(hosts.job("net").at("held").as_bool());
  CHECK(text_of(hosts.job("net"), "note").find("mounts '/data' of this host") != std::string::npos);
  CHECK(hosts.h1.engine.boxes_.empty());
}

// A job with a volume runs on h1, where others have volumes, too.
class Volumes : public TwoQueues {
 public:
  Volumes() {
    const std::string ticket = submit("vae", 2);
    boost::json::array mounts;
    mounts.push_back({{"Type", "volume"},
                      {"Name", "ck"},
                      {"Driver", "local"},
                      {"Destination", "/ck"},
                      {"RW", true}});
    h2.engine.inspects_.at(ticket)["Mounts"] = mounts;
    h1.engine.volumes_ = {{"mine", ""}, {"moved", std::string(32, 'd')}};
    REQUIRE(comes_to("vae", "running", 20));
    REQUIRE(has("ck"));
  }
  [[nodiscard]] bool has(const std::string& volume) const {
    return h1.engine.volumes_.contains(volume);
  }
  // docker rm -f
  void remove_task() {
    const std::string id = h1.task()->id;
    const bool runs = h1.engine.boxes_.at(id).copy == Copy::running;
    h1.engine.boxes_.erase(id);
    if (runs) tell_killed(id);
    h1.engine.tell("destroy", id);
  }
  void tell_killed(const std::string& id) {
    ctrl::engine::EngineEvent killed;
    killed.action = "kill";
    killed.id = id;
    killed.signal = SIGKILL;
    h1.engine.tell(killed);
    h1.engine.tell("die", id);
  }
};

TEST_CASE("what was made for a task goes when somebody has removed it and its job is over") {
  const Quiet quiet;
  Volumes hosts;
  SECTION("at once") { hosts.remove_task(); }
  SECTION("once its owner is heard") {
    hosts.is_cut = true;
    hosts.remove_task();
    hosts.run(60);
    CHECK(hosts.has("ck"));
    hosts.is_cut = false;
  }
  REQUIRE(hosts.comes_to("vae", "cancelled", 60));
  CHECK(hosts.until([&] { return !hosts.has("ck"); }, 30));
  CHECK((hosts.has("mine") && hosts.has("moved")));
}

TEST_CASE("the results of a task that is removed after its end stay where they are") {
  const Quiet quiet;
  Volumes hosts;
  hosts.is_cut = true;
  SECTION("of its only run") {
    hosts.end_task(0);
    hosts.run(20);
  }
  SECTION("of another run than that which was killed") {
    Box& box = hosts.h1.engine.boxes_.at(hosts.h1.task()->id);
    hosts.tell_killed(box.id);
    ++box.lives;
    hosts.h1.engine.tell("start", box.id);
    hosts.end_task(0);
    hosts.run(2);
  }
  hosts.remove_task();
  hosts.is_cut = false;
  REQUIRE(hosts.comes_to("vae", "cancelled", 120));
  hosts.run(120);
  CHECK(hosts.has("ck"));
}

// A task that has run for a while is removed while its host's flowcond does not run.
class RemovedUnseen : public Volumes {
 public:
  RemovedUnseen() {
    task = h1.task()->id;
    REQUIRE(until([this] { return !h1.migrators.back()->is_moving(task); }));
    birth = h1.task()->labels.at(ctrl::kMovedLabel);
    kill(h1);
    remove_task();
  }
  std::string task, birth;
};

TEST_CASE("what was made for a task that was removed unseen goes when flowcond runs again") {
  const Quiet quiet;
  RemovedUnseen hosts;
  const std::string other(32, 'd');
  hosts.h1.engine.removals_ = {{other, hosts.task, 0.1}, {hosts.birth, hosts.task, 0.1}};
  SECTION("alone") {}
  SECTION("beside one whose move cannot be read") {
    hosts.h1.rows.rows_[other] = {other, "{", "", 0, 1.0};
  }
  hosts.start(hosts.h1);
  REQUIRE(hosts.comes_to("vae", "cancelled", 120));
  CHECK(hosts.until([&] { return !hosts.has("ck"); }, 60));
  CHECK((hosts.has("mine") && hosts.has("moved")));
}

TEST_CASE("what may be the results of a task that was removed unseen stays") {
  const Quiet quiet;
  RemovedUnseen hosts;
  auto& removals = hosts.h1.engine.removals_;
  SECTION("its engine has forgotten it") {}
  SECTION("it had ended") { removals = {{hosts.birth, hosts.task, {}}}; }
  SECTION("it was killed long before") { removals = {{hosts.birth, hosts.task, 60}}; }
  SECTION("it was not this one") { removals = {{hosts.birth, std::string(64, '7'), 0.1}}; }
  hosts.start(hosts.h1);
  REQUIRE(hosts.comes_to("vae", "cancelled", 120));
  hosts.run(120);
  CHECK(hosts.has("ck"));
}

TEST_CASE("a volume that others had when its task came home stays when flowcond runs again") {
  const Quiet quiet;
  Volumes hosts;
  const std::string task = hosts.h1.task()->id;
  const std::string birth = hosts.h1.task()->labels.at(ctrl::kMovedLabel);
  hosts.h1.engine.used_ = {"ck"};
  hosts.end_task(0);
  REQUIRE(hosts.comes_to("vae", "done", 120));
  REQUIRE(hosts.until([&] { return !hosts.h1.migrators.back()->is_moving(task); }));
  hosts.kill(hosts.h1);
  hosts.h1.engine.used_.clear();
  hosts.h1.engine.removals_ = {{birth, task, 0.1}};
  hosts.start(hosts.h1);
  hosts.run(120);
  CHECK(hosts.has("ck"));
}

TEST_CASE("a volume of a removed task stays while others use it or its job has not given it up") {
  const Quiet quiet;
  Volumes hosts;
  SECTION("others use it") {
    hosts.h1.engine.used_ = {"ck"};
    hosts.remove_task();
    REQUIRE(hosts.comes_to("vae", "cancelled", 60));
    hosts.run(60);
    CHECK(hosts.has("ck"));
    hosts.h1.engine.used_.clear();
  }
  SECTION("the job's entry cannot be read") {
    hosts.kill(hosts.h2);
    hosts.remove_task();
    const auto kept = hosts.h2.jobs.rows_;
    for (auto& [id, row] : hosts.h2.jobs.rows_) row.entry = "{";
    hosts.start(hosts.h2);
    hosts.run(120);
    CHECK(hosts.has("ck"));
    hosts.kill(hosts.h2);
    hosts.h2.jobs.rows_ = kept;
    hosts.start(hosts.h2);
  }
  CHECK(hosts.until([&] { return !hosts.has("ck"); }, 60));
}

TEST_CASE("another host cannot ask about a task, nor bring home what nobody asked for") {
  const Quiet quiet;
  TwoQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  const std::string birth = hosts.h1.task()->labels.at(ctrl::kMovedLabel);
  queue::TaskCall call;
  call.verb = queue::TaskVerb::stop;
  call.birth = birth;
  unsigned status = 0;
  auto life = [&]() -> Async<void> {
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/peer/queue/task";
    request.body = render(call);
    std::string speaker = host_id('7');
    const ctrl::api::Routes verbs = hosts.h1.queues.back()->peer_routes();
    const auto said =
        co_await ctrl::api::answer_peer(&verbs, std::move(request), std::move(speaker));
    status = said.status;
  };
  ctrl::spawn(hosts.io, "test", life);
  hosts.poll();
  CHECK(status == 403);
  CHECK(hosts.runs_there());
}

// One job from its submission to its end, while flowcond of one host is killed `after` so many
// seconds and starts again two seconds later.
std::string killed(bool is_owner, double after, bool is_cut_off) {
  TwoQueues hosts;
  const std::string ticket = hosts.submit("vae", 2);
  int ended = 0;
  std::set<std::string> tasks;
  const double strike = hosts.clock.steady() + after;
  bool has_struck = false;
  double back = 0;
  TwoQueues::Side& victim = is_owner ? hosts.h2 : hosts.h1;
  for (int turn = 0; turn < 2000; ++turn) {
    if (!has_struck && hosts.clock.steady() >= strike) {
      has_struck = true;
      back = hosts.clock.steady() + 2;
      is_cut_off ? void(hosts.is_cut = true) : hosts.kill(victim);
    }
    if (has_struck && back > 0 && hosts.clock.steady() >= back) {
      back = 0;
      hosts.is_cut = false;
      if (!victim.is_up) hosts.start(victim);
    }
    if (const Box* task = hosts.h1.task()) {
      if (task->lives > 1) return "a task was started twice";
      if (task->lives > 0) tasks.insert(task->id);
      if (task->copy == Copy::running && hosts.h2.engine.runs(ticket)) return "two run";
      if (task->copy == Copy::running && ++ended > 30) hosts.end_task(0);
    }
    hosts.run(0.1);
    if (hosts.h2.is_up && has_struck && back == 0 && hosts.state("vae") == "done") break;
  }
  if (tasks.size() != 1) return std::to_string(tasks.size()) + " tasks ran";
  if (hosts.state("vae") != "done") return "it is " + hosts.state("vae");
  hosts.run(15);
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

TEST_CASE("owner or host is killed, or unheard, at any moment: a job runs once, and comes home") {
  const Quiet quiet;
  const int how = GENERATE(0, 1, 2);
  for (double after = 0; after < 12; after += 0.3) {
    INFO((how == 0 ? "owner" : how == 1 ? "host" : "network") << " after " << after << " s");
    REQUIRE(killed(how == 0, after, how == 2) == "");
  }
}

}  // namespace
}  // namespace flowcon::cluster::test
