// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/store.h"

#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "ctrl/store/schema.h"
#include "tests/ctrl/store_folder.h"

using namespace flowcon::ctrl;
using namespace flowcon::ctrl::store;

namespace {

Original original(const std::string& id) {
  Original o;
  o.id = id;
  o.name = "job-" + id;
  o.group = {"docker/" + id, "docker/" + id, "docker/" + id, "", "docker/" + id};
  o.setting.cpu.weight = 512;
  o.setting.cpu.quota_us = 150000;
  o.setting.memory.soft_bytes = 1U << 30;
  o.life = "boot:" + id;
  o.setting.io.weight = 300;
  o.setting.io.caps["8:0"] = {1U << 20, std::nullopt, std::nullopt, 100};
  o.has_all_limits = id == "a";
  return o;
}

Look look(const std::string& id, double time) {
  Look l;
  l.run.id = id;
  l.run.name = "vae";
  l.run.image = "train:1";
  l.run.metric = "loss";
  l.run.started = time;
  return l;
}

}  // namespace

TEST_CASE("originals survive the store's end exactly") {
  const Folder folder;
  REQUIRE(open(folder)->save_originals({original("a"), original("b")}).has_value());
  auto back = open(folder)->originals();
  REQUIRE(back.has_value());
  REQUIRE(back->size() == 2);
  CHECK(back->front().id == "a");
  CHECK(back->front().setting == original("a").setting);
  CHECK(back->front().life == original("a").life);
  CHECK(back->front().group.cpu == "docker/a");
  CHECK(back->front().group.io == "docker/a");
  CHECK(back->front().has_all_limits);
  CHECK_FALSE(back->back().has_all_limits);
}

TEST_CASE("an original without a quota comes back without one") {
  const Folder folder;
  Original o = original("a");
  o.setting.cpu.quota_us.reset();
  const auto store = open(folder);
  REQUIRE(store->save_originals({o}).has_value());
  CHECK_FALSE((*store->originals())[0].setting.cpu.quota_us.has_value());
}

TEST_CASE("a forgotten original is gone") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_originals({original("a")}).has_value());
  REQUIRE(store->forget_original("a").has_value());
  CHECK(store->originals()->empty());
}

TEST_CASE("choices are kept") {
  const Folder folder;
  REQUIRE(open(folder)->save_choice({"a", true, "{}", "{}"}).has_value());
  const auto choices = *open(folder)->choices();
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].released);
  CHECK(choices[0].settings == "{}");
}

TEST_CASE("history gives back what was recorded, values that are no numbers included") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 100);
  first.samples = {{101, 0.5}, {102, std::nan("")}, {103, INFINITY}};
  first.usage = UsageRow{105, 0.25, 4096, 100.5, {}};
  first.decision = DecisionRow{105, List::cl, 0.25, std::nullopt};
  REQUIRE(store->record({first}, {{105, "executor", "cpu", "{}", "{}"}}).has_value());
  for (const char* name : {"a", "vae"}) {
    const auto history = store->history(name);
    REQUIRE(history.has_value());
    CHECK(history->run.id == "a");
    REQUIRE(history->samples.size() == 3);
    CHECK(history->samples[0].value == 0.5);
    CHECK(std::isnan(history->samples[1].value));
    CHECK(std::isinf(history->samples[2].value));
    REQUIRE(history->usage.size() == 1);
    CHECK(history->usage[0].memory == 4096);
    REQUIRE(history->decisions.size() == 1);
    CHECK(history->decisions[0].list == List::cl);
    CHECK_FALSE(history->decisions[0].growth.has_value());
  }
  CHECK(store->history("b").error().code.value() == ENOENT);
}

