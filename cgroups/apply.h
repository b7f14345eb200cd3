// SPDX-License-Identifier: Apache-2.0
// The one loop that turns a rendered setting into writes: what is there is read, what differs is
// written, a failure halfway is undone and told, and what the kernel then holds is read back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/group.h"

namespace flowcon::cgroups {

/// A kind of setting ("the CPU limit") in one group.
template <class Setting>
struct SettingKind {
  std::string name;   ///< "the CPU limit"
  std::string group;  ///< path that every write goes to
  std::function<Result<Setting>()> read;
  std::function<std::vector<Write>(const Setting& from, const Setting& to)> render;
  std::function<std::string(const Setting&)> shown;
  /// More about a failed write, " (…)" or "".
  std::function<std::string(const Error&, const Write&)> hint = [](const Error&, const Write&) {
    return std::string();
  };
};

[[nodiscard]] std::string shown_writes(const std::vector<Write>& writes, std::size_t count);

/// Writes what differs from `to` and reads back.
/// Errors: as CgroupFs::write, the message says what had been applied, and that is undone where
/// the kernel lets us; EIO and both settings in the message where the kernel holds something else
/// afterwards.
template <class Setting>
[[nodiscard]] Result<void> write_setting(CgroupFs& fs, const SettingKind<Setting>& kind,
                                         const Setting& to) {
  const auto from = kind.read();
  if (!from) return from.error();
  const auto undo = [&]() -> std::string {
    const auto now = kind.read();
    if (!now) return "not undone";
    for (const Write& write : kind.render(*now, *from)) {
      if (!fs.write(write.controller, kind.group, write.file, write.text)) return "not undone";
    }
    return "undone";
  };
  const std::vector<Write> writes = kind.render(*from, to);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto done = fs.write(writes[i].controller, kind.group, writes[i].file, writes[i].text);
    if (done) continue;
    Error error = done.error();
    error.what += kind.hint(error, writes[i]);
    if (i == 0) return wrap(error, "set " + kind.name + " (nothing applied)");
    const std::string after = error.code.value() == ESTALE ? "with the group gone" : undo();
    return wrap(error,
                "set " + kind.name + " (applied " + shown_writes(writes, i) + ", " + after + ")");
  }
  if (writes.empty()) return {};
  const auto now = kind.read();
  if (!now) return wrap(now.error(), "after writing " + shown_writes(writes, writes.size()));
  if (kind.render(*now, to).empty()) return {};
  return errno_error(EIO, "set " + kind.name + ": wrote " + kind.shown(to) + ", the kernel holds " +
                              kind.shown(*now));
}

}  // namespace flowcon::cgroups
