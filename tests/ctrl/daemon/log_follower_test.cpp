// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/log_follower.h"

#include <fstream>

#include "tests/ctrl/daemon/parts.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using test::Ground;

namespace {

std::string record(const std::string& text) {
  return R"({"log":")" + text + R"(\n","stream":"stdout","time":"2001-09-09T01:46:40Z"})" + "\n";
}

struct Reader : Ground {
  Reader() {
    job.container.id = "a";
    job.container.running = true;
    job.log.name = "json-file";
    job.log.path = folder.path() + "/a-json.log";
    metrics::Spec spec;
    spec.metric = "loss";
    job.extractor.emplace(*metrics::Extractor::create(spec, metrics::kKeptSamples));
    write(job.log.path, "");
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
  }
  Job& begin() {
    Job& there = roster.jobs.emplace("a", std::move(job)).first->second;
    logs.start(there);
    return there;
  }
  /// One that printed a lot on earlier hosts, of which a part is read.
  void begin_long() {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += record("loss: " + std::to_string(i));
    write(earlier, text);
    begin();
    until([&] { return values() > 0; });
    REQUIRE(values() < 5000);
  }
  std::size_t values() { return roster.jobs.at("a").extractor->count(); }

  Roster roster;
  std::string earlier = folder.path() + "/earlier.log";
  LogFollower logs{io, roster, world.clock, [this](const std::string&) { return earlier; }};
  Job job;
};

}  // namespace

TEST_CASE("what a job printed on earlier hosts comes before its log, and is not recorded again") {
  Reader reader;
  Reader::write(reader.earlier, record("loss: 3") + record("loss: 2"));
  Reader::write(reader.job.log.path, record("loss: 1"));
  const Job& job = reader.begin();
  CHECK(job.is_reading_past);
  reader.until([&] { return reader.values() == 3; });
  CHECK_FALSE(job.is_reading_past);
  CHECK(job.recorded_count == 2);
  CHECK(job.extractor->report().samples.front().value == 3);
}

TEST_CASE("a job that goes while its earlier log is read leaves nothing behind") {
  Reader reader;
  reader.begin_long();
  reader.roster.jobs.clear();
  while (reader.io.poll() > 0) {
  }
  CHECK(reader.logs.tails().position("a").empty());
}

TEST_CASE("a job that begins anew while its earlier log is read is given that log once") {
  Reader reader;
  reader.begin_long();
  Reader other;
  Job& job = reader.roster.jobs.insert_or_assign("a", std::move(other.job)).first->second;
  reader.logs.start(job);
  reader.until([&] { return !job.is_reading_past; });
  CHECK(reader.values() == 5000);
  while (reader.io.poll() > 0) {
  }
  CHECK(reader.values() == 5000);
  CHECK(job.log_problem.empty());
}

TEST_CASE("what an earlier flowcond has recorded is known, unless it was of another log") {
  for (const bool is_same : {true, false}) {
    Reader reader;
    Reader::write(reader.job.log.path, record("loss: 3"));
    reader.begin();
    reader.until([&] { return reader.values() == 1; });
    const std::string log = reader.roster.jobs.at("a").log.path;
    const std::string position = reader.logs.tails().stop("a", true);

    Reader next;
    next.job.log.path = log;
    next.logs.set_position("a", {is_same ? "json-file" : "journald", position});
    Reader::write(log, record("loss: 2"));
    const Job& job = next.begin();
    next.until([&] { return next.values() == 2; });
    CHECK(job.recorded_count == (is_same ? 1 : 0));
  }
}

TEST_CASE("a log that cannot be opened is a sentence with the job") {
  Reader reader;
  reader.job.log.path = reader.folder.path() + "/none/a-json.log";
  CHECK_FALSE(reader.begin().log_problem.empty());
}
