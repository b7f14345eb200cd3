// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/raw_json.h"

#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

TEST_CASE("a member's bytes are those of the text") {
  CHECK(member_text(R"({"a":1,"state":{"x":1.50,"y":[ 1 ]},"b":2})", "state") ==
        R"({"x":1.50,"y":[ 1 ]})");
  CHECK(member_text(" {\n \"state\" : 1e5 }", "state") == "1e5");
  CHECK(member_text(R"({"state":"a\"}b"})", "state") == R"("a\"}b")");
  CHECK(member_text(R"({"st\u0061te":true})", "state") == "true");
  CHECK(member_text(R"({"state":1,"state":2})", "state") == "2");
  CHECK(member_text(R"({"a":{"state":1}})", "state").empty());
  CHECK(member_text(R"({"a":"\"state\":1"})", "state").empty());
  CHECK(member_text("[1]", "state").empty());
  CHECK(member_text("{}", "state").empty());
}

TEST_CASE("the last element's bytes are those of the text") {
  CHECK(last_element_text(R"([{"a":[1,2]}, {"b":"]"} ])") == R"({"b":"]"})");
  CHECK(last_element_text("[1,2.0]") == "2.0");
  CHECK(last_element_text("[]").empty());
  CHECK(last_element_text("[ ]").empty());
  CHECK(last_element_text("{}").empty());
  CHECK(last_element_text("").empty());
}

TEST_CASE("text that is no JSON is walked over to its end and no further") {
  for (const std::string_view text : {"{\"state\":\"", "{\"state\":{\"a\\", "{\"a\"",
                                      "{\"state\":[[[", "[1,", "[\"", "[}", "[,", "{\"a\":}"}) {
    INFO(text);
    (void)member_text(text, "state");
    (void)last_element_text(text);
  }
}

TEST_CASE("what a terminal may obey is escaped, the rest stays as it is") {
  CHECK(safe_json("{\"a\":\"\xC2\x9B"
                  "31m\x7F\xE2\x80\xAE\"}\r\n") == "{\"a\":\"\\u009b31m\\u007f\\u202e\"} \n");
  CHECK(safe_json("{\"a\":\"\xC3\xA4 1.50\"}") == "{\"a\":\"\xC3\xA4 1.50\"}");
}

}  // namespace
}  // namespace flowcon::plugin
