// SPDX-License-Identifier: Apache-2.0
// Whose word counts for whom, where a peer says that it is another one. The peers' side is an `ssh`
// of the test's that answers as the files of each host say.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cluster/peers/peers.h"
#include "tests/cluster/cluster_fakes.h"

namespace flowcon::cluster {
namespace {

using namespace test;
using peers::Peers;

const std::string kB = host_id('b'), kC = host_id('c');

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
    host.config_.peer_heartbeat = 0.2;
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
    host.config_.peers = names;
    here = std::make_unique<Peers>(host, nullptr);
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
  void add_once_more(const std::string& name) {
    ctrl::api::Call call;
    call.verb = "POST peers";
    ctrl::api::Request request;
    request.body = R"({"host":")" + name + R"("})";
    unsigned status = 0;
    auto ask = [&]() -> ctrl::Async<void> {
      const ctrl::api::Response response =
          co_await here->answer(std::move(call), std::move(request));
      status = response.status;
    };
    ctrl::spawn(io, "test", ask);
    CHECK(waits_for([&] { return status == 200; }));
  }

  boost::asio::io_context io{1};
  FakeHost host{io};
  std::unique_ptr<Peers> here;

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  std::string folder_, before_;
};

TEST_CASE("a peer that says it is another one speaks for nobody, whoever is reached first") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.says("c", kC);
  hosts.start({"b", "c"});
  REQUIRE(hosts.reaches("b"));
  REQUIRE(hosts.reaches("c"));
  hosts.says("c", kB);
  // b cannot be reached when flowcond starts again, and is behind c in the list.
  hosts.says("b", "no id");
  hosts.start({"c", "b"});
  REQUIRE(hosts.refuses("c", "docker flowcon peer rm c, then peer add"));
  CHECK(hosts.seen("c").id.empty());
  CHECK(hosts.here->known_name("c") == "c");
  CHECK(hosts.leads_to(kB).empty());
  hosts.says("b", kB);
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.leads_to(kB) == "b");
  CHECK(hosts.here->known_name("b") == "b");
  CHECK(hosts.here->known_name("c") == "c");
}

TEST_CASE("a new peer that says it is another one is refused") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  hosts.says("c", kB);
  hosts.start({"c", "b"});
  REQUIRE(hosts.refuses("c", "c says that it is b, and has another host key"));
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.here->known_name("c") == "c");
  CHECK(hosts.leads_to(kB) == "b");
}

TEST_CASE("a host under a second name is used once, and speaks under both") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.says("b2", kB);
  // The first of two names is the one that was reached first.
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  hosts.start({"b", "b2"});
  REQUIRE(hosts.reaches("b"));
  REQUIRE(hosts.waits_for([&] { return hosts.seen("b2").name.empty(); }));
  CHECK(hosts.here->known_name("b2") == "b");
  CHECK(hosts.here->known_name("b") == "b");
  CHECK(hosts.leads_to(kB) == "b");
}

TEST_CASE("a host with a new state is refused until it is added once more") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  const std::string fresh = host_id('d');
  hosts.says("b", fresh);
  hosts.start({"b"});
  REQUIRE(hosts.refuses("b", "b has another id than before"));
  CHECK(hosts.leads_to(fresh).empty());
  hosts.add_once_more("b");
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.leads_to(fresh) == "b");
  hosts.start({"b"});
  CHECK(hosts.reaches("b"));
}

}  // namespace
}  // namespace flowcon::cluster
