// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/accept.h"

#include "cluster/migration/json_parts.h"
#include "tests/cluster/migration/inspected.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

using Words = std::vector<std::string>;

Words refused(const std::string& body, const AcceptPolicy& policy = {}) {
  return refusals(parse_json(body)->as_object(), policy);
}

Words refused_host(const std::string& members, const AcceptPolicy& policy = {}) {
  return refused(R"({"HostConfig": {)" + members + "}}", policy);
}

TEST_CASE("a plain container is accepted by a policy that allows nothing special") {
  CHECK(refusals(description_of(Inspected("20.10-plain")).body, {}) == Words{});
}

TEST_CASE("every reason is given at once, and each goes with its own permission") {
  const boost::json::object body = description_of(Inspected("20.10")).body;
  AcceptPolicy policy;
  CHECK(refusals(body, policy) == Words{"the capability 'SYS_PTRACE' is not accepted",
                                        "mounting '/srv/data' of this host is not accepted",
                                        "the device '/dev/fuse' is not accepted"});
  policy.capabilities = {"cap_sys_ptrace"};
  policy.mounts = {"/opt", "/srv"};
  CHECK(refusals(body, policy) == Words{"the device '/dev/fuse' is not accepted"});
  policy.devices = {"/dev/fuse"};
  CHECK(refusals(body, policy) == Words{});
}

TEST_CASE("what takes away fences is refused without privileged=yes") {
  AcceptPolicy open;
  open.privileged = true;
  for (const char* members : {
           R"("Privileged": true)",
           R"("SecurityOpt": ["seccomp=unconfined"])",
           R"("SecurityOpt": ["no-new-privileges:false"])",
           R"("DeviceCgroupRules": ["a *:* rwm"])",
           R"("MaskedPaths": [])",
           R"("ReadonlyPaths": ["/x"])",
           R"("OomScoreAdj": -1000)",
           R"("OomKillDisable": true)",
           R"("CpuRealtimeRuntime": 1000)",
       }) {
    INFO(members);
    CHECK(refused_host(members).size() == 1);
    CHECK(refused_host(members, open) == Words{});
  }
  CHECK(refused_host(R"("SecurityOpt": ["no-new-privileges"], "OomScoreAdj": 500)") == Words{});
}

TEST_CASE("namespaces of the host need their permission, those of containers have none") {
  AcceptPolicy open;
  open.host_namespaces = true;
  for (const char* name :
       {"NetworkMode", "IpcMode", "PidMode", "UTSMode", "UsernsMode", "CgroupnsMode"}) {
    INFO(name);
    const std::string host = std::string("\"") + name + R"(": "host")";
    CHECK(refused_host(host) ==
          Words{"namespaces of the host (" + std::string(name) + ") are not accepted"});
    CHECK(refused_host(host, open) == Words{});
    const std::string other = std::string("\"") + name + R"(": "container:abc")";
    CHECK(refused_host(other, open).size() == 1);
  }
  const std::string endpoint = R"({"NetworkingConfig": {"EndpointsConfig": {"host": {}}}})";
  CHECK(refused(endpoint) == Words{"the host's network is not accepted"});
}

TEST_CASE("a folder is accepted below those listed and nowhere else") {
  AcceptPolicy policy;
  policy.mounts = {"/srv/data/"};
  const auto bind = [&](const std::string& source) {
    return refused_host(
        R"("Mounts": [{"Type": "bind", "Target": "/a", "Source": ")" + source + "\"}]", policy);
  };
  CHECK(bind("/srv/data") == Words{});
  CHECK(bind("/srv/data/set/1") == Words{});
  CHECK(bind("/srv//data/set") == Words{});
  CHECK(bind("/srv/database").size() == 1);
  CHECK(bind("/srv/data/../../etc").size() == 1);
  CHECK(bind("/srv/data/.").size() == 1);
  CHECK(bind("srv/data").size() == 1);
  CHECK(bind("/srv").size() == 1);
  CHECK(bind("").size() == 1);
}

TEST_CASE("a mount in disguise is refused") {
  AcceptPolicy policy;
  policy.mounts = {"/srv"};
  const auto mount = [&](const std::string& members) {
    return refused_host(R"("Mounts": [{"Target": "/a", )" + members + "}]", policy);
  };
  CHECK(mount(R"("Type": "volume", "Source": "v")") == Words{});
  CHECK(mount(R"("Type": "volume", "Source": "v", "VolumeOptions": {"DriverConfig": {"Options":
              {"type": "none", "o": "bind", "device": "/etc"}}})") ==
        Words{"nothing is known about 'HostConfig.Mounts.VolumeOptions'"});
  CHECK(mount(R"("Type": "volume", "Source": "/etc")") ==
        Words{"the volume '/etc' is not accepted"});
  CHECK(mount(R"("Type": "bind", "Source": "/srv/x", "BindOptions": {"Propagation": "rshared"})")
            .size() == 1);
  CHECK(mount(R"("Type": "bind", "Source": "/srv/x", "BindOptions": {"Propagation": "rslave"})") ==
        Words{});
  CHECK(mount(R"("Type": "image", "Source": "x")").size() == 1);
  CHECK(refused_host(R"("Binds": ["/etc:/etc"])") ==
        Words{"nothing is known about 'HostConfig.Binds'"});
  CHECK(refused_host(R"("VolumesFrom": ["other"])").size() == 1);
}

