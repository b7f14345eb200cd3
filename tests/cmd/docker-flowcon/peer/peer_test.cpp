// SPDX-License-Identifier: Apache-2.0
// The peer commands against a daemon that knows canned answers.
#include "cmd/docker-flowcon/peer/peer.h"

#include <algorithm>

#include "base/json.h"
#include "cmd/docker-flowcon/peer/add.h"
#include "cmd/docker-flowcon/peer/side.h"
#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kPeers =
    R"({"heartbeat":5,"here":{"name":"h1","id":"x"},"peers":[)"
    R"({"name":"h2","user":"flowcon-peer","host":"h2","port":22,"source":"command",)"
    R"("state":"reachable","since":1790000000.5,"heard":0.5,"version":"0.1.0","id":"ab",)"
    R"("hostname":"h2","scores":{"pc":1,"wc":0,"cc":2},"score":4,"usage":0.42,"cores":2,)"
    R"("memory":4096,"containers":3,"draining":true,"error":""},)"
    R"({"name":"h3:2222","source":"config","state":"unknown","since":1790000100,"heard":null,)"
    R"("version":null,"scores":{"pc":null},"usage":null,"draining":null,)"
    R"("error":"h3:2222 does not answer\u001b[2J"},7]})";

class PeerFixture : public DaemonFixture {
 public:
  PeerFixture() { ::setenv("TZ", "UTC", 1); }
  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "peer");
    return DaemonFixture::run(std::move(words));
  }
};

TEST_CASE_METHOD(PeerFixture, "peer ls shows who is reachable, since when, and what is wrong") {
  fake.answer("GET /v1/peers", 200, kPeers);

  test::check_golden("plugin/peer_ls.txt", run({"ls"}).out);
  test::check_golden("plugin/peer_ls.json", run({"ls", "--format", "json"}).out);
  CHECK(run({"ls", "-q"}).out == "h2\nh3:2222\n");
  CHECK(run({"ls", "--format", "{{.Name}} {{.Score}}"}).out == "h2 4\nh3:2222 <no value>\n");
  CHECK(run({"ls", "--format", table_of_fields(run({"ls", "--format", "json"}).out)}).status == 0);
}

TEST_CASE_METHOD(PeerFixture, "peer ls says once which hosts do not know each other") {
  fake.answer("GET /v1/peers", 200,
              R"({"peers":[{"name":"h2","strangers":["h3","h4\u001b"]},)"
              R"({"name":"h3","strangers":["h2"]},{"name":"h5","strangers":null}]})");

  CHECK(
      run({"ls"}).err ==
      "h2 and h3 do not know each other; on this host: sudo docker flowcon peer add h2 h3\n"
      "h2 and h4\xEF\xBF\xBD do not know each other; on this host: sudo docker flowcon peer add h2 "
      "h4\xEF\xBF\xBD\n");
  CHECK(run({"ls", "-q"}).err.empty());
  CHECK(run({"ls", "--format", "{{.Strangers}}"}).out.find('\033') == std::string::npos);
}

TEST_CASE_METHOD(PeerFixture, "drain and undrain ask flowcond, the name encoded") {
  fake.answer("POST /v1/peers/h2%3A2222/drain", 200, R"({"name":"h2:2222"})");
  fake.answer("POST /v1/peers/h2/undrain", 502, R"({"error":"h2 cannot be told"})");

  CHECK(run({"drain", "h2:2222"}).out == "h2:2222\n");
  CHECK(run({"drain", "ada@h2:2222"}).out == "h2:2222\n");
  const Outcome failed = run({"undrain", "h2"});
  CHECK(failed.status == 1);
  CHECK(failed.err == "h2 cannot be told\n");
}

