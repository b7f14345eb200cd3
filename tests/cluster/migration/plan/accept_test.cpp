// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/accept.h"

#include "cluster/migration/plan/names.h"
#include "tests/cluster/migration/plan/inspected.h"
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

TEST_CASE("the host's network alone has a permission of its own") {
  AcceptPolicy policy;
  policy.host_network = true;
  CHECK(refused_host(R"("NetworkMode": "host")", policy) == Words{});
  CHECK(refused_host(R"("IpcMode": "host")", policy).size() == 1);
  CHECK(refused_host(R"("PidMode": "host")", policy).size() == 1);
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
        Words{"flowcond does not know 'HostConfig.Mounts.VolumeOptions'"});
  CHECK(mount(R"("Type": "volume", "Source": "/etc")") ==
        Words{"the volume '/etc' is not accepted"});
  CHECK(mount(R"("Type": "bind", "Source": "/srv/x", "BindOptions": {"Propagation": "rshared"})")
            .size() == 1);
  CHECK(mount(R"("Type": "bind", "Source": "/srv/x", "BindOptions": {"Propagation": "rslave"})") ==
        Words{});
  CHECK(mount(R"("Type": "image", "Source": "x")").size() == 1);
  CHECK(refused_host(R"("Binds": ["/etc:/etc"])") ==
        Words{"flowcond does not know 'HostConfig.Binds'"});
  CHECK(refused_host(R"("VolumesFrom": ["other"])").size() == 1);
}

