// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/description.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/names.h"
#include "cluster/migration/plan/saved_image.h"

namespace flowcon::cluster::migration {
namespace {

// What becomes of a member of the engine's answer.
enum class Fate {
  keep,    // means the same everywhere
  leave,   // is made anew there, or read elsewhere
  note,    // means something here only; left out, and said
  refuse,  // means something here only, and the job would be another without it
};

struct Known {
  std::string_view name;
  Fate fate;
  const char* why;  // of a note or an obstacle
};

constexpr std::array kConfig{
    Known{"Hostname", Fate::leave, ""},  // looked at by hand: the engine's own choice, or given
    Known{"Domainname", Fate::keep, ""},
    Known{"User", Fate::keep, ""},
    Known{"AttachStdin", Fate::leave, ""},
    Known{"AttachStdout", Fate::leave, ""},
    Known{"AttachStderr", Fate::leave, ""},
    Known{"ExposedPorts", Fate::keep, ""},
    Known{"Tty", Fate::keep, ""},
    Known{"OpenStdin", Fate::keep, ""},
    Known{"StdinOnce", Fate::note, "nobody is attached to it there"},
    Known{"Env", Fate::leave, ""},
    Known{"Cmd", Fate::keep, ""},
    Known{"Healthcheck", Fate::keep, ""},
    Known{"ArgsEscaped", Fate::leave, ""},
    Known{"Image", Fate::leave, ""},
    Known{"Volumes", Fate::leave, ""},  // all are in Mounts by now, with their names
    Known{"WorkingDir", Fate::keep, ""},
    Known{"Entrypoint", Fate::keep, ""},
    Known{"NetworkDisabled", Fate::keep, ""},
    Known{"MacAddress", Fate::keep, ""},
    Known{"OnBuild", Fate::leave, ""},
    Known{"Labels", Fate::keep, ""},
    Known{"StopSignal", Fate::keep, ""},
    Known{"StopTimeout", Fate::keep, ""},
    Known{"Shell", Fate::keep, ""},
};

constexpr const char* kDeviceLimit = "it limits a block device of this host";
constexpr const char* kPinned = "it is pinned to processors or memory of this host";

constexpr std::array kHostConfig{
    Known{"Binds", Fate::leave, ""},  // with Mounts and VolumesFrom: all are in Mounts above
    Known{"Mounts", Fate::leave, ""},
    Known{"VolumesFrom", Fate::leave, ""},
    Known{"ContainerIDFile", Fate::leave, ""},
    Known{"LogConfig", Fate::keep, ""},
    Known{"NetworkMode", Fate::leave, ""},
    Known{"PortBindings", Fate::keep, ""},
    Known{"RestartPolicy", Fate::leave, ""},
    Known{"AutoRemove", Fate::refuse, "it is removed as soon as it stops (--rm)"},
    Known{"VolumeDriver", Fate::leave, ""},
    Known{"ConsoleSize", Fate::leave, ""},
    Known{"CapAdd", Fate::keep, ""},
    Known{"CapDrop", Fate::keep, ""},
    Known{"Capabilities", Fate::leave, ""},  // never used by a released engine
    Known{"CgroupnsMode", Fate::leave, ""},  // "host" is the default of engines on cgroup v1
    Known{"Dns", Fate::keep, ""},
    Known{"DnsOptions", Fate::keep, ""},
    Known{"DnsSearch", Fate::keep, ""},
    Known{"ExtraHosts", Fate::keep, ""},
    Known{"GroupAdd", Fate::keep, ""},
    Known{"IpcMode", Fate::leave, ""},
    Known{"Cgroup", Fate::refuse, "it joins the control group of another container"},
    Known{"Links", Fate::refuse, "it is linked to another container (--link)"},
    Known{"OomScoreAdj", Fate::keep, ""},
    Known{"PidMode", Fate::leave, ""},
    Known{"Privileged", Fate::keep, ""},
    Known{"PublishAllPorts", Fate::keep, ""},
    Known{"ReadonlyRootfs", Fate::keep, ""},
    Known{"SecurityOpt", Fate::keep, ""},
    Known{"StorageOpt", Fate::note, "the other engine may store containers another way"},
    Known{"Tmpfs", Fate::keep, ""},
    Known{"UTSMode", Fate::keep, ""},
    Known{"UsernsMode", Fate::keep, ""},
    Known{"ShmSize", Fate::keep, ""},
    Known{"Sysctls", Fate::keep, ""},
    Known{"Runtime", Fate::keep, ""},
    Known{"Isolation", Fate::leave, ""},
    Known{"CpuShares", Fate::keep, ""},
    Known{"Memory", Fate::keep, ""},
    Known{"NanoCpus", Fate::keep, ""},
    Known{"CgroupParent", Fate::note, "the control group it was put under is this host's"},
    Known{"BlkioWeight", Fate::keep, ""},
    Known{"BlkioWeightDevice", Fate::refuse, kDeviceLimit},
    Known{"BlkioDeviceReadBps", Fate::refuse, kDeviceLimit},
    Known{"BlkioDeviceWriteBps", Fate::refuse, kDeviceLimit},
    Known{"BlkioDeviceReadIOps", Fate::refuse, kDeviceLimit},
    Known{"BlkioDeviceWriteIOps", Fate::refuse, kDeviceLimit},
    Known{"CpuPeriod", Fate::keep, ""},
    Known{"CpuQuota", Fate::keep, ""},
    Known{"CpuRealtimePeriod", Fate::keep, ""},
    Known{"CpuRealtimeRuntime", Fate::keep, ""},
    Known{"CpusetCpus", Fate::refuse, kPinned},
    Known{"CpusetMems", Fate::refuse, kPinned},
    Known{"Devices", Fate::keep, ""},
    Known{"DeviceCgroupRules", Fate::keep, ""},
    Known{"DeviceRequests", Fate::keep, ""},
    Known{"KernelMemory", Fate::note, "new engines know no limit for it"},
    Known{"KernelMemoryTCP", Fate::note, "new engines know no limit for it"},
    Known{"MemoryReservation", Fate::keep, ""},
    Known{"MemorySwap", Fate::keep, ""},
    Known{"MemorySwappiness", Fate::keep, ""},
    Known{"OomKillDisable", Fate::keep, ""},
    Known{"PidsLimit", Fate::keep, ""},
    Known{"Ulimits", Fate::keep, ""},
    Known{"CpuCount", Fate::leave, ""},
    Known{"CpuPercent", Fate::leave, ""},
    Known{"IOMaximumIOps", Fate::leave, ""},
    Known{"IOMaximumBandwidth", Fate::leave, ""},
    Known{"MaskedPaths", Fate::leave, ""},
    Known{"ReadonlyPaths", Fate::leave, ""},
    Known{"Init", Fate::keep, ""},
    Known{"Annotations", Fate::note, "their meaning depends on the runtime"},
};

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

// Builds one description.
class Describer {
 public:
  Describer(const json::value& inspect, bool resumes)
      : inspect_(inspect),
        config_(member(inspect, "Config")),
        host_(member(inspect, "HostConfig")),
        resumes_(resumes) {}

