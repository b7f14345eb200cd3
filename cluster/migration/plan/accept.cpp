// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/accept.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/names.h"

namespace flowcon::cluster::migration {
namespace {

enum class Kind { text, number, boolean, texts, object, objects, lists };

struct Member {
  std::string_view name;
  Kind kind;
};

// Members that say nothing about the host, whatever they say; the others are looked at one by one.
constexpr std::array kBody{
    Member{"Hostname", Kind::text},
    Member{"Domainname", Kind::text},
    Member{"User", Kind::text},
    Member{"ExposedPorts", Kind::object},
    Member{"Tty", Kind::boolean},
    Member{"OpenStdin", Kind::boolean},
    Member{"Env", Kind::texts},
    Member{"Cmd", Kind::texts},
    Member{"Healthcheck", Kind::object},
    Member{"Image", Kind::text},
    Member{"WorkingDir", Kind::text},
    Member{"Entrypoint", Kind::texts},
    Member{"NetworkDisabled", Kind::boolean},
    Member{"MacAddress", Kind::text},
    Member{"Labels", Kind::object},
    Member{"StopSignal", Kind::text},
    Member{"StopTimeout", Kind::number},
    Member{"Shell", Kind::texts},
    Member{"HostConfig", Kind::object},
    Member{"NetworkingConfig", Kind::object},
};

constexpr std::array kHostConfig{
    Member{"LogConfig", Kind::object},
    Member{"NetworkMode", Kind::text},
    Member{"PortBindings", Kind::object},
    Member{"CapAdd", Kind::texts},
    Member{"CapDrop", Kind::texts},
    Member{"CgroupnsMode", Kind::text},
    Member{"Dns", Kind::texts},
    Member{"DnsOptions", Kind::texts},
    Member{"DnsSearch", Kind::texts},
    Member{"ExtraHosts", Kind::texts},
    Member{"GroupAdd", Kind::texts},
    Member{"IpcMode", Kind::text},
    Member{"OomScoreAdj", Kind::number},
    Member{"PidMode", Kind::text},
    Member{"Privileged", Kind::boolean},
    Member{"PublishAllPorts", Kind::boolean},
    Member{"ReadonlyRootfs", Kind::boolean},
    Member{"SecurityOpt", Kind::texts},
    Member{"Tmpfs", Kind::object},
    Member{"UTSMode", Kind::text},
    Member{"UsernsMode", Kind::text},
    Member{"ShmSize", Kind::number},
    Member{"Sysctls", Kind::object},
    Member{"Runtime", Kind::text},
    Member{"CpuShares", Kind::number},
    Member{"Memory", Kind::number},
    Member{"NanoCpus", Kind::number},
    Member{"BlkioWeight", Kind::number},
    Member{"CpuPeriod", Kind::number},
    Member{"CpuQuota", Kind::number},
    Member{"CpuRealtimePeriod", Kind::number},
    Member{"CpuRealtimeRuntime", Kind::number},
    Member{"Devices", Kind::objects},
    Member{"DeviceCgroupRules", Kind::texts},
    Member{"DeviceRequests", Kind::objects},
    Member{"MemoryReservation", Kind::number},
    Member{"MemorySwap", Kind::number},
    Member{"MemorySwappiness", Kind::number},
    Member{"OomKillDisable", Kind::boolean},
    Member{"PidsLimit", Kind::number},
    Member{"Ulimits", Kind::objects},
    Member{"MaskedPaths", Kind::texts},
    Member{"ReadonlyPaths", Kind::texts},
    Member{"Init", Kind::boolean},
    Member{"Mounts", Kind::objects},
};

// What an engine gives to every container.
constexpr std::array kDefaultCapabilities{
    "CHOWN",   "DAC_OVERRIDE", "FSETID",           "FOWNER",
    "MKNOD",   "NET_RAW",      "SETGID",           "SETUID",
    "SETFCAP", "SETPCAP",      "NET_BIND_SERVICE", "SYS_CHROOT",
    "KILL",    "AUDIT_WRITE"};

bool is_kind(const json::value& value, Kind kind) {
  const auto are_all = [&](auto is_one) {
    const json::array* list = value.if_array();
    return list != nullptr && std::all_of(list->begin(), list->end(), is_one);
  };
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::number:
      return value.is_int64() || value.is_uint64();
    case Kind::boolean:
      return value.is_bool();
    case Kind::texts:
      return are_all([](const json::value& one) { return one.is_string(); });
    case Kind::object:
      return value.is_object();
    case Kind::objects:
      return are_all([](const json::value& one) { return one.is_object(); });
    case Kind::lists:
      return are_all([](const json::value& one) { return one.is_array(); });
  }
  return false;
}

template <class List>
bool holds(const List& list, std::string_view wanted) {
  return std::any_of(std::begin(list), std::end(list),
                     [&](const auto& one) { return std::string_view(one) == wanted; });
}

std::string quoted(std::string_view text) { return "'" + printable(text, 80) + "'"; }

// "cap_sys_admin" is SYS_ADMIN, as the engine reads it.
std::string capability(std::string_view text) {
  const std::string name = upper(text);
  return name.starts_with("CAP_") ? name.substr(4) : name;
}

bool is_accepted_runtime(std::string_view runtime, const AcceptPolicy& policy) {
  return runtime == "runc" || runtime == "io.containerd.runc.v2" || holds(policy.runtimes, runtime);
}

class Doorkeeper {
 public:
  Doorkeeper(const json::value& body, const AcceptPolicy& policy)
      : body_(body), host_(member(body, "HostConfig")), policy_(policy) {}

