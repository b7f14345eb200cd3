// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/description.h"

#include <algorithm>

#include "tests/cluster/migration/plan/inspected.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

json::value from(const char* text) { return *parse_json(text); }

// The only obstacle of a container that is changed by `change`.
template <class Change>
std::string obstacle(Change change) {
  Inspected inspected("20.10");
  change(inspected);
  const Words all = description_of(inspected).obstacles;
  return all.size() == 1 ? all[0] : std::to_string(all.size()) + " obstacles";
}

TEST_CASE("a container of Engine 20.10 is described as it was created") {
  const Description made = description_of(Inspected("20.10"));
  CHECK(made.obstacles == Words{});
  CHECK(made.notes == Words{});
  CHECK(made.name == "job-1");
  CHECK(made.image_name == "train:1");
  CHECK(json::value(made.body) == from(R"({
    "User": "1000:1000", "ExposedPorts": {"80/tcp": {}},
    "Cmd": ["/bin/busybox", "sleep", "100"], "Entrypoint": [""], "WorkingDir": "/bin",
    "Labels": {"flowcon.enable": "true", "flowcon.mounts": "shared"},
    "StopSignal": "SIGINT", "StopTimeout": 30,
    "Env": ["LR=0.1", "PATH=/bin", "FLOWCON_RESUME=1"],
    "Hostname": "trainer",
    "Image": "sha256:e454d2226c1fd8704faaa95b7a397148a2b4b81c26f6dca362c95e3bc08898bf",
    "HostConfig": {
      "LogConfig": {"Type": "local", "Config": {"max-size": "1m"}},
      "PortBindings": {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}]},
      "CapAdd": ["CAP_SYS_PTRACE"],
      "Tmpfs": {"/scratch": "size=1m"},
      "ShmSize": 67108864, "Sysctls": {"net.core.somaxconn": "100"}, "Runtime": "runc",
      "Memory": 536870912, "NanoCpus": 1500000000, "MemorySwap": 1073741824,
      "Devices": [{"PathOnHost": "/dev/fuse", "PathInContainer": "/dev/fuse",
                   "CgroupPermissions": "rwm"}],
      "Ulimits": [{"Name": "nofile", "Hard": 200, "Soft": 100}],
      "Init": true, "NetworkMode": "default", "IpcMode": "private",
      "Mounts": [
        {"Type": "volume", "Target": "/anon", "ReadOnly": false},
        {"Type": "volume", "Source": "ckpt", "Target": "/ckpt", "ReadOnly": false},
        {"Type": "bind", "Source": "/srv/data", "Target": "/data", "ReadOnly": true,
         "BindOptions": {"Propagation": "rslave"}},
        {"Type": "tmpfs", "Target": "/t2", "TmpfsOptions": {"SizeBytes": 65536}}]}})"));
  CHECK(json::value(made.restart_policy) ==
        from(R"({"Name": "unless-stopped", "MaximumRetryCount": 0})"));
  REQUIRE(made.volumes.size() == 2);
  CHECK(made.volumes[0].is_anonymous);
  CHECK_FALSE(made.volumes[1].is_anonymous);
  CHECK(made.volumes[1].name == "ckpt");
  CHECK(made.volumes[1].destination == "/ckpt");
}

TEST_CASE("a plain container's description says nothing that the engine would not say itself") {
  const Description made = description_of(Inspected("20.10-plain"));
  CHECK(made.obstacles == Words{});
  CHECK_FALSE(made.body.contains("Hostname"));
  CHECK(made.volumes.empty());
  CHECK(made.body.at("HostConfig") ==
        from(R"({"LogConfig": {"Type": "json-file", "Config": {}}, "ShmSize": 67108864,
                 "Runtime": "runc", "NetworkMode": "default", "IpcMode": "private"})"));
}

TEST_CASE("a container of Engine 28 in a network of its own keeps its aliases, not its address") {
  const Description made = description_of(Inspected("28"));
  CHECK(made.obstacles == Words{});
  CHECK(made.notes == Words{"left out: Annotations; their meaning depends on the runtime",
                            "left out: its fixed address in the network 'ml'"});
  CHECK(made.body.at("NetworkingConfig") ==
        from(R"({"EndpointsConfig": {"ml": {"Aliases": ["trainer", "db"]}}})"));
  CHECK(made.body.at("HostConfig").at("NetworkMode") == "ml");
  CHECK(made.body.at("HostConfig").at("CgroupnsMode") == "private");
  CHECK(made.body.at("HostConfig").at("Mounts").as_array().size() == 4);
}

TEST_CASE("a container without an entrypoint does not get that of its image") {
  Inspected inspected("20.10");
  for (const char* none : {"null", "[]"}) {
    inspected.config()["Entrypoint"] = from(none);
    CHECK(description_of(inspected).body.at("Entrypoint") == from(R"([""])"));
  }
  inspected.config()["Entrypoint"] = from(R"(["/run.sh"])");
  CHECK(description_of(inspected).body.at("Entrypoint") == from(R"(["/run.sh"])"));
}

