// SPDX-License-Identifier: Apache-2.0
// What flowcond keeps of runs that end well.
#include "ctrl/daemon/profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "ctrl/began_elsewhere.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;

namespace {

namespace json = boost::json;

// What it says of each container.
class Neighbour : public ctrl::Extension {
 public:
  Async<void> begin() override { co_return; }
  void look(double) override {}
  ctrl::api::Routes routes() override { return {}; }
  [[nodiscard]] bool is_cut_short(const std::string&) const override { return is_cut_short_; }
  [[nodiscard]] bool is_moving(const std::string&) const override { return is_moving_; }
  [[nodiscard]] bool is_saving(const std::string&) const override { return is_saving_; }
  Async<void> settle(double) override { co_return; }
  void end() override {}

  bool is_cut_short_ = false;
  bool is_moving_ = false;
  bool is_saving_ = false;
};

// The epoch as an engine's log writes it, at 1e9 + `now` seconds.
std::string moment(double now) {
  const auto seconds = static_cast<std::time_t>(1e9 + now);
  char text[40];
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0 ? text : "";
}

void print(Host& host, const std::string& name, const std::string& line) {
  std::ofstream log(host.folder.path() + "/" + Host::id_of(name) + "-json.log", std::ios::app);
  log << R"({"log":")" << line << R"(\n","stream":"stdout","time":")" << moment(host.now) << "\"}"
      << std::endl;
}

ctrl::engine::Container training() {
  ctrl::engine::Container container;
  container.image_id = "sha256:12";
  container.command = "python3 vae.py --epochs 20 --opt adam";
  container.environment = {{"SEED", "3"}, {"HOME", "/root"}, {"API_KEY", "99"}};
  return container;
}

void use(Host& host, const std::string& name, double cpu_seconds, const char* memory) {
  host.use(name, cpu_seconds);
  host.fs.set("docker/" + Host::id_of(name), "memory.current", memory);
}

// `passes` ticks of 5 s, one core each; it prints a value at each.
void work(Host& host, const std::string& name, int passes, double& used) {
  for (int i = 0; i < passes; ++i) {
    host.pass();
    used += 5;
    use(host, name, used, "3000000");
    print(host, name, "loss: 0." + std::to_string(i + 10));
  }
}

// A profile is written behind the loop's back, and asked for on the same thread after that.
json::array profiles(Host& host, const std::string& query = "") {
  REQUIRE(host.ask("GET", "/v1/profiles" + query) == 200);
  return host.json().at("profiles").as_array();
}

// Waits until the records of the last pass are written: each answer comes after one step of that.
void written(Host& host) {
  for (int i = 0; i < 8; ++i) profiles(host);
}

double label(const json::value& profile, const char* name) {
  const auto* found = profile.at("labels").as_object().if_contains(name);
  return found != nullptr ? found->to_number<double>() : 0;
}

}  // namespace

TEST_CASE("a run that ends well leaves one profile, one that fails leaves none") {
  Host host;
  host.begin();
  host.start("a", {}, training());
  double used = 0;
  work(host, "a", 20, used);
  host.pass();
  host.stop("a", 1);
  host.pass();
  CHECK(profiles(host).empty());

  host.start("b", {}, training());
  used = 0;
  work(host, "b", 20, used);
  host.pass();
  host.stop("b");
  host.pass();
  const json::array all = profiles(host);
  REQUIRE(all.size() == 1);
  const json::value& one = all.front();
  CHECK(one.at("key").as_string() ==
        "b76271e7c562c5d04e3cbefa8cf0995d383f723b6738bcffe36b54c77c0c433b");
  CHECK(one.at("family").as_string() == "trainings python3 vae.py --epochs # --opt #");
  const json::object& features = one.at("features").as_object();
  CHECK(features.at("workers").to_number<double>() == 1);
  CHECK(features.at("ps").to_number<double>() == 0);
  CHECK(features.at("cores").to_number<double>() == 2);
  CHECK(features.at("memory").to_number<double>() > 0);
  CHECK(features.at("arg.epochs").to_number<double>() == 20);
  CHECK(features.at("arg.opt").as_string() == "adam");
  CHECK(features.at("env.SEED").to_number<double>() == 3);
  CHECK(features.size() == 9);  // and two words
  // It printed from its 5th to its 100th second; the last tick was at 105, and its end at 110.
  CHECK(label(one, "seconds_launch") == 5);
  CHECK(label(one, "seconds_train") == 95);
  CHECK(label(one, "seconds_save") == 10);
  CHECK(label(one, "cpu_seconds") == Approx(100 * 110.0 / 105));
  CHECK(label(one, "cpu") == Approx(100.0 / 105));
  CHECK(label(one, "mem") == 3e6);
  CHECK(host.said.body.find("API_KEY") == std::string::npos);
  CHECK(host.said.body.find("HOME") == std::string::npos);
}