  std::vector<std::string> judge() {
    known_members(body_, kBody, "");
    known_members(host_, kHostConfig, "HostConfig.");
    fences();
    namespaces();
    capabilities();
    mounts();
    devices();
    device_requests();
    ulimits();
    runtime_and_log();
    health();
    ports();
    network();
    return std::move(reasons_);
  }

 private:
  void refuse(std::string why) {
    if (reasons_.size() < kMaxRefusals) reasons_.push_back(std::move(why));
  }

  template <std::size_t kSize>
  void known_members(const json::value& value, const std::array<Member, kSize>& known,
                     const std::string& where) {
    const json::object* object = value.if_object();
    if (object == nullptr) return;
    for (const auto& [key, found] : *object) {
      if (reasons_.size() >= kMaxRefusals) return;
      const std::string_view name(key.data(), key.size());
      const auto one = std::find_if(known.begin(), known.end(),
                                    [&](const Member& each) { return each.name == name; });
      if (one == known.end()) {
        // Even if it is empty: the engine reads "maskedpaths" as MaskedPaths, and takes none for
        // it.
        refuse("flowcond does not know " + quoted(where + std::string(name)));
      } else if (!found.is_null() && !is_kind(found, one->kind)) {
        refuse(where + std::string(name) + " has the wrong type");
      }
    }
  }

  template <class Each>
  void each_text(std::string_view name, Each each) {
    for (const json::value& one : list_of(host_, name)) {
      if (one.is_string()) each(std::string_view(one.get_string()));
    }
  }

  void fences() {
    if (policy_.privileged) return;
    if (is_true(host_, "Privileged")) refuse("privileged containers are not accepted");
    each_text("SecurityOpt", [&](std::string_view option) {
      const bool is_harmless = option == "no-new-privileges" ||
                               option == "no-new-privileges:true" ||
                               option == "no-new-privileges=true";
      if (!is_harmless) refuse("the security option " + quoted(option) + " is not accepted");
    });
    if (!list_of(host_, "DeviceCgroupRules").empty()) {
      refuse("rules for devices (--device-cgroup-rule) are not accepted");
    }
    for (const char* name : {"MaskedPaths", "ReadonlyPaths"}) {
      // The engine takes null for its own list, and any list in place of it.
      if (!member(host_, name).is_null()) {
        refuse("other system paths than the engine's (" + std::string(name) + ") are not accepted");
      }
    }
    const json::value& score = member(host_, "OomScoreAdj");
    if (score.is_int64() && score.get_int64() < 0) {
      refuse("a container that is killed later than others (--oom-score-adj) is not accepted");
    }
    if (is_true(host_, "OomKillDisable")) {
      refuse("a container that is never killed for its memory is not accepted");
    }
    for (const char* name : {"CpuRealtimePeriod", "CpuRealtimeRuntime"}) {
      if (!is_nothing(member(host_, name))) refuse("real-time scheduling is not accepted");
    }
  }

