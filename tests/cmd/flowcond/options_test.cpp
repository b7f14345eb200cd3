// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcond/options.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cmd;

namespace {

struct Files {
  Files() {
    char name[] = "/tmp/flowcon-options-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~Files() { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder + "/" + name).parent_path());
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  std::string folder;
};

Result<Invocation> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "flowcond");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string problem_of(const std::string& text) {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  const auto read = read_config_file(files.write("f.conf", text), config, said_at);
  return read ? std::string() : read.error().message().substr(files.folder.size());
}

}  // namespace

TEST_CASE("a variable that is nearly an option's is told of, and changes nothing") {
  ::setenv("FLOWCON_INTERVALL", "40", 1);
  ::setenv("FLOWCON_limit_mode", "quota", 1);
  ::setenv("FLOWCON_OF_MY_SITE", "x", 1);
  std::FILE* file = std::tmpfile();
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  const auto got = parse({"--beta", "4"});
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::unsetenv("FLOWCON_INTERVALL");
  ::unsetenv("FLOWCON_limit_mode");
  ::unsetenv("FLOWCON_OF_MY_SITE");
  char text[300] = {};
  std::rewind(file);
  (void)!std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  CHECK(got.has_value());
  CHECK(std::string(text) ==
        "flowcond: warning: environment FLOWCON_INTERVALL is not an option; did you mean "
        "FLOWCON_INTERVAL?\n"
        "flowcond: warning: environment FLOWCON_limit_mode is not an option; did you mean "
        "FLOWCON_LIMIT_MODE?\n");
}

TEST_CASE("options come from the file, the environment and the command line, last one wins") {
  const Files files;
  const std::string path =
      files.write("f.conf", "# comment\nalpha = 0.05\n\nbeta=3\ninterval = 30\n");
  ::setenv("FLOWCON_INTERVAL", "40", 1);
  const auto got = parse({"--config", path.c_str(), "--beta", "4"});
  ::unsetenv("FLOWCON_INTERVAL");
  REQUIRE(got.has_value());
  CHECK(got->config.alpha == 0.05);
  CHECK(got->config.interval == 40);
  CHECK(got->config.beta == 4);
  CHECK(got->said_at.at("alpha") == path + ":2");
  CHECK(got->said_at.at("interval") == "environment FLOWCON_INTERVAL");
  CHECK(got->said_at.at("beta") == "command line");
}

TEST_CASE("drop-ins are read after the file, in order of name") {
  const Files files;
  const std::string path = files.write("f.conf", "alpha = 0.05\n");
  files.write("f.conf.d/20.conf", "alpha = 0.07\n");
  files.write("f.conf.d/10.conf", "alpha = 0.06\nbeta = 5\n");
  files.write("f.conf.d/30.conf~", "nonsense\n");
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  REQUIRE(read_config_file(path, config, said_at).has_value());
  CHECK(config.alpha == 0.07);
  CHECK(config.beta == 5);
}

TEST_CASE("a ; within a value belongs to it") {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  const std::string path = files.write("f.conf", "; a comment\nstate-dir = /a;b\n");
  REQUIRE(read_config_file(path, config, said_at).has_value());
  CHECK(config.state_dir == "/a;b");
  CHECK(problem_of("interval = 5; seconds\n").find("\"5; seconds\" is not a number") !=
        std::string::npos);
}

TEST_CASE("drop-ins are read also without the file") {
  const Files files;
  files.write("f.conf.d/10.conf", "beta = 5\n");
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  REQUIRE(read_config_file(files.folder + "/f.conf", config, said_at).has_value());
  CHECK(config.beta == 5);
}

TEST_CASE("peers may be said again and again, in every place, and add up") {
  const Files files;
  const std::string path = files.write("f.conf", "peer = h2\npeer = ada@h3:2222\npeer = h2\n");
  files.write("f.conf.d/10.conf", "peer = h4\n");
  const auto got = parse({"--config", path.c_str(), "--peer", "h5", "--peer", "h6,h7"});
  REQUIRE(got.has_value());
  CHECK(got->config.peers.hosts ==
        std::vector<std::string>{"h2", "ada@h3:2222", "h4", "h5", "h6", "h7"});
  CHECK(problem_of("peer = -oProxyCommand=x\n").find(":1: peer: \"-oProxyCommand") !=
        std::string::npos);
  CHECK(parse({"--peer", "a;b"}).has_value() == false);
}