TEST_CASE("members of the wrong type, another case or that are new are refused") {
  CHECK(refused_host(R"("Privileged": "true")") ==
        Words{"HostConfig.Privileged has the wrong type"});
  CHECK(refused_host(R"("CapAdd": "ALL")") == Words{"HostConfig.CapAdd has the wrong type"});
  CHECK(refused_host(R"("CapAdd": [["ALL"]])") == Words{"HostConfig.CapAdd has the wrong type"});
  // The engine reads members without regard to case.
  CHECK(refused_host(R"("privileged": true)") ==
        Words{"flowcond does not know 'HostConfig.privileged'"});
  CHECK(refused(R"({"hostconfig": {"Privileged": true}})") ==
        Words{"flowcond does not know 'hostconfig'"});
  CHECK(refused(R"({"HostConfig": 7})") == Words{"HostConfig has the wrong type"});
  CHECK(refused_host(R"("maskedpaths": [], "readonlypaths": [])") ==
        Words{"flowcond does not know 'HostConfig.maskedpaths'",
              "flowcond does not know 'HostConfig.readonlypaths'"});
  CHECK(refused_host(R"("LogConfig": {"Type": "json-file", "type": "syslog"})") ==
        Words{"flowcond does not know 'HostConfig.LogConfig.type'"});
  AcceptPolicy fuse;
  fuse.devices = {"/dev/fuse"};
  CHECK(refused_host(R"("Devices": [{"PathOnHost": "/dev/fuse", "pathonhost": "/dev/sda"}])",
                     fuse) == Words{"flowcond does not know 'HostConfig.Devices.pathonhost'"});
  CHECK(refused_host(R"("Warp": 9)") == Words{"flowcond does not know 'HostConfig.Warp'"});
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

TEST_CASE("ulimits that take from the host go with the capability that would allow it") {
  const auto ulimit = [](const std::string& members, const AcceptPolicy& policy = {}) {
    return refused_host("\"Ulimits\": [{" + members + "}]", policy);
  };
  CHECK(ulimit(R"("Name": "nofile", "Soft": 1048576, "Hard": 1048576)") == Words{});
  CHECK(ulimit(R"("Name": "stack", "Soft": -1, "Hard": -1)") == Words{});
  CHECK(ulimit(R"("Name": "memlock", "Soft": 65536, "Hard": 8388608)") == Words{});
  CHECK(ulimit(R"("Name": "nice", "Soft": 0, "Hard": 20)") == Words{});
  CHECK(ulimit(R"("Name": "rtprio", "Soft": 0, "Hard": 0)") == Words{});
  AcceptPolicy nice, lock;
  nice.capabilities = {"SYS_NICE"};
  lock.capabilities = {"IPC_LOCK"};
  const Words rtprio{
      "the ulimit 'rtprio' above 0 is not accepted (accept-capabilities = SYS_NICE allows it)"};
  CHECK(ulimit(R"("Name": "rtprio", "Soft": 0, "Hard": 1)") == rtprio);
  CHECK(ulimit(R"("Name": "rtprio", "Soft": 99, "Hard": 99)", lock) == rtprio);
  CHECK(ulimit(R"("Name": "rtprio", "Soft": 99, "Hard": 99)", nice) == Words{});
  CHECK(ulimit(R"("Name": "nice", "Soft": 20, "Hard": 40)").size() == 1);
  CHECK(ulimit(R"("Name": "nice", "Soft": 40, "Hard": 40)", nice) == Words{});
  const Words memlock{
      "the ulimit 'memlock' above 8388608 is not accepted (accept-capabilities = IPC_LOCK allows "
      "it)"};
  CHECK(ulimit(R"("Name": "memlock", "Soft": 0, "Hard": 8388609)") == memlock);
  CHECK(ulimit(R"("Name": "memlock", "Soft": -1, "Hard": -1)") == memlock);
  CHECK(ulimit(R"("Name": "memlock", "Soft": 18446744073709551615)") == memlock);
  CHECK(ulimit(R"("Name": "memlock", "Soft": -1, "Hard": -1)", lock) == Words{});
}

TEST_CASE("a ulimit that is not known is refused by its name") {
  CHECK(refused_host(R"("Ulimits": [{"Name": "warp", "Soft": 1, "Hard": 1}])") ==
        Words{"the ulimit 'warp' is not known and not accepted"});
  CHECK(refused_host(R"("Ulimits": [{"Name": "RTPRIO", "Soft": 1, "Hard": 1}])") ==
        Words{"the ulimit 'RTPRIO' is not known and not accepted"});
  CHECK(refused_host(R"("Ulimits": [{"Name": "core", "soft": 1}])") ==
        Words{"flowcond does not know 'HostConfig.Ulimits.soft'"});
  CHECK(refused_host(R"("Ulimits": [{"Name": "core", "Soft": "1"}])") ==
        Words{"HostConfig.Ulimits.Soft has the wrong type"});
  CHECK(refused_host(R"("Ulimits": [{}])") == Words{"the ulimit '' is not known and not accepted"});
}

TEST_CASE("where a container names no runtime, the engine's default is judged") {
  const auto body = [](const char* text) { return parse_json(text)->as_object(); };
  const auto none = body(R"({"HostConfig": {}})");
  AcceptPolicy policy;
  CHECK(refused_default(none, "runc", policy) == "");
  CHECK(refused_default(none, "io.containerd.runc.v2", policy) == "");
  const std::string refused = "the runtime 'nvidia', the default there, is not accepted";
  CHECK(refused_default(none, "nvidia", policy) == refused);
  CHECK(refused_default(body(R"({"HostConfig": {"Runtime": ""}})"), "nvidia", policy) == refused);
  CHECK(refused_default({}, "", policy) != "");
  CHECK(refused_default(body(R"({"HostConfig": {"Runtime": "runc"}})"), "nvidia", policy) == "");
  policy.runtimes = {"nvidia"};
  CHECK(refused_default(none, "nvidia", policy) == "");
}

TEST_CASE("gpu accepts what --gpus asks for, and no device of another kind") {
  AcceptPolicy policy;
  policy.devices = {"gpu", "vendor.com/disk=root"};
  const auto request = [&](const std::string& members) {
    return refused_host("\"DeviceRequests\": [{" + members + "}]", policy);
  };
  CHECK(request(R"("Driver": "", "Count": -1, "DeviceIDs": null, "Capabilities": [["gpu"]],
                   "Options": {})") == Words{});
  CHECK(request(R"("Driver": "nvidia", "Capabilities": [["gpu", "compute"], ["utility"]])") ==
        Words{});
  CHECK(request(R"("Driver": "cdi", "DeviceIDs": ["vendor.com/disk=root"])") ==
        Words{"the CDI device 'vendor.com/disk=root' is not accepted"});
  CHECK(request(R"("Driver": "cdi")") == Words{"devices of the driver 'cdi' are not accepted"});
  CHECK(request(R"("Driver": "warp")") == Words{"the device driver 'warp' is not accepted"});
  CHECK(request(R"("Capabilities": [["gpu", "cdi"]])") ==
        Words{"a request for devices with the capability 'cdi' is not accepted"});
  CHECK(request(R"("Capabilities": ["gpu"])") ==
        Words{"HostConfig.DeviceRequests.Capabilities has the wrong type"});
  CHECK(request(R"("Options": {"visible": "all"})") ==
        Words{"options of a request for devices are not accepted"});
  CHECK(request(R"("driver": "cdi")") ==
        Words{"flowcond does not know 'HostConfig.DeviceRequests.driver'"});
}

TEST_CASE("members of ports and of health checks are known too") {
  CHECK(refused_host(R"("PortBindings": {"80/tcp": [{"HostIp": "", "HostPort": "80"}],
                                         "81/tcp": null})") == Words{});
  CHECK(refused_host(R"("PortBindings": {"80/tcp": [{"hostport": "80"}]})") ==
        Words{"flowcond does not know 'HostConfig.PortBindings.hostport'"});
  CHECK(refused_host(R"("PortBindings": {"80/tcp": "80"})") ==
        Words{"HostConfig.PortBindings has the wrong type"});
  CHECK(refused(R"({"Healthcheck": {"Test": ["CMD", "x"], "Interval": 1, "Retries": 3}})") ==
        Words{});
  CHECK(refused(R"({"Healthcheck": {"Warp": 1}})") ==
        Words{"flowcond does not know 'Healthcheck.Warp'"});
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