TEST_CASE("of a container with a label exitCode no status is believed, and no profile is left") {
  Host host;
  host.begin();
  host.start("a", {{"exitCode", "0"}}, training());
  double used = 0;
  work(host, "a", 20, used);
  host.pass();
  host.stop("a", 0);
  host.pass();
  CHECK(profiles(host).empty());
}

TEST_CASE("a run that was cut short leaves no profile, though it ended with status 0") {
  Host host;
  host.begin();
  auto stopper = std::make_unique<Neighbour>();
  stopper->is_cut_short_ = true;
  host.daemon->extend(std::move(stopper));
  host.start("a", {}, training());
  double used = 0;
  work(host, "a", 20, used);
  host.pass();
  host.stop("a");
  host.pass();
  CHECK(profiles(host).empty());
}

TEST_CASE("a run that has ended leaves a profile while it is brought home, not while it goes on") {
  const bool goes_on = GENERATE(false, true);
  Host host;
  host.begin();
  auto mover = std::make_unique<Neighbour>();
  mover->is_moving_ = true;
  mover->is_saving_ = goes_on;
  host.daemon->extend(std::move(mover));
  host.start("a", {}, training());
  double used = 0;
  work(host, "a", 20, used);
  host.pass();
  host.stop("a");
  host.pass();
  CHECK(profiles(host).size() == (goes_on ? 0U : 1U));
}

TEST_CASE("a container that is started again leaves a profile of each run") {
  Host host;
  host.begin();
  for (const int passes : {10, 20}) {
    ctrl::engine::Container container = training();
    container.has_ended_before = passes == 20;
    host.start("a", {}, container);
    double used = 0;
    work(host, "a", passes, used);
    host.stop("a");
    host.pass();
  }
  const json::array all = profiles(host);
  REQUIRE(all.size() == 2);
  CHECK(label(all[0], "seconds_train") == 45);
  CHECK(label(all[1], "seconds_train") == 95);
  CHECK(label(all[1], "seconds_launch") == 5);
}

TEST_CASE("a run goes on through a restart of flowcond, by its counters and what is recorded") {
  for (const bool is_killed : {false, true}) {
    Host host;
    host.begin();
    host.start("a", {}, training());
    double used = 0;
    work(host, "a", 20, used);
    use(host, "a", used, "9000000");
    for (int i = 0; i < 3; ++i) {  // memory is read in each third one
      host.pass();
      written(host);
    }
    used += 15;
    use(host, "a", used, "3000000");
    if (is_killed) {
      host.kill();
    } else {
      host.end();
    }
    host.begin();
    work(host, "a", 10, used);
    host.pass();
    host.stop("a");
    host.pass();
    const json::array all = profiles(host);
    REQUIRE(all.size() == 1);
    CHECK(label(all[0], "seconds_launch") == 5);
    CHECK(label(all[0], "seconds_train") == 160);
    CHECK(label(all[0], "cpu_seconds") == Approx(165 * 175.0 / 170));
    CHECK(label(all[0], "mem") == 9e6);
    // Only a third of it was seen by the second one.
    CHECK(label(all[0], "cpu") == 0);
  }
}

TEST_CASE("cpu is the mean of the time in which neither a limit nor others held it back") {
  Host host;
  host.begin();
  host.start("a", {}, training());
  double used = 0;
  work(host, "a", 12, used);
  host.start("b");
  for (int i = 1; i <= 8; ++i) {  // both cores are used up
    host.pass();
    used += 2;
    use(host, "a", used, "3000000");
    host.use("b", 8 * i);
  }
  host.pass();
  host.stop("a");
  host.pass();
  const json::array all = profiles(host);
  REQUIRE(all.size() == 1);
  CHECK(label(all[0], "cpu") > 0.7);
  CHECK(label(all[0], "cpu_seconds") < 0.75 * 110);
}

