// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/view_json.h"

#include "base/json.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::migration;

TEST_CASE("a move is read back as it was written") {
  MoveView view;
  view.id = "m1";
  view.container = "c1";
  view.name = "vae";
  view.side = Side::target;
  view.source = "1";
  view.target = "2";
  view.source_name = "h1";
  view.target_name = "h2";
  view.method = Method::criu;
  view.cause = kDrain;
  view.step = Step::confirm;
  view.error = "no word";
  view.bytes = 3;
  view.rate = 1.5;
  view.seconds = 2.5;
  view.steps = {{"reserve", 0}, {"transfer", 1.25}};
  view.has_ended = true;
  const std::string text = render_json(to_json(view));
  CHECK(text ==
        R"({"id":"m1","container":"c1","name":"vae","side":"target","source":"1","target":"2",)"
        R"("source_name":"h1","target_name":"h2","method":"criu","cause":"drain",)"
        R"("step":"confirm","error":"no word","bytes":3,"bytes_total":null,"rate":1.5,)"
        R"("seconds":2.5,"steps":{"reserve":0,"transfer":1.25},"stopped_seconds":null,)"
        R"("ended":true})");
  CHECK(render_json(to_json(parse_view(*parse_json(text)))) == text);
  view.bytes_total = 100;
  view.stopped_seconds = 4.5;
  const std::string whole = render_json(to_json(view));
  CHECK(render_json(to_json(parse_view(*parse_json(whole)))) == whole);
  for (const Method method : {Method::app, Method::birth, Method::home}) {
    view.method = method;
    CHECK(parse_view(to_json(view)).method == method);
  }
}

TEST_CASE("what makes no sense is as if it were not there") {
  const std::string empty = render_json(to_json(MoveView()));
  for (const char* text : {"{}", "[]", "1", R"({"side":1,"step":"x","bytes":-1,"steps":[1]})"}) {
    CHECK(render_json(to_json(parse_view(*parse_json(text)))) == empty);
  }
}