  void namespaces() {
    for (const char* name :
         {"NetworkMode", "IpcMode", "PidMode", "UTSMode", "UsernsMode", "CgroupnsMode"}) {
      const std::string mode = text_of(host_, name);
      if (mode == "host") {
        const bool is_network = std::string_view(name) == "NetworkMode";
        if (!policy_.host_namespaces && !(is_network && policy_.host_network)) {
          refuse("namespaces of the host (" + std::string(name) + ") are not accepted");
        }
      } else if (std::string_view(name) == "NetworkMode") {
        if (!mode.empty() && !is_object_name(mode)) {
          refuse("the network " + quoted(mode) + " is not accepted");
        }
      } else if (!mode.empty() && mode != "private" && mode != "shareable" && mode != "none") {
        refuse(std::string(name) + " " + quoted(mode) + " is not accepted");
      }
    }
  }

  [[nodiscard]] bool has_capability(std::string_view name) const {
    return std::any_of(policy_.capabilities.begin(), policy_.capabilities.end(),
                       [&](const std::string& one) {
                         const std::string listed = capability(one);
                         return listed == name || listed == "ALL";
                       });
  }

  void capabilities() {
    each_text("CapAdd", [&](std::string_view text) {
      const std::string name = capability(text);
      if (!has_capability(name) && !holds(kDefaultCapabilities, name)) {
        refuse("the capability " + quoted(name) + " is not accepted");
      }
    });
  }

  void mounts() {
    constexpr std::array kCommon{
        Member{"Type", Kind::text},          Member{"Source", Kind::text},
        Member{"Target", Kind::text},        Member{"ReadOnly", Kind::boolean},
        Member{"BindOptions", Kind::object}, Member{"TmpfsOptions", Kind::object}};
    constexpr std::array kBindOptions{Member{"Propagation", Kind::text}};
    constexpr std::array kTmpfsOptions{Member{"SizeBytes", Kind::number},
                                       Member{"Mode", Kind::number}};
    for (const json::value& mount : list_of(host_, "Mounts")) {
      // VolumeOptions is not among them: a volume with options is a mount of the host in disguise.
      known_members(mount, kCommon, "HostConfig.Mounts.");
      known_members(member(mount, "BindOptions"), kBindOptions, "HostConfig.Mounts.BindOptions.");
      known_members(member(mount, "TmpfsOptions"), kTmpfsOptions,
                    "HostConfig.Mounts.TmpfsOptions.");
      const std::string type = text_of(mount, "Type");
      const std::string source = text_of(mount, "Source");
      if (!is_plain_path(text_of(mount, "Target"))) {
        refuse("a mount at " + quoted(text_of(mount, "Target")) + " is not accepted");
      }
      if (type == "bind") {
        host_mount(mount, source);
      } else if (type == "volume") {
        // Without a name it is one that the engine makes for this container alone.
        const bool is_named = mount.get_object().contains("Source");
        if (is_named && !is_object_name(source))
          refuse("the volume " + quoted(source) + " is not accepted");
      } else if (type != "tmpfs") {
        refuse("a mount of the type " + quoted(type) + " is not accepted");
      }
    }
  }

  void host_mount(const json::value& mount, const std::string& source) {
    const bool is_listed =
        std::any_of(policy_.mounts.begin(), policy_.mounts.end(),
                    [&](const std::string& prefix) { return is_within(source, prefix); });
    if (!is_listed) refuse("mounting " + quoted(source) + " of this host is not accepted");
    const std::string propagation = text_of(member(mount, "BindOptions"), "Propagation");
    // A slave sees what is mounted on the host later; what it mounts stays its own.
    const bool is_private = propagation.find("shared") == std::string::npos;
    if (!is_private && !policy_.privileged) {
      refuse("mounts that reach the host (propagation " + quoted(propagation) +
             ") are not accepted");
    }
  }