  Result<Description> make() {
    if (auto done = identify(); !done) return done.error();
    is_shared_ = text_of(member(config_, "Labels"), "flowcon.mounts") == "shared";
    carry(config_, kConfig, made_.body);
    carry(host_, kHostConfig, host_body_);
    environment();
    no_entrypoint();
    host_name();
    made_.body["Image"] = made_.image;
    namespaces();
    ports();
    mounts();
    paths();
    gpus();
    network();
    if (const json::object& policy = object_of(host_, "RestartPolicy"); !policy.empty()) {
      made_.restart_policy = policy;
    }
    if (object_of(config_, "Labels").contains("com.docker.swarm.task.id")) {
      refuse("it belongs to a service of Docker Swarm, which would start another one");
    }
    made_.body["HostConfig"] = std::move(host_body_);
    return std::move(made_);
  }

 private:
  void refuse(std::string why) {
    auto& all = made_.obstacles;
    if (std::find(all.begin(), all.end(), why) == all.end()) all.push_back(std::move(why));
  }

  Result<void> identify() {
    made_.id = text_of(inspect_, "Id");
    if (!is_container_id(made_.id)) return bad_input("the engine's answer has no container id");
    made_.name = text_of(inspect_, "Name");
    if (made_.name.starts_with('/')) made_.name.erase(0, 1);
    if (!is_object_name(made_.name)) {
      return bad_input("the container's name " + quoted(made_.name) + " is none");
    }
    if (is_container_id(made_.name)) {
      refuse("its name looks like a container's id: docker rename");
    }
    made_.image = text_of(inspect_, "Image");
    if (!is_digest(made_.image)) return bad_input("the engine's answer has no image id");
    made_.image_name = printable(text_of(config_, "Image"));
    return {};
  }

