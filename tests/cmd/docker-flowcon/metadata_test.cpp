// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/metadata.h"

#include <unistd.h>

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

TEST_CASE("the metadata is what docker's plugin protocol 0.1.0 asks for") {
  const Result<boost::json::value> parsed = parse_json(metadata_json());

  REQUIRE(parsed.has_value());
  CHECK(render_json(*parsed) ==
        R"({"SchemaVersion":"0.1.0","Vendor":"docker-flowcon","Version":")" FLOWCON_VERSION
        R"(","ShortDescription":"Give more CPU to training containers that are still learning",)"
        R"("URL":"https://github.com/docker-flowcon/docker-flowcon"})");
  CHECK(metadata_json().back() == '\n');
}

TEST_CASE("the metadata is written whole, and a reader that is gone is an error") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::string text(4096, '\0');

  CHECK(write_metadata(ends[1]) == 0);
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  close(ends[0]);
  close(ends[1]);

  CHECK(text == metadata_json());
  CHECK(write_metadata(-1) == 1);
}

}  // namespace
}  // namespace flowcon::plugin
