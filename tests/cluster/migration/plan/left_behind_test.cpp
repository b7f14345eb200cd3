// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/left_behind.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {

TEST_CASE("what was written into the layer is files, without the folders above them") {
  const ChangedPaths changed =
      changed_paths(R"([{"Path":"/app","Kind":0},{"Path":"/app/model.pt","Kind":1},
      {"Path":"/app-data","Kind":1},{"Path":"/app/old","Kind":2},{"Path":"/app/runs","Kind":1}])");
  CHECK(changed.paths == std::vector<std::string>{"/app/model.pt", "/app/runs", "/app-data"});
  CHECK_FALSE(changed.is_cut);
  for (const char* nothing : {"", "null", "[]", "{}", "[1,{}]", R"([{"Path":1,"Kind":1}])"}) {
    CHECK(changed_paths(nothing).paths.empty());
    CHECK_FALSE(changed_paths(nothing).is_cut);
  }
}

TEST_CASE("of a list without an end the beginning counts, and it is said") {
  std::string list = "[";
  for (int i = 0; list.size() <= kMaxChangesBytes; ++i) {
    list += R"({"Path":"/data/)" + std::to_string(i) + R"(","Kind":1},)";
  }
  const ChangedPaths changed = changed_paths(list);
  CHECK(changed.paths.size() > 100'000);
  CHECK(changed.is_cut);
}

TEST_CASE("mounts, what the engine makes and caches are no state of the job") {
  const auto body = parse_json(R"({"HostConfig":{"Mounts":[{"Type":"volume","Target":"/ckpt"},
      {"Type":"bind","Target":"/srv/data"}],"Tmpfs":{"/scratch":""}}})")
                        ->as_object();
  for (const char* path : {"/ckpt", "/ckpt/a", "/srv", "/srv/data", "/scratch/x"}) {
    CAPTURE(path);
    CHECK(is_of_mount(body, path));
  }
  CHECK_FALSE(is_of_mount(body, "/ckpt2"));
  CHECK_FALSE(is_of_mount(body, "/srv/model.pt"));
  for (const char* path : {"/etc/hosts", "/etc", "/dev/shm/x", "/.dockerenv"}) {
    CHECK(is_of_engine(path));
  }
  CHECK_FALSE(is_of_engine("/etc/model.pt"));
  for (const char* path : {"/tmp/a", "/run/x.pid", "/app/__pycache__/a.bin", "/root/.cache/pip/x",
                           "/root/.cache", "/app/a.pyc"}) {
    CAPTURE(path);
    CHECK(is_passing(path));
  }
  CHECK_FALSE(is_passing("/app/model.pt"));
  CHECK_FALSE(is_passing("/tmpx/model.pt"));
}

TEST_CASE("a few files are named, and how many more there are") {
  CHECK(some_of({"/a"}) == "'/a'");
  CHECK(some_of({"/a", "/b"}) == "'/a' and '/b'");
  CHECK(some_of({"/1", "/2", "/3", "/4", "/5", "/6", "/7"}) ==
        "'/1', '/2', '/3', '/4', '/5' and 2 more");
  CHECK(some_of({"/a\nb"}).find('\n') == std::string::npos);
}

}  // namespace flowcon::cluster::migration
