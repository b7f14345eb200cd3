// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <vector>

#include "base/text.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kGrants = "/usr/share/docker-flowcon/peers.conf";
constexpr const char* kFolder = "/etc/systemd/system/flowcond.service.d";

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<void> systemctl(std::vector<std::string> words) {
  words.insert(words.begin(), "systemctl");
  const Result<ToolResult> ran = run_tool(words);
  if (!ran) return ran.error();
  if (ran->status == 0) return {};
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return bad_input(line + " failed: " + printable(ran->err.substr(0, ran->err.find('\n')), 200));
}

}  // namespace

Result<bool> let_service_have_peers(const std::string& root) {
  const std::string link = root + kFolder + "/peers.conf";
  if (!is_there(root + "/run/systemd/system") || !is_there(root + kGrants)) return false;
  if (is_there(link)) return false;
  if (!systemctl({"is-active", "--quiet", "flowcond.service"})) return false;
  if (::mkdir((root + kFolder).c_str(), 0755) != 0 && errno != EEXIST) {
    return errno_error(errno, "making " + root + kFolder);
  }
  if (::symlink(kGrants, link.c_str()) != 0) return errno_error(errno, "linking " + link);
  if (auto done = systemctl({"daemon-reload"}); !done) return done.error();
  // The limits stay meanwhile (ctrl/handover.h); where the state is elsewhere they are decided
  // anew.
  std::ofstream(root + "/var/lib/flowcon/hand-over").close();
  if (auto done = systemctl({"restart", "flowcond.service"}); !done) return done.error();
  return true;
}

}  // namespace flowcon::plugin