  void devices() {
    constexpr std::array kDevice{Member{"PathOnHost", Kind::text},
                                 Member{"PathInContainer", Kind::text},
                                 Member{"CgroupPermissions", Kind::text}};
    for (const json::value& device : list_of(host_, "Devices")) {
      known_members(device, kDevice, "HostConfig.Devices.");
      const std::string path = text_of(device, "PathOnHost");
      if (!is_plain_path(path) || !holds(policy_.devices, path)) {
        refuse("the device " + quoted(path) + " is not accepted");
      }
    }
  }

  // --gpus, and devices by names of the Container Device Interface, which bring whatever mounts and
  // hooks the host's files of those names say.
  void device_requests() {
    constexpr std::array kRequest{Member{"Driver", Kind::text}, Member{"Count", Kind::number},
                                  Member{"DeviceIDs", Kind::texts},
                                  Member{"Capabilities", Kind::lists},
                                  Member{"Options", Kind::object}};
    for (const json::value& request : list_of(host_, "DeviceRequests")) {
      known_members(request, kRequest, "HostConfig.DeviceRequests.");
      const std::string driver = text_of(request, "Driver");
      if (!object_of(request, "Options").empty()) {
        refuse("options of a request for devices are not accepted");
      }
      if (driver == "cdi") {
        cdi_devices(request);
      } else if (!driver.empty() && driver != "nvidia") {
        refuse("the device driver " + quoted(driver) + " is not accepted");
      } else if (!holds(policy_.devices, "gpu")) {
        refuse("GPUs are not accepted");
      } else {
        gpu_capabilities(request);
      }
    }
  }

  void cdi_devices(const json::value& request) {
    const json::array& names = list_of(request, "DeviceIDs");
    if (names.empty()) refuse("devices of the driver 'cdi' are not accepted");
    for (const json::value& name : names) {
      if (name.is_string())
        refuse("the CDI device " + quoted(name.get_string()) + " is not accepted");
    }
  }

  void gpu_capabilities(const json::value& request) {
    constexpr std::array kGpu{"gpu",      "nvidia",  "compute", "compat32",
                              "graphics", "utility", "video",   "display"};
    for (const json::value& all : list_of(request, "Capabilities")) {
      for (const json::value& one : all.is_array() ? all.get_array() : json::array()) {
        if (one.is_string() && holds(kGpu, one.get_string())) continue;
        refuse("a request for devices with the capability " +
               quoted(one.is_string() ? std::string_view(one.get_string()) : "") +
               " is not accepted");
      }
    }
  }

  // What lets a process take from the host what its control group does not count; each goes with
  // the capability that would allow it anyway.
  void ulimits() {
    struct Limit {
      std::string_view name;
      std::int64_t most;  ///< that is accepted; the kernel's own default, or what changes nothing
      const char* capability;
    };
    constexpr std::int64_t kAny = -1;
    constexpr std::array kLimits{Limit{"memlock", 8 << 20, "IPC_LOCK"},
                                 Limit{"nice", 20, "SYS_NICE"},
                                 Limit{"rtprio", 0, "SYS_NICE"},
                                 Limit{"rttime", kAny, ""},
                                 Limit{"core", kAny, ""},
                                 Limit{"cpu", kAny, ""},
                                 Limit{"data", kAny, ""},
                                 Limit{"fsize", kAny, ""},
                                 Limit{"locks", kAny, ""},
                                 Limit{"msgqueue", kAny, ""},
                                 Limit{"nofile", kAny, ""},
                                 Limit{"nproc", kAny, ""},
                                 Limit{"rss", kAny, ""},
                                 Limit{"sigpending", kAny, ""},
                                 Limit{"stack", kAny, ""}};
    constexpr std::array kUlimit{Member{"Name", Kind::text}, Member{"Soft", Kind::number},
                                 Member{"Hard", Kind::number}};
    for (const json::value& ulimit : list_of(host_, "Ulimits")) {
      known_members(ulimit, kUlimit, "HostConfig.Ulimits.");
      const std::string name = text_of(ulimit, "Name");
      const auto limit = std::find_if(kLimits.begin(), kLimits.end(),
                                      [&](const Limit& one) { return one.name == name; });
      if (limit == kLimits.end()) {
        refuse("the ulimit " + quoted(name) + " is not known and not accepted");
        continue;
      }
      const auto is_within = [&](const char* which) {
        const json::value& value = member(ulimit, which);
        // -1 stands for no limit.
        return value.is_null() ||
               (value.is_int64() && value.get_int64() >= 0 && value.get_int64() <= limit->most);
      };
      const bool is_harmless = limit->most == kAny || (is_within("Soft") && is_within("Hard"));
      if (!is_harmless && !has_capability(limit->capability)) {
        refuse("the ulimit " + quoted(name) + " above " + std::to_string(limit->most) +
               " is not accepted (accept-capabilities = " + limit->capability + " allows it)");
      }
    }
  }

