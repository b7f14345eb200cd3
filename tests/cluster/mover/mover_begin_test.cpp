// SPDX-License-Identifier: Apache-2.0
// What is looked at before a move begins: links of a host's folders, and who hears a signal.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/json.h"
#include "cluster/migration/mover_state.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

namespace files = std::filesystem;

struct Folder {
  Folder() {
    std::string name = (files::temp_directory_path() / "flowcon-begin-XXXXXX").string();
    path = files::canonical(::mkdtemp(name.data()));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { files::remove_all(path); }
  files::path path;
};

boost::json::object mounting(const files::path& source) {
  return parse_json(R"({"HostConfig": {"Mounts": [{"Type": "bind", "Target": "/a", "Source": ")" +
                    source.string() + "\"}]}}")
      ->as_object();
}

}  // namespace

TEST_CASE("a folder that is not there or that links lead out of what is accepted is not mounted") {
  const Folder folder;
  files::create_directories(folder.path / "sets" / "a");
  files::create_directories(folder.path / "secret");
  files::create_symlink(folder.path / "secret", folder.path / "sets" / "out");
  files::create_symlink(folder.path / "sets" / "a", folder.path / "sets" / "in");
  files::create_symlink(folder.path / "sets", folder.path / "link");
  AcceptPolicy policy;
  policy.mounts = {(folder.path / "sets").string()};
  CHECK(unfit_paths(mounting(folder.path / "sets" / "a"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "sets" / "in"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "sets" / "missing"), policy).size() == 1);
  CHECK(unfit_paths(mounting(folder.path / "sets" / "out"), policy).size() == 1);
  CHECK(unfit_paths(mounting(folder.path / "sets" / "out" / "."), policy).size() == 1);
  // The folder that an administrator names may be a link itself.
  policy.mounts = {(folder.path / "link").string()};
  CHECK(unfit_paths(mounting(folder.path / "link" / "a"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "link" / "out"), policy).size() == 1);
}

TEST_CASE("nobody learns by a mount whether a path of this host is there") {
  const Folder folder;
  files::create_directories(folder.path / "sets");
  files::create_directories(folder.path / "secret");
  files::create_symlink(folder.path / "secret", folder.path / "sets" / "out");
  files::create_symlink(folder.path / "nowhere", folder.path / "sets" / "lost");
  AcceptPolicy policy;
  policy.mounts = {(folder.path / "sets").string()};
  const auto said = [&](const files::path& path) {
    const std::vector<std::string> reasons = unfit_paths(mounting(path), policy);
    REQUIRE(reasons.size() == 1);
    std::string text = reasons.front();
    const std::size_t at = text.find(path.string());
    REQUIRE(at != std::string::npos);
    return text.replace(at, path.string().size(), "PATH");
  };
  const std::string missing = said(folder.path / "sets" / "missing");
  CHECK(said(folder.path / "sets" / "out") == missing);
  CHECK(said(folder.path / "sets" / "lost") == missing);
  CHECK(said(folder.path / "secret") == missing);
  CHECK(said(folder.path / "nowhere") == missing);
  CHECK(missing.find("secret") == std::string::npos);
}

TEST_CASE("a device is looked at only where it is accepted") {
  const auto asking = [](const std::string& path) {
    return parse_json(R"({"HostConfig": {"Devices": [{"PathOnHost": ")" + path + "\"}]}}")
        ->as_object();
  };
  AcceptPolicy policy;
  policy.devices = {"/dev/null", "/dev/flowcon-none", "gpu"};
  CHECK(unfit_paths(asking("/dev/null"), policy).empty());
  CHECK(unfit_paths(asking("/dev/flowcon-none"), policy) ==
        std::vector<std::string>{"there is no /dev/flowcon-none there"});
  CHECK(unfit_paths(asking("/dev/zero"), policy) ==
        std::vector<std::string>{"there is no /dev/zero there"});
}

TEST_CASE("a shell hands no signal on, unless it has a trap for it") {
  const auto deaf = [](const char* script) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ready[1], 1);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const std::string why = why_deaf(child, SIGUSR1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    return why;
  };
  CHECK(deaf("echo ready; while :; do :; done").find("hands no signal on") != std::string::npos);
  CHECK(deaf("trap 'exit 0' USR1; echo ready; while :; do :; done").empty());
}

}  // namespace flowcon::cluster::migration
