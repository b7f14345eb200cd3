// SPDX-License-Identifier: Apache-2.0
// Peers without a second flowcond and without a network.
// For .cpp files only: it includes Asio.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/peers/peers.h"
#include "ctrl/spawn.h"
#include "tests/cluster/cluster_fakes.h"

namespace flowcon::cluster::test {

/// Hosts that this one reaches or not, and Peers here. The peers' side is an `ssh` of the test's
/// that answers as the files of each host say.
class Hosts {
 public:
  Hosts() {
    folder_ = host.folder_.path();
    const char* path = std::getenv("PATH");
    before_ = path != nullptr ? path : "";
    ::setenv("PATH", (folder_ + ":" + before_).c_str(), 1);
    write("ssh",
          "#!/bin/sh\n"
          "cr=$(printf '\\r')\n"
          "while [ \"$1\" != -- ]; do shift; done\n"
          "while IFS= read -r first; do\n"
          "  length=0\n"
          "  while IFS= read -r line && [ \"$line\" != \"$cr\" ]; do\n"
          "    case $line in [Cc]ontent-[Ll]ength:*) length=${line#*: } ;; esac\n"
          "  done\n"
          "  length=$(printf %s \"${length##*: }\" | tr -d '\\r')\n"
          "  [ \"$length\" = 0 ] || head -c \"$length\" >/dev/null\n"
          "  case $first in *hello*) kind=hello ;; *) kind=state ;; esac\n"
          "  body=$(cat '" +
              folder_ +
              "'/\"$2.$kind\")\n"
              "  printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %s\\r\\n\\r\\n%s' \"${#body}\" "
              "\"$body\"\n"
              "done\n");
    ::chmod((folder_ + "/ssh").c_str(), 0755);
    host.config_.state_dir = folder_ + "/state";
    host.config_.peers.heartbeat = 0.2;
    std::filesystem::create_directories(host.config_.state_dir + "/ssh");
    write("state/ssh/known_hosts",
          "b ssh-ed25519 AAAAb\nb2 ssh-ed25519 AAAAb\nc ssh-ed25519 AAAAc\n");
  }
  ~Hosts() {
    stop();
    ::setenv("PATH", before_.c_str(), 1);
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // What the host behind a name says that it is.
  void says(const std::string& name, const std::string& id) {
    peers::Hello hello;
    hello.version = "0.1.0";
    hello.host = name;
    hello.id = id;
    hello.incarnation = 1;
    write(name + ".hello", peers::render(hello));
    peers::State state;
    state.id = id;
    state.name = name;
    state.incarnation = 1;
    state.sequence = 1;
    write(name + ".state", peers::render(state));
  }

  // flowcond starts, with these peers.
  void start(const std::vector<std::string>& names) {
    stop();
    host.config_.peers.hosts = names;
    here = std::make_unique<peers::Peers>(host, nullptr);
    here->join({{}, {}, {}, {}, moving});
    ctrl::spawn(io, "test", here->begin());
  }
  void stop() {
    if (!here) return;
    here->end();
    io.restart();
    io.run();
    here.reset();
  }

  template <class Condition>
  bool waits_for(Condition condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      io.restart();
      io.run_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
  // As it is seen by the rest of the cluster; one without a name where it is not.
  [[nodiscard]] Neighbour seen(const std::string& name) const {
    for (const Neighbour& one : here->neighbours()) {
      if (one.name == name) return one;
    }
    return {};
  }
  bool reaches(const std::string& name) {
    return waits_for([&] { return seen(name).is_reachable; });
  }
  bool refuses(const std::string& name, const std::string& words) {
    return waits_for([&] { return seen(name).error.find(words) != std::string::npos; });
  }
  // Which host a connection to that id would lead to.
  [[nodiscard]] std::string leads_to(const std::string& id) const {
    const Result<std::vector<std::string>> words = here->dial(id);
    return words ? (*words)[words->size() - 2] : "";
  }
  // What a person asks; the status.
  unsigned ask(const std::string& method, const std::string& path, const std::string& body) {
    ctrl::api::Request request;
    request.method = method;
    request.target = "/v1/peers" + path;
    request.body = body;
    answered = {0, ""};
    const ctrl::api::Routes routes = here->routes();
    auto ask_here = [&]() -> Async<void> {
      answered = co_await ctrl::api::answer(&routes, std::move(request));
    };
    ctrl::spawn(io, "test", ask_here);
    CHECK(waits_for([&] { return answered.status != 0; }));
    return answered.status;
  }
  void add_once_more(const std::string& name) {
    CHECK(ask("POST", "", R"({"host":")" + name + R"("})") == 200);
  }
  // Of an entry of the list of peers; "" = there is none.
  std::string source_of(const std::string& name) {
    CHECK(ask("GET", "", "") == 200);
    const boost::json::value all = *parse_json(answered.body);
    for (const boost::json::value& one : all.at("peers").as_array()) {
      if (one.at("name").as_string() == name) return std::string(one.at("source").as_string());
    }
    return "";
  }

  boost::asio::io_context io{1};
  FakeHost host{io};
  std::unique_ptr<peers::Peers> here;
  std::function<Result<std::vector<std::string>>(const std::string& id)> moving;
  ctrl::api::Response answered;

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  std::string folder_, before_;
};

}  // namespace flowcon::cluster::test
