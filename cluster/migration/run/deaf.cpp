// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/deaf.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "cluster/migration/run/processes.h"
#include "ctrl/settings.h"

namespace flowcon::cluster::migration {
namespace {

bool has_signal(const std::string& mask, int signal) {
  return ((std::strtoull(mask.c_str(), nullptr, 16) >> (signal - 1)) & 1U) != 0;
}

bool is_shell(const std::string& name) {
  constexpr std::array<const char*, 5> kShells{"sh", "bash", "dash", "ash", "zsh"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

// Those that stand for process 1 and hand signals on. While they wait for one the kernel shows it
// as neither handled nor blocked.
bool is_init(const std::string& name) {
  constexpr std::array<const char*, 5> kInits{"docker-init", "tini", "tini-static", "dumb-init",
                                              "catatonit"};
  return std::find(kInits.begin(), kInits.end(), name) != kInits.end();
}

// Of the one child that `init` hands its signals on to.
std::string why_child_deaf(std::int64_t init, int signal) {
  const std::vector<pid_t> children = children_of(static_cast<pid_t>(init));
  // dumb-init hands them on to all of its session.
  if (children.size() != 1 || status_of(init, "Name") == "dumb-init") return "";
  const std::int64_t child = children.front();
  const std::string process = status_of(child, "Name");
  const bool hears = has_signal(status_of(child, "SigCgt"), signal) ||
                     has_signal(status_of(child, "SigBlk"), signal);
  if (!is_shell(process) || hears) return "";
  return "its process (" + printable(process, 40) +
         ") is a shell, which does not forward signals: start the job by exec";
}

}  // namespace

std::string why_deaf(std::int64_t pid, int signal) {
  const std::string process = status_of(pid, "Name");
  if (process.empty()) return "";
  if (is_init(process)) return why_child_deaf(pid, signal);
  const std::string shown = "its first process (" + printable(process, 40) + ")";
  // The kernel drops what the first process of a container has no handler for.
  const std::string ids = status_of(pid, "NSpid");
  const bool is_first = ids.ends_with("\t1");
  const bool hears =
      has_signal(status_of(pid, "SigCgt"), signal) || has_signal(status_of(pid, "SigBlk"), signal);
  // A shell's job would end with the shell, saved or not, whoever is process 1.
  if (is_shell(process) && !hears) {
    return shown + " is a shell, which does not forward signals: start the job by exec";
  }
  if (is_first && !hears) {
    return shown + " does not handle " + ctrl::signal_name(signal) +
           ", and no other process gets it: have the job handle it, or start it by exec";
  }
  return "";
}

}  // namespace flowcon::cluster::migration
