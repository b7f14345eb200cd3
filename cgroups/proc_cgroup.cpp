// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "cgroups/beneath.h"
#include "cgroups/group.h"
#include "cgroups/names.h"

namespace flowcon::cgroups {
namespace {

/// One line of /proc/PID/cgroup: ID:CONTROLLERS:PATH. A path may hold colons, the rest not.
struct Line {
  std::string_view controllers;
  std::string_view path;
  bool is_unified = false;
};

Result<Line> parse_line(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) {
    return bad_input("a line of /proc/PID/cgroup is not ID:CONTROLLERS:PATH");
  }
  Line line;
  line.controllers = text.substr(first + 1, second - first - 1);
  line.path = text.substr(second + 1);
  line.is_unified = line.controllers.empty() && text.substr(0, first) == "0";
  return line;
}

bool has_controller(std::string_view list, std::string_view controller) {
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    if (list.substr(start, end - start) == controller) return true;
    start = end + 1;
  }
  return false;
}

Result<std::string> safe_path(std::string_view path) {
  // cgroup v2 (and v1 while somebody still holds the group) marks a removed group so.
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() >= kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted) {
    return errno_error(ESRCH, "the process's cgroup has been removed");
  }
  if (path.empty() || path.front() != '/') {
    return bad_input("a path in /proc/PID/cgroup does not begin with a slash");
  }
  path.remove_prefix(1);
  if (const auto good = check_group(path); !good) return good.error();
  return std::string(path);
}

/// Below a service user@UID.service: its units are those of another systemd than the system's.
bool is_of_user_manager(std::string_view path) {
  constexpr std::string_view kService = ".service";
  std::size_t start = 0;
  while (start < path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view component = path.substr(start, end - start);
    if (component.starts_with("user@") && component.ends_with(kService)) return true;
    start = end + 1;
  }
  return false;
}

std::string scope_of(const std::string& path) {
  if (is_of_user_manager(path)) return "";
  const std::string last = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  constexpr std::string_view kScope = ".scope";
  const bool is_scope = last.size() > kScope.size() &&
                        last.compare(last.size() - kScope.size(), kScope.size(), kScope) == 0;
  return is_scope ? last : "";
}

/// The id as a whole word: "ID", "docker-ID.scope", "libpod-ID.scope".
bool bears(std::string_view component, std::string_view id) {
  const std::size_t at = component.find(id);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + id.size();
  return (at == 0 || !is_alnum(component[at - 1])) &&
         (end == component.size() || !is_alnum(component[end]));
}

/// Where the first component that bears the id ends; npos where none does. A container names what
/// is below its own group, so that only the first one counts.
std::size_t end_of_own(std::string_view path, std::string_view id) {
  std::size_t start = 0;
  while (start < path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    if (bears(path.substr(start, end - start), id)) return end;
    start = end + 1;
  }
  return std::string_view::npos;
}

}  // namespace

Result<Group> own_group(const Group& group, std::string_view id) {
  Group own = group;
  if (id.empty()) return bad_input("a container without an id has no control group");
  for (std::string* path : {&own.cpu, &own.cpuacct, &own.memory, &own.io}) {
    if (path->empty()) continue;  // the controller is nowhere
    const std::size_t end = end_of_own(*path, id);
    if (end == std::string::npos) {
      return bad_input("its first process is in the control group /" + printable(*path, 120) +
                       ", which is not the container's (the process has left it, or its number "
                       "has been given to another process)");
    }
    path->resize(end);
  }
  own.scope = scope_of(own.cpu);
  return own;
}

Result<Group> parse_proc_cgroup(const std::string& text, Mode mode, std::string_view id) {
  struct Slot {
    std::string_view controller;  // in the spelling of v1
    std::string* path;
    bool found = false;
  };
  Group group;
  Slot slots[] = {{"cpu", &group.cpu},
                  {"cpuacct", &group.cpuacct},
                  {"memory", &group.memory},
                  {"blkio", &group.io}};
  std::string_view unified;
  bool has_unified = false;

  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view row = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row.empty()) continue;
    const auto line = parse_line(row);
    if (!line) return line.error();
    if (line->is_unified) {
      unified = line->path;
      has_unified = true;
      continue;
    }
    if (mode == Mode::v2) continue;
    for (Slot& slot : slots) {
      if (!has_controller(line->controllers, slot.controller)) continue;
      auto path = safe_path(line->path);
      if (!path) return wrap(path.error(), "controller " + std::string(slot.controller));
      *slot.path = *std::move(path);
      slot.found = true;
    }
  }

  // A controller without a v1 hierarchy is in the unified one, where there is one.
  if (has_unified && mode != Mode::v1) {
    auto path = safe_path(unified);
    const bool is_own = id.empty() || end_of_own(unified, id) != std::string_view::npos;
    for (const Slot& slot : slots) {
      const bool is_cpu = slot.path == &group.cpu;
      if (slot.found || !(is_own || is_cpu)) continue;
      if (!path) return path.error();
      *slot.path = *path;
    }
  }
  // The kernel shows an exiting process in the root group of every v1 hierarchy; and the root's
  // limits are the whole host's, so either way there is nothing here to control.
  if (group.cpu.empty()) {
    return errno_error(ESRCH,
                       "the process is in no cgroup of its own (it has ended, or is not in "
                       "a container)");
  }
  group.scope = scope_of(group.cpu);
  return group;
}

std::string io_controller(const CgroupFs& fs) {
  // "io" has no v1 mount ever, so it is the v1 name that tells.
  return fs.is_v2("blkio") ? "io" : "blkio";
}

Result<Group> find_group(std::int64_t pid, Mode mode, std::string_view id) {
  const std::string doing = "find the cgroup of process " + std::to_string(pid);
  if (pid <= 0) return errno_error(ESRCH, doing);
  const auto text = read_proc("/proc/" + std::to_string(pid) + "/cgroup");
  if (!text) {
    Error error = wrap(text.error(), doing);
    if (is_absent(error)) error.code.assign(ESRCH, error.code.category());
    return error;
  }
  auto group = parse_proc_cgroup(*text, mode, id);
  if (!group) return wrap(group.error(), doing);
  return group;
}

Result<Group> find_container_group(std::int64_t pid, std::string_view id, Mode mode) {
  const auto group = find_group(pid, mode, id);
  if (!group) return group.error();
  return own_group(*group, id);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace flowcon::cgroups
