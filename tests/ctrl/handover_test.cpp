// SPDX-License-Identifier: Apache-2.0
#include "ctrl/handover.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

Handover sample() {
  Handover handover;
  handover.interval = 40;
  HandedJob job;
  job.cpu = {{List::cl, 0.25, 0.001, true}, 0.3};
  job.memory = {{List::wl, 1, std::nullopt, false}, 1};
  job.reason = "CL: growth 0.001 is under alpha 0.03";
  handover.jobs["a"] = job;
  return handover;
}

void touch(const std::string& path, std::time_t age) {
  std::ofstream(path).close();
  const timespec then{std::time(nullptr) - age, 0};
  const timespec times[2] = {then, then};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("what is handed over is what is taken, but for growth that counts as measured") {
  const test::TempFolder folder;
  REQUIRE(write_handover(folder.path(), sample()).has_value());
  const Handover taken = take_handover(folder.path());
  CHECK(taken.interval == 40);
  REQUIRE(taken.jobs.size() == 1);
  const HandedJob& job = taken.jobs.at("a");
  CHECK(job.cpu.list == List::cl);
  CHECK(job.cpu.limit == 0.25);
  CHECK(job.cpu.granted == 0.3);
  CHECK(job.cpu.growth == 0.001);
  CHECK_FALSE(job.cpu.is_fresh);
  CHECK(job.memory.list == List::wl);
  CHECK_FALSE(job.memory.growth.has_value());
  CHECK(job.reason == sample().jobs.at("a").reason);
}

TEST_CASE("it is taken once") {
  const test::TempFolder folder;
  REQUIRE(write_handover(folder.path(), sample()).has_value());
  (void)take_handover(folder.path());
  CHECK(take_handover(folder.path()).jobs.empty());
}

TEST_CASE("one that is old is not taken, and gone") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/handed-over.json";
  REQUIRE(write_handover(folder.path(), sample()).has_value());
  const timespec then{std::time(nullptr) - 70, 0};
  const timespec times[2] = {then, then};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  CHECK(take_handover(folder.path()).jobs.empty());
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("a request counts for a minute, and once") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/hand-over";
  CHECK_FALSE(take_handover_request(folder.path()));
  touch(path, 0);
  CHECK(take_handover_request(folder.path()));
  CHECK_FALSE(take_handover_request(folder.path()));
  touch(path, 70);
  CHECK_FALSE(take_handover_request(folder.path()));
  touch(path, -70);
  CHECK_FALSE(take_handover_request(folder.path()));
}

TEST_CASE("nonsense is refused by its first wrong member") {
  const std::string good = render_handover(sample());
  CHECK(parse_handover(good).has_value());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const Result<Handover> parsed = parse_handover(text);
    return parsed ? std::string("taken") : parsed.error().message();
  };
  CHECK(with("\"CL\"", "\"XL\"").find("jobs[0].cpu.list") != std::string::npos);
  CHECK(with("\"limit\":0.25", "\"limit\":0").find("jobs[0].cpu.limit") != std::string::npos);
  CHECK(with("\"granted\":0.3", "\"granted\":1.5").find("granted") != std::string::npos);
  CHECK(with("\"interval\":40", "\"interval\":0.5").find("interval") != std::string::npos);
  CHECK_FALSE(parse_handover("{").has_value());
}

TEST_CASE("a request that the kernel's finer clock stamps with the next second counts") {
  const test::TempFolder folder;
  touch(folder.path() + "/hand-over", -1);
  CHECK(take_handover_request(folder.path()));
}
