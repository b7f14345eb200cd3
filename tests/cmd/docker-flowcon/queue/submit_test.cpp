// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/submit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

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
  CHECK(run({"--workers", "0", "image"}).err.find("\"0\" is not a whole number from 1 to 192") !=
        std::string::npos);
}

// A docker that says the id of what it creates, and flowcond.
class IdFixture {
 public:
  IdFixture() {
    std::ofstream(docker) << "#!/bin/sh\ncase $2 in --cidfile=*) echo " << kId
                          << " >\"${2#--cidfile=}\" ;; esac\n";
    chmod(docker.c_str(), 0755);
  }

  test::TempFolder folder;
  std::string docker = folder.path() + "/docker";
  test::FakeDaemon daemon{folder.path() + "/s"};
  Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker},
                          {"FLOWCON_SOCKET", folder.path() + "/s"},
                          {"TMPDIR", folder.path()},
                          {"PATH", "/usr/bin:/bin"}};
  const std::string target = "GET /v1/queue/" + kId;
};

TEST_CASE_METHOD(
    IdFixture,
    "a job that flowcond refuses is told at once, and one that it has not heard of is awaited") {
  daemon.answer(target, 404, R"({"error":"No such job"})");
  std::thread later([&] {
    while (daemon.requests().size() < 2) std::this_thread::yield();
    daemon.answer(target, 200, R"({"name":"vae","state":"waiting","note":"waits for 1 core"})");
  });
  const Outcome waits = run_in_child({"flowcon", "submit", "image"}, environment);
  later.join();
  CHECK(waits.status == 0);
  CHECK(waits.err == "It starts when there is room; watch it with: docker flowcon queue\n");

  daemon.answer(target, 200, R"({"name":"vae","state":"refused","note":"it asks for 99 cores"})");
  const Outcome refused = run_in_child({"flowcon", "submit", "image"}, environment);
  CHECK(refused.status == 1);
  CHECK(refused.err == "vae was refused: it asks for 99 cores; remove it first: docker rm vae\n");

  daemon.answer(target, 503, R"({"error":"flowcond has just started"})");
  daemon.then(target, 200, R"({"name":"vae","state":"refused","note":"too much; docker rm it"})");
  const Outcome late = run_in_child({"flowcon", "submit", "image"}, environment);
  CHECK(late.status == 1);
  CHECK(late.err == "vae was refused: too much; docker rm it\n");
}

TEST_CASE_METHOD(IdFixture,
                 "a container that flowcond does not know in the end is no job that waits") {
  const auto submit = [&] {
    std::ostringstream out, err;
    Terminal terminal{out, err};
    const Invocation invocation;
    const Session session{invocation, environment, terminal, folder.path() + "/s", true};
    SubmitOptions options;
    options.patience = std::chrono::milliseconds(20);
    const int status = run_submit(session, options, {"image"});
    return Outcome{status, out.str(), err.str()};
  };
  daemon.answer(target, 404, R"({"error":"No such job"})");
  const Outcome unknown = submit();
  CHECK(unknown.status == 0);
  CHECK(unknown.err ==
        "flowcond does not know this container; does it watch this engine? See: docker flowcon "
        "doctor\n");
  daemon.answer(target, 503, R"({"error":"its journal cannot be read"})");
  CHECK(submit().err ==
        "It is not known whether flowcond has this job: its journal cannot be read\n");
}

TEST_CASE("only the flowcond that watches the job's engine is awaited") {
  test::TempFolder folder;
  const std::string docker = folder.path() + "/docker";
  std::ofstream(docker) << "#!/bin/sh\ncase $2 in --cidfile=*) echo " << kId
                        << " >\"${2#--cidfile=}\" ;; esac\n";
  chmod(docker.c_str(), 0755);
  std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/run");
  const test::FakeDaemon engine(folder.path() + "/docker.sock"),
      idle(folder.path() + "/other.sock");
  test::FakeDaemon daemon(folder.path() + "/s");
  Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker},
                          {"DOCKER_HOST", "unix://" + folder.path() + "/other.sock"},
                          {"FLOWCON_SOCKET", folder.path() + "/s"},
                          {"TMPDIR", folder.path()},
                          {"PATH", "/usr/bin:/bin"}};
  const std::string target = "GET /v1/queue/" + kId;
  daemon.answer(target, 404, R"({"error":"No such job"})");
  daemon.answer("GET /v1/status", 200,
                R"({"engine":{"socket":")" + folder.path() + R"(/run/docker.sock"}})");

  const auto asked = [&] {
    const auto all = daemon.requests();
    return std::count_if(all.begin(), all.end(),
                         [&](const auto& request) { return request.line == target; });
  };
  const Outcome other = run_in_child({"flowcon", "submit", "image"}, environment);
  CHECK(other.status == 0);
  CHECK(other.err.starts_with("flowcond at unix://" + folder.path() +
                              "/s watches the engine at unix://" + folder.path() +
                              "/run/docker.sock, so it does not start this job at unix://" +
                              folder.path() + "/other.sock. "));
  const auto before = asked();
  CHECK(before > 1);

  // The same one by another path.
  environment["DOCKER_HOST"] = "unix://" + folder.path() + "/docker.sock";
  daemon.then(target, 200, R"({"name":"vae","state":"waiting","note":""})");
  const Outcome same = run_in_child({"flowcon", "submit", "image"}, environment);
  CHECK(same.err == "It starts when there is room; watch it with: docker flowcon queue\n");
  CHECK(asked() == before + 2);
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

TEST_CASE("an option takes what its label takes, so that nothing is dropped later") {
  for (const char* good : {"cpu=2", "mem=3G", "cpu=0.5,mem=500M", "mem=2GiB,cpu=1", "mem=1.5gb"}) {
    INFO(good);
    CHECK(as_label("request")(good) == "");
  }
  for (const char* bad : {"", "2", "cpu=0", "cpu=nan", "cpu=2,cpu=3", "mem=3X", "gpu=all", "mem=16",
                          "mem=5M", "cpu=0.001"}) {
    INFO(bad);
    CHECK(as_label("request")(bad) != "");
  }
  CHECK(as_label("request")("cpu=2,mem=16") ==
        "\"mem=16\" is not an amount of memory from 6M to 1024T, such as mem=3G");
  CHECK(as_label("request")("x\033") ==
        "\"x\xEF\xBF\xBD\" is not one of cpu=CORES, mem=BYTES and gpu=GPUS, such as cpu=2,mem=3G");
  CHECK(as_label("workers")("2:6") == "");
  CHECK(as_label("ps")("65") == "\"65\" is not a whole number from 0 to 64");
}

TEST_CASE("none takes back what was set") {
  for (const char* key : {"priority", "retries", "request"}) {
    INFO(key);
    CHECK(as_label(key)("none") != "");
    CHECK(as_label_or_none(key)("none") == "");
  }
  CHECK(as_label_or_none("priority")("x") == "\"x\" is not a number from 0.1 to 10 (or none)");
  CHECK(as_label_or_none("retries")("3") == "");
  CHECK((check_scale("4") + check_scale("none")).empty());
  CHECK(check_scale("2:6").starts_with("one number"));
  CHECK(check_scale("193") != "");
}

}  // namespace
}  // namespace flowcon::plugin
