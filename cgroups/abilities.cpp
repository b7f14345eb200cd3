// SPDX-License-Identifier: Apache-2.0
#include "cgroups/abilities.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "cgroups/abilities_host.h"
#include "cgroups/beneath.h"
#include "cgroups/disks.h"
#include "cgroups/mounts.h"
#include "cgroups/names.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

/// A controller, the file whose presence shows a limit, and what it is called.
struct Feature {
  const char* name;
  const char* controller;  ///< as v1 calls it; v2's io is blkio there
  const char* v1_file;
  const char* v2_file;
  const char* if_missing;  ///< advice where the controller is there but not the file
};

constexpr const char* kNoGroup = "; there is no control group to check it in";

constexpr Feature kCpu = {"cpu", "cpu", "cpu.shares", "cpu.weight", ""};
constexpr Feature kCpuUse = {"cpu use", "cpuacct", "cpuacct.usage", "cpu.stat", ""};
constexpr Feature kCpuQuota = {"cpu quota", "cpu", "cpu.cfs_quota_us", "cpu.max",
                               "use a kernel with CONFIG_CFS_BANDWIDTH; weights work without"};
constexpr Feature kMemory = {"memory", "memory", "memory.usage_in_bytes", "memory.current", ""};
constexpr Feature kMemorySoft = {"memory soft limit", "memory", "memory.soft_limit_in_bytes",
                                 "memory.high",
                                 "use cgroup v2 (kernels with real-time preemption have no soft "
                                 "limit in v1)"};
constexpr Feature kIo = {"io", "blkio", "blkio.throttle.io_service_bytes", "io.stat",
                         "use a kernel with CONFIG_BLK_CGROUP"};

class Prober {
 public:
  Prober(const CgroupFs& fs, const ProbePlaces& places) : fs_(fs), places_(places) {
    const auto text = read_proc(places.root + "/proc/self/mountinfo");
    if (text) mounts_ = parse_mountinfo(*text);
  }

  [[nodiscard]] Ability cgroups() const {
    Ability ability{"cgroups"};
    ability.is_there = !mounts_.v1.empty() || !mounts_.unified.empty();
    if (!ability.is_there) {
      ability.detail = "no cgroup file system is mounted from its root";
      ability.advice = "run flowcond on the host, and mount cgroup2 at /sys/fs/cgroup";
      return ability;
    }
    ability.detail = name(fs_.mode());
    if (!mounts_.unified.empty()) ability.detail += ", cgroup2 at " + mounts_.unified;
    if (!mounts_.v1.empty()) {
      ability.detail += ", v1 controllers: ";
      for (const auto& [controller, point] : mounts_.v1) ability.detail += controller + " ";
      ability.detail.pop_back();
    }
    ability.detail = printable(ability.detail);
    return ability;
  }

  /// Whether the controller is there, enabled, and the feature's file can be opened for writing.
  [[nodiscard]] Ability check(const Feature& feature, bool is_written = true) const {
    Ability ability{feature.name};
    const bool is_v2 = fs_.is_v2(feature.controller);
    const std::string controller = spelt(feature.controller, is_v2);
    const std::string mount = mount_of(feature.controller, is_v2);
    if (mount.empty()) return no_mount(std::move(ability), controller);
    if (is_v2 && !is_enabled(controller, mount, ability)) return ability;
    const std::string group = sample_of(mount);
    const std::string file = is_v2 ? feature.v2_file : feature.v1_file;
    if (!group.empty()) ability = look(ability, feature, mount, group + "/" + file, is_written);
    if (group.empty() || !find_directory_beneath(places_.root + mount, group)) {
      return unchecked(feature.name, controller + " at " + mount + kNoGroup);
    }
    return ability;
  }

  [[nodiscard]] Ability io_weight() const {
    Ability ability{"io weight"};
    if (lacks_io_group()) return unchecked(ability.name, io_mount() + kNoGroup);
    const auto devices = read_block_devices(fs_, places_.root);
    if (!devices) return unchecked(ability.name, devices.error().message());
    const IoMechanism mechanism = io_mechanism(*devices);
    ability.is_there = mechanism.weight != WeightFile::none;
    ability.detail = ability.is_there
                         ? std::string(name(mechanism.weight)) + ": " + mechanism.weight_reason
                         : mechanism.weight_reason + schedulers_of(*devices);
    if (!ability.is_there) ability.advice = weight_advice(*devices, mechanism.is_v2);
    ability.detail = printable(ability.detail, 400);
    return ability;
  }

  [[nodiscard]] Ability io_caps() const {
    Ability ability{"io caps"};
    if (lacks_io_group()) return unchecked(ability.name, io_mount() + kNoGroup);
    const IoMechanism mechanism = io_mechanism({});
    ability.is_there = mechanism.has_caps;
    ability.detail = !mechanism.has_caps ? mechanism.caps_reason
                     : mechanism.is_v2   ? "io.max"
                                         : "blkio.throttle.read_bps_device, write_bps_device "
                                           "(v1: direct I/O and reads only)";
    if (!ability.is_there) {
      ability.advice = "use a kernel with CONFIG_BLK_DEV_THROTTLING, and enable io for the groups";
    }
    return ability;
  }

 private:
  static Ability unchecked(const std::string& name, const std::string& why) {
    return {name, false, printable(why), "", false};
  }

  static std::string spelt(const std::string& controller, bool is_v2) {
    return is_v2 && controller == "blkio" ? "io" : controller;
  }

  [[nodiscard]] std::string mount_of(const std::string& controller, bool is_v2) const {
    if (is_v2) return mounts_.unified;
    const auto found = mounts_.v1.find(controller);
    return found == mounts_.v1.end() ? "" : found->second;
  }