  template <std::size_t kSize>
  void carry(const json::value& from, const std::array<Known, kSize>& known, json::object& to) {
    const json::object* members = from.if_object();
    if (members == nullptr) return;
    for (const auto& [key, value] : *members) {
      if (is_nothing(value)) continue;
      const std::string_view name(key.data(), key.size());
      const auto found = std::find_if(known.begin(), known.end(),
                                      [&](const Known& one) { return one.name == name; });
      if (found == known.end()) {
        made_.notes.push_back("left out, since flowcond does not know it: " + printable(name));
      } else if (found->fate == Fate::keep) {
        to[key] = value;
      } else if (found->fate == Fate::note) {
        made_.notes.push_back("left out: " + std::string(name) + "; " + found->why);
      } else if (found->fate == Fate::refuse) {
        refuse(found->why);
      }
    }
  }

  void environment() {
    json::array all;
    for (const json::value& entry : list_of(config_, "Env")) {
      const json::string* text = entry.if_string();
      const bool is_ours = text != nullptr && text->starts_with("FLOWCON_RESUME=");
      if (text != nullptr && !(resumes_ && is_ours)) all.push_back(entry);
    }
    if (resumes_) all.emplace_back("FLOWCON_RESUME=1");
    made_.body["Env"] = std::move(all);
  }

  // Where none is said, the engine takes the image's: [""] says that there is none.
  void no_entrypoint() {
    if (!made_.body.contains("Entrypoint")) made_.body["Entrypoint"] = json::array{""};
  }

  // In the host's network the engine writes down the host's own, as if somebody had given it;
  // beside the host's UTS namespace it takes none.
  void host_name() {
    const bool is_uts_host = text_of(host_, "UTSMode") == "host";
    if (is_uts_host) made_.body.erase("Domainname");
    const std::string given = text_of(config_, "Hostname");
    if (given.empty() || given == made_.id.substr(0, 12) || is_uts_host) return;
    if (text_of(host_, "NetworkMode") == "host") {
      made_.notes.emplace_back("left out: its host name; it gets that of the other host");
    } else {
      made_.body["Hostname"] = given;
    }
  }

  void namespaces() {
    for (const char* name : {"NetworkMode", "IpcMode", "PidMode"}) {
      const std::string mode = text_of(host_, name);
      if (mode.starts_with("container:")) {
        refuse("it joins a namespace of another container (" + std::string(name) + ")");
      } else if (!mode.empty()) {
        host_body_[name] = mode;
      }
    }
    if (text_of(host_, "CgroupnsMode") == "private") host_body_["CgroupnsMode"] = "private";
  }