TEST_CASE_METHOD(PeerFixture, "drain says what is not migrated, and why") {
  fake.answer("POST /v1/peers/h2/drain", 200, R"({"name":"h2"})");
  fake.answer("GET /v1/cluster", 200,
              R"({"hosts":[{"name":"h2","moves":0}],"containers":[)"
              R"({"host":"h1","name":"far"},{"host":"h2","name":"vae","movable":true},)"
              R"({"host":"h2","name":"gru","movable":false},)"
              R"({"host":"h2","name":"long","movable":false,"queued":true,"saves_itself":false},)"
              R"({"host":"h2","name":"lm","movable":false,"queued":true,"saves_itself":true}]})");
  const Outcome drained = run({"drain", "h2"});
  CHECK(drained.status == 0);
  CHECK(drained.out == "h2\n");
  CHECK(drained.err ==
        "not migrated: gru (its label flowcon.migrate lets it stay), "
        "long (a job that cannot save itself, it stays until it ends), "
        "lm (a job that is parked, unless park = off or it does not save itself in time)\n");
}

TEST_CASE_METHOD(PeerFixture, "drain --wait says what stays, and ends when the host is empty") {
  fake.answer("POST /v1/peers/h2/drain", 200, R"({"name":"h2"})");
  fake.answer("GET /v1/cluster", 200,
              R"({"hosts":[{"name":"h2","moves":0}],)"
              R"("containers":[{"host":"h1","name":"vae","movable":true}]})");
  const Outcome done = run({"drain", "--wait", "h2"});
  CHECK(done.status == 0);
  CHECK(done.out == "h2\n");
  CHECK(done.err.empty());
  CHECK(run({"undrain", "-w", "h2"}).status == 125);
}

TEST_CASE_METHOD(PeerFixture, "drain --wait waits for what is on its way and for a silent host") {
  const char* cluster = "GET /v1/cluster";
  fake.answer("POST /v1/peers/h2/drain", 200, R"({"name":"h2"})");
  fake.answer(cluster, 200,
              R"({"hosts":[{"name":"h2","moves":0}],"containers":[{"host":"h2","name":"vae"}]})");
  fake.then(cluster, 503, R"({"error":"flowcond has just started"})");
  fake.then(cluster, 200, R"({"hosts":[{"name":"h2","moves":1}],"containers":[]})");
  fake.then(cluster, 200, R"({"hosts":[{"name":"h2","moves":null}],"containers":[]})");
  fake.then(cluster, 200, R"({"hosts":[{"name":"h2","moves":0}],"containers":[]})");

  std::ostringstream out, err;
  Terminal terminal{out, err};
  const Invocation invocation;
  const Environment environment;
  PeerDrainOptions options;
  options.host = "ada@h2";
  options.wait = true;
  options.look_seconds = 0.01;
  const Session session{invocation, environment, terminal, folder.path() + "/s", true};
  CHECK(run_peer_drain(session, options) == 0);
  CHECK(err.str() ==
        "still there: vae (its label flowcon.migrate lets it stay)\n"
        "a migration from or to h2 is under way\nh2 does not answer\n");
  fake.answer(cluster, 200, R"({"hosts":[],"containers":[]})");
  CHECK(run({"drain", "-w", "h2"}).err == "h2 is no peer any more\n");
  err.str("");
  options.silence_seconds = 0;
  fake.answer(cluster, 500, R"({"error":"no cluster"})");
  CHECK(run_peer_drain(session, options) == 1);
  CHECK(err.str() == "no cluster\n");
}

TEST_CASE_METHOD(PeerFixture, "a migration that was undone is not said to run on") {
  fake.answer("POST /v1/containers/vae/migrate", 202, R"({"id":"aa","host":"h2","name":"vae"})");
  fake.answer("GET /v1/moves", 200,
              R"({"moves":[{"id":"aa","name":"vae","ended":true,"step":"undone",)"
              R"("error":"it ended by itself before it migrated"}]})");
  CHECK(DaemonFixture::run({"migrate", "vae", "h2"}).err ==
        "vae was not migrated: it ended by itself before it migrated\n");
}