TEST_CASE("profiles come in parts, and damaged rows are left out") {
  Host host;
  {
    std::string notice;
    auto store = ctrl::store::Store::open(host.folder.path() + "/flowcon.db", &notice);
    REQUIRE(store.has_value());
    const std::string long_text(200'000, 'x');
    double ended = 1e9;
    const auto put = [&](const std::string& key, const std::string& features,
                         const std::string& labels) {
      REQUIRE((*store)->save_profile({key, long_text, features, labels, ended--}).has_value());
    };
    put("good", R"({"workers":1})", R"({"mem":1})");
    put("no json", "{", R"({"mem":1})");
    put("no object", "[]", R"({"mem":1})");
    put("no features", R"({"a":[1]})", R"({"mem":1})");
    put("negative", "{}", R"({"mem":-1})");
    put("no number", "{}", R"({"mem":"1"})");
    put("no utf-8 \xff", "{}", R"({"mem":2})");
    ended = std::numeric_limits<double>::infinity();
    put("no end", "{}", R"({"mem":1})");
  }
  host.begin();
  std::vector<std::string> keys;
  std::vector<double> ages;
  std::string query;
  for (int part = 0; part < 10; ++part) {
    for (const json::value& one : profiles(host, query)) {
      keys.emplace_back(one.at("key").as_string());
      ages.push_back(one.at("age").to_number<double>());
    }
    const json::value next = host.json().at("next");
    if (next.is_null()) break;
    query = "?" + std::string(next.as_string());
  }
  CHECK(keys == std::vector<std::string>{"good", "no utf-8 \xEF\xBF\xBD"});
  CHECK(ages == std::vector<double>{host.now, host.now + 6});  // the order is that of their saving
  CHECK(profiles(host, "?since=2000000000").empty());
}

namespace {

// A container that a move made here, and that has ended well.
ctrl::Ending moved_training() {
  ctrl::Ending ending;
  ending.status = 0;
  ending.time = 1100;
  ending.job.container = training();
  ending.job.container.started = ending.job.admitted = 1000;
  ending.job.container.labels[ctrl::kMovedLabel] = "m";
  return ending;
}

}  // namespace

TEST_CASE("the first run of a job's task is whole, although the task was made elsewhere") {
  ctrl::Ending ending = moved_training();
  ctrl::Job& job = ending.job;
  job.container.labels[ctrl::kFirstRunLabel] = "true";
  job.saw_all = true;
  job.run.meter.emplace(1000);
  job.run.meter->sample({1100, 100, 50, true, false, 1e9, 100, 100, {}, {}});
  job.run.meter->printed(1010);
  job.run.meter->printed(1090);
  const auto run = ctrl::ended_run(ending, {2, 8e9}, "");
  REQUIRE(run.has_value());
  const auto profile = ctrl::profile_of(*run, {1000, 1000, 0, {}});
  REQUIRE(profile.has_value());
  const std::map<std::string, double> labels(profile->labels.begin(), profile->labels.end());
  CHECK(labels.at("cpu_seconds") == 50);
  CHECK(labels.at("seconds_launch") == 10);
  CHECK(labels.at("seconds_train") == 80);
}

TEST_CASE("a job that came from elsewhere has labels of its end, and of what was seen whole") {
  ctrl::Ending ending = moved_training();
  ctrl::Job& job = ending.job;
  job.run.meter.emplace(1000);
  job.run.meter->sample({1100, 100, 50, true, false, 1e9, 100, 100, {}, {}});
  const auto labels_of = [&] {
    const auto run = ctrl::ended_run(ending, {2, 8e9}, "T4");
    REQUIRE(run.has_value());
    CHECK_FALSE(run->is_seen_whole);
    const auto profile = ctrl::profile_of(*run, {1000, 1000, 0, {}});
    REQUIRE(profile.has_value());
    const std::pair<std::string, std::variant<double, std::string>> gpu{"gpu", "T4"};
    const auto& features = profile->features;
    CHECK(std::find(features.begin(), features.end(), gpu) != features.end());
    return std::map<std::string, double>(profile->labels.begin(), profile->labels.end());
  };
  CHECK_FALSE(labels_of().contains("cpu_seconds"));
  CHECK_FALSE(labels_of().contains("io"));
  job.past.emplace();
  job.past->is_whole = true;
  job.past->track.used = 30;
  CHECK(labels_of().at("cpu_seconds") == 80);
  ending.status = 1;
  CHECK_FALSE(ctrl::ended_run(ending, {2, 8e9}, "").has_value());
  ending.status.reset();
  CHECK_FALSE(ctrl::ended_run(ending, {2, 8e9}, "").has_value());
}