  void health() {
    constexpr std::array kHealth{
        Member{"Test", Kind::texts},         Member{"Interval", Kind::number},
        Member{"Timeout", Kind::number},     Member{"Retries", Kind::number},
        Member{"StartPeriod", Kind::number}, Member{"StartInterval", Kind::number}};
    known_members(member(body_, "Healthcheck"), kHealth, "Healthcheck.");
  }

  void ports() {
    constexpr std::array kBinding{Member{"HostIp", Kind::text}, Member{"HostPort", Kind::text}};
    for (const auto& [key, list] : object_of(host_, "PortBindings")) {
      if (!list.is_null() && !is_kind(list, Kind::objects)) {
        refuse("HostConfig.PortBindings has the wrong type");
        continue;
      }
      for (const json::value& one : list.is_array() ? list.get_array() : json::array()) {
        known_members(one, kBinding, "HostConfig.PortBindings.");
      }
    }
  }

  void runtime_and_log() {
    // Without one it is the engine's default, which refused_default() judges.
    const std::string runtime = text_of(host_, "Runtime");
    if (!runtime.empty() && !is_accepted_runtime(runtime, policy_)) {
      refuse("the runtime " + quoted(runtime) + " is not accepted");
    }
    constexpr std::array kLogConfig{Member{"Type", Kind::text}, Member{"Config", Kind::object}};
    known_members(member(host_, "LogConfig"), kLogConfig, "HostConfig.LogConfig.");
    const std::string driver = text_of(member(host_, "LogConfig"), "Type");
    if (!driver.empty() && !holds(policy_.log_drivers, driver)) {
      refuse("the log driver " + quoted(driver) + " is not accepted");
    }
  }

  void network() {
    constexpr std::array kNetworking{Member{"EndpointsConfig", Kind::object}};
    constexpr std::array kEndpoint{Member{"Aliases", Kind::texts}};
    const json::value& networking = member(body_, "NetworkingConfig");
    known_members(networking, kNetworking, "NetworkingConfig.");
    for (const auto& [key, endpoint] : object_of(networking, "EndpointsConfig")) {
      const std::string_view name(key.data(), key.size());
      if (name == "host" && !policy_.host_namespaces && !policy_.host_network) {
        refuse("the host's network is not accepted");
      } else if (!is_object_name(name)) {
        refuse("the network " + quoted(name) + " is not accepted");
      }
      known_members(endpoint, kEndpoint, "NetworkingConfig.EndpointsConfig.");
    }
  }

  const json::value& body_;
  const json::value& host_;
  const AcceptPolicy& policy_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::vector<std::string> refusals(const json::object& body, const AcceptPolicy& policy) {
  const json::value whole(body);
  return Doorkeeper(whole, policy).judge();
}

std::string refused_default(const json::object& body, std::string_view runtime,
                            const AcceptPolicy& policy) {
  const json::value whole(body);
  const bool is_default = text_of(member(whole, "HostConfig"), "Runtime").empty();
  if (!is_default || is_accepted_runtime(runtime, policy)) return "";
  return "the runtime " + quoted(runtime) + ", the default there, is not accepted";
}

}  // namespace flowcon::cluster::migration