TEST_CASE("since a moment: what is newer, and the decision that still held then") {
  const Folder folder;
  const auto store = open(folder);
  std::vector<Look> looks;
  for (const double time : {100.0, 200.0, 300.0}) {
    Look one = look("a", 50);
    one.samples = {{time, time}};
    one.usage = UsageRow{time, 0.25, 4096, {}, {}};
    one.decision = DecisionRow{time, List::nl, time / 1000, std::nullopt};
    looks.push_back(one);
  }
  Look gone = look("b", 10);
  gone.run.finished = 20;
  gone.run.status = 137;
  looks.push_back(gone);
  REQUIRE(store->record(looks, {}).has_value());

  const auto history = store->history("a", 250);
  REQUIRE(history.has_value());
  CHECK(history->samples.size() == 1);
  CHECK(history->usage.size() == 1);
  REQUIRE(history->decisions.size() == 2);
  CHECK(history->decisions[0].time == 200);
  const auto late = store->runs(250);
  REQUIRE(late.has_value());
  REQUIRE(late->runs.size() == 1);
  CHECK(late->runs.front().id == "a");
  const auto all = store->runs(0);
  REQUIRE(all.has_value());
  REQUIRE(all->runs.size() == 2);
  CHECK(all->runs.front().id == "b");
  CHECK(all->runs.front().finished == 20);
  CHECK(all->runs.front().status == 137);
  CHECK_FALSE(all->runs.back().status);
}

TEST_CASE("rounds come in pages, each once, those of one moment too") {
  const Folder folder;
  const auto store = open(folder);
  std::vector<Round> rounds;
  for (int i = 0; i < 7; ++i) {
    rounds.push_back(
        {i < 5 ? 100.0 : 200.0, "executor", "cpu", "\"" + std::to_string(i) + "\"", "{}"});
  }
  rounds.push_back({50, "executor", "cpu", "early", "{}"});
  REQUIRE(store->record({}, rounds).has_value());
  std::string seen;
  double since = 60;
  std::int64_t after = 0;
  for (int pages = 0; pages < 20; ++pages) {
    const auto page = store->rounds(since, after, 10);
    REQUIRE(page.has_value());
    CHECK(page->rounds.size() <= 2);
    for (const Round& round : page->rounds) seen += round.state;
    if (!page->has_more) break;
    since = page->rounds.back().time;
    after = page->after;
  }
  CHECK(seen == "\"0\"\"1\"\"2\"\"3\"\"4\"\"5\"\"6\"");
}

TEST_CASE("a name means its latest run") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->record({look("a", 100), look("b", 200)}, {}).has_value());
  CHECK(store->history("vae")->run.id == "b");
}

TEST_CASE("another chosen metric replaces the samples") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 100);
  first.samples = {{101, 7}};
  REQUIRE(store->record({first}, {}).has_value());
  Look second = look("a", 100);
  second.is_other_series = true;
  second.samples = {{101, 0.5}, {102, 0.4}};
  REQUIRE(store->record({second}, {}).has_value());
  CHECK(store->history("a")->samples.size() == 2);
}

TEST_CASE("what is read a second time is kept once, and what is new with it") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 100);
  first.samples = {{101, 0.7}, {102, 0.6}};
  REQUIRE(store->record({first}, {}).has_value());
  Look again = look("a", 100);
  again.is_reread = true;
  again.samples = {{101, 0.7}, {102, 0.6}, {103, 0.5}};
  REQUIRE(store->record({again}, {}).has_value());
  const std::vector<Sample> samples = store->history("a")->samples;
  REQUIRE(samples.size() == 3);
  CHECK(samples[2].value == 0.5);
}

TEST_CASE("a clock that went back hides no new sample") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 100);
  first.samples = {{101, 0.7}};
  REQUIRE(store->record({first}, {}).has_value());
  Look second = look("a", 100);
  second.samples = {{51, 0.6}};
  REQUIRE(store->record({second}, {}).has_value());
  CHECK(store->history("a")->samples.size() == 2);
}

