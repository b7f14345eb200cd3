// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/fetch.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

using Paths = std::vector<std::string>;

std::string mounts(const std::string& list) { return R"([{"Mounts":[)" + list + "]}]"; }

Paths found(const std::string& inspect, const std::string& diff) {
  const auto paths = paths_to_fetch(inspect, diff);
  REQUIRE(paths.has_value());
  return *paths;
}

TEST_CASE("volumes and what was made beside them are fetched, each once") {
  const std::string volume = R"({"Type":"volume","Destination":"/out"})";
  const std::string bind = R"({"Type":"bind","Destination":"/data/in"})";

  CHECK(found(mounts(volume), "") == Paths{"/out"});
  CHECK(found(mounts(bind), "A /data\nA /data/in\nA /data/in/x\n").empty());
  CHECK(found(mounts(volume + "," + bind),
              "C /root\nA /root/model\nA /root/model/1.pt\nA /outer\nA /out/x\nD /etc/y\n") ==
        Paths{"/out", "/outer", "/root/model"});
  CHECK(found(mounts(volume + R"(,{"Type":"volume","Destination":"/out/deep"})"), "") ==
        Paths{"/out"});
}

TEST_CASE("a volume that it only reads is not, and a file of the image that it changed is") {
  const std::string corpus = R"({"Type":"volume","Destination":"/data","RW":false})";
  const std::string out = R"({"Type":"volume","Destination":"/out","RW":true})";
  CHECK(found(mounts(corpus + "," + out), "") == Paths{"/out"});
  CHECK(found(mounts(corpus),
              "C /app\nC /app/last.pt\nC /app-2\nA /app-2/new\nC /etc\nD /etc/x\n"
              "C /data\nC /tmp\n") == Paths{"/app-2/new", "/app/last.pt"});
}

TEST_CASE("what each container makes anew is nobody's result") {
  CHECK(found("[]", "A /tmp/x\nA /run/y\nA /dev/z\nA /proc/1\nA /sys/a\nA /tmpfile\n") ==
        Paths{"/tmpfile"});
}

TEST_CASE("a folder with ten thousands of files counts once, and too many folders are told") {
  std::string inside, beside;
  for (int i = 0; i < 20'000; ++i) {
    inside += "A /data/" + std::to_string(i) + "\n";
    beside += "A /" + std::to_string(i) + "\n";
  }
  CHECK(found("[]", "A /data\n" + inside + "A /workspace\nA /workspace/model.pt\n") ==
        Paths{"/data", "/workspace"});
  CHECK(paths_to_fetch("[]", beside).error().what.find("docker cp") != std::string::npos);
}

TEST_CASE("no path that a container tells leads out of the folder") {
  CHECK(found(mounts(R"({"Type":"volume","Destination":"/a/../../etc"},7,null,)"
                     R"({"Type":"volume","Destination":"/"},{"Type":"volume"},)"
                     R"({"Type":"volume","Destination":"relative"},)"
                     R"({"Type":"volume","Destination":7})"),
              "A ../etc\nA /./x\nA /x//y\nA \nA\nA /\n\nB /z\nA -rf\nA /..\n")
            .empty());
  for (const std::string wrong : {"", "no JSON", "{}", "[7]", R"([{"Mounts":7}])"}) {
    CHECK(found(wrong, "A /x\n") == Paths{"/x"});
  }
}

