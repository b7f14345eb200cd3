// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/ways.h"

#include <string>

#include "tests/support/catch.h"

using namespace flowcon::cluster;
using namespace flowcon::cluster::migration;

namespace {

Entry done(Side side, Method method, const std::string& name, const std::string& container) {
  Entry entry;
  entry.side = side;
  entry.method = method;
  entry.step = Step::done;
  entry.name = name;
  entry.container = container;
  entry.source = side == Side::source ? "here" : "there";
  entry.target = side == Side::source ? "there" : "here";
  return entry;
}

// "vae here>there; " of each.
std::string shown(const Ways& ways) {
  std::string all;
  for (const Way& way : ways.all()) all += way.name + " " + way.source + ">" + way.target + "; ";
  return all;
}

}  // namespace

TEST_CASE("of each name the last way from here and the last to here count, newest first") {
  Ways ways;
  ways.add(done(Side::source, Method::app, "vae", "v1"));
  ways.add(done(Side::source, Method::criu, "gru", "g1"));
  ways.add(done(Side::target, Method::app, "vae", "v2"));
  ways.add(done(Side::source, Method::app, "vae", "v2"));
  Entry undone = done(Side::source, Method::app, "gru", "g2");
  undone.step = Step::undone;
  ways.add(undone);
  CHECK(shown(ways) == "vae here>there; vae there>here; gru here>there; ");
  CHECK(ways.all().front().container == "v2");
  CHECK_FALSE(ways.all().front().is_open);
}

TEST_CASE("of a job's task that is home again only the way back counts") {
  Ways own, other;
  own.add(done(Side::source, Method::birth, "job", "ticket"));
  CHECK(shown(own) == "job here>there; ");
  own.add(done(Side::target, Method::home, "job", "ticket"));
  CHECK(shown(own) == "job there>here; ");
  other.add(done(Side::target, Method::birth, "job", "copy"));
  other.add(done(Side::source, Method::home, "job", "copy"));
  CHECK(shown(other) == "job here>there; ");
}

TEST_CASE("a long training's way outlives those of any number of the queue's jobs") {
  for (const Side birth : {Side::source, Side::target}) {
    const Side home = birth == Side::source ? Side::target : Side::source;
    Ways ways;
    ways.add(done(Side::source, Method::app, "vae", "v1"));
    ways.add(done(birth, Method::birth, "long", "long-id"));
    for (int i = 0; i < 3000; ++i) {
      const std::string job = "job" + std::to_string(i);
      ways.add(done(birth, Method::birth, job, job + "-id"));
      ways.add(done(home, Method::home, job, job + "-id"));
    }
    const std::string all = shown(ways);
    CHECK(all.find("vae here>there; ") != std::string::npos);
    CHECK(all.find("long ") != std::string::npos);
    CHECK(ways.all().size() <= kMostWays);
  }
}

TEST_CASE("however many containers go, no more ways than that are kept, the newest") {
  Ways ways;
  for (std::size_t i = 0; i <= kMostWays; ++i) {
    const std::string name = "c" + std::to_string(i);
    ways.add(done(Side::source, Method::app, name, name + "-id"));
  }
  const std::vector<Way> all = ways.all();
  CHECK(all.size() == kMostWays);
  CHECK(all.front().name == "c" + std::to_string(kMostWays));
  CHECK(all.back().name == "c1");
}
