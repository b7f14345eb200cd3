// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/submit.h"

#include <algorithm>

#include "cmd/docker-flowcon/queue/refusal.h"
#include "cmd/docker-flowcon/queue/values.h"
#include "tests/cmd/docker-flowcon/docker_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

const std::string kId(64, 'a');

class SubmitFixture {
 public:
  Outcome run(Words words) const {
    words.insert(words.begin(), {"flowcon", "submit"});
    return run_in_child(words, {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                {"FLOWCON_SOCKET", docker.folder() + "/s"},
                                {"PATH", "/usr/bin:/bin"}});
  }
  // What docker got, on one line.
  [[nodiscard]] std::string words() const {
    std::string text = docker.words();
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    return text;
  }

  FakeDocker docker{0, kId + "\n"};
};

TEST_CASE_METHOD(SubmitFixture, "submit is docker create with the labels of run and of the queue") {
  const test::FakeDaemon daemon(docker.folder() + "/s");

  const Outcome plain = run({"image", "python3", "vae.py"});
  CHECK(plain.status == 0);
  CHECK(plain.out == kId + "\n");
  CHECK(plain.err == "It starts when there is room; watch it with: docker flowcon queue\n");
  CHECK(words() ==
        "<create><--label><flowcon.enable=true><--label><flowcon.queue=true>"
        "<--env=PYTHONUNBUFFERED=1><image><python3><vae.py>");

  const Outcome full = run({"--name", "vae", "--request", "cpu=2,mem=3G", "-e", "A=1", "--metric",
                            "loss", "--hold", "--priority=2", "--retries", "3", "image"});
  CHECK(full.err == "It waits until you release it with: docker flowcon queue release vae\n");
  CHECK(words() ==
        "<create><--label><flowcon.enable=true><--label><flowcon.metric=loss>"
        "<--label><flowcon.queue=hold><--label><flowcon.request=cpu=2,mem=3G>"
        "<--label><flowcon.priority=2><--label><flowcon.retries=3>"
        "<--env=PYTHONUNBUFFERED=1><--name><vae><-e><A=1><image>");
  CHECK(docker.all_words().find(" enable metric queue request priority retries>") !=
        std::string::npos);

  run({"--workers", "4", "--ps", "1", "--ps-request", "cpu=0.5", "image"});
  CHECK(words().find("<--label><flowcon.workers=4><--label><flowcon.ps=1>"
                     "<--label><flowcon.ps-request=cpu=0.5>") != std::string::npos);
  CHECK(run({"--workers", "0", "image"})
            .err.find("a number of workers from 1 to 192, or two such as 2:6") !=
        std::string::npos);
}

