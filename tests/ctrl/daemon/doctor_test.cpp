// SPDX-License-Identifier: Apache-2.0
// What GET /v1/doctor says of what was found.
#include "base/json.h"
#include "ctrl/daemon/routes.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl {

TEST_CASE("what could not be looked at is neither found nor missing") {
  const EngineStatus just_started;
  EngineStatus gone;
  gone.error = "connection refused";
  EngineStatus answers;
  answers.is_reachable = true;
  answers.version.engine = "20.10.24";
  const auto answer =
      parse_json(abilities_of({engine_ability(just_started, "/s"), engine_ability(gone, "/s"),
                               engine_ability(answers, "/s")})
                     .body);
  REQUIRE(answer.has_value());
  const boost::json::array& all = answer->at("abilities").as_array();
  REQUIRE(all.size() == 3);
  CHECK(all[0].at("found").is_null());
  CHECK(all[0].at("detail").as_string() == "flowcond has just started and has not reached it yet");
  CHECK_FALSE(all[1].at("found").as_bool());
  CHECK(all[1].at("detail").as_string() == "connection refused");
  CHECK(all[2].at("found").as_bool());
  CHECK(all[2].at("detail").as_string() == "20.10.24 at /s");
}

}  // namespace flowcon::ctrl