TEST_CASE_METHOD(PeerFixture, "where another host migrates the container, migrate waits for it") {
  fake.answer("POST /v1/containers/vae/migrate", 202,
              R"({"id":"aa","host":"h3","name":"vae","forwarded_to":"h2:22"})");
  const std::string moves = "GET /v1/peers/h2%3A22/moves";
  const std::string begun = R"({"moves":[{"id":"aa","name":"vae","step":)";
  fake.answer(moves, 200, begun + R"("save"}]})");
  fake.then(moves, 200, begun + R"("done","ended":true,"seconds":4}]})");
  const Outcome outcome = DaemonFixture::run({"migrate", "vae", "h3"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "vae\n");
  CHECK(outcome.err.find("vae runs on h3: 4 s in all") != std::string::npos);
  fake.answer(moves, 200, begun + R"("undone","ended":true,"error":"no room"}]})");
  CHECK(DaemonFixture::run({"migrate", "vae", "h3"}).status == 1);
}

TEST_CASE_METHOD(PeerFixture, "where it cannot ask the host that migrates, migrate does not wait") {
  fake.answer("POST /v1/containers/vae/migrate", 202,
              R"({"id":"aa","host":"h3","name":"vae","forwarded_to":"h2"})");
  const Outcome outcome = DaemonFixture::run({"migrate", "vae", "h3"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "vae\n");
  const std::string answers = "it is on h2, which answers\n";
  CHECK(outcome.err ==
        answers +
            "Not waiting (nothing canned here): h2 migrates it to h3, and docker flowcon cluster "
            "there shows it\n");
  CHECK(DaemonFixture::run({"migrate", "--detach", "vae", "h3"}).err == answers);
}

TEST_CASE_METHOD(PeerFixture, "a peer stays where it is not known whether migrations are open") {
  fake.answer("GET /v1/peers", 200, R"({"peers":[{"name":"h2","source":"command"}]})");
  fake.answer("GET /v1/moves", 200, R"({"moves":[],"whole":false})");
  const Outcome lost = run({"rm", "h2"});
  CHECK(lost.status == 1);
  CHECK(lost.err.find("the journal of migrations is lost or cannot be read in part") !=
        std::string::npos);
  fake.answer("GET /v1/moves", 503, R"({"error":"it was not read yet"})");
  CHECK(run({"rm", "h2"}).err.find("it was not read yet") != std::string::npos);
}

TEST_CASE_METHOD(PeerFixture, "a peer that is not there is said not to be") {
  fake.answer("GET /v1/peers", 200, kPeers);
  fake.answer("POST /v1/peers/h9/drain", 404, R"({"error":"there is no peer h9"})");

  CHECK(run({"drain", "h9"}).err == "there is no peer h9\n");
}

TEST_CASE_METHOD(DaemonFixture, "migrate --dry-run says what would travel and stand still") {
  const auto dry = [this](const std::string& more) {
    fake.answer("POST /v1/containers/vae/migrate", 200,
                R"({"host":"h2","obstacles":[],"notes":["left behind: /x"],)" + more + "}");
    return run({"migrate", "--dry-run", "vae", "h2"});
  };
  const Outcome known =
      dry(R"("bytes":26214400,"image_bytes":2147483648,"layers":5,"layers_there":4,)"
          R"("stopped_seconds":6.42)");
  CHECK(known.out == "h2\n");
  CHECK(known.err ==
        "left behind: /x\nwould travel: 25MiB of data; 1 of 5 layers of the image (2GiB in all); "
        "the job would stand still for about 6.4 s, as in the last migrations from here\n");
  CHECK(dry(R"("image_bytes":0,"layers":5,"layers_there":4)").err.find("of the image; how long") !=
        std::string::npos);
  const Outcome first = dry(R"("bytes":0,"layers":5,"layers_there":5,"stopped_seconds":null)");
  CHECK(first.err.find("nothing of the image, which is there; how long") != std::string::npos);
  CHECK(dry(R"("x":1)")
            .err.find("is not known: none has migrated from here, and no transfer to h2 "
                      "was measured\n") != std::string::npos);
  CHECK(dry(R"("bytes":50000000,"rate":10000000,"image_bytes":2147483648,"layers":5,)"
            R"("layers_there":4,"missing_bytes":125829120)")
            .err.find("1 of 5 layers of the image (120MiB of 2GiB); how long the job would stand "
                      "still is not known: none has migrated from here; its data alone would take "
                      "at most about 5 s at the 10MB/s of the last transfer to h2\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(PeerFixture, "what cannot be a host never gets into a request or to ssh") {
  for (const std::string command : {"add", "rm", "drain", "undrain"}) {
    for (const std::string host : {"-oProxyCommand=id", "a b", "", "$(id)", "a\nb", "h/../x"}) {
      CAPTURE(command, host);
      CHECK(run({command, "--", host}).status == 125);
    }
  }
  CHECK(fake.requests().empty());
}

TEST_CASE("every way to ask for help of the peer commands prints the same text") {
  for (const std::string name : {"add", "drain", "ls", "rm", "undrain"}) {
    const std::vector<std::vector<std::string>> ways{{"flowcon", "peer", name, "--help"},
                                                     {"help", "flowcon", "peer", name},
                                                     {"flowcon", "help", "peer", name},
                                                     {"flowcon", "peer", "help", name}};
    for (const auto& words : ways) {
      const Outcome outcome = run_words(words);
      CHECK(outcome.status == 0);
      test::check_golden("plugin/help_peer_" + name + ".txt", outcome.out);
    }
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"flowcon", "peer", "--help"},
        {"flowcon", "help", "peer"},
        {"flowcon", "peer", "help"}}) {
    test::check_golden("plugin/help_peer.txt", run_words(words).out);
  }
  test::check_golden("plugin/help_peer.txt", run_words({"flowcon", "peer"}).err);
}

TEST_CASE("wrong use of the peer commands is 125 with a hint") {
  const Outcome typo = run_words({"flowcon", "peer", "lss"});
  CHECK(typo.status == 125);
  CHECK(typo.err.find(
            "unknown command: docker flowcon peer lss\nDid you mean docker flowcon peer ls?") == 0);
  CHECK(run_words({"flowcon", "peer", "add"}).status == 125);
  CHECK(run_words({"flowcon", "peer", "add", "h2", "--port", "0"}).status == 125);
  CHECK(run_words({"flowcon", "peer", "add", "h2", "--fingerprint", "MD5:x"}).status == 125);
  CHECK(run_words({"flowcon", "peer", "add", "h2", "--as", "a b"}).status == 125);
}

TEST_CASE("peer add notices that the other host fell silent") {
  const auto words = admin_ssh({"ada", "h2", 2222}, "/var/lib/flowcon/ssh/known_hosts", false);
  for (const std::string option : {"ServerAliveInterval=10", "ServerAliveCountMax=3",
                                   "UserKnownHostsFile=/var/lib/flowcon/ssh/known_hosts",
                                   "StrictHostKeyChecking=yes", "BatchMode=yes"}) {
    CAPTURE(option);
    const auto found = std::find(words.begin(), words.end(), option);
    CHECK((found != words.end() && *(found - 1) == "-o"));
  }
  const auto end = std::find(words.begin(), words.end(), "--");
  REQUIRE(words.end() - end == 3);
  CHECK(std::vector<std::string>(end - 4, end + 2) ==
        std::vector<std::string>{"-l", "ada", "-p", "2222", "--", "h2"});
}

TEST_CASE("an offer is read as it was rendered, and nothing else gets through") {
  const Offer offer{{"", "h1", 2222}, "ssh-ed25519 AAAA", {"ssh-rsa BBBB"}};
  const auto read = parse_offer(*parse_json(render_offer(offer)));
  REQUIRE(read.has_value());
  CHECK(render_offer(*read) == render_offer(offer));
  for (const std::string text :
       {R"({})", R"({"host":"-x","port":22,"key":"ssh-rsa A","host_keys":["ssh-rsa A"]})",
        R"({"host":"h","port":0,"key":"ssh-rsa A","host_keys":["ssh-rsa A"]})",
        R"({"host":"h:5","port":22,"key":"ssh-rsa A","host_keys":["ssh-rsa A"]})",
        R"({"host":"h","port":22,"key":"command=\"id\" ssh-rsa A","host_keys":["ssh-rsa A"]})",
        R"({"host":"h","port":22,"key":"ssh-rsa A","host_keys":[]})",
        R"({"host":"h","port":22,"key":"ssh-rsa A","host_keys":["x"]})", R"([])"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_offer(*parse_json(text)).has_value());
  }
}

}  // namespace
}  // namespace flowcon::plugin