TEST_CASE("a database with damage behind its first page is put aside") {
  const Folder folder;
  {
    const auto store = open(folder);
    for (int i = 0; i < 50; ++i) {
      REQUIRE(store->record({look(std::to_string(i), 100 + i)}, {}).has_value());
    }
  }
  {
    std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(60000, 'x');
  }
  std::string notice;
  const auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  CHECK(notice.find(folder.file() + ".damaged-1") != std::string::npos);
  CHECK_FALSE((*store)->history("vae").has_value());
}

TEST_CASE("an original that could not be forgotten is forgotten with the next record") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_originals({original("a"), original("b")}).has_value());
  execute_at(
      folder.journal(),
      "CREATE TRIGGER refuse BEFORE DELETE ON originals BEGIN SELECT RAISE(ABORT, 'no'); END");
  CHECK_FALSE(store->forget_original("a").has_value());
  execute_at(folder.journal(), "DROP TRIGGER refuse");
  REQUIRE(store->record({look("b", 100)}, {}).has_value());
  REQUIRE(store->originals()->size() == 1);
  CHECK(store->originals()->front().id == "b");
}

TEST_CASE("old records go, originals stay") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_originals({original("a")}).has_value());
  REQUIRE(store->record({look("a", 100)}, {}).has_value());
  REQUIRE(store->forget_before(1000, 2000).has_value());
  CHECK_FALSE(store->history("a").has_value());
  CHECK(store->originals()->size() == 1);
}

TEST_CASE("a damaged file is moved aside and control goes on with a new one") {
  const Folder folder;
  std::ofstream(folder.file()) << std::string(8192, 'x');
  std::string notice;
  auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  CHECK(notice.find("damaged-1") != std::string::npos);
  CHECK(std::filesystem::exists(folder.file() + ".damaged-1"));
  CHECK((*store)->originals()->empty());
}

TEST_CASE("what is known of converged containers is kept, changed and forgotten") {
  Folder folder;
  Mark full{"a", "CC", 0.25, 0.001, 1000.5, 900.25, 950, true, 2};
  Mark bare{"b", "PC", {}, {}, 1000.5, {}, {}, false, 0};
  {
    auto store = open(folder);
    REQUIRE(store->save_marks({full, bare}, {}).has_value());
    full.rebalanced = false;
    REQUIRE(store->save_marks({full}, {"b", "nobody"}).has_value());
  }
  const auto kept = open(folder)->marks();
  REQUIRE(kept.has_value());
  REQUIRE(kept->size() == 1);
  const Mark& mark = kept->front();
  CHECK(mark.id == "a");
  CHECK(mark.category == "CC");
  CHECK(mark.value == 0.25);
  CHECK(mark.growth == 0.001);
  CHECK(mark.seen == 1000.5);
  CHECK(mark.converged == 900.25);
  CHECK(mark.migrated == 950);
  CHECK_FALSE(mark.rebalanced);
  CHECK(mark.moves == 2);
}

TEST_CASE("a journal of another version is refused, and both files are left alone") {
  const Folder folder;
  REQUIRE(open(folder)->save_choice({"a", true, "", ""}).has_value());
  for (const bool are_records_other : {false, true}) {
    for (const std::string other : {"14", "99"}) {
      execute_at(folder.journal(), ("PRAGMA user_version = " + other).c_str());
      if (are_records_other) execute(folder, "PRAGMA user_version = 99");
      std::string notice;
      const auto store = Store::open(folder.file(), &notice);
      REQUIRE_FALSE(store.has_value());
      CHECK(store.error().message().find("version " + other) != std::string::npos);
      CHECK(store.error().message().find("journal.db") != std::string::npos);
      CHECK(std::filesystem::exists(folder.file()));
      CHECK_FALSE(std::filesystem::exists(folder.file() + ".version-99-1"));
      CHECK_FALSE(std::filesystem::exists(folder.journal() + ".damaged-1"));
    }
  }
  execute(folder, ("PRAGMA user_version = " + std::to_string(kRecordsVersion)).c_str());
  execute_at(folder.journal(),
             ("PRAGMA user_version = " + std::to_string(kJournalVersion)).c_str());
  CHECK(open(folder)->choices()->size() == 1);
}