TEST_CASE("the peer socket stands beside the socket unless it is said") {
  CHECK(parse({})->config.peer_socket_path() == "/run/flowcon/peer.sock");
  CHECK(parse({"--socket", "/tmp/x/f.sock"})->config.peer_socket_path() == "/tmp/x/peer.sock");
  CHECK(parse({"--peer-socket", "/tmp/p"})->config.peer_socket_path() == "/tmp/p");
}

TEST_CASE("the section [accept] says what peers may bring") {
  std::map<std::string, std::string> said_at;
  ctrl::Config config;
  const Files folder;
  const std::string file =
      folder.write("f.conf",
                   "alpha = 0.1\n[accept]\nprivileged = true\nmounts = /srv, /data\n"
                   "devices = /dev/fuse gpu\ncapabilities = SYS_PTRACE\n");
  REQUIRE(read_config_file(file, config, said_at).has_value());
  CHECK(config.accept.privileged);
  CHECK_FALSE(config.accept.host_namespaces);
  CHECK(config.accept.mounts == std::vector<std::string>{"/srv", "/data"});
  CHECK(config.accept.devices == std::vector<std::string>{"/dev/fuse", "gpu"});
  CHECK(config.accept.capabilities == std::vector<std::string>{"SYS_PTRACE"});
  CHECK_FALSE(config.accept.criu);
  CHECK(parse({"--accept-criu", "on"})->config.accept.criu);
  CHECK(problem_of("[accept]\nmounts = srv\n").find("not an absolute path") != std::string::npos);
  CHECK(problem_of("[accept]\nmounts = /srv/../etc\n").find("not an absolute path") !=
        std::string::npos);
  CHECK(problem_of("[accept]\nall = true\n").find("there is no option") != std::string::npos);
  CHECK(problem_of("[accept]\ngroup-network = train\n") ==
        "/f.conf:2: group-network is not of the section [accept]; write it above that");
}

TEST_CASE("a mistake in a file has its line and what to do") {
  CHECK(problem_of("alpha = 0.1\nintervall = 5\n") ==
        "/f.conf:2: there is no option intervall; did you mean interval?");
  CHECK(problem_of("alpha = fast\n") ==
        "/f.conf:1: alpha: \"fast\" is not a number from 0 to 1000000");
  CHECK(problem_of("limit-mode = shares\n") ==
        "/f.conf:1: limit-mode: \"shares\" is not one of weight|quota");
  CHECK(problem_of("alpha\n") == "/f.conf:1: \"alpha\" is not of the form option = value");
  CHECK(problem_of("[growth]\n").find("the only section") != std::string::npos);
  CHECK(problem_of("alpha = 1\nalpha = 2\n").find("is set already at") != std::string::npos);
  CHECK(problem_of("socket = relative/path\n").find("not an absolute path") != std::string::npos);
  CHECK(problem_of("socket = /" + std::string(200, 'x') + "\n").find("longer than 107 bytes") !=
        std::string::npos);
  CHECK(problem_of(std::string(5000, 'x') + "\n").find("longer than 4096") != std::string::npos);
}