  // An address to listen at is this host's own, unless it is any or the loopback, or was leased to
  // a task where it goes.
  void ports() {
    const json::value& labels = member(member(inspect_, "Config"), "Labels");
    const bool is_task = !text_of(labels, kGroupLabel).empty();
    const std::string leased = is_task ? text_of(labels, kPortLabel) : "";
    for (const auto& [port, bindings] : object_of(host_, "PortBindings")) {
      const json::array* list = bindings.if_array();
      if (list == nullptr) continue;
      for (const json::value& binding : *list) {
        const std::string address = text_of(binding, "HostIp");
        const bool is_any = address.empty() || address == "0.0.0.0" || address == "::";
        const bool is_leased = !leased.empty() && text_of(binding, "HostPort") == leased;
        if (is_any || is_leased || address == "::1" || address.starts_with("127.")) continue;
        refuse("it publishes a port on an address of this host, " + quoted(address));
      }
    }
  }

  void mounts() {
    json::array all;
    for (const json::value& mount : list_of(inspect_, "Mounts")) {
      const std::string type = text_of(mount, "Type");
      const std::string destination = text_of(mount, "Destination");
      if (type == "tmpfs") continue;  // below, with its options
      if (!is_plain_path(destination)) {
        refuse("it mounts something at " + quoted(destination) + ", which is no plain path");
      } else if (type == "volume") {
        volume(mount, destination, all);
      } else if (type == "bind") {
        bind(mount, destination, all);
      } else {
        refuse("it has a mount of the type " + quoted(type) + " at " + quoted(destination));
      }
    }
    for (const json::value& mount : list_of(host_, "Mounts")) {
      if (!text_of(member(mount, "VolumeOptions"), "Subpath").empty()) {
        refuse("it mounts a part of a volume (volume-subpath)");
      }
      if (text_of(mount, "Type") != "tmpfs") continue;
      json::object made{{"Type", "tmpfs"}, {"Target", text_of(mount, "Target")}};
      const json::object& options = object_of(mount, "TmpfsOptions");
      if (!options.empty()) made["TmpfsOptions"] = options;
      all.push_back(std::move(made));
    }
    if (!all.empty()) host_body_["Mounts"] = std::move(all);
  }

  void volume(const json::value& mount, const std::string& destination, json::array& all) {
    const std::string name = text_of(mount, "Name");
    const std::string driver = text_of(mount, "Driver");
    if (!is_object_name(name))
      return refuse("the volume at " + quoted(destination) + " has no name");
    if (driver != "local") {
      return refuse("the volume " + quoted(name) + " is one of the driver " + quoted(driver) +
                    ", and only those of the driver 'local' migrate");
    }
    json::object made{
        {"Type", "volume"}, {"Target", destination}, {"ReadOnly", !is_true(mount, "RW")}};
    const bool is_nameless = is_anonymous(name, destination);
    if (!is_nameless) made["Source"] = name;
    all.push_back(std::move(made));
    made_.volumes.push_back({name, destination, is_nameless, !is_true(mount, "RW")});
  }

  // A name that the engine chose and nobody gave. With a name of its own, rm -v would leave it.
  bool is_anonymous(const std::string& name, const std::string& destination) const {
    if (!is_hex(name, 64) || !list_of(host_, "VolumesFrom").empty()) return false;
    for (const json::value& one : list_of(host_, "Binds")) {
      const json::string* text = one.if_string();
      if (text != nullptr && text->starts_with(name + ":")) return false;
    }
    for (const json::value& one : list_of(host_, "Mounts")) {
      if (text_of(one, "Target") == destination && !text_of(one, "Source").empty()) return false;
    }
    return true;
  }

  void bind(const json::value& mount, const std::string& destination, json::array& all) {
    const std::string source = text_of(mount, "Source");
    if (!is_plain_path(source)) {
      return refuse("it mounts " + quoted(source) + ", which is no plain path");
    }
    if (!is_shared_) {
      return refuse(
          "it mounts " + quoted(source) +
          " of this host: label flowcon.mounts=shared says that the other host has it too");
    }
    json::object made{{"Type", "bind"},
                      {"Source", source},
                      {"Target", destination},
                      {"ReadOnly", !is_true(mount, "RW")}};
    const std::string propagation = text_of(mount, "Propagation");
    if (!propagation.empty() && propagation != "rprivate") {
      made["BindOptions"] = json::object{{"Propagation", propagation}};
    }
    all.push_back(std::move(made));
  }