TEST_CASE("records of another version are moved aside, and the journal stays") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_originals({original("a")}).has_value());
    REQUIRE(store->record({look("a", 100)}, {}).has_value());
  }
  for (const std::string other : {"14", "99"}) {
    execute(folder, ("PRAGMA user_version = " + other).c_str());
    std::string notice;
    const auto store = Store::open(folder.file(), &notice);
    REQUIRE(store.has_value());
    const std::string aside = folder.file() + ".version-" + other + "-1";
    CHECK(notice.find("version " + other) != std::string::npos);
    CHECK(notice.find(aside) != std::string::npos);
    CHECK(notice.find("damaged") == std::string::npos);
    CHECK(std::filesystem::exists(aside));
    CHECK((*store)->is_journal_whole());
    CHECK((*store)->originals()->size() == 1);
    CHECK_FALSE((*store)->history("a").has_value());
  }
  CHECK(open(folder)->originals()->size() == 1);
}

TEST_CASE("moves are kept, those under way before those that ended last") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_migration({"a", "1", "plan", 10, {}}).has_value());
    REQUIRE(store->save_migration({"b", "1", "plan", 11, 20.0}).has_value());
    REQUIRE(store->save_migration({"c", "1", "plan", 12, 30.0}).has_value());
    REQUIRE(store->save_migration({"a", "2", "plan", 10, {}}).has_value());
  }
  const auto store = open(folder);
  const auto all = store->migrations(1);
  REQUIRE((all.has_value() && all->size() == 2));
  CHECK((all->front().id == "a" && all->front().entry == "2" && !all->front().ended));
  CHECK((all->back().id == "c" && all->back().ended == 30));
  CHECK(store->migration("b").has_value());
  CHECK_FALSE(store->migration("d").has_value());
  REQUIRE(store->save_migration({"d", "4", "plan", 13, 25.0}).has_value());
  const auto ended = store->ended_migrations(2);
  REQUIRE(ended.has_value());
  CHECK(*ended == std::vector<std::string>{"1", "4"});
}

TEST_CASE("a state that cannot be made is left as it was") {
  const Folder folder;
  // Its last table is there already, which shows when the others have been made.
  execute(folder, "CREATE TABLE state(id)");
  std::string notice;
  REQUIRE_FALSE(Store::open(folder.file(), &notice).has_value());
  execute(folder, "CREATE TABLE runs(id)");
}

TEST_CASE("what a job did elsewhere is kept with its run, and goes with it") {
  const Folder folder;
  {
    const auto store = open(folder);
    History history;
    history.run = {"a", "vae", "train:1", "loss", flowcon::ctrl::Goal::min, 10, {}, "", false};
    REQUIRE(store->import_history(history, {}).has_value());
    REQUIRE(store->save_past("a", "{\"used\":1}").has_value());
    REQUIRE(store->save_past("a", "{\"used\":2}").has_value());
    REQUIRE(store->save_past("of none", "{}").has_value());
    REQUIRE(store->save_past("b", "{}").has_value());
    REQUIRE(store->forget_past("b").has_value());
  }
  const auto store = open(folder);
  auto pasts = store->pasts();
  REQUIRE((pasts.has_value() && pasts->size() == 2));
  CHECK(pasts->at("a") == "{\"used\":2}");
  REQUIRE(store->forget_before(5, 100).has_value());
  pasts = store->pasts();
  CHECK((pasts.has_value() && pasts->size() == 1));
  REQUIRE(store->forget_history("a").has_value());
  pasts = store->pasts();
  CHECK((pasts.has_value() && pasts->empty()));
}

