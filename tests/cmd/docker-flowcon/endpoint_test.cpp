// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/endpoint.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

// A docker configuration with the contexts gpu2 (ssh), near (unix) and broken (not JSON).
class ConfigFolder {
 public:
  ConfigFolder() {
    write("contexts/meta/aa/meta.json",
          R"({"Name":"gpu2","Endpoints":{"docker":{"Host":"ssh://me@gpu2:22/x"}}})");
    write("contexts/meta/bb/meta.json",
          R"({"Name":"near","Endpoints":{"docker":{"Host":"unix:///run/near.sock"}}})");
    write("contexts/meta/cc/meta.json", "{broken");
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  test::TempFolder folder_;
};

TEST_CASE("an engine on this host has a socket, another has none") {
  CHECK(Endpoint{"default", ""}.socket() == "/var/run/docker.sock");
  CHECK(Endpoint{"near", "unix:///run/near.sock"}.socket() == "/run/near.sock");
  CHECK(Endpoint{"near", "/run/near.sock"}.socket() == "/run/near.sock");
  for (const char* host : {"ssh://gpu2", "tcp://127.0.0.1:2375", "fd://", "unix://near.sock"}) {
    CHECK(Endpoint{"other", host}.socket().empty());
  }
}

TEST_CASE("the engine is chosen in docker's own order") {
  const ConfigFolder config;
  const Environment plain{{"DOCKER_CONFIG", config.path()}};
  Environment with_host = plain;
  with_host["DOCKER_HOST"] = "tcp://h:2375";
  with_host["DOCKER_CONTEXT"] = "near";
  Environment with_context = plain;
  with_context["DOCKER_CONTEXT"] = "gpu2";
  Invocation none;
  Invocation by_context;
  by_context.context = "near";
  Invocation by_host;
  by_host.hosts = {"unix:///h.sock"};
  Invocation by_default;
  by_default.context = "default";

  CHECK(find_endpoint(none, plain)->host.empty());
  CHECK(find_endpoint(by_context, with_host)->host == "unix:///run/near.sock");
  CHECK(find_endpoint(by_host, with_host)->host == "unix:///h.sock");
  CHECK(find_endpoint(none, with_host)->host == "tcp://h:2375");
  CHECK(find_endpoint(none, with_context)->context == "gpu2");
  CHECK(find_endpoint(by_default, with_host)->host == "tcp://h:2375");
  config.write("config.json", R"({"currentContext":"near"})");
  CHECK(find_endpoint(none, plain)->context == "near");
  CHECK(find_endpoint(none, with_context)->context == "gpu2");
}

TEST_CASE("--config names the configuration's folder before the environment does") {
  const ConfigFolder config;
  Invocation invocation;
  invocation.config_folder = config.path();
  invocation.context = "gpu2";

  CHECK(find_endpoint(invocation, {{"DOCKER_CONFIG", "/nowhere"}})->host == "ssh://me@gpu2:22/x");
}

TEST_CASE("contradictory and unknown choices are errors in docker's words") {
  const ConfigFolder config;
  const Environment environment{{"DOCKER_CONFIG", config.path()}};
  Invocation twice;
  twice.hosts = {"a", "b"};
  Invocation both;
  both.hosts = {"a"};
  both.context = "near";
  Invocation unknown;
  unknown.context = "nope";

  CHECK(find_endpoint(twice, environment).error().message() == "specify only one -H");
  CHECK(find_endpoint(both, environment).error().message() ==
        "conflicting options: cannot specify both --host and --context");
  CHECK(find_endpoint(unknown, environment).error().message() ==
        "context \"nope\": context not found in " + config.path());
}

TEST_CASE("only a socket on this host is local") {
  CHECK_FALSE(Endpoint{"default", ""}.is_remote());
  CHECK_FALSE(Endpoint{"default", "unix:///var/run/docker.sock"}.is_remote());
  CHECK(Endpoint{"default", "tcp://127.0.0.1:2375"}.is_remote());
  CHECK(Endpoint{"default", "ssh://gpu2"}.is_remote());
}

TEST_CASE("the hint for another host is a command to type") {
  CHECK(remote_hint({"gpu2", "ssh://me@gpu2:22/x"}, "status") ==
        "context \"gpu2\" is ssh://me@gpu2:22/x, and this command asks flowcond on this host only. "
        "Ask the flowcond there: ssh ssh://me@gpu2:22 docker flowcon status. To ask the one on "
        "this host, add --socket PATH");
  CHECK(remote_hint({"default", "tcp://h:2376"}, "adopt") ==
        "docker talks to tcp://h:2376, and this command asks flowcond on this host only. Ask the "
        "flowcond there: docker flowcon adopt (after logging in there). To ask the one on this "
        "host, add --socket PATH");
}

}  // namespace
}  // namespace flowcon::plugin