TEST_CASE("hooks and the port of the metrics are checked where they are set") {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  const std::string file =
      files.write("f.conf",
                  "hook = /usr/bin/tell  --topic a;b\nwebhook = https://chat.example/x?key=1&y=2\n"
                  "hook-events = nan,failure\nhook-interval = 0\nmetrics-listen = [::1]:9469\n");
  REQUIRE(read_config_file(file, config, said_at).has_value());
  CHECK(config.hooks.program == "/usr/bin/tell  --topic a;b");
  CHECK(config.hooks.url == "https://chat.example/x?key=1&y=2");
  CHECK(config.hooks.events ==
        std::set<ctrl::EventKind>{ctrl::EventKind::nan, ctrl::EventKind::failure});
  CHECK(config.metrics_listen == "[::1]:9469");
  CHECK(problem_of("hook = tell me\n").find("absolute path") != std::string::npos);
  CHECK(problem_of("webhook = file:///etc/passwd\n").find("http://") != std::string::npos);
  CHECK(problem_of("hook-events = nan,nan\n") == "/f.conf:1: hook-events: \"nan\" is there twice");
  CHECK(
      problem_of("hook-events = nan,all\n") ==
      "/f.conf:1: hook-events: \"all\" is not one of converged, diverging, nan, migrated, revert, "
      "failure, job-waits, job-started, job-parked, job-ended");
  CHECK(problem_of("metrics-listen = 0.0.0.0:9469\n").find("loopback") != std::string::npos);
}

TEST_CASE("a list of resources is a set, shown in one order") {
  const auto got = parse({"--resources", "io, cpu"});
  REQUIRE(got.has_value());
  CHECK(got->config.limits(ctrl::Resource::cpu));
  CHECK_FALSE(got->config.limits(ctrl::Resource::memory));
  CHECK(ctrl::find_option("resources")->show(got->config) == "cpu,io");
  CHECK(problem_of("resources = cpu,gpu\n") ==
        "/f.conf:1: resources: \"gpu\" is not one of cpu, memory, io");
  CHECK(problem_of("resources =\n") ==
        "/f.conf:1: resources: it needs at least one of cpu, memory, io");
}

TEST_CASE("a reload copies each option that needs no restart, and a list as a whole") {
  const auto from = parse({"--peer", "h2", "--max-moves", "7", "--accept-mounts", "/srv"});
  REQUIRE(from.has_value());
  ctrl::Config to;
  to.peers.hosts = {"h1"};
  for (const ctrl::Option& option : ctrl::options()) option.copy(to, from->config);
  CHECK(to.peers.hosts == std::vector<std::string>{"h2"});
  CHECK(to.balance.max_moves == 7);
  CHECK(to.accept.mounts == std::vector<std::string>{"/srv"});
}

TEST_CASE("who says what moves between hosts, and how often") {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  CHECK(config.balance.policy == "specon");
  const std::string file = files.write("f.conf", "cluster-policy = balance\nmax-moves = 0\n");
  REQUIRE(read_config_file(file, config, said_at).has_value());
  CHECK(config.balance.policy == "balance");
  CHECK(config.balance.max_moves == 0);
  CHECK(problem_of("cluster-policy = fair\n").find("not one of specon|balance") !=
        std::string::npos);
  CHECK(problem_of("max-moves = 1.5\n").find("not a whole number") != std::string::npos);
  CHECK(problem_of("max-moves = 101\n").find("from 0 to 100") != std::string::npos);
}

TEST_CASE("what jobs of the queue get is said as auto, none or amounts, and shown as it is read") {
  const auto offer_of = [](const std::string& text) {
    ctrl::Config config;
    const ctrl::Option* offer = ctrl::find_option("offer");
    REQUIRE(offer->apply(config, text).has_value());
    ctrl::Config again;
    REQUIRE(offer->apply(again, offer->show(config)).has_value());
    CHECK(offer->show(again) == offer->show(config));
    return config.queue.offer;
  };
  const ctrl::Offer automatic = offer_of("auto");
  CHECK((!automatic.is_none && !automatic.cpu && !automatic.mem));
  CHECK(offer_of("none").is_none);
  CHECK((automatic.gpus_of(2) == 2 && offer_of("none").gpus_of(2) == 0));
  CHECK(offer_of("cpu=6 gpu=1").gpus_of(2) == 1);
  CHECK(offer_of("gpu=4").gpus_of(2) == 2);
  CHECK(offer_of("gpu=0").gpus_of(2) == 0);
  CHECK(offer_of("cpu=6 gpu=all").gpus_of(2) == 2);
  CHECK(problem_of("offer = gpu=0.5\n").find("offers a part of a GPU") != std::string::npos);
  const ctrl::Offer both = offer_of("cpu=6 mem=20G");
  CHECK(both.gpus_of(2) == 2);
  CHECK((!both.is_none && both.cpu == 6 && both.mem == 20.0 * (1ULL << 30)));
  CHECK_FALSE(offer_of("cpu=0.5").mem);
  CHECK(problem_of("offer = all\n") ==
        "/f.conf:1: offer: neither auto nor none: \"all\" is not one of cpu=CORES, mem=BYTES and "
        "gpu=GPUS, such as cpu=2,mem=3G");
}