TEST_CASE("how far a log was read is kept with what was read, and goes with its run") {
  const Folder folder;
  std::vector<Look> looks = {look("a", 1), look("b", 100)};
  looks[0].position = {"json-file", "file 1"};
  looks[1].position = {"/out/log", "file 2"};
  {
    const auto store = open(folder);
    REQUIRE(store->record(looks, {}).has_value());
    looks[0].position = {"json-file", "file 3"};
    looks[1].position.reset();
    REQUIRE(store->record(looks, {}).has_value());
  }
  const auto store = open(folder);
  auto positions = store->positions();
  REQUIRE((positions.has_value() && positions->size() == 2));
  CHECK(positions->at("a") == LogPosition{"json-file", "file 3"});
  CHECK(positions->at("b") == LogPosition{"/out/log", "file 2"});
  REQUIRE(store->forget_before(50, 100).has_value());
  positions = store->positions();
  REQUIRE(positions.has_value());
  CHECK_FALSE(positions->contains("a"));
  CHECK(positions->contains("b"));
}

TEST_CASE("what is explained are a container's last rounds, oldest first, with its own part") {
  const Folder folder;
  const auto store = open(folder);
  std::vector<Round> rounds;
  std::vector<Look> looks;
  for (int i = 1; i <= 5; ++i) {
    const double time = i;
    // Round 3 is about another one, whose id begins alike.
    rounds.push_back({time, "executor", "cpu", i == 3 ? R"({"id":"ab"})" : R"({"id":"a"})", "{}"});
    looks.push_back(look("a", 1));
    looks.back().decision = {time, i < 4 ? List::nl : List::cl, 1.0 / i, {}};
  }
  REQUIRE(store->record(looks, rounds).has_value());
  const auto explained = store->explained("vae", 3);
  REQUIRE((explained.has_value() && explained->rounds.size() == 3));
  CHECK(explained->rounds[0].round.time == 2);
  CHECK(*explained->rounds[0].since == 1);
  CHECK(explained->rounds[2].round.time == 5);
  CHECK(*explained->rounds[2].since == 4);
  CHECK(*explained->rounds[2].granted == 0.2);
  CHECK_FALSE(store->explained("nobody", 3).has_value());
}

TEST_CASE("rounds long after a run's end do not explain it, unless it has moved") {
  for (const bool has_moved : {false, true}) {
    const Folder folder;
    const auto store = open(folder);
    Look ended = look("a", 1);
    ended.run.finished = 10;
    ended.run.has_moved = has_moved;
    std::vector<Round> rounds;
    for (const double time : {5.0, 11.0, 1000.0}) {
      rounds.push_back({time, "executor", "cpu", R"({"id":"a"})", "{}"});
    }
    REQUIRE(store->record({ended}, rounds).has_value());
    const auto explained = store->explained("a", 10);
    REQUIRE(explained.has_value());
    CHECK(explained->rounds.size() == (has_moved ? 3U : 2U));
  }
}

TEST_CASE("rounds since a moment are of a run that begins later, and of an id that has none") {
  const Folder folder;
  const auto store = open(folder);
  Look one = look("a", 1);
  one.run.started = 10;
  one.run.finished = 20;
  std::vector<Round> rounds;
  for (const double time : {4.0, 6.0, 1000.0}) {
    rounds.push_back({time, "left", "", R"({"jobs":[{"id":"a"},{"id":"b"}]})", "{}"});
  }
  // Most are about a resource of a host, and would leave no room for these.
  for (int i = 0; i < 3; ++i) {
    rounds.push_back({15, "executor", "cpu", R"({"containers":[{"id":"a"},{"id":"b"}]})", "{}"});
  }
  REQUIRE(store->record({one}, rounds).has_value());
  for (const std::string id : {"a", "b"}) {
    const auto explained = store->explained(id, 2, 5);
    REQUIRE((explained.has_value() && explained->rounds.size() == 2));
    CHECK(explained->run.id == id);
    CHECK(explained->rounds[0].round.time == 6);
    CHECK(explained->rounds[1].round.time == 1000);
  }
  CHECK_FALSE(store->explained("b", 10).has_value());
}

