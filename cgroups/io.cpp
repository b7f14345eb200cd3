// SPDX-License-Identifier: Apache-2.0
#include "cgroups/io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "cgroups/apply.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMostDevices = 4096;
constexpr std::size_t kMostBytesAWrite = 99;  // see check_text

/// One number of a cap: its key in io.max and its file on v1.
struct Field {
  const char* key;
  const char* v1_file;
  std::optional<std::uint64_t> IoCap::*member;
};

constexpr std::array<Field, 4> kFields = {{
    {"rbps", "blkio.throttle.read_bps_device", &IoCap::read_bytes},
    {"wbps", "blkio.throttle.write_bps_device", &IoCap::written_bytes},
    {"riops", "blkio.throttle.read_iops_device", &IoCap::read_ops},
    {"wiops", "blkio.throttle.write_iops_device", &IoCap::written_ops},
}};

/// "100", or "default 100" followed by devices of their own.
Result<std::uint64_t> read_weight(const CgroupFs& fs, const std::string& group, WeightFile file) {
  const auto text = fs.read(io_controller(fs), group, name(file));
  if (!text) return text.error();
  for (const std::string_view line : lines_of(*text)) {
    const auto words = words_of(line);
    if (words.size() == 1) return parse_number<std::uint64_t>(words[0], name(file));
    if (words.size() == 2 && words[0] == "default") {
      return parse_number<std::uint64_t>(words[1], name(file));
    }
  }
  return bad_line(name(file), *text);
}

Result<std::optional<std::uint64_t>> parse_cap(std::string_view text, const std::string& file) {
  if (text == "max") return std::optional<std::uint64_t>();
  const auto number = parse_number<std::uint64_t>(text, file);
  if (!number) return number.error();
  return std::optional<std::uint64_t>(*number);
}

Result<void> add_v2_caps(std::string_view text, std::map<std::string, IoCap>& caps) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.empty() || !is_device_number(words[0])) return bad_line("io.max", line);
    IoCap& cap = caps[std::string(words[0])];
    for (const Field& field : kFields) {
      const std::string key = std::string(field.key) + "=";
      for (const std::string_view word : words) {
        if (word.substr(0, key.size()) != key) continue;
        const auto number = parse_cap(word.substr(key.size()), "io.max");
        if (!number) return number.error();
        cap.*field.member = *number;
      }
    }
    if (caps.size() > kMostDevices) return bad_line("io.max", "more devices than there can be");
  }
  return {};
}

Result<void> add_v1_caps(std::string_view text, const Field& field,
                         std::map<std::string, IoCap>& caps) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() != 2 || !is_device_number(words[0])) return bad_line(field.v1_file, line);
    const auto number = parse_number<std::uint64_t>(words[1], field.v1_file);
    if (!number) return number.error();
    if (*number == 0) continue;
    caps[std::string(words[0])].*field.member = *number;
    if (caps.size() > kMostDevices)
      return bad_line(field.v1_file, "more devices than there can be");
  }
  return {};
}

Result<std::map<std::string, IoCap>> read_caps(const CgroupFs& fs, const std::string& group,
                                               bool is_v2) {
  std::map<std::string, IoCap> caps;
  const std::string controller = io_controller(fs);
  if (is_v2) {
    const auto text = fs.read(controller, group, "io.max");
    if (!text && !is_absent(text.error())) return text.error();
    if (!text) return caps;
    if (const auto done = add_v2_caps(*text, caps); !done) return done.error();
    return caps;
  }
  for (const Field& field : kFields) {
    const auto text = fs.read(controller, group, field.v1_file);
    if (is_absent(text)) continue;
    if (!text) return text.error();
    if (const auto done = add_v1_caps(*text, field, caps); !done) return done.error();
  }
  return caps;
}

IoCap cap_of(const IoSetting& setting, const std::string& device) {
  const auto found = setting.caps.find(device);
  return found == setting.caps.end() ? IoCap{} : found->second;
}

std::set<std::string> devices_of(const IoSetting& a, const IoSetting& b) {
  std::set<std::string> devices;
  for (const IoSetting* setting : {&a, &b}) {
    for (const auto& entry : setting->caps) devices.insert(entry.first);
  }
  return devices;
}