TEST_CASE("options of the queue have their defaults, their bounds and their names") {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  CHECK((config.queue.policy == "left" && config.queue.starve_limit == 1800 && config.queue.park));
  const std::string file = files.write("f.conf",
                                       "offer = cpu=2, mem=1G\nqueue-policy = kod2\nstarve-limit = "
                                       "60\npark = off\nestimate-share = off\n");
  REQUIRE(read_config_file(file, config, said_at).has_value());
  CHECK((config.queue.offer.cpu == 2 && config.queue.policy == "kod2"));
  CHECK((config.queue.starve_limit == 60 && !config.queue.park && !config.queue.estimate_share));
  CHECK(problem_of("queue-policy = best\n").find("not one of left|kod2|fifo") != std::string::npos);
  CHECK(problem_of("starve-limit = 0\n").find("is not a number from 1 to") != std::string::npos);
  CHECK(problem_of("park = maybe\n").find("not one of on|off") != std::string::npos);
  ctrl::Config reloaded;
  for (const char* name : {"offer", "queue-policy", "starve-limit", "park", "estimate-share"}) {
    const ctrl::Option* option = ctrl::find_option(name);
    CHECK_FALSE(option->needs_restart);
    option->copy(reloaded, config);
    CHECK(option->show(reloaded) == option->show(config));
  }
}

TEST_CASE("options of networks for several hosts are checked") {
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  const std::string file = files.write(
      "f.conf", "group-network = train\nadvertise = 2001:db8::7\ngroup-ports = 4000-4001\n");
  REQUIRE(read_config_file(file, config, said_at).has_value());
  CHECK(config.queue.group_network == "train");
  CHECK(config.queue.advertise == "2001:db8::7");
  CHECK(config.queue.group_ports == ctrl::PortRange{4000, 4001});
  CHECK(ctrl::find_option("group-ports")->show(config) == "4000-4001");
  for (const char* word : {"host", "ports", "auto", "none"}) {
    CHECK(problem_of(std::string("group-network = ") + word + "\n").empty());
  }
  for (const char* name : {"bridge", "a b", "-x", "../x"}) {
    INFO(name);
    CHECK(problem_of(std::string("group-network = ") + name + "\n").find("no name of an overlay") !=
          std::string::npos);
  }
  for (const char* address : {"gpu1", "0.0.0.0", "fe80::1%eth0", "192.0.2.7:80"}) {
    INFO(address);
    CHECK(problem_of(std::string("advertise = ") + address + "\n").find("is no address") !=
          std::string::npos);
  }
  for (const char* range : {"29500", "80-90", "3000-2000", "4000-70000", "4000-", "a-b"}) {
    INFO(range);
    CHECK(problem_of(std::string("group-ports = ") + range + "\n").find("is no range of ports") !=
          std::string::npos);
  }
}

TEST_CASE("no host offers more cores than its containers can use") {
  CHECK(parse({"--cores", "4", "--offer", "cpu=4"}).has_value());
  CHECK(parse({"--offer", "cpu=400"}).has_value());
  const auto got = parse({"--cores", "4", "--offer", "cpu=6"});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message() ==
        "offer = cpu=6 (command line) is more than cores = 4 (command line): lower the first or "
        "raise the second");
}

TEST_CASE("a file that is not there is an error with its name") {
  const auto got = parse({"--config", "/nonexistent/f.conf"});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message().find("/nonexistent/f.conf") != std::string::npos);
}

TEST_CASE("a contradiction names both places") {
  const auto got = parse({"--interval", "100", "--interval-max", "50"});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message() ==
        "interval-max = 50 (command line) is shorter than interval = 100 (command line): raise the "
        "first or lower the second");
}

