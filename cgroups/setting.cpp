// SPDX-License-Identifier: Apache-2.0
#include "cgroups/setting.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

namespace flowcon::cgroups {
namespace {

bool is_no_disk(const Error& error) {
  return error.code.value() == ENODEV || error.code.value() == ENXIO;
}

IoSetting without_unlisted(IoSetting setting, const IoSetting& listed) {
  std::erase_if(setting.caps, [&](const auto& cap) { return !listed.caps.contains(cap.first); });
  return setting;
}

// The kernel lists no disk that was taken away, and takes no cap of it; which one that is it does
// not say. So the disks that it does not list are tried one by one.
Result<void> write_io_of_present(CgroupFs& fs, const Group& group, const IoSetting& to,
                                 const IoMechanism& mechanism, std::vector<std::string>* gone) {
  const Result<IoSetting> listed = read_io(fs, group, mechanism);
  if (!listed) return listed.error();
  IoSetting possible = without_unlisted(to, *listed);
  Result<void> written = write_io(fs, group, possible, mechanism);
  for (const auto& [device, cap] : to.caps) {
    if (!written) return written;
    if (possible.caps.contains(device)) continue;
    IoSetting more = possible;
    more.caps[device] = cap;
    written = write_io(fs, group, more, mechanism);
    if (written) possible = std::move(more);
    if (written || !is_no_disk(written.error())) continue;
    if (gone != nullptr) gone->push_back(device);
    written = Result<void>();
  }
  return written;
}

// Where a controller is missing there is no setting. That this process or the host is short of
// something says nothing about it.
bool may_be_there(const Error& error) {
  const std::array kShort{EMFILE, ENFILE, ENOMEM, EIO, EINTR};
  return std::find(kShort.begin(), kShort.end(), error.code.value()) != kShort.end();
}

}  // namespace

bool limits_alike(const Setting& a, const Setting& b) {
  return limits_alike(a.cpu, b.cpu) && a.memory == b.memory && limits_alike(a.io, b.io);
}

Setting with_cpu(Setting setting, const CpuSetting& cpu) {
  setting.cpu = cpu;
  return setting;
}

Setting take_others(Setting original, const Setting& there, const Setting& ours) {
  if (there.cpu.weight != ours.cpu.weight) original.cpu.weight = there.cpu.weight;
  if (!quotas_near(there.cpu, original.cpu) && !quotas_near(there.cpu, ours.cpu)) {
    original.cpu.quota_us = there.cpu.quota_us;
    original.cpu.period_us = there.cpu.period_us;
  }
  if (there.memory != ours.memory) original.memory = there.memory;
  if (!limits_alike(there.io, original.io) && !limits_alike(there.io, ours.io)) {
    original.io = there.io;
  }
  return original;
}

Result<Setting> read_setting(const CgroupFs& fs, const Group& group, const IoMechanism& mechanism) {
  Setting setting;
  Result<CpuSetting> cpu = read_cpu(fs, group);
  if (!cpu) return cpu.error();
  setting.cpu = *cpu;
  const Result<MemorySetting> memory = read_memory(fs, group);
  Result<IoSetting> io = read_io(fs, group, mechanism);
  if (!memory && may_be_there(memory.error())) return memory.error();
  if (!io && may_be_there(io.error())) return io.error();
  if (memory) setting.memory = *memory;
  if (io) setting.io = std::move(*io);
  return setting;
}

Result<void> write_setting(CgroupFs& fs, const Group& group, const Setting& from, const Setting& to,
                           const IoMechanism& mechanism, bool with_memory,
                           std::vector<std::string>* gone) {
  Result<void> written = write_cpu(fs, group, to.cpu);
  // A group that is gone has nothing else either.
  if (!written && written.error().code.value() == ESTALE) return written;
  if (!limits_alike(from.io, to.io)) {
    Result<void> io = write_io(fs, group, to.io, mechanism);
    if (!io && is_no_disk(io.error())) {
      io = write_io_of_present(fs, group, to.io, mechanism, gone);
    }
    if (!io && written) written = io;
  }
  if (with_memory && from.memory != to.memory) {
    if (auto memory = write_memory(fs, group, to.memory); !memory && written) written = memory;
  }
  return written;
}

std::vector<UnitProperty> unit_properties(const Setting& from, const Setting& to,
                                          const CgroupFs& fs, const IoMechanism& mechanism,
                                          Rounding rounding) {
  std::vector<UnitProperty> all = unit_properties(to.cpu, fs.is_v2("cpu"), rounding);
  const auto add = [&all](std::vector<UnitProperty> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  if (from.memory != to.memory) add(unit_properties(to.memory, fs.is_v2("memory")));
  if (!limits_alike(from.io, to.io)) {
    add(unit_properties(to.io, mechanism, !from.io.caps.empty() || !to.io.caps.empty()));
  }
  return all;
}

}  // namespace flowcon::cgroups
