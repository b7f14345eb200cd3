// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/recorder.h"

#include <functional>
#include <string>

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

// A disk that can be full; what it was given is looked at when the loop has nothing left to do.
class Disk {
 public:
  Disk() { config.retention = 30; }
  ~Disk() { effects.finish(); }

  Records records() {
    return {[this](const std::vector<store::Look>& looks, const std::vector<store::Round>& rounds) {
              return take(looks, rounds);
            },
            [this](double before, double at) -> Result<bool> {
              forgotten_at = at;
              forgotten.push_back(before);
              return forgotten.size() < steps;
            },
            [this](double at) -> Result<bool> {
              room_made_at = at;
              ++rooms;
              return false;
            }};
  }

  void write() {
    recorder.write();
    io.restart();
    io.run();
  }

  void write_at(double moment) {
    now = moment;
    recorder.add(look("a"));
    write();
  }

  static store::Look look(const std::string& id) {
    store::Look one;
    one.run.id = id;
    return one;
  }

  boost::asio::io_context io{1};
  Effects effects;
  Config config;
  double now = 1e9;
  double leapt = 0;  // seconds that the wall clock has leapt
  bool is_full = false;
  std::size_t steps = 1;  // of forgetting
  std::vector<std::string> written;
  std::vector<std::string> algorithms;
  std::vector<double> forgotten;
  double forgotten_at = 0;  // what it was told of the time
  double room_made_at = 0;
  int rooms = 0;
  int parts = 0;  // that were written, or failed
  int hours = 0;
  std::function<void()> at_hour;  // old records were looked for
  Recorder recorder{io,
                    effects,
                    records(),
                    config,
                    [this] {
                      return Moment{now, now - leapt};
                    },
                    [this] {
                      ++hours;
                      if (at_hour) at_hour();
                    }};

 private:
  Result<void> take(const std::vector<store::Look>& looks,
                    const std::vector<store::Round>& rounds) {
    ++parts;
    if (is_full) return bad_input("the disk is full");
    for (const store::Look& one : looks) written.push_back(one.run.id);
    for (const store::Round& round : rounds) algorithms.push_back(round.algorithm);
    return {};
  }
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("what is added is written in its order, and once") {
  Disk disk;
  disk.recorder.add(Disk::look("a"));
  disk.recorder.add(Disk::look("b"));
  disk.recorder.add(5, {{"executor", Resource::cpu, "{}", "{}"}});
  CHECK_FALSE(disk.recorder.is_idle());
  disk.write();
  CHECK(disk.written == Words{"a", "b"});
  CHECK(disk.algorithms == Words{"executor"});
  CHECK(disk.recorder.is_idle());
  disk.write();
  CHECK(disk.written.size() == 2);
}

TEST_CASE("what a full disk did not take is written before what came later") {
  Disk disk;
  disk.is_full = true;
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.recorder.problem() == "the disk is full");
  CHECK_FALSE(disk.recorder.is_idle());
  disk.is_full = false;
  disk.recorder.add(Disk::look("b"));
  disk.write();
  CHECK(disk.written == Words{"a", "b"});
  CHECK(disk.recorder.problem().empty());
  CHECK(disk.recorder.lost() == 0);
}

TEST_CASE("no more waits than is bounded, and what is lost is counted") {
  Disk disk;
  disk.is_full = true;
  for (std::size_t i = 0; i < Recorder::kMostWaiting + 3; ++i) {
    disk.recorder.add(Disk::look(std::to_string(i)));
  }
  disk.write();
  CHECK(disk.recorder.lost() == 3);
  disk.is_full = false;
  disk.write();
  REQUIRE(disk.written.size() == Recorder::kMostWaiting);
  CHECK(disk.written.front() == "3");
}

TEST_CASE("what is too much is dropped once a pass, however many containers there are") {
  Disk disk;
  disk.is_full = true;
  for (int pass = 1; pass <= 2; ++pass) {
    for (std::size_t i = 0; i < 2 * Recorder::kMostWaiting; ++i) disk.recorder.add(Disk::look("a"));
    CHECK(disk.recorder.lost() == (pass == 1 ? 0 : Recorder::kMostWaiting));
    disk.write();
  }
  CHECK(disk.recorder.lost() == 3 * Recorder::kMostWaiting);
}