void render_cap(const std::string& device, const IoCap& from, const IoCap& to, bool is_v2,
                std::vector<Write>& writes) {
  std::string line = device;
  const auto flush = [&] {
    if (is_v2 && line != device) writes.push_back({"io", "io.max", line});
    line = device;
  };
  for (const Field& field : kFields) {
    const auto& wanted = to.*field.member;
    if (from.*field.member == wanted) continue;
    const std::string number = wanted ? std::to_string(*wanted) : is_v2 ? "max" : "0";
    if (!is_v2) writes.push_back({"blkio", field.v1_file, device + " " + number});
    const std::string pair = std::string(" ") + field.key + "=" + number;
    if (line.size() + pair.size() > kMostBytesAWrite) flush();
    line += pair;
  }
  flush();
}

std::string shown(const IoSetting& setting) {
  std::string text =
      "weight " + (setting.weight ? std::to_string(*setting.weight) : std::string("none"));
  for (const auto& [device, cap] : setting.caps) {
    text += ", " + device;
    for (const Field& field : kFields) {
      const auto& number = cap.*field.member;
      text += std::string(" ") + field.key + "=" + (number ? std::to_string(*number) : "max");
    }
  }
  return text;
}

Result<void> check(const IoSetting& setting) {
  for (const auto& [device, cap] : setting.caps) {
    if (!is_device_number(device)) {
      return errno_error(EINVAL, "refused \"" + printable(device, 60) + "\" as a device");
    }
    for (const Field& field : kFields) {
      if (cap.*field.member == std::uint64_t{0}) {
        return errno_error(EINVAL, "refused a cap of 0 for device " + device);
      }
    }
  }
  return {};
}

IoSetting clamped(IoSetting setting, WeightFile file) {
  if (setting.weight && file != WeightFile::none) {
    setting.weight = clamp_weight(*setting.weight, file);
  }
  return setting;
}

}  // namespace

std::uint64_t clamp_weight(std::uint64_t weight, WeightFile file) {
  const std::uint64_t least = file == WeightFile::blkio_weight ? 10 : 1;
  const std::uint64_t most = file == WeightFile::io_weight ? 10000 : 1000;
  return std::clamp(weight, least, most);
}

bool limits_alike(const IoSetting& a, const IoSetting& b) {
  const auto devices = devices_of(a, b);
  return a.weight == b.weight &&
         std::all_of(devices.begin(), devices.end(), [&](const std::string& device) {
           return cap_of(a, device) == cap_of(b, device);
         });
}

std::vector<Write> render(const IoSetting& from, const IoSetting& wanted,
                          const IoMechanism& mechanism) {
  const IoSetting to = clamped(wanted, mechanism.weight);
  std::vector<Write> writes;
  const bool has_weight = mechanism.weight != WeightFile::none && from.weight && to.weight;
  if (has_weight && from.weight != to.weight) {
    // io.bfq.weight has known "default" only since Linux 5.4; a bare number means it everywhere.
    const std::string prefix = mechanism.weight == WeightFile::io_weight ? "default " : "";
    writes.push_back({mechanism.is_v2 ? "io" : "blkio", name(mechanism.weight),
                      prefix + std::to_string(*to.weight)});
  }
  for (const std::string& device : devices_of(from, to)) {
    render_cap(device, cap_of(from, device), cap_of(to, device), mechanism.is_v2, writes);
  }
  return writes;
}

Result<IoSetting> read_io(const CgroupFs& fs, const Group& group, const IoMechanism& mechanism) {
  const std::string doing = "read the I/O setting";
  if (group.io.empty()) return errno_error(ENOENT, doing + ": no I/O group");
  IoSetting setting;
  if (mechanism.weight != WeightFile::none) {
    const auto weight = read_weight(fs, group.io, mechanism.weight);
    if (!weight) return wrap(weight.error(), doing);
    setting.weight = *weight;
  }
  auto caps = read_caps(fs, group.io, mechanism.is_v2);
  if (!caps) return wrap(caps.error(), doing);
  setting.caps = *std::move(caps);
  return setting;
}

Result<void> write_io(CgroupFs& fs, const Group& group, const IoSetting& wanted,
                      const IoMechanism& mechanism) {
  if (const auto good = check(wanted); !good) return good.error();
  SettingKind<IoSetting> kind;
  kind.name = "the I/O limit";
  kind.group = group.io;
  kind.read = [&] { return read_io(fs, group, mechanism); };
  kind.render = [&](const IoSetting& from, const IoSetting& to) {
    return render(from, to, mechanism);
  };
  kind.shown = [](const IoSetting& setting) { return shown(setting); };
  kind.hint = [](const Error& error, const Write&) {
    const int number = error.code.value();
    return std::string(number == ENODEV || number == ENXIO ? " (no such disk; a partition has no "
                                                             "limits of its own)"
                                                           : "");
  };
  return write_setting(fs, kind, clamped(wanted, mechanism.weight));
}

}  // namespace flowcon::cgroups