// Beside a daemon with one job, and a program in docker's place that answers as docker does and
// writes down what it was asked.
class FetchFixture {
 public:
  FetchFixture() {
    docker(R"(inspect) echo '[{"Mounts":[{"Type":"volume","Destination":"/out"}]}]' ;;)"
           "\ndiff) echo 'A /root/best.pt' ;;\nlogs) echo loss 1; echo oops >&2 ;;\n"
           "cp) echo copied >\"$4\" ;;");
    job(R"("state":"done","host":null)");
  }
  void docker(const std::string& cases) {
    const std::string path = folder.path() + "/docker";
    std::ofstream(path) << "#!/bin/sh\necho \"$@\" >>'" << folder.path()
                        << "/asked'\nword=$1; [ \"$word\" != container ] || word=$2\n"
                        << "case $word in\n"
                        << cases << "\nesac\n";
    ::chmod(path.c_str(), 0755);
  }
  void job(const std::string& members) {
    daemon.answer("GET /v1/queue/vae", 200, R"({"id":"4c02","name":"vae",)" + members + "}");
  }
  Outcome run(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"flowcon", "fetch"};
    all.insert(all.end(), words.begin(), words.end());
    return run_words(all, {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", folder.path() + "/docker"},
                           {"FLOWCON_SOCKET", folder.path() + "/s"}});
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream stream(folder.path() + "/" + file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  test::TempFolder folder;
  test::FakeDaemon daemon{folder.path() + "/s"};
  std::string out = folder.path() + "/results";
};

TEST_CASE_METHOD(FetchFixture, "fetch copies log, volumes and files, and prints what it has made") {
  const Outcome outcome = run({"vae", "-o", out});

  CHECK(outcome.err.empty());
  CHECK(outcome.status == 0);
  CHECK(outcome.out == out + "/log.txt\n" + out + "/out\n" + out + "/root/best.pt\n");
  CHECK(text("results/log.txt") == "loss 1\noops\n");
  CHECK(text("results/root/best.pt") == "copied\n");
  CHECK(text("asked") ==
        "container inspect 4c02\ncontainer diff 4c02\nlogs 4c02\n"
        "container cp 4c02:/out " +
            out +
            "/out\n"
            "container cp 4c02:/root/best.pt " +
            out + "/root/best.pt\n");
}

TEST_CASE_METHOD(FetchFixture, "docker takes no result's name for that of a container") {
  docker("inspect) echo '[]' ;;\ndiff) echo 'A /10:00.pt' ;;\nlogs) echo printed ;;");
  const std::string here = "results:of-fetch-test";
  CHECK(run({"vae", "-o", here}).status == 0);
  CHECK(text("asked").find("container cp 4c02:/10:00.pt /") != std::string::npos);
  std::filesystem::remove_all(here);
}

TEST_CASE_METHOD(FetchFixture, "a file of the job named as its log keeps its name") {
  docker(
      "inspect) echo '[]' ;;\ndiff) echo 'A /log.txt' ;;\nlogs) echo printed ;;\n"
      "cp) echo copied >\"$4\" ;;");

  CHECK(run({"vae", "-o", out}).status == 0);
  CHECK(text("results/docker-log.txt") == "printed\n");
  CHECK(text("results/log.txt") == "copied\n");
}

TEST_CASE_METHOD(FetchFixture, "of a job of several containers each has its log") {
  job(R"("state":"done","host":null,"tasks":[{"id":"aa","name":"vae-w0"},{"id":"","name":"vae-w1"},)"
      R"({"id":"bb","name":"../up"},{"id":"cc","name":"vae-s0"}])");
  docker("inspect) echo '[]' ;;\nlogs) echo \"log of $2\" ;;");

  CHECK(run({"vae", "-o", out}).out == out + "/vae-w0.txt\n" + out + "/vae-s0.txt\n");
  CHECK(text("results/vae-w0.txt") == "log of aa\n");
  CHECK(text("asked") == "container inspect 4c02\ncontainer diff 4c02\nlogs aa\nlogs cc\n");
}

TEST_CASE_METHOD(FetchFixture, "nothing is written to a folder that has something") {
  std::filesystem::create_directory(out);
  std::ofstream(out + "/mine") << "mine";

  const Outcome outcome = run({"vae", "--output", out});

  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "the folder " + out + " is not empty: name one that is, or that is not there yet\n");
  CHECK(text("asked").find("cp") == std::string::npos);
  CHECK(text("results/mine") == "mine");
  CHECK(run({"vae", "-o=" + out}).err == outcome.err);
  const Outcome file = run({"vae", "--output", out + "/mine"});
  CHECK(file.status == 1);
  CHECK(file.err.find(out + "/mine") != std::string::npos);
}

