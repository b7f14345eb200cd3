// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/architecture.h"

#include "cluster/migration/plan/saved_image.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster::migration;

TEST_CASE("machines are called as images call them") {
  CHECK(architecture_of("x86_64") == "amd64");
  CHECK(architecture_of("aarch64") == "arm64");
  CHECK(architecture_of("arm64") == "arm64");
  CHECK(architecture_of("s390x") == "s390x");
  CHECK(architecture_of("") == "");
  CHECK(architecture_of("arm64; rm") == "");
  CHECK(architecture_of(std::string(33, 'a')) == "");
}

TEST_CASE("programs run on their own processors, and on those that know the older ones") {
  CHECK(runs_on("amd64", "amd64"));
  CHECK(runs_on("amd64", "386"));
  CHECK(runs_on("arm64", "arm"));
  CHECK_FALSE(runs_on("amd64", "arm64"));
  CHECK_FALSE(runs_on("arm", "arm64"));
  CHECK(runs_on("", "arm64"));
  CHECK(runs_on("amd64", ""));
}

TEST_CASE("an image says for which it is, or nothing") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto said = [&](const std::string& more) {
    return parse_image(R"({"Id":")" + digest + R"(","RootFS":{"Layers":[")" + digest + "\"]}" +
                       more + "}")
        ->architecture;
  };
  CHECK(said(R"(,"Architecture":"arm64")") == "arm64");
  CHECK(said(R"(,"Architecture":7)") == "");
  CHECK(said("") == "");
}
