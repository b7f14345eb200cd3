// SPDX-License-Identifier: Apache-2.0
#include "ctrl/gpus.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

boost::json::value host_config(const std::string& requests) {
  return *parse_json(R"({"DeviceRequests":)" + requests + "}");
}

const std::string kFirstTwo =
    R"({"Driver":"","Count":2,"DeviceIDs":null,"Capabilities":[["gpu"]],"Options":{}})";
const std::string kDisk =
    R"({"Driver":"cdi","Count":0,"DeviceIDs":["vendor.com/disk=a"],"Capabilities":null})";

const std::vector<HostGpu> kGpus{{0, "GPU-a"}, {1, "GPU-b"}, {3, ""}};  // the third one is lost

}  // namespace

TEST_CASE("what docker gives by --gpus is read from the requests for devices") {
  CHECK(gpus_in(host_config("[" + kDisk + "," + kFirstTwo + "]")).count == 2);
  CHECK(
      gpus_in(host_config(R"([{"Driver":"nvidia","Count":-1,"Capabilities":[["gpu"]]}])")).count ==
      GpuDevices::kAll);
  const GpuDevices by_id = gpus_in(
      host_config(R"([{"Count":0,"DeviceIDs":["1","GPU-a"],"Capabilities":[["utility","gpu"]]}])"));
  CHECK(by_id.ids == std::vector<std::string>{"1", "GPU-a"});
  for (const char* none : {"null", "[]", "7", R"([{"Count":1,"Capabilities":[["tpu"]]}])",
                           R"([{"Count":1,"Capabilities":[["gpu","tpu"]]}])",
                           R"([{"Driver":"other","Count":1,"Capabilities":[["gpu"]]}])", "[7]"}) {
    INFO(none);
    CHECK(gpus_in(host_config(none)).is_none());
  }
  CHECK(gpus_in(host_config("[" + kDisk + "]")).is_none());
  for (const char* one : {R"([{"Count":1,"Capabilities":[["tpu"],["compute","utility"]]}])",
                          R"([{"Driver":"nvidia","Count":1,"Capabilities":null}])"}) {
    INFO(one);
    CHECK(gpus_in(host_config(one)).count == 1);
  }
  const GpuDevices all =
      gpus_in(host_config(R"([{"Count":0,"DeviceIDs":["all"],"Capabilities":[["gpu"]]}])"));
  CHECK((all.count == GpuDevices::kAll && all.ids.empty()));
}

TEST_CASE("the first GPUs, all, or those that are named have places on the host") {
  using Places = std::vector<std::size_t>;
  CHECK(GpuDevices{2, {}}.places(kGpus) == Places{0, 1});
  CHECK(GpuDevices{3, {}}.places(kGpus) == Places{0, 1});  // one of the first three is lost
  CHECK(GpuDevices{GpuDevices::kAll, {}}.places(kGpus) == Places{0, 1, 2});
  CHECK(GpuDevices{0, {"3", "GPU-a"}}.places(kGpus) == Places{0, 2});
  CHECK(GpuDevices{0, {"2", "GPU-x", "GPU-", ""}}.places(kGpus).empty());
  CHECK(GpuDevices{0, {"GPU-b4"}}.places({{0, "GPU-a1-7"}, {1, "GPU-b4-9"}}) == Places{1});
  CHECK(GpuDevices{}.places(kGpus).empty());
  CHECK((GpuDevices{GpuDevices::kAll, {}}.size(3) == 3 && GpuDevices{0, {"7"}}.size(3) == 1));
}

TEST_CASE("a container gets other GPUs, and keeps its other devices") {
  boost::json::object some = host_config("[" + kFirstTwo + "," + kDisk + "]").get_object();
  set_gpus(some, {"3"});
  const GpuDevices given = gpus_in(some);
  CHECK((given.count == 0 && given.ids == std::vector<std::string>{"3"}));
  CHECK(list_of(some.at("DeviceRequests")).size() == 2);
  set_gpus(some, {});
  CHECK(gpus_in(some).is_none());
  CHECK(list_of(some.at("DeviceRequests")).size() == 1);
}
