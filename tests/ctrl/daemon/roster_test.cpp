// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/roster.h"

#include <utility>

#include "tests/support/catch.h"

namespace flowcon::ctrl {
namespace {

TEST_CASE("a whole id counts before a name, as for the engine") {
  Roster roster;
  for (const auto& [id, name] : {std::pair("a1", "c3"), std::pair("c3", "vae")}) {
    Job job;
    job.container.id = id;
    job.container.name = name;
    roster.jobs.emplace(id, std::move(job));
  }
  CHECK(roster.find("c3") == "c3");
  CHECK(roster.find("vae") == "c3");
}

TEST_CASE("a container's name counts before the beginnings of ids") {
  Roster roster;
  const auto add = [&](const std::string& id, const std::string& name) {
    Job job;
    job.container.id = id;
    job.container.name = name;
    roster.jobs.emplace(id, std::move(job));
  };
  add("a1c", "first");
  add("a1d", "second");
  add("b2e", "a1");
  CHECK(roster.find("a1") == "b2e");
  CHECK(roster.find("a1c") == "a1c");
  CHECK(roster.find("b2") == "b2e");
  CHECK(roster.find("a").empty());
  CHECK(roster.find("").empty());
}

}  // namespace
}  // namespace flowcon::ctrl
