// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/processes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/file.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kMost = 4096;  // processes of one command

std::string of_process(pid_t pid, const std::string& name) {
  return file_text("/proc/" + std::to_string(pid) + "/" + name);
}

// A process as it is now: what bears its number later is another.
class Handle {
 public:
  explicit Handle(pid_t pid) : file_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (file_ >= 0) ::close(file_);
  }
  void kill() const { ::syscall(SYS_pidfd_send_signal, file_, SIGKILL, nullptr, 0); }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

void end_tree(pid_t pid, const std::string& id, std::size_t& left) {
  const Handle process(pid);
  if (!process.is_open() || left == 0) return;
  // Looked at after the handle was opened: it is this process that is in the group.
  if (of_process(pid, "cgroup").find(id) == std::string::npos) return;
  --left;
  const std::vector<pid_t> children = children_of(pid);
  process.kill();
  for (const pid_t child : children) end_tree(child, id, left);
}

}  // namespace

std::string status_of(std::int64_t pid, const std::string& wanted) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(wanted + ":")) continue;
    const std::size_t at = line.find_first_not_of(" \t", wanted.size() + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> all;
  std::error_code code;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (auto at = std::filesystem::directory_iterator(tasks, code);
       !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
    std::ifstream file(at->path() / "children");
    for (pid_t child = 0; file >> child;) all.push_back(child);
  }
  return all;
}

void end_processes(std::int64_t pid, const std::string& id) {
  if (pid <= 1 || pid > std::numeric_limits<pid_t>::max() || id.size() < 12) return;
  std::size_t left = kMost;
  end_tree(static_cast<pid_t>(pid), id, left);
}

bool end_dump(std::int64_t pid, const std::string& id) {
  if (pid <= 1 || pid > std::numeric_limits<pid_t>::max() || id.size() < 12) return false;
  const auto tracer = static_cast<pid_t>(std::atoi(status_of(pid, "TracerPid").c_str()));
  if (tracer <= 1) return false;
  const Handle process(tracer);
  // Looked at after the handle was opened: it is this process that traces it. One inside of the
  // container is the job's own, whatever it is called.
  const bool is_criu = process.is_open() && status_of(tracer, "Name") == "criu" &&
                       status_of(pid, "TracerPid") == std::to_string(tracer) &&
                       of_process(tracer, "cgroup").find(id) == std::string::npos &&
                       of_process(static_cast<pid_t>(pid), "cgroup").find(id) != std::string::npos;
  if (is_criu) process.kill();
  return is_criu;
}

}  // namespace flowcon::cluster::migration