TEST_CASE("the limits that the user gave go along") {
  Inspected inspected("20.10");
  inspected.host()["CpuShares"] = 77;
  inspected.host()["CpuQuota"] = 5000;
  const Description made = description_of(inspected);
  const json::object& host = made.body.at("HostConfig").as_object();
  CHECK(host.at("CpuShares") == 77);
  CHECK(host.at("CpuQuota") == 5000);
  CHECK(host.at("Memory") == 536870912);
}

TEST_CASE("a job's own FLOWCON_RESUME is replaced, as on a second move") {
  Inspected inspected("20.10");
  inspected.config()["Env"] = from(R"(["FLOWCON_RESUME=0", "A=b", "FLOWCON_RESUME=1"])");
  CHECK(description_of(inspected).body.at("Env") == from(R"(["A=b", "FLOWCON_RESUME=1"])"));
}

TEST_CASE("what begins anew keeps its environment as it is") {
  Inspected inspected("20.10");
  inspected.config()["Env"] = from(R"(["A=b", "FLOWCON_RESUME=0"])");
  const auto made = describe(inspected.value, false);
  REQUIRE(made.has_value());
  CHECK(made->body.at("Env") == from(R"(["A=b", "FLOWCON_RESUME=0"])"));
}

TEST_CASE("what hangs on another container or on this host is an obstacle, in words") {
  const auto host = [](const char* name, const char* value) {
    return obstacle([&](Inspected& inspected) { inspected.host()[name] = from(value); });
  };
  CHECK(host("AutoRemove", "true") == "it is removed as soon as it stops (--rm)");
  CHECK(host("NetworkMode", R"("container:abc")") ==
        "it joins a namespace of another container (NetworkMode)");
  CHECK(host("IpcMode", R"("container:abc")") ==
        "it joins a namespace of another container (IpcMode)");
  CHECK(host("PidMode", R"("container:abc")") ==
        "it joins a namespace of another container (PidMode)");
  CHECK(host("Links", R"(["/db:/job-1/db"])") == "it is linked to another container (--link)");
  CHECK(host("CpusetCpus", R"("0-3")") == "it is pinned to processors or memory of this host");
  CHECK(host("BlkioDeviceReadBps", R"([{"Path": "/dev/sda", "Rate": 1}])") ==
        "it limits a block device of this host");
  CHECK(host("PortBindings", R"({"80/tcp": [{"HostIp": "10.0.0.7", "HostPort": "1"}]})") ==
        "it publishes a port on an address of this host, '10.0.0.7'");
  CHECK(host("DeviceRequests", R"([{"DeviceIDs": ["GPU-1"]}])") ==
        "it asks for GPUs of this host by their ids");
  CHECK(host("Mounts", R"([{"Type": "volume", "Source": "ckpt", "Target": "/ckpt",
                           "VolumeOptions": {"Subpath": "vae"}}])") ==
        "it mounts a part of a volume (volume-subpath)");
  CHECK(obstacle([](Inspected& inspected) {
          inspected.value.as_object()["Name"] = "/" + std::string(64, 'a');
        }) == "its name looks like a container's id: docker rename");
  CHECK(obstacle([](Inspected& inspected) {
          inspected.config()["Labels"].as_object()["com.docker.swarm.task.id"] = "x";
        }) == "it belongs to a service of Docker Swarm, which would start another one");
  CHECK(obstacle([](Inspected& inspected) {
          json::object& networks = inspected.at("NetworkSettings").at("Networks").as_object();
          networks["second"] = json::object();
        }) == "it is in more than one network");
}

TEST_CASE("a host's folder needs the user's word") {
  Inspected inspected("20.10");
  inspected.config()["Labels"].as_object().erase("flowcon.mounts");
  CHECK(description_of(inspected).obstacles ==
        Words{"it mounts '/srv/data' of this host: label flowcon.mounts=shared says that the other "
              "host has it too"});
}

TEST_CASE("mounts with names and paths that are none are obstacles") {
  const auto mounts = [](const char* value) {
    return obstacle(
        [&](Inspected& inspected) { inspected.value.as_object()["Mounts"] = from(value); });
  };
  CHECK(mounts(R"([{"Type": "bind", "Source": "/a/../etc", "Destination": "/a"}])") ==
        "it mounts '/a/../etc', which is no plain path");
  CHECK(mounts(R"([{"Type": "bind", "Source": "/a", "Destination": "a"}])") ==
        "it mounts something at 'a', which is no plain path");
  CHECK(mounts(R"([{"Type": "volume", "Name": "../x", "Driver": "local", "Destination": "/a"}])") ==
        "the volume at '/a' has no name");
  CHECK(mounts(R"([{"Type": "npipe", "Source": "x", "Destination": "/a"}])") ==
        "it has a mount of the type 'npipe' at '/a'");
}

