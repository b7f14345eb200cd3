// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "base/text.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kGrants = "/usr/share/docker-flowcon/peers.conf";
constexpr const char* kDaemon = "/usr/sbin/flowcond";
constexpr const char* kState = "/var/lib/flowcon";
constexpr const char* kFolder = "/etc/systemd/system/flowcond.service.d";

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<void> run(const std::vector<std::string>& words) {
  const Result<ToolResult> ran = run_tool(words);
  if (!ran) return ran.error();
  if (ran->status == 0) return {};
  return bad_input(joined(words, " ") +
                   " failed: " + printable(ran->err.substr(0, ran->err.find('\n')), 200));
}

Result<void> systemctl(std::vector<std::string> words) {
  words.insert(words.begin(), "systemctl");
  return run(words);
}

// As flowcond's configuration has it; "state-dir = PATH   # where that is said".
std::string state_folder(const std::string& root) {
  const std::string option = "\nstate-dir = ";
  const Result<ToolResult> said = run_tool({root + kDaemon, "--print-config"});
  const std::string text = said ? "\n" + said->out : "";
  const std::size_t at = text.find(option);
  if (at == std::string::npos) return kState;
  std::string line = text.substr(at + option.size());
  line.resize(std::min(line.find('\n'), line.size()));
  line.resize(std::min(line.rfind(" # "), line.size()));
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

Result<bool> let_service_have_peers(const std::string& root) {
  const std::string link = root + kFolder + "/peers.conf";
  if (!is_there(root + "/run/systemd/system") || !is_there(root + kGrants)) return false;
  if (is_there(link)) return false;
  if (!systemctl({"is-active", "--quiet", "flowcond.service"})) return false;
  if (auto good = run({root + kDaemon, "--check-config"}); !good) return good.error();
  if (::mkdir((root + kFolder).c_str(), 0755) != 0 && errno != EEXIST) {
    return errno_error(errno, "making " + root + kFolder);
  }
  if (::symlink(kGrants, link.c_str()) != 0) return errno_error(errno, "linking " + link);
  // Without the link a repeated `peer add` begins here again.
  const auto taken_back = [&](const Error& error) {
    ::unlink(link.c_str());
    return error;
  };
  if (auto done = systemctl({"daemon-reload"}); !done) return taken_back(done.error());
  // The limits stay meanwhile (ctrl/handover.h).
  std::ofstream(root + state_folder(root) + "/hand-over").close();
  if (auto done = systemctl({"restart", "flowcond.service"}); !done)
    return taken_back(done.error());
  return true;
}

}  // namespace flowcon::plugin
