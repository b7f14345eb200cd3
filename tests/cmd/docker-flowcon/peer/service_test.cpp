// SPDX-License-Identifier: Apache-2.0
// The service's drop-in for peers, in a folder that stands for the host, with a systemctl that
// writes down what it was asked.
#include "cmd/docker-flowcon/peer/service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;

namespace {

namespace fs = std::filesystem;

struct Host {
  test::TempFolder folder;
  std::string root = folder.path() + "/root";
  std::string asked = folder.path() + "/asked";
  std::string broken = folder.path() + "/broken";  // its configuration, while it is there
  std::string stuck = folder.path() + "/stuck";    // systemd, while it is there
  std::string config = folder.path() + "/config";  // what flowcond prints of it
  std::string old_path = std::getenv("PATH");

  // `active` is what systemctl is-active answers.
  explicit Host(bool is_active = true) {
    fs::create_directories(root + "/run/systemd/system");
    fs::create_directories(root + "/usr/share/docker-flowcon");
    fs::create_directories(root + "/etc/systemd/system");
    fs::create_directories(root + "/var/lib/flowcon");
    std::ofstream(root + "/usr/share/docker-flowcon/peers.conf") << "[Service]\n";
    const std::string tool = folder.path() + "/systemctl";
    std::ofstream(tool) << "#!/bin/sh\necho \"$*\" >>" << asked << "\n"
                        << "[ \"$1\" != is-active ] || exit " << (is_active ? 0 : 3) << "\n"
                        << "[ ! -e " << stuck << " ] || [ \"$1\" != restart ] || exit 1\n";
    ::chmod(tool.c_str(), 0755);
    fs::create_directories(root + "/usr/sbin");
    const std::string daemon = root + "/usr/sbin/flowcond";
    std::ofstream(daemon) << "#!/bin/sh\n[ ! -e " << broken
                          << " ] || { echo 'line 3' >&2; exit 2; }\n"
                          << "[ \"$1\" != --print-config ] || cat " << config << "\n";
    ::chmod(daemon.c_str(), 0755);
    ::setenv("PATH", (folder.path() + ":" + old_path).c_str(), 1);
  }
  ~Host() { ::setenv("PATH", old_path.c_str(), 1); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::string link() const { return root + "/etc/systemd/system/flowcond.service.d/peers.conf"; }
  std::string calls() const {
    std::ifstream file(asked);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
};

}  // namespace

TEST_CASE("the service is given what peers need, and started anew") {
  const Host host;
  const Result<bool> done = plugin::let_service_have_peers(host.root);
  REQUIRE(done.has_value());
  CHECK(*done);
  CHECK(fs::read_symlink(host.link()) == "/usr/share/docker-flowcon/peers.conf");
  CHECK(host.calls() ==
        "is-active --quiet flowcond.service\ndaemon-reload\nrestart flowcond.service\n");
  CHECK(fs::exists(host.root + "/var/lib/flowcon/hand-over"));
}

TEST_CASE("its limits are handed over where its state is") {
  const Host host;
  fs::create_directories(host.root + "/srv/flow # con");
  std::ofstream(host.config) << "socket = /run/s      # default\n"
                             << "state-dir = /srv/flow # con      # /etc/flowcon/flowcon.conf:3\n"
                             << "interval = 5      # default\n";
  REQUIRE(plugin::let_service_have_peers(host.root).has_value());
  CHECK(fs::exists(host.root + "/srv/flow # con/hand-over"));
  CHECK_FALSE(fs::exists(host.root + "/var/lib/flowcon/hand-over"));
}

TEST_CASE("what the service has already is not given again") {
  const Host host;
  REQUIRE(plugin::let_service_have_peers(host.root).has_value());
  fs::remove(host.asked);
  const Result<bool> again = plugin::let_service_have_peers(host.root);
  REQUIRE(again.has_value());
  CHECK_FALSE(*again);
  CHECK(host.calls().empty());
}

TEST_CASE("a service that would not start, or did not, is given it by the next try") {
  const Host host;
  std::ofstream(host.broken).close();
  const Result<bool> refused = plugin::let_service_have_peers(host.root);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message() ==
        host.root + "/usr/sbin/flowcond --check-config failed: line 3");
  CHECK(host.calls() == "is-active --quiet flowcond.service\n");
  fs::remove(host.broken);
  std::ofstream(host.stuck).close();
  REQUIRE_FALSE(plugin::let_service_have_peers(host.root).has_value());
  fs::remove(host.stuck);
  const Result<bool> again = plugin::let_service_have_peers(host.root);
  REQUIRE(again.has_value());
  CHECK(*again);
}

TEST_CASE("a flowcond that is not the service is left alone") {
  const Host host(false);
  const Result<bool> done = plugin::let_service_have_peers(host.root);
  REQUIRE(done.has_value());
  CHECK_FALSE(*done);
  CHECK_FALSE(fs::exists(host.root + "/etc/systemd/system/flowcond.service.d"));
}

TEST_CASE("without systemd or the package there is nothing to do") {
  const char* missing = GENERATE("/run/systemd/system", "/usr/share/docker-flowcon/peers.conf");
  const Host host;
  fs::remove_all(host.root + missing);
  const Result<bool> done = plugin::let_service_have_peers(host.root);
  REQUIRE(done.has_value());
  CHECK_FALSE(*done);
  CHECK(host.calls().empty());
}