TEST_CASE("a volume of another driver does not migrate, whatever the user says of mounts") {
  Inspected inspected("20.10");
  inspected.value.as_object()["Mounts"] =
      from(R"([{"Type": "volume", "Name": "v", "Driver": "nfs", "Destination": "/a"}])");
  const Words refusal{
      "the volume 'v' is one of the driver 'nfs', and only those of the driver 'local' migrate"};
  CHECK(inspected.config()["Labels"].at("flowcon.mounts") == "shared");
  CHECK(description_of(inspected).obstacles == refusal);
  CHECK(description_of(inspected).volumes.empty());
  inspected.config()["Labels"].as_object().clear();
  CHECK(description_of(inspected).obstacles == refusal);
}

TEST_CASE("the host's name, which the engine writes down in the host's network, stays here") {
  Inspected inspected("20.10");
  inspected.host()["NetworkMode"] = "host";
  inspected.config()["Domainname"] = "lab";
  CHECK_FALSE(description_of(inspected).body.contains("Hostname"));
  CHECK(description_of(inspected).body.at("Domainname") == "lab");
  const Words notes = description_of(inspected).notes;
  CHECK(std::count(notes.begin(), notes.end(),
                   "left out: its host name; it gets that of the other host") == 1);
  inspected.host()["UTSMode"] = "host";
  CHECK_FALSE(description_of(inspected).body.contains("Hostname"));
  CHECK_FALSE(description_of(inspected).body.contains("Domainname"));
  inspected.host()["NetworkMode"] = "default";
  CHECK_FALSE(description_of(inspected).body.contains("Hostname"));
}

TEST_CASE("members that nobody knows are left out and said") {
  Inspected inspected("20.10");
  inspected.host()["Tele\x1bport"] = true;
  inspected.host()["Nothing"] = json::array();
  CHECK(description_of(inspected).notes ==
        Words{"left out, since flowcond does not know it: Tele\uFFFDport"});
}

TEST_CASE("answers that are none of an engine's are errors that say why") {
  const auto error = [](const json::value& inspect) {
    const auto made = describe(inspect);
    return made ? std::string("none") : made.error().message();
  };
  CHECK(error(nullptr) == "the engine's answer has no container id");
  CHECK(error(json::array()) == "the engine's answer has no container id");
  Inspected inspected("20.10");
  inspected.config()["Labels"] = {{"note", std::string(kMaxInspectBytes, 'x')}};
  CHECK(inspected.described().error().message() ==
        "the engine's answer on a container is too large");
  inspected.config()["Labels"] = {{"note", std::string(1 << 20, 'x')}};
  CHECK(inspected.described().has_value());
  inspected.value.as_object()["Name"] = "/-rf";
  CHECK(inspected.described().error().message() == "the container's name '-rf' is none");
  inspected.value.as_object()["Name"] = "/a\n$(id)";
  CHECK(inspected.described().error().message() == "the container's name 'a\uFFFD$(id)' is none");
  inspected = Inspected("20.10");
  inspected.value.as_object()["Image"] = "train:1";
  CHECK(inspected.described().error().message() == "the engine's answer has no image id");
}

TEST_CASE("an answer whose members are all of the wrong type is described without harm") {
  Inspected inspected("20.10");
  for (const char* name : {"HostConfig", "Config", "Mounts", "NetworkSettings"}) {
    inspected.value.as_object()[name] = 7;
  }
  const Description made = description_of(inspected);
  CHECK(made.obstacles == Words{});
  CHECK(made.body.at("HostConfig") == json::object());
}

TEST_CASE("what CRIU cannot migrate is told apart") {
  CHECK(criu_obstacles(description_of(Inspected("28")).body) == Words{});
  CHECK(criu_obstacles(description_of(Inspected("20.10")).body) ==
        Words{"CRIU cannot migrate open devices"});
  const auto words = [](const char* body) { return criu_obstacles(from(body).as_object()); };
  CHECK(words(R"({"Tty": true})") == Words{"CRIU cannot migrate a terminal (-t)"});
  CHECK(words(R"({"HostConfig": {"DeviceRequests": [{"Count": -1}]}})") ==
        Words{"CRIU cannot migrate a GPU's memory"});
  CHECK(words(R"({"HostConfig": {"Runtime": "nvidia"}})") ==
        Words{"CRIU cannot migrate a GPU's memory"});
  CHECK(words(R"({"HostConfig": {"Devices": [{"PathOnHost": "/dev/dri/card0"}]}})") ==
        Words{"CRIU cannot migrate a GPU's memory"});
  CHECK(words(R"({"HostConfig": {"NetworkMode": "host"}})") ==
        Words{"it is in the host's network, and its connections cannot migrate"});
  CHECK(words(R"({"HostConfig": {"PidMode": "host"}})") ==
        Words{"CRIU cannot migrate a namespace of the host (PidMode)"});
  CHECK(words(R"({"HostConfig": {"Privileged": true}})").size() == 1);
}

}  // namespace
}  // namespace flowcon::cluster::migration
