// SPDX-License-Identifier: Apache-2.0
// What an image is called where a move brought it.
#include "cluster/migration/plan/saved_image.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

const std::string kId = "sha256:0123456789ab" + std::string(52, 'c');

std::string called(const std::string& name, bool is_taken = false) {
  const std::string all = moved_name(name, kId, is_taken);
  REQUIRE(all.starts_with(kMovedRegistry));
  return all.substr(kMovedRegistry.size());
}

}  // namespace

TEST_CASE("an image that was moved has its name under a registry that there is not") {
  CHECK(called("trainings:1") == "trainings:1");
  CHECK(called("trainings") == "trainings:latest");
  CHECK(called("ghcr.io/ada/vae:2.0-cuda") == "ghcr.io/ada/vae:2.0-cuda");
  CHECK(called("localhost:5000/vae") == "localhost-5000/vae:latest");
  CHECK(called("vae@sha256:" + std::string(64, 'a')) == "vae:0123456789ab");
  CHECK(called(std::string(kMovedRegistry) + "trainings:1") == "trainings:1");
  CHECK(called("trainings:1", true) == "trainings:1-0123456789ab");
}

TEST_CASE("what is no name of an image, or none that a peer may choose, is called by its id") {
  for (const std::string name : {"", "sha256:0123", "Vae:1", "/vae", "vae/", "a//b", "..", "a b",
                                 "vae:", "vae:.x", "a\nb", "vae:1/../x"}) {
    CAPTURE(name);
    CHECK(called(name) == "image:0123456789ab");
  }
  CHECK(called(std::string(300, 'a')) == "image:0123456789ab");
}

TEST_CASE("a name that means the image is better than another of it, and that than a moved one") {
  const std::string json =
      R"({"RepoTags":["moved.flowcon.invalid/vae:1","other:2","vae:1"],"RepoDigests":[]})";
  CHECK(names_of(json, "vae:1").front() == "vae:1");
  CHECK(names_of(json, "x").front() == "other:2");
  CHECK(names_of(json, "x").back() == "moved.flowcon.invalid/vae:1");
  CHECK(names_of(R"({"RepoTags":["b:1","vae:latest"]})", "vae").front() == "vae:latest");
  for (const char* none : {"", "{}", R"({"RepoTags":null})", R"({"RepoTags":["<none>:<none>"]})"}) {
    CHECK(names_of(none, "vae").empty());
  }
}

TEST_CASE("only an image that nothing but a move has named is a move's to remove") {
  CHECK(is_moved_only(R"({"RepoTags":["moved.flowcon.invalid/vae:1"],"RepoDigests":[]})"));
  CHECK_FALSE(is_moved_only(R"({"RepoTags":["moved.flowcon.invalid/vae:1","vae:1"]})"));
  CHECK_FALSE(
      is_moved_only(R"({"RepoTags":["moved.flowcon.invalid/vae:1"],"RepoDigests":["a@b"]})"));
  CHECK_FALSE(is_moved_only(R"({"RepoTags":[],"RepoDigests":[]})"));
}

TEST_CASE("of an image that a move brought its size and when it was wanted last are read") {
  const MovedImage image = parse_moved_image(
      R"({"Id":"sha256:x","Size":5000000000,"Metadata":{"LastTagTime":"2026-11-21T12:00:00.5+02:00"}})");
  CHECK(image.id == "sha256:x");
  CHECK(image.bytes == 5000000000);
  CHECK(image.wanted == 1795255200.5);
  for (const char* odd :
       {"", "{}", R"({"Size":-1,"Metadata":{"LastTagTime":"0001-01-01T00:00:00Z"}})"}) {
    CHECK(parse_moved_image(odd).bytes == 0);
    CHECK(parse_moved_image(odd).wanted == 0);
  }
}

}  // namespace flowcon::cluster::migration