TEST_CASE("decisions wait for the disk as values do, as many as are bounded") {
  Disk disk;
  disk.is_full = true;
  disk.recorder.add(5, {{"first", Resource::cpu, "{}", "{}"}});
  disk.write();
  const std::string large(Recorder::kMostRounds / 3, ' ');
  SECTION("none is lost while there is room") {
    disk.recorder.add(6, {{"second", Resource::cpu, large, "{}"}});
    disk.is_full = false;
    disk.write();
    CHECK(disk.algorithms == Words{"first", "second"});
    CHECK(disk.recorder.lost() == 0);
  }
  SECTION("the oldest go first") {
    for (const char* name : {"second", "third", "fourth"}) {
      disk.recorder.add(6, {{name, Resource::cpu, large, "{}"}});
    }
    disk.is_full = false;
    disk.write();
    CHECK(disk.algorithms == Words{"third", "fourth"});
    CHECK(disk.recorder.lost() == 2);
  }
}

TEST_CASE("old records are looked for once an hour, in steps that others may come between") {
  Disk disk;
  disk.steps = 40;
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.forgotten.empty());
  disk.now += 3600;
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.forgotten.size() == 16);
  CHECK(disk.forgotten.front() == disk.now - 30 * 86400);
  CHECK(disk.forgotten_at == disk.now);
  CHECK(disk.room_made_at == disk.now - 3600);
  CHECK(disk.hours == 0);
  for (int i = 0; i < 2; ++i) {
    disk.recorder.add(Disk::look("a"));
    disk.write();
  }
  CHECK(disk.forgotten.size() == 40);
  CHECK(disk.hours == 1);
  disk.now += 3599;
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.forgotten.size() == 40);
  CHECK(disk.rooms == 3);
  disk.now += 1;
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.hours == 2);
}

TEST_CASE("nothing old is forgotten while flowcond ends") {
  Disk disk;
  disk.recorder.stop();
  disk.recorder.add(Disk::look("a"));
  disk.write();
  CHECK(disk.written == Words{"a"});
  CHECK(disk.forgotten.empty());
}

TEST_CASE("what comes while old records are forgotten is written where flowcond ends then") {
  Disk disk;
  disk.write_at(disk.now);
  disk.at_hour = [&disk] {
    disk.recorder.stop();
    disk.recorder.add(Disk::look("end"));
    disk.recorder.write();
  };
  disk.write_at(disk.now + 3600);
  CHECK(disk.written == Words{"a", "a", "end"});
  CHECK_FALSE(disk.recorder.is_writing());
}

TEST_CASE("of a job that prints fast a part is kept, its last value always") {
  Job job;
  job.container.id = "a";
  metrics::Spec spec;
  spec.metric = "loss";
  job.extractor.emplace(std::move(*metrics::Extractor::create(spec, metrics::kKeptSamples)));
  for (int i = 1; i <= 200; ++i) job.extractor->feed("loss: " + std::to_string(i), 1000 + i);
  const store::Look look = look_of(job);
  REQUIRE(look.samples.size() == 64);
  CHECK(look.samples.back().value == 200);
  CHECK(look.run.metric == "loss");
  CHECK(look_of(job).samples.empty());
  job.extractor->feed("loss: 201", 1300);
  CHECK(look_of(job).samples.size() == 1);
}

TEST_CASE("a host that boots in another year forgets nothing for it, and goes on to forget later") {
  Disk disk;
  const double right = disk.now;
  disk.write_at(right + 50 * 365 * 86400.0);
  disk.write_at(right);
  CHECK(disk.forgotten.empty());
  disk.write_at(right + 3600);
  REQUIRE_FALSE(disk.forgotten.empty());
  CHECK(disk.forgotten.front() == disk.now - 30 * 86400);
}

TEST_CASE("a clock that leaps forward while flowcond runs forgets nothing for an hour") {
  Disk disk;
  const double right = disk.now;
  disk.write_at(right);
  disk.write_at(right + 1800);
  const double wrong = right + 300 * 86400.0;
  disk.leapt = 300 * 86400.0;
  disk.write_at(wrong);
  disk.write_at(wrong + 1800);
  CHECK(disk.forgotten.empty());
  disk.leapt = 0;
  disk.write_at(right + 3600);
  CHECK(disk.forgotten.empty());
}

TEST_CASE("on a host that has a job of half an hour a day old records are forgotten all the same") {
  Disk disk;
  for (int day = 0; day < 3; ++day) {
    for (int i = 0; i < 3; ++i) {
      disk.recorder.add(Disk::look("a"));
      disk.write();
      disk.now += 900;
    }
    disk.now += 86400;
  }
  CHECK(disk.hours == 2);
}

TEST_CASE("what waited for long is written in parts, and the part that failed again") {
  Disk disk;
  disk.is_full = true;
  for (int i = 0; i < 1000; ++i) disk.recorder.add(Disk::look(std::to_string(i)));
  disk.write();
  CHECK(disk.parts == 1);
  disk.is_full = false;
  disk.write();
  CHECK(disk.parts == 6);
  REQUIRE(disk.written.size() == 1000);
  CHECK(disk.written.front() == "0");
  CHECK(disk.written.back() == "999");
}