TEST_CASE_METHOD(SubmitFixture, "docker's failure is its status, and nothing is said of a queue") {
  const FakeDocker failing(125);
  const Outcome outcome = run_in_child(
      {"flowcon", "submit", "image"},
      {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", failing.path()}, {"PATH", "/usr/bin:/bin"}});

  CHECK(outcome.status == 125);
  CHECK(outcome.err.empty());
}

TEST_CASE_METHOD(SubmitFixture, "without flowcond the job is created, and waits for it") {
  const Outcome outcome = run({"image"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out == kId + "\n");
  CHECK(outcome.err == "flowcond is not running (nothing listens at unix://" + docker.folder() +
                           "/s), so the job waits until it runs. Start it with: systemctl start "
                           "flowcond (or run: sudo flowcond)\n");
}

TEST_CASE("a job on another host is watched there") {
  const FakeDocker docker(0);
  const Outcome outcome = run_in_child(
      {"-H", "ssh://gpu2", "flowcon", "submit", "image"},
      {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()}, {"PATH", "/usr/bin:/bin"}});

  CHECK(outcome.err ==
        "It starts when there is room; watch it on its host with: docker flowcon queue\n");
}

TEST_CASE_METHOD(SubmitFixture, "what a job cannot have is refused before docker is called") {
  for (const Words& refused : {Words{"--rm", "image"}, Words{"--request", "much", "image"}}) {
    CHECK(run(refused).status == 125);
  }
  CHECK(words().empty());
}

TEST_CASE("the options of docker that a job cannot have are refused, alone and among letters") {
  const auto is_refused = [](const Words& words) { return !submit_refusal(words).empty(); };
  for (const Words& words : std::vector<Words>{{"--rm", "image"},
                                               {"--rm=true", "image"},
                                               {"-i", "image"},
                                               {"-t", "image"},
                                               {"-it", "image"},
                                               {"-ite", "A=1", "image"},
                                               {"-teA=1", "image"},
                                               {"-ti=false", "image"},
                                               {"--name", "x", "--tty", "image"},
                                               {"--interactive", "image"},
                                               {"-d", "image"},
                                               {"--detach", "image"},
                                               {"-dp", "80", "image"},
                                               {"-p", "8080:80", "image"},
                                               {"-p8080:80", "image"},
                                               {"--publish=127.0.0.1:8080:80", "image"},
                                               {"-p", "[::1]:8080:80/udp", "image"},
                                               {"-p", "8000-8010:80", "image"},
                                               {"-p", "target=80,published=8080", "image"},
                                               {"-p", "published=8080,target=80", "image"},
                                               {"--cpuset-cpus", "0", "image"},
                                               {"--cpuset-mems=0", "image"},
                                               {"--restart", "on-failure:3", "image"},
                                               {"--restart=unless-stopped", "image"}}) {
    INFO(words[0] << " " << words[1]);
    CHECK(is_refused(words));
  }
  for (const Words& words : std::vector<Words>{{"image", "--rm", "-it"},
                                               {"--rm=false", "image"},
                                               {"-i=false", "image"},
                                               {"--tty=0", "image"},
                                               {"--name", "-it", "image"},
                                               {"-eit", "image"},
                                               {"-p", "80", "image"},
                                               {"-P", "image"},
                                               {"-p", "127.0.0.1::80", "image"},
                                               {"-p", "[::1]::80", "image"},
                                               {"-p", ":80", "image"},
                                               {"-p", "0:80", "image"},
                                               {"-p", "target=80", "image"},
                                               {"-p", "target=80,protocol=published=1", "image"},
                                               {"--cpus", "2", "-m", "3g", "image"},
                                               {"--restart", "no", "image"},
                                               {"--restart=", "image"}}) {
    INFO(words[0] << " " << words[1]);
    CHECK_FALSE(is_refused(words));
  }
}

TEST_CASE("a refusal names the option and what to do, safe for a terminal") {
  CHECK(submit_refusal({"-p", "8080:80\033[2J", "image"}) ==
        "-p 8080:80\xEF\xBF\xBD[2J: a job cannot have a fixed port of the host; name only the "
        "container's, as in -p 80, and docker picks one");
  CHECK(submit_refusal({"-d", "image"}) == "submit never waits: leave out -d");
  CHECK(submit_refusal({"--restart", "always", "image"}) ==
        "--restart always: the queue starts a job, and again if it fails: use --retries");
}

TEST_CASE("a request is cores, memory or both, once each") {
  for (const char* good : {"cpu=2", "mem=3G", "cpu=0.5,mem=500M", "mem=2GiB,cpu=1", "mem=1.5gb",
                           "mem=4096", "mem=1t", "mem=100b"}) {
    INFO(good);
    CHECK(check_request(good).empty());
  }
  for (const char* bad :
       {"",        "2",           "cpu",     "cpu=",    "cpu=0",         "cpu=-1", "cpu=nan",
        "cpu=inf", "cpu=2,cpu=3", "cpu=2,",  ",cpu=2",  "cpu=2, mem=3G", "mem=3X", "mem=G",
        "mem=0",   "mem=3GG",     "mem=3iB", "mem=-1G", "mem=1e3G",      "gpu=1",  "CPU=2"}) {
    INFO(bad);
    CHECK_FALSE(check_request(bad).empty());
  }
  CHECK(check_request("x\033") ==
        "has to be cores and memory such as cpu=2,mem=3G, or one of the two, not "
        "\"x\xEF\xBF\xBD\"");
}

TEST_CASE("priority and retries have bounds, and none where it takes back") {
  CHECK((check_priority("0.1") + check_priority("10") + check_retries("0") + check_retries("100"))
            .empty());
  for (const char* bad : {"0.09", "10.1", "nan", "", "2x", "none"})
    CHECK_FALSE(check_priority(bad).empty());
  for (const char* bad : {"101", "-1", "1.5", "", "x", "none"})
    CHECK_FALSE(check_retries(bad).empty());
  CHECK((check_priority_or_none("none") + check_retries_or_none("none") +
         check_request_or_none("none"))
            .empty());
  CHECK(check_priority_or_none("x") == "has to be a number from 0.1 to 10, or none, not \"x\"");
}

}  // namespace
}  // namespace flowcon::plugin
