// SPDX-License-Identifier: Apache-2.0
#include "cgroups/abilities_host.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.h"
#include "cgroups/beneath.h"
#include "cgroups/gpu.h"
#include "cgroups/mounts.h"
#include "cgroups/names.h"
#include "cgroups/parse.h"
#include "cgroups/pressure.h"
#include "cgroups/systemd.h"

namespace flowcon::cgroups {
namespace {

// Inode numbers of the namespaces that the kernel starts with (include/linux/proc_ns.h).
constexpr const char* kFirstCgroupNamespace = "cgroup:[4026531835]";
constexpr const char* kFirstPidNamespace = "pid:[4026531836]";

std::string namespace_of(const ProbePlaces& places, const char* kind) {
  std::error_code code;
  const auto target = std::filesystem::read_symlink(places.root + "/proc/self/ns/" + kind, code);
  return code ? "" : target.string();
}

/// The effective user and whether all users of the host exist here, as /proc tells.
struct Rights {
  bool is_root = false;
  bool is_whole_host = false;
};

Rights rights(const ProbePlaces& places) {
  Rights found;
  const auto status = read_proc(places.root + "/proc/self/status");
  const std::string text = status ? *status : "";
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);  // Uid: real effective saved file system
    if (words.size() >= 3 && words[0] == "Uid:") found.is_root = words[2] == "0";
  }
  const auto map = read_proc(places.root + "/proc/self/uid_map");
  const std::string rows = map ? *map : "";
  const auto words = words_of(rows);
  found.is_whole_host =
      words.size() == 3 && words[0] == "0" && words[1] == "0" && words[2] == "4294967295";
  return found;
}

}  // namespace

Ability probe_pressure(const ProbePlaces& places) {
  Ability ability{"pressure"};
  const Pressure pressure = read_host_pressure(places.root);
  ability.is_there = pressure.cpu && pressure.memory && pressure.io;
  ability.detail = ability.is_there ? "/proc/pressure" : printable(pressure.reason);
  if (!ability.is_there) {
    ability.advice = "boot with psi=1; without it only the available memory shows a shortage";
  }
  return ability;
}

Ability probe_systemd(const ProbePlaces& places) {
  Ability ability{"systemd"};
  std::error_code code;
  if (!std::filesystem::is_directory(places.root + "/run/systemd/system", code)) {
    ability.detail = "systemd does not run this host, so nothing resets limits";
    return ability;
  }
  if (!places.asks_systemd) {
    ability.detail = "not asked";
    return ability;
  }
  const auto version = ask_systemd_version();
  ability.is_there = version.has_value();
  ability.detail = version
                       ? "systemd " + *version + " answers; flowcond reports limits of scopes to it"
                       : printable(version.error().message());
  if (!version) {
    ability.advice =
        "start dbus and let flowcond reach the system bus; without it a daemon-reload resets "
        "limits until the next tick";
  }
  return ability;
}

Ability probe_root(const ProbePlaces& places) {
  Ability ability{"root"};
  const Rights found = rights(places);
  ability.is_there = found.is_root && found.is_whole_host;
  ability.detail = ability.is_there ? "root of the whole host"
                   : !found.is_root ? "not root"
                                    : "root of a user namespace only (rootless)";
  if (!ability.is_there) {
    ability.advice =
        "run flowcond as root, or give the user groups of its own (Delegate=cpu memory io) and "
        "use its rootless engine";
  }
  return ability;
}

Ability probe_host(const ProbePlaces& places) {
  Ability ability{"host"};
  const std::string groups = namespace_of(places, "cgroup");
  const std::string processes = namespace_of(places, "pid");
  const bool is_first_pid = processes == kFirstPidNamespace;
  // Kernels before 4.6 have no cgroup namespace: everybody is in the first one.
  const bool is_first_cgroup = groups.empty() || groups == kFirstCgroupNamespace;
  ability.is_there = is_first_pid && is_first_cgroup;
  if (ability.is_there) {
    ability.detail = "the host's own processes and groups are seen";
    return ability;
  }
  if (processes.empty()) {
    ability.is_checked = false;
    ability.detail = "/proc/self/ns cannot be read";
    return ability;
  }
  ability.detail =
      std::string("in a container: own ") + (is_first_cgroup ? "process ids"
                                             : is_first_pid  ? "cgroup namespace"
                                                             : "process ids and cgroup namespace");
  ability.advice =
      "run flowcond on the host, or its container with --pid=host --cgroupns=host and "
      "/sys/fs/cgroup; an engine that runs in here too is controlled all the same";
  return ability;
}

Ability probe_delegation(const CgroupFs& fs, const ProbePlaces& places) {
  Ability ability{"delegation"};
  const Rights found = rights(places);
  if (found.is_root && found.is_whole_host) {
    ability.is_there = true;
    ability.detail = "not needed: root writes every group";
    return ability;
  }
  if (!fs.is_v2("cpu")) {
    ability.detail = "cgroup v1 cannot be delegated safely";
    ability.advice = "run flowcond as root, or use cgroup v2";
    return ability;
  }
  ability.advice = "systemctl edit user@.service: [Service] Delegate=cpu memory io";
  const auto mountinfo = read_proc(places.root + "/proc/self/mountinfo");
  const Mounts mounts = parse_mountinfo(mountinfo ? *mountinfo : "");
  const auto text = read_proc(places.root + "/proc/self/cgroup");
  const std::string rows = text ? *text : "";
  for (const std::string_view line : lines_of(rows)) {
    if (line.substr(0, 4) != "0::/") continue;
    const std::string group(line.substr(4));
    if (!check_group(group)) break;
    const std::string file = (group.empty() ? "" : group + "/") + "cgroup.controllers";
    const auto offered = read_beneath(places.root + mounts.unified, file);
    const std::string all = offered ? *offered : "";
    const auto words = words_of(all);
    std::string missing;
    for (const char* controller : {"cpu", "memory", "io"}) {
      const bool has = std::find(words.begin(), words.end(), controller) != words.end();
      if (!has) missing += std::string(missing.empty() ? "" : " ") + controller;
    }
    ability.is_there = missing.empty();
    ability.detail = missing.empty() ? "cpu, memory and io are handed to /" + printable(group)
                                     : "not handed to /" + printable(group) + ": " + missing;
    if (ability.is_there) ability.advice.clear();
    return ability;
  }
  ability.is_checked = false;
  ability.detail = "our own group cannot be read from /proc/self/cgroup";
  return ability;
}

Ability probe_gpu(const ProbePlaces& places) {
  Ability ability{"gpu"};
  const auto gpus = Gpus::open(places.nvml);
  const auto reading = gpus ? (*gpus)->read() : Result<GpuReading>(gpus.error());
  if (!reading) {
    ability.detail = printable(reading.error().what);
    const int number = reading.error().code.value();
    ability.advice = number == ENOENT ? "none needed without an NVIDIA GPU; else install its driver"
                     : number == ENODEV ? "modprobe nvidia, then restart flowcond"
                     : number == EACCES ? "let flowcond open /dev/nvidia*"
                                        : "";
    return ability;
  }
  ability.is_there = !reading->devices.empty();
  ability.detail = ability.is_there ? "" : "the driver is there and finds no GPU";
  for (const GpuDevice& device : reading->devices) {
    ability.detail += (ability.detail.empty() ? "" : ", ") + device.name;
  }
  ability.detail = printable(ability.detail, 400);
  return ability;
}

}  // namespace flowcon::cgroups
