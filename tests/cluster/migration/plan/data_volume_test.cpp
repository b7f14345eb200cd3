// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/data_volume.h"

#include "base/json.h"
#include "tests/cluster/migration/plan/inspected.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster::migration;
namespace json = boost::json;

TEST_CASE("a copy of data has another name for each host, volume and content") {
  const std::string name = data_volume_name("h1", "corpus", "1 2");
  CHECK(is_data_volume(name));
  CHECK(name == data_volume_name("h1", "corpus", "1 2"));
  for (const std::string& other :
       {data_volume_name("h2", "corpus", "1 2"), data_volume_name("h1", "corpus2", "1 2"),
        data_volume_name("h1", "corpus", "1 3"), data_volume_name("h1c", "orpus", "1 2")}) {
    CHECK(is_data_volume(other));
    CHECK(other != name);
  }
  for (const std::string& none :
       {std::string("corpus"), name.substr(1), name + "0", name.substr(0, name.size() - 1),
        "flowcon-data-" + std::string(32, 'G'), std::string("flowcon-data-")}) {
    CHECK_FALSE(is_data_volume(none));
  }
}

TEST_CASE("data is what is mounted once, only to be read, and has a name") {
  Description description;
  description.volumes = {{"corpus", "/data", false, true},
                         {"out", "/out", false, false},
                         {std::string(64, 'a'), "/tmp", true, true},
                         {"twice", "/a", false, true},
                         {"twice", "/b", false, false}};
  mark_data(description);
  std::string marked;
  for (const TravellingVolume& one : description.volumes) {
    if (one.is_data) marked += one.name;
  }
  CHECK(marked == "corpus");
}

TEST_CASE("that a volume is only read is seen in what engines say") {
  for (const char* version : {"20.10-plain", "28"}) {
    Inspected inspected(version);
    inspected.value.as_object()["Mounts"] = json::array{{{"Type", "volume"},
                                                         {"Name", "corpus"},
                                                         {"Driver", "local"},
                                                         {"Destination", "/data"},
                                                         {"Source", "/v/corpus/_data"},
                                                         {"RW", false}},
                                                        {{"Type", "volume"},
                                                         {"Name", "out"},
                                                         {"Driver", "local"},
                                                         {"Destination", "/out"},
                                                         {"Source", "/v/out/_data"},
                                                         {"RW", true}}};
    Description made = description_of(inspected);
    REQUIRE(made.volumes.size() == 2);
    CHECK((made.volumes[0].is_read_only && !made.volumes[1].is_read_only));
    rename_volume(made.body, "corpus", data_volume_name("h1", "corpus", "1"));
    CHECK(data_volume_at(made.body, "/data") == data_volume_name("h1", "corpus", "1"));
    CHECK(data_volume_at(made.body, "/out").empty());
    CHECK(data_volume_at(made.body, "/none").empty());
  }
}

TEST_CASE("what was wanted longest ago goes first, and never what is used") {
  const std::vector<CachedCopy> copies{{"new", false, true, 10, 300},
                                       {"old", false, true, 10, 100},
                                       {"used", true, true, 10, 1},
                                       {"half", false, false, 0, 0},
                                       {"coming", true, false, 900, 0}};
  using Names = std::vector<std::string>;
  CHECK(copies_to_remove(copies, 100) == Names{"half"});
  CHECK(copies_to_remove(copies, 20) == Names{"half"});
  CHECK(copies_to_remove(copies, 19) == Names{"half", "old"});
  CHECK(copies_to_remove(copies, 0) == Names{"half", "old", "new"});
  CHECK(copies_to_remove({}, 0).empty());
}