  /// A group that is not the root, where there is one: its path below `mount`.
  [[nodiscard]] std::string sample_of(const std::string& mount) const {
    constexpr std::array<const char*, 4> kUsual = {"docker", "system.slice", "machine.slice",
                                                   "user.slice"};
    const std::string folder = places_.root + mount;
    if (!places_.parent.empty() && find_directory_beneath(folder, places_.parent)) {
      return places_.parent;
    }
    for (const char* group : kUsual) {
      if (find_directory_beneath(folder, group)) return group;
    }
    std::error_code code;
    std::filesystem::directory_iterator entry(folder, code);
    std::string first;
    for (const std::filesystem::directory_iterator end; !code && entry != end;
         entry.increment(code)) {
      const std::string group = entry->path().filename().string();
      std::error_code ignored;
      const bool fits = entry->is_directory(ignored) && check_group(group).has_value();
      if (fits && (first.empty() || group < first)) first = group;
    }
    return first;
  }

  static Ability no_mount(Ability ability, const std::string& controller) {
    ability.detail = "the controller " + controller + " is mounted nowhere";
    ability.advice = controller == "memory"
                         ? "boot with cgroup_enable=memory; some kernels leave it off"
                         : "use a kernel with this controller, or mount it";
    return ability;
  }

  /// v2: whether the kernel offers the controller and the root hands it on. CPU use is always
  /// there.
  [[nodiscard]] bool is_enabled(const std::string& controller, const std::string& mount,
                                Ability& ability) const {
    if (controller == "cpuacct") return true;
    const auto has = [&](const char* file) {
      const auto text = read_beneath(places_.root + mount, file);
      const std::string all = text ? *text : "";
      const auto words = words_of(all);
      return std::find(words.begin(), words.end(), controller) != words.end();
    };
    if (!has("cgroup.controllers")) {
      ability = no_mount(std::move(ability), controller);
      ability.detail = "the unified hierarchy has no controller " + controller;
      return false;
    }
    if (has("cgroup.subtree_control")) return true;
    ability.detail = "the controller " + controller + " is not enabled below the root";
    ability.advice = "echo +" + controller + " > " + mount + "/cgroup.subtree_control";
    return false;
  }

  [[nodiscard]] Ability look(Ability ability, const Feature& feature, const std::string& mount,
                             const std::string& path, bool is_written) const {
    const std::string shown = printable(mount + "/" + path);
    // What only counts cannot be opened for writing by anybody, whatever its rights.
    const auto found =
        is_written ? try_open_beneath(places_.root + mount, path) : readable(mount, path);
    if (found) {
      ability.is_there = true;
      ability.detail = shown;
      return ability;
    }
    const int number = found.error().code.value();
    ability.detail = shown + ": " + std::strerror(number);
    if (number == ENOENT) ability.advice = feature.if_missing;
    if (number == EACCES || number == EPERM) ability.advice = "run flowcond as root";
    if (number == EROFS) {
      ability.advice = "it is mounted read-only: run flowcond on the host, not in a container";
    }
    return ability;
  }

  [[nodiscard]] Result<void> readable(const std::string& mount, const std::string& path) const {
    const auto text = read_beneath(places_.root + mount, path);
    if (!text) return text.error();
    return {};
  }

  [[nodiscard]] std::string io_mount() const { return mount_of("blkio", fs_.is_v2("blkio")); }
  [[nodiscard]] bool lacks_io_group() const {
    const std::string mount = io_mount();
    return !mount.empty() && sample_of(mount).empty();
  }

  [[nodiscard]] IoMechanism io_mechanism(const std::vector<BlockDevice>& devices) const {
    const std::string mount = io_mount();
    Group group;
    if (!mount.empty()) group.io = sample_of(mount);
    return probe_io(fs_, group, devices);
  }

  static std::string schedulers_of(const std::vector<BlockDevice>& devices) {
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < devices.size() && i < kShown; ++i) {
      const std::string& scheduler = devices[i].scheduler;
      text += (i == 0 ? " (" : ", ") + devices[i].name + ": " +
              (scheduler.empty() ? "no scheduler" : scheduler);
    }
    if (devices.size() > kShown) text += ", …";
    return text.empty() ? "" : text + ")";
  }

  static std::string weight_advice(const std::vector<BlockDevice>& devices, bool is_v2) {
    for (const BlockDevice& device : devices) {
      const auto& all = device.schedulers;
      if (std::find(all.begin(), all.end(), "bfq") == all.end()) continue;
      return "echo bfq > /sys/block/" + device.name + "/queue/scheduler";
    }
    if (devices.empty()) return "";
    return is_v2 ? "modprobe bfq and make it a disk's scheduler, or switch iocost on in "
                   "io.cost.qos"
                 : "modprobe bfq and make it a disk's scheduler";
  }

  const CgroupFs& fs_;
  const ProbePlaces& places_;
  Mounts mounts_;
};

}  // namespace

std::vector<Ability> probe_abilities(const CgroupFs& fs, const ProbePlaces& places) {
  const Prober prober(fs, places);
  return {prober.cgroups(),         prober.check(kCpu),           prober.check(kCpuUse, false),
          prober.check(kCpuQuota),  prober.check(kMemory, false), prober.check(kMemorySoft),
          prober.check(kIo, false), prober.io_weight(),           prober.io_caps(),
          probe_pressure(places),   probe_systemd(places),        probe_root(places),
          probe_host(places),       probe_delegation(fs, places)};
}

}  // namespace flowcon::cgroups