TEST_CASE("members of the wrong type, another case or that are new are refused") {
  CHECK(refused_host(R"("Privileged": "true")") ==
        Words{"HostConfig.Privileged is not what it should be"});
  CHECK(refused_host(R"("CapAdd": "ALL")") == Words{"HostConfig.CapAdd is not what it should be"});
  CHECK(refused_host(R"("CapAdd": [["ALL"]])") ==
        Words{"HostConfig.CapAdd is not what it should be"});
  // The engine reads members without regard to case.
  CHECK(refused_host(R"("privileged": true)") ==
        Words{"nothing is known about 'HostConfig.privileged'"});
  CHECK(refused(R"({"hostconfig": {"Privileged": true}})") ==
        Words{"nothing is known about 'hostconfig'"});
  CHECK(refused(R"({"HostConfig": 7})") == Words{"HostConfig is not what it should be"});
  CHECK(refused_host(R"("maskedpaths": [], "readonlypaths": [])") ==
        Words{"nothing is known about 'HostConfig.maskedpaths'",
              "nothing is known about 'HostConfig.readonlypaths'"});
  CHECK(refused_host(R"("LogConfig": {"Type": "json-file", "type": "syslog"})") ==
        Words{"nothing is known about 'HostConfig.LogConfig.type'"});
  AcceptPolicy fuse;
  fuse.devices = {"/dev/fuse"};
  CHECK(refused_host(R"("Devices": [{"PathOnHost": "/dev/fuse", "pathonhost": "/dev/sda"}])",
                     fuse) == Words{"nothing is known about 'HostConfig.Devices.pathonhost'"});
  CHECK(refused_host(R"("Warp": 9)") == Words{"nothing is known about 'HostConfig.Warp'"});
  CHECK(refused_host(R"("CgroupParent": "/../x")").size() == 1);
}

TEST_CASE("capabilities, devices, runtimes and log drivers go by their lists") {
  AcceptPolicy policy;
  CHECK(refused_host(R"("CapAdd": ["CHOWN", "cap_kill"])") == Words{});
  CHECK(refused_host(R"("CapAdd": ["ALL"])") == Words{"the capability 'ALL' is not accepted"});
  policy.capabilities = {"SYS_NICE"};
  CHECK(refused_host(R"("CapAdd": ["ALL", "SYS_NICE"])", policy).size() == 1);
  policy.capabilities = {"ALL"};
  CHECK(refused_host(R"("CapAdd": ["SYS_ADMIN"])", policy) == Words{});
  CHECK(refused_host(R"("DeviceRequests": [{"Count": -1}])") == Words{"GPUs are not accepted"});
  CHECK(refused_host(R"("Runtime": "nvidia")") == Words{"the runtime 'nvidia' is not accepted"});
  policy.devices = {"gpu"};
  policy.runtimes = {"nvidia"};
  CHECK(refused_host(R"("DeviceRequests": [{"Count": -1}], "Runtime": "nvidia")", policy) ==
        Words{});
  CHECK(refused_host(R"("LogConfig": {"Type": "syslog", "Config": {}})") ==
        Words{"the log driver 'syslog' is not accepted"});
}

TEST_CASE("a thousand reasons are cut to what a person reads") {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += (i ? ", \"X" : "\"X") + std::to_string(i) + "\": 1";
  CHECK(refused_host(all).size() == kMaxRefusals);
}

TEST_CASE("names and paths are held to what engines allow") {
  CHECK(is_object_name("a.b-c_9"));
  CHECK_FALSE(is_object_name("-a"));
  CHECK_FALSE(is_object_name(""));
  CHECK_FALSE(is_object_name("a/b"));
  CHECK_FALSE(is_object_name(std::string(256, 'a')));
  CHECK(is_plain_path("/"));
  CHECK(is_plain_path("/a/..b/c..."));
  CHECK_FALSE(is_plain_path("/a/.."));
  CHECK_FALSE(is_plain_path("/./a"));
  CHECK_FALSE(is_plain_path(std::string("/a\0b", 4)));
  CHECK(is_within("/a/b", "/"));
}

}  // namespace
}  // namespace flowcon::cluster::migration