TEST_CASE("an unknown flag fails with a suggestion and where help is") {
  const auto got = parse({"--intervall=3"});
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message().find("did you mean interval?") != std::string::npos);
  CHECK(got.error().message().find("flowcond --help") != std::string::npos);
  CHECK_FALSE(parse({"stray"}).has_value());
}

TEST_CASE("dry-run may be given as a bare flag or with a value") {
  CHECK(parse({"--dry-run"})->config.dry_run);
  CHECK(parse({"--dry-run=true"})->config.dry_run);
  CHECK(parse({"--dry-run", "--interval=5"})->config.dry_run);
  CHECK(parse({"--dry-run=on"})->config.dry_run);
  CHECK_FALSE(parse({"--dry-run="}).has_value());
  CHECK_FALSE(parse({"--dry-run", ""}).has_value());
  CHECK_FALSE(parse({"--dry-run=false"})->config.dry_run);
  CHECK_FALSE(parse({"--dry-run=off"})->config.dry_run);
}

TEST_CASE("of a configuration with mistakes the rest is read, unless it is only checked") {
  const Files files;
  const std::string file =
      files.write("f.conf", "intervall = 5\nstate-dir = /srv/a\nbeta = many\nobserve = 7\n");
  files.write("f.conf.d/50.conf", "no option\nstate-dir = /srv/b\n");
  const auto readable = [&](const char* last) {
    const char* words[] = {"flowcond", "--config", file.c_str(), last};
    std::optional<ctrl::Config> rest;
    CHECK_FALSE(parse_command_line(4, words, &rest).has_value());
    return rest;
  };
  const auto run = readable("--alpha=0.2");
  REQUIRE(run.has_value());
  CHECK(run->state_dir == "/srv/b");
  CHECK(run->observe == 7);
  CHECK(run->alpha == 0.2);
  CHECK(run->beta == ctrl::Config().beta);
  CHECK(readable("--state-dir=/srv/c")->state_dir == "/srv/c");
  for (const char* only : {"--check-config", "--print-config", "--alpha"}) {
    INFO(only);
    CHECK_FALSE(readable(only).has_value());
  }
  const char* contradiction[] = {"flowcond", "--interval=30", "--interval-max=20"};
  std::optional<ctrl::Config> rest;
  CHECK_FALSE(parse_command_line(3, contradiction, &rest).has_value());
  CHECK(rest.has_value());
}

TEST_CASE("beside an unknown flag all else is read, unless it is only checked") {
  const Files files;
  const std::string file = files.write("f.conf", "state-dir = /srv/a\nobserve = 7\n");
  for (const char* stray : {"--stray", "--stray=1", "stray"}) {
    INFO(stray);
    const auto readable = [&](const char* last) {
      const char* words[] = {"flowcond", stray, "--config", file.c_str(), last};
      std::optional<ctrl::Config> rest;
      const auto got = parse_command_line(5, words, &rest);
      REQUIRE_FALSE(got.has_value());
      CHECK(got.error().message().find("stray") != std::string::npos);
      return rest;
    };
    const auto run = readable("--observe=8");
    REQUIRE(run.has_value());
    CHECK(run->state_dir == "/srv/a");
    CHECK(run->observe == 8);
    CHECK_FALSE(readable("--check-config").has_value());
  }
}

TEST_CASE("every option's default is accepted by the option itself") {
  for (const ctrl::Option& option : ctrl::options()) {
    ctrl::Config config;
    CHECK(option.apply(config, option.default_text).has_value());
    CHECK(option.show(config) == option.default_text);
  }
}

TEST_CASE("what print-config shows can be read again") {
  auto shown = parse({"--alpha", "0.2", "--limit-mode", "quota"});
  REQUIRE(shown.has_value());
  const Files files;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  REQUIRE(
      read_config_file(files.write("f.conf", render_config(*shown)), config, said_at).has_value());
  CHECK(config.alpha == 0.2);
  CHECK(config.limiting.mode == cgroups::LimitMode::quota);
}
