// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/half_moved.h"

#include "base/json.h"
#include "cluster/migration/plan/entry_json.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster::migration;

namespace {

Seen seen_of(Copy copy, const std::string& policy, std::map<std::string, std::string> labels) {
  Seen seen;
  seen.copy = copy;
  seen.name = "vae";
  seen.restart_policy["Name"] = policy;
  seen.labels = std::move(labels);
  return seen;
}

}  // namespace

TEST_CASE(
    "a stopped container without a restart policy that a move could have left may be "
    "half migrated") {
  const std::map<std::string, std::string> moved{{kMoveLabel, "m1"}};
  const std::map<std::string, std::string> movable{{"flowcon.migrate", "app"}};
  const std::map<std::string, std::string> fixed{{"flowcon.migrate", "no"}};
  struct Row {
    Copy copy;
    const char* policy;
    const std::map<std::string, std::string>& labels;
    bool is_known;
    bool looks_so;
  };
  for (const Row& row :
       {Row{Copy::stopped, "no", moved, false, true}, Row{Copy::created, "no", moved, false, true},
        Row{Copy::finished, "", moved, false, true}, Row{Copy::stopped, "no", moved, true, false},
        Row{Copy::running, "no", moved, false, false},
        Row{Copy::stopped, "always", moved, false, false},
        Row{Copy::stopped, "no", movable, false, true},
        Row{Copy::created, "no", movable, false, false},
        Row{Copy::stopped, "no", fixed, false, false},
        Row{Copy::stopped, "always", movable, false, false}}) {
    INFO(static_cast<int>(row.copy) << " " << row.policy << " " << row.is_known);
    const std::string why = why_half_moved(seen_of(row.copy, row.policy, row.labels), row.is_known);
    CHECK(why.empty() != row.looks_so);
  }
}

TEST_CASE("a lost move is told by container, side and step; garbage is not") {
  Entry entry;
  entry.id = std::string(32, 'a');
  entry.side = Side::source;
  entry.container = std::string(64, 'c');
  entry.name = "vae";
  entry.source = std::string(32, '1');
  entry.target = std::string(32, '2');
  entry.step = Step::transfer;
  const std::string said = describe_lost(render(entry));
  CHECK(said.find("container vae") != std::string::npos);
  CHECK(said.find("from here") != std::string::npos);
  CHECK(said.find("transfer") != std::string::npos);
  CHECK(describe_lost("{}").empty());
  CHECK(describe_lost("\xff\xff").empty());
}
