// SPDX-License-Identifier: Apache-2.0
#include "cgroups/disks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "cgroups/beneath.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMostDevices = 4096;
constexpr std::size_t kMostSchedulers = 16;

bool is_plain(std::string_view word) {
  return !word.empty() && word.size() <= 64 &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "-_.!+:") == std::string_view::npos;
}

bool is_counted(const std::string& name) {
  constexpr std::array<std::string_view, 3> kLeftOut = {"loop", "ram", "zram"};
  return is_plain(name) && std::none_of(kLeftOut.begin(), kLeftOut.end(), [&](auto prefix) {
           return std::string_view(name).substr(0, prefix.size()) == prefix;
         });
}

/// Devices with "enable=1" in io.cost.qos.
std::set<std::string> iocost_devices(const CgroupFs& fs) {
  std::set<std::string> devices;
  const std::string controller = io_controller(fs);
  if (!fs.is_v2(controller)) return devices;
  const auto text = fs.read(controller, "", "io.cost.qos");
  if (!text) return devices;
  for (const std::string_view line : lines_of(*text)) {
    const auto words = words_of(line);
    const bool is_on = std::find(words.begin(), words.end(), "enable=1") != words.end();
    if (is_on && is_device_number(words[0])) devices.emplace(words[0]);
  }
  return devices;
}

std::string names_of(const std::vector<BlockDevice>& devices,
                     const std::set<std::string>& numbers) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t count = 0;
  for (const BlockDevice& device : devices) {
    if (numbers.count(device.number) == 0) continue;
    if (++count > kShown) return text + ", …";
    text += (text.empty() ? "" : ", ") + device.name;
  }
  return text;
}

bool has_entries(const std::filesystem::path& folder) {
  std::error_code code;
  return std::filesystem::directory_iterator(folder, code) != std::filesystem::directory_iterator();
}

/// A device lies on it or on a partition of it, which has a folder there.
bool is_held(const std::filesystem::path& device) {
  if (has_entries(device / "holders")) return true;
  std::error_code code;
  std::filesystem::directory_iterator entry(device, code);
  for (const std::filesystem::directory_iterator end; entry != end; entry.increment(code)) {
    if (has_entries(entry->path() / "holders")) return true;
  }
  return false;
}

struct Candidate {
  WeightFile file;
  bool (*bites)(const BlockDevice&);
  const char* why;
};

bool has_bfq(const BlockDevice& device) { return device.scheduler == "bfq"; }
bool has_cfq(const BlockDevice& device) { return device.scheduler == "cfq"; }
bool has_iocost(const BlockDevice& device) { return device.has_iocost; }

/// In the order in which they are preferred.
std::vector<Candidate> candidates(bool is_v2) {
  if (is_v2) {
    return {{WeightFile::io_bfq_weight, has_bfq, "BFQ schedules "},
            {WeightFile::io_weight, has_iocost, "iocost controls "}};
  }
  return {{WeightFile::blkio_bfq_weight, has_bfq, "BFQ schedules "},
          {WeightFile::blkio_weight, has_cfq, "CFQ schedules "}};
}

bool has_file(const CgroupFs& fs, const std::string& group, const char* file) {
  return fs.read(io_controller(fs), group, file).has_value();
}

void find_weight(const CgroupFs& fs, const Group& group, const std::vector<BlockDevice>& devices,
                 IoMechanism& mechanism) {
  std::set<std::string> most;
  std::set<std::string> all;
  bool has_any_file = false;
  const char* why = "";
  for (const Candidate& candidate : candidates(mechanism.is_v2)) {
    if (!has_file(fs, group.io, name(candidate.file))) continue;
    has_any_file = true;
    std::set<std::string> numbers;
    for (const BlockDevice& device : devices) {
      if (candidate.bites(device)) numbers.insert(device.number);
    }
    all.insert(numbers.begin(), numbers.end());
    if (numbers.size() <= most.size()) continue;
    most = std::move(numbers);
    why = candidate.why;
    mechanism.weight = candidate.file;
  }
  if (mechanism.weight == WeightFile::none) {
    mechanism.weight_reason = has_any_file
                                  ? "no block device has a scheduler that uses weights"
                                  : "the kernel offers no weight file (BFQ, iocost) for groups";
    return;
  }
  mechanism.weight_reason = why + names_of(devices, most);
  for (const std::string& number : most) all.erase(number);
  if (!all.empty()) {
    mechanism.weight_reason +=
        "; without effect on " + names_of(devices, all) + ", which uses another weight";
  }
}

}  // namespace