TEST_CASE_METHOD(FetchFixture, "a job on another host is waited for first") {
  job(R"("state":"running","host":"h2")");

  const Outcome outcome = run({"vae", "-o", out});

  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "vae is on h2: flowcond copies its output home when it ends; wait for that with: docker "
        "flowcon wait vae\n");
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE_METHOD(FetchFixture, "docker's own errors are said, and what was fetched stays") {
  docker(
      "inspect) echo '[]' ;;\ndiff) echo 'A /x' ;;\nlogs) echo printed ;;\n"
      "cp) echo 'no space left' >&2; exit 1 ;;");
  const Outcome full = run({"vae", "-o", out});
  CHECK(full.status == 1);
  CHECK(full.out == out + "/log.txt\n");
  CHECK(full.err.find("no space left") != std::string::npos);

  docker("inspect) echo 'No such container: 4c02' >&2; exit 1 ;;");
  const Outcome removed = run({"vae", "-o", out + "2"});
  CHECK(removed.status == 1);
  CHECK(removed.err.find("No such container: 4c02") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(out + "2"));
}

TEST_CASE_METHOD(FetchFixture, "a folder of the image that was touched is not copied") {
  docker(
      "inspect) echo '[]' ;;\ndiff) printf 'C /opt\\nC /app.pt\\n' ;;\nlogs) echo printed ;;\n"
      "cp) [ \"$3\" != 4c02:/opt ] || { echo 'cannot copy directory' >&2; exit 1; }; echo copied "
      ">\"$4\" ;;");
  const Outcome outcome = run({"vae", "-o", out});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == out + "/log.txt\n" + out + "/app.pt\n");
  CHECK_FALSE(std::filesystem::exists(out + "/opt"));
}

TEST_CASE_METHOD(FetchFixture, "a log that is not to be had keeps nothing else back") {
  docker(
      "inspect) echo '[]' ;;\ndiff) echo 'A /x' ;;\nlogs) echo 'no logs' >&2; exit 1 ;;\n"
      "cp) echo copied >\"$4\" ;;");
  const Outcome outcome = run({"vae", "-o", out});
  CHECK(outcome.status == 1);
  CHECK(outcome.out == out + "/x\n");
  CHECK(outcome.err == "docker logs failed; its output is in " + out + "/log.txt\n");
  CHECK(text("results/x") == "copied\n");
}

TEST_CASE_METHOD(FetchFixture, "a path that cannot be copied keeps nothing else back") {
  docker(
      "inspect) echo '[]' ;;\ndiff) printf 'A /a.pt\\nA /b.pt\\nA /c.pt\\n' ;;\n"
      "logs) echo printed ;;\n"
      "cp) [ \"$3\" != 4c02:/b.pt ] || { printf 'it is gone' >&2; exit 1; }; echo copied "
      ">\"$4\" ;;");
  const Outcome outcome = run({"vae", "-o", out});
  CHECK(outcome.status == 1);
  CHECK(outcome.out == out + "/log.txt\n" + out + "/a.pt\n" + out + "/c.pt\n");
  CHECK(outcome.err == "copying /b.pt: it is gone\n");
  CHECK(text("results/c.pt") == "copied\n");
}

TEST_CASE_METHOD(FetchFixture, "what cannot be a job is none") {
  job(R"("state":"done","group":"net")");
  CHECK(run({"vae"}).err == "vae is a task of job net: name that job\n");
  CHECK(run({"--", "../x"}).err.find("No such job: ") == 0);
  daemon.answer("GET /v1/queue/vae", 200, R"({"id":"--rm","name":"vae","state":"done"})");
  CHECK(run({"vae", "-o", out}).err == "the job has no id\n");
  daemon.answer("GET /v1/queue/gone", 404, R"({"error":"No such job: gone"})");
  CHECK(run({"gone"}).err == "No such job: gone\n");
}

}  // namespace
}  // namespace flowcon::plugin