TEST_CASE("rounds are searched as far as 16 MiB, also back from the end of a run that has moved") {
  const std::string others = R"({"id":"b","text":")" + std::string(1U << 20, 'x') + "\"}";
  for (const bool has_moved : {false, true}) {
    const Folder folder;
    const auto store = open(folder);
    Look one = look("a", 1);
    one.run.has_moved = has_moved;
    if (has_moved) one.run.finished = 10;
    std::vector<Round> rounds{{5, "executor", "cpu", R"({"id":"a"})", "{}"}};
    for (int i = 0; i < 20; ++i) rounds.push_back({100.0 + i, "executor", "cpu", others, "{}"});
    REQUIRE(store->record({one}, rounds).has_value());
    auto explained = store->explained("a", 1);
    REQUIRE(explained.has_value());
    CHECK(explained->is_cut == !has_moved);
    CHECK(explained->rounds.size() == (has_moved ? 1U : 0U));
    rounds = {{200, "executor", "cpu", R"({"id":"a"})", "{}"}};
    REQUIRE(store->record({one}, rounds).has_value());
    explained = store->explained("a", 1);
    REQUIRE((explained.has_value() && explained->rounds.size() == 1));
    CHECK(explained->rounds[0].round.time == 200);
    CHECK_FALSE(explained->is_cut);
  }
}

TEST_CASE("the file is readable by its owner alone") {
  const Folder folder;
  open(folder).reset();
  struct stat status {};
  REQUIRE(::stat(folder.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("what another host recorded takes the place of all that was known, and goes on here") {
  const Folder folder;
  auto store = open(folder);
  Look mine = look("a", 100);
  mine.samples = {{101, 9}};
  REQUIRE(store->record({mine}, {}).has_value());
  History there;
  there.run = {"a", "vae", "", "loss", Goal::min, 50, {}, "", false};
  there.samples = {{60, 0.5}, {70, std::nan("")}};
  there.usage = {{60, 0.25, 77, {}, 2.0}};
  there.decisions = {{60, List::wl, 0.5, 0.125}};
  there.stays = {{"h1", 50, 80}, {"h2", 80, 90}};
  REQUIRE(store->import_history(there, LogPosition{"json-file", "file 1"}).has_value());
  REQUIRE(store->import_history(there, LogPosition{"json-file", "file 1"}).has_value());
  CHECK(store->positions()->at("a").position == "file 1");
  REQUIRE(store->end_run("a", 90, 137).has_value());
  REQUIRE(store->end_run("a", 95, 0).has_value());
  CHECK(store->history("a")->run.finished == 90);
  CHECK(store->runs(0)->runs.front().status == 137);

  Look now = look("a", 120);
  now.samples = {{121, 0.25}};
  REQUIRE(store->record({now}, {}).has_value());
  const auto all = store->history("a");
  REQUIRE(all.has_value());
  CHECK(all->run.started == 50);
  REQUIRE(all->samples.size() == 3);
  CHECK(all->samples[0].value == 0.5);
  CHECK(std::isnan(all->samples[1].value));
  CHECK(all->samples[2].value == 0.25);
  CHECK(all->usage.size() == 1);
  REQUIRE(all->decisions.size() == 1);
  CHECK(all->decisions[0].growth == 0.125);
  REQUIRE(all->stays.size() == 2);
  CHECK(all->stays[1].host == "h2");

  REQUIRE(store->forget_history("a").has_value());
  CHECK_FALSE(store->history("a").has_value());
  CHECK(store->positions()->empty());
}

TEST_CASE("of a container that never moved the start is its last one") {
  const Folder folder;
  auto store = open(folder);
  REQUIRE(store->record({look("a", 100)}, {}).has_value());
  REQUIRE(store->record({look("a", 200)}, {}).has_value());
  CHECK(store->history("a")->run.started == 200);
}