  // Lists that are there and empty are those of systempaths=unconfined; the engine's own lists are
  // made anew, and so are the null ones of privileged containers.
  void paths() {
    for (const char* name : {"MaskedPaths", "ReadonlyPaths"}) {
      const json::value& list = member(host_, name);
      const bool is_empty = list.is_array() && list.get_array().empty();
      if (is_empty && !is_true(host_, "Privileged")) host_body_[name] = json::array();
    }
  }

  void gpus() {
    for (const json::value& request : list_of(host_, "DeviceRequests")) {
      if (!list_of(request, "DeviceIDs").empty())
        refuse("it asks for GPUs of this host by their ids");
    }
  }

  void network() {
    const json::object& networks = object_of(member(inspect_, "NetworkSettings"), "Networks");
    if (networks.size() > 1) return refuse("it is in more than one network");
    for (const auto& [key, endpoint] : networks) {
      const std::string name(key.data(), key.size());
      json::array aliases;
      for (const json::value& alias : list_of(endpoint, "Aliases")) {
        const json::string* text = alias.if_string();
        // The engine adds the short id by itself.
        if (text != nullptr && std::string_view(*text) != made_.id.substr(0, 12)) {
          aliases.push_back(alias);
        }
      }
      const json::object& addresses = object_of(endpoint, "IPAMConfig");
      const bool has_address = std::any_of(addresses.begin(), addresses.end(), [](const auto& one) {
        return !is_nothing(one.value());
      });
      if (has_address) {
        made_.notes.push_back("left out: its fixed address in the network " + quoted(name));
      }
      if (aliases.empty()) continue;
      made_.body["NetworkingConfig"] = json::object{
          {"EndpointsConfig", json::object{{name, json::object{{"Aliases", std::move(aliases)}}}}}};
    }
  }

  const json::value& inspect_;
  const json::value& config_;
  const json::value& host_;
  bool is_shared_ = false;
  json::object host_body_;
  bool resumes_;
  Description made_;
};

bool is_gpu_device(std::string_view path) {
  return path.starts_with("/dev/nvidia") || is_within(path, "/dev/dri") || path == "/dev/kfd";
}

}  // namespace

Result<Description> describe(const json::value& inspect, bool resumes) {
  if (render_json(inspect).size() > kMaxInspectBytes) {
    return bad_input("the engine's answer on a container is too large");
  }
  return Describer(inspect, resumes).make();
}

std::vector<std::string> criu_obstacles(const json::object& body) {
  std::vector<std::string> all;
  const json::value whole(body);
  const json::value& host = member(whole, "HostConfig");
  if (is_true(whole, "Tty")) all.emplace_back("CRIU cannot migrate a terminal (-t)");
  bool has_gpu = !list_of(host, "DeviceRequests").empty();
  has_gpu = has_gpu || text_of(host, "Runtime").find("nvidia") != std::string::npos;
  bool has_device = false;
  for (const json::value& device : list_of(host, "Devices")) {
    const bool is_gpu = is_gpu_device(text_of(device, "PathOnHost"));
    has_gpu = has_gpu || is_gpu;
    has_device = has_device || !is_gpu;
  }
  if (has_gpu) all.emplace_back("CRIU cannot migrate a GPU's memory");
  if (has_device) all.emplace_back("CRIU cannot migrate open devices");
  if (text_of(host, "NetworkMode") == "host") {
    all.emplace_back("it is in the host's network, and its connections cannot migrate");
  }
  for (const char* name : {"PidMode", "IpcMode", "UTSMode"}) {
    if (text_of(host, name) == "host") {
      all.emplace_back("CRIU cannot migrate a namespace of the host (" + std::string(name) + ")");
    }
  }
  if (is_true(host, "Privileged")) {
    all.emplace_back("CRIU cannot migrate a privileged container: it sees all devices of the host");
  }
  return all;
}

}  // namespace flowcon::cluster::migration
