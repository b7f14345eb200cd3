// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/doctor.h"

#include <sys/stat.h>

#include <fstream>

#include "base/json.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

const char* const kAbilities =
    R"({"abilities":[{"name":"cpu","found":true,"detail":"cpu.shares","advice":""},
   {"name":"cpu quota","found":false,"detail":"no cpu.cfs_quota_us","advice":"use another kernel"},
   {"name":"io weight","found":false,"detail":"sda has no bfq\u001b[2J scheduler",
    "advice":"echo bfq > /sys/block/sda/queue/scheduler"}]})";

class DoctorFixture {
 public:
  DoctorFixture() {
    fake.answer("GET /v1/version", 200, R"({"version":")" FLOWCON_VERSION R"(","api":1})");
    fake.answer("GET /v1/doctor", 200, kAbilities);
    set_engine(true);
  }

  void set_engine(bool reachable) {
    fake.answer("GET /v1/status", 200,
                reachable ? R"({"engine":{"reachable":true,"version":"20.10.24","api":"1.41"}})"
                          : R"({"engine":{"reachable":false,"error":"connection refused"}})");
  }

  Outcome run(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "doctor"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(DoctorFixture, "doctor lists each ability, why, and below it what to do") {
  const Outcome outcome = run();
  const std::string from_flowcond = outcome.out.substr(outcome.out.find("versions"));

  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("ABILITY     FOUND     DETAIL\nsocket      yes       " + folder.path() +
                         "/s, 0755 ") == 0);
  CHECK(outcome.out.find("\nflowcond    yes       answers at unix://" + folder.path() + "/s\n") !=
        std::string::npos);
  CHECK(from_flowcond == "versions    yes       plugin " FLOWCON_VERSION
                         ", flowcond " FLOWCON_VERSION
                         "\n"
                         "cpu         yes       cpu.shares\n"
                         "cpu quota   no        no cpu.cfs_quota_us\n"
                         "  to do: use another kernel\n"
                         "io weight   no        sda has no bfq\xEF\xBF\xBD[2J scheduler\n"
                         "  to do: echo bfq > /sys/block/sda/queue/scheduler\n"
                         "engine      yes       Docker 20.10.24, API 1.41\n"
                         "\n"
                         "Nothing essential is missing.\n");
}

TEST_CASE_METHOD(DoctorFixture,
                 "what the host gives to jobs of the queue is told, or why nothing") {
  fake.answer("GET /v1/queue", 200, R"({"offer":{"cpu":7.5,"mem":21474836480}})");
  CHECK(run().out.find("\nqueue       yes       this host gives 7.5 cores and 20GiB to jobs\n") !=
        std::string::npos);
  fake.answer("GET /v1/queue", 200, R"({"offer":{"cpu":7.5,"mem":21474836480,"gpu":2}})");
  CHECK(run().out.find("gives 7.5 cores, 20GiB and 2 GPUs to jobs\n") != std::string::npos);
  fake.answer("GET /v1/queue", 200, R"({"offer":{"cpu":0,"mem":0}})");
  const Outcome none = run();
  CHECK(none.status == 0);
  CHECK(none.out.find("queue       no        this host gives nothing to jobs\n"
                      "  to do: offer = auto in flowcon.conf, if it should\n") !=
        std::string::npos);
  fake.answer("GET /v1/queue", 503, R"({"error":"its journal cannot be read\u001b[2J"})");
  CHECK(run().out.find("queue       not checked   its journal cannot be read\xEF\xBF\xBD[2J\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(DoctorFixture,
                 "whether jobs of several containers can span hosts is told, or why not") {
  const auto told = [this](const std::string& groups) {
    fake.answer("GET /v1/queue", 200, R"({"offer":{"cpu":2,"mem":1},"groups":)" + groups + "}");
    return run().out;
  };
  CHECK(told(R"({"network":"auto","why":""})")
            .find("\ngroups      yes       group-network = auto\n") != std::string::npos);
  const std::string lacks = told(R"({"network":"ports","why":"it needs\u001b[2J advertise"})");
  CHECK(lacks.find(
            "\ngroups      no        group-network = ports: it needs\xEF\xBF\xBD[2J advertise\n"
            "  to do: flowcon.conf(5), group-network, if jobs should span hosts\n") !=
        std::string::npos);
  CHECK(told("null").find("groups") == std::string::npos);
}

TEST_CASE_METHOD(DoctorFixture, "json has the same and the names of what is missing") {
  fake.answer("GET /v1/version", 200, R"({"version":"0.0.9","api":1})");

  const Outcome outcome = run({"--format", "json"});
  const auto read = parse_json(outcome.out);

  CHECK(outcome.status == 0);
  REQUIRE(read.has_value());
  CHECK(outcome.out.find("{\"plugin\":\"" FLOWCON_VERSION
                         "\",\"flowcond\":\"0.0.9\",\"missing\":[],\"abilities\":[{\"name\":"
                         "\"socket\",\"found\":true,") == 0);
  CHECK(outcome.out.find(R"({"name":"versions","found":false,"detail":"plugin )" FLOWCON_VERSION
                         R"(, flowcond 0.0.9","advice":"install the same version of both, then: )"
                         R"(systemctl restart flowcond"})") != std::string::npos);
}

TEST_CASE_METHOD(DoctorFixture, "CPU limits and the engine are essential") {
  struct Row {
    std::string abilities;
    bool has_engine;
    int status;
    std::string last_line;
  };
  const std::string weight = R"({"abilities":[{"name":"cpu","found":true}]})";
  const std::string quota = R"({"abilities":[{"name":"cpu quota","found":true}]})";
  const std::vector<Row> rows{
      {weight, true, 0, "Nothing essential is missing.\n"},
      {quota, true, 0, "Nothing essential is missing.\n"},
      {quota, false, 1, "Missing, but essential: the engine.\n"},
      {R"({"abilities":[{"name":"cpu","found":"yes"},7]})", true, 1,
       "Missing, but essential: CPU limits.\n"},
      {"{}", false, 1, "Missing, but essential: CPU limits and the engine.\n"},
  };
  for (const Row& row : rows) {
    fake.answer("GET /v1/doctor", 200, row.abilities);
    set_engine(row.has_engine);

    const Outcome outcome = run();

    CHECK(outcome.status == row.status);
    CHECK(outcome.out.substr(outcome.out.rfind('\n', outcome.out.size() - 2) + 1) == row.last_line);
  }
}

TEST_CASE_METHOD(DoctorFixture, "flowcond's own word on the engine counts where it has one") {
  fake.answer("GET /v1/doctor", 200,
              R"({"abilities":[{"name":"cpu","found":true},{"name":"engine","found":true}]})");
  set_engine(false);

  CHECK(run().status == 0);
}

TEST_CASE_METHOD(DoctorFixture, "an engine that listens and does not answer flowcond hangs") {
  const test::FakeDaemon engine(folder.path() + "/docker.sock");
  set_engine(false);
  const auto run_with = [&](const std::string& name) {
    return run_words({"flowcon", "--socket", folder.path() + "/s", "doctor"},
                     {{"DOCKER_HOST", "unix://" + folder.path() + name}})
        .out;
  };

  CHECK(
      run_with("/docker.sock")
          .find("it listens, but hangs: connection refused\n  to do: systemctl restart docker\n") !=
      std::string::npos);
  CHECK(run_with("/none.sock").find("  connection refused\n  to do: systemctl start docker\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(DoctorFixture, "what nobody could look at is not checked, rather than missing") {
  fake.answer("GET /v1/doctor", 500, R"({"error":"later"})");
  const auto run_as = [&](const std::string& format) {
    return run_words({"flowcon", "--socket", folder.path() + "/s", "doctor", "--format", format},
                     {{"DOCKER_HOST", "tcp://10.0.0.1:2375"}});
  };
  fake.answer("GET /v1/status", 500, R"({"error":"later"})");

  const Outcome outcome = run_as("table");

  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("abilities   not checked   ") != std::string::npos);
  CHECK(outcome.out.find("engine      not checked   ") != std::string::npos);
  CHECK(outcome.out.find("\nNot checked: CPU limits and the engine.\n") != std::string::npos);
  CHECK(run_as("json").out.find(R"({"name":"abilities","found":null,)") != std::string::npos);
}

TEST_CASE_METHOD(DoctorFixture, "what flowcond could not look at is not checked either") {
  fake.answer("GET /v1/doctor", 200,
              R"({"abilities":[{"name":"cpu","found":null,"detail":"no group"},)"
              R"({"name":"cpu quota","found":false},{"name":"engine","found":null}]})");

  const Outcome outcome = run();

  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("\ncpu         not checked   no group\n") != std::string::npos);
  CHECK(outcome.out.find("\nNot checked: CPU limits and the engine.\n") != std::string::npos);
  CHECK(outcome.out.find("Missing") == std::string::npos);
}

TEST_CASE("a flowcond that cannot be asked is not checked") {
  const Outcome outcome = run_words({"flowcon", "--socket", "/" + std::string(120, 'x'), "doctor"},
                                    {{"DOCKER_HOST", "tcp://10.0.0.1:2375"}});

  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("\nflowcond   not checked   ") != std::string::npos);
}

TEST_CASE("without flowcond doctor says what the plugin sees itself") {
  const test::TempFolder folder;
  const test::FakeDaemon engine(folder.path() + "/docker.sock");
  std::ofstream(folder.path() + "/file") << "x";
  const auto run = [&](const std::string& socket, const std::string& host) {
    return run_words({"flowcon", "--socket", folder.path() + socket, "doctor"},
                     {{"DOCKER_HOST", host}});
  };

  const Outcome with_engine = run("/s", "unix://" + folder.path() + "/docker.sock");
  const Outcome without = run("/s", "unix://" + folder.path() + "/none.sock");
  const Outcome file = run("/file", "tcp://10.0.0.1:2375\033");

  CHECK(with_engine.status == 1);
  CHECK(with_engine.out.find("engine     yes       unix://" + folder.path() +
                             "/docker.sock answers\n") != std::string::npos);
  CHECK(with_engine.out.find("Start it with: systemctl start flowcond") != std::string::npos);
  CHECK(with_engine.out.find("Not checked, because flowcond does not answer: CPU limits.\n") !=
        std::string::npos);
  CHECK(without.out.find("/none.sock: nothing listens there\n  to do: systemctl start docker\n") !=
        std::string::npos);
  CHECK(file.out.find("/file, 0644 ") != std::string::npos);
  CHECK(file.out.find(", which is no socket\n") != std::string::npos);
  CHECK(file.out.find("is not checked from here\n") != std::string::npos);
  CHECK(file.out.find('\033') == std::string::npos);
}

TEST_CASE("doctor about a docker on another host says where to ask") {
  const Outcome outcome = run_words({"-H", "ssh://gpu2", "flowcon", "doctor"});

  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("ssh ssh://gpu2 docker flowcon doctor") != std::string::npos);
}

}  // namespace
}  // namespace flowcon::plugin