const char* name(WeightFile file) {
  switch (file) {
    case WeightFile::io_weight:
      return "io.weight";
    case WeightFile::io_bfq_weight:
      return "io.bfq.weight";
    case WeightFile::blkio_weight:
      return "blkio.weight";
    case WeightFile::blkio_bfq_weight:
      return "blkio.bfq.weight";
    case WeightFile::none:
      break;
  }
  return "";
}

unsigned default_weight(WeightFile file) { return file == WeightFile::blkio_weight ? 500 : 100; }

void parse_schedulers(std::string_view text, BlockDevice& device) {
  for (std::string_view word : words_of(text)) {
    const bool is_active = word.size() > 2 && word.front() == '[' && word.back() == ']';
    if (is_active) word = word.substr(1, word.size() - 2);
    if (!is_plain(word) || device.schedulers.size() >= kMostSchedulers) continue;
    device.schedulers.emplace_back(word);
    if (is_active) device.scheduler = word;
  }
}

Result<std::vector<BlockDevice>> read_block_devices(const CgroupFs& fs, const std::string& root) {
  const std::string folder = root + "/sys/block";
  std::error_code code;
  std::filesystem::directory_iterator entry(folder, code);
  if (code) return errno_error(code.value(), "list " + folder);
  const std::set<std::string> iocost = iocost_devices(fs);
  std::vector<BlockDevice> devices;
  for (const std::filesystem::directory_iterator end; entry != end && devices.size() < kMostDevices;
       entry.increment(code)) {
    BlockDevice device;
    device.name = entry->path().filename().string();
    if (!is_counted(device.name)) continue;
    const std::string path = folder + "/" + device.name;
    const auto number = read_proc(path + "/dev");
    const auto size = read_proc(path + "/size");
    if (!number || !is_device_number(*number) || !size || *size == "0") continue;
    device.number = *number;
    device.has_iocost = iocost.count(device.number) > 0;
    const auto schedulers = read_proc(path + "/queue/scheduler");
    if (schedulers) parse_schedulers(*schedulers, device);
    devices.push_back(std::move(device));
    if (code) break;
  }
  std::sort(devices.begin(), devices.end(),
            [](const BlockDevice& a, const BlockDevice& b) { return a.name < b.name; });
  return devices;
}

StackLevel DeviceStacks::level_of(const std::string& number) {
  const auto found = known_.find(number);
  if (found != known_.end()) return found->second;
  const std::filesystem::path device = root_ + "/sys/dev/block/" + number;
  const StackLevel level = !has_entries(device / "slaves") ? StackLevel::bottom
                           : is_held(device)               ? StackLevel::middle
                                                           : StackLevel::top;
  known_.emplace(number, level);
  return level;
}

IoMechanism probe_io(const CgroupFs& fs, const Group& group,
                     const std::vector<BlockDevice>& devices) {
  IoMechanism mechanism;
  mechanism.is_v2 = fs.is_v2(io_controller(fs));
  if (group.io.empty() || !fs.exists(io_controller(fs), group.io)) {
    mechanism.weight_reason = "there is no group of the " + io_controller(fs) + " controller";
    mechanism.caps_reason = mechanism.weight_reason;
    return mechanism;
  }
  find_weight(fs, group, devices, mechanism);
  mechanism.has_caps =
      has_file(fs, group.io, mechanism.is_v2 ? "io.max" : "blkio.throttle.read_bps_device");
  if (!mechanism.has_caps) {
    mechanism.caps_reason = mechanism.is_v2
                                ? "no io.max (the io controller is not enabled there, or the "
                                  "kernel has no CONFIG_BLK_DEV_THROTTLING)"
                                : "no blkio.throttle files (the kernel has no "
                                  "CONFIG_BLK_DEV_THROTTLING)";
  }
  return mechanism;
}

}  // namespace flowcon::cgroups
