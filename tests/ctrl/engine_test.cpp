// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "ctrl/engine/client.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl::engine;

namespace {
const std::string kId(64, 'a');

std::string container_json(const std::string& extra) {
  return R"({"Id":")" + kId + R"(","Name":"/vae","State":{"Running":true,"Pid":4711,)" +
         R"("StartedAt":"2026-11-21T02:12:40.25Z"},"LogPath":"/d/x-json.log","Config":{"Image":)" +
         R"("train:1","Labels":{"flowcon.metric":"loss","n":7}},"HostConfig":{"LogConfig":)" +
         R"({"Type":"json-file"})" + extra + "}}";
}
}  // namespace

TEST_CASE("the API version is the newest that both sides speak") {
  CHECK(*negotiate("1.41") == "1.41");
  CHECK(*negotiate("1.40") == "1.40");
  CHECK(*negotiate("1.55") == "1.55");
  CHECK(*negotiate("1.99") == "1.55");
}

TEST_CASE("an engine that is too old or says nonsense is refused with its version") {
  REQUIRE_FALSE(negotiate("1.39").has_value());
  CHECK(negotiate("1.39").error().message().find("1.39") != std::string::npos);
  for (const char* text : {"", "1", "1.", "x.41", "2.41", "-1.41"})
    CHECK_FALSE(negotiate(text).has_value());
}

TEST_CASE("a container is read from the engine's answer") {
  const auto c = parse_container(
      container_json(R"(,"CpuShares":512,"NanoCpus":1500000000,"CpuQuota":-1,"CpuPeriod":0)"));
  REQUIRE(c.has_value());
  CHECK(c->id == kId);
  CHECK(c->name == "vae");
  CHECK(c->image == "train:1");
  CHECK(c->pid == 4711);
  CHECK(c->running);
  CHECK(c->started == 1795227160.25);
  CHECK(c->log_driver == "json-file");
  CHECK(c->log_path == "/d/x-json.log");
  CHECK(c->labels.size() == 1);
  CHECK(c->labels.at("flowcon.metric") == "loss");
  CHECK(c->cpu_shares == 512);
  CHECK(c->nano_cpus == 1500000000);
  CHECK(c->cpu_quota_us == -1);
  CHECK_FALSE(c->has_ended_before);
}

TEST_CASE("a container's command is bounded, and another one's with the same beginning differs") {
  const auto seen = [](const std::string& argument) {
    std::string json = container_json("");
    json.insert(1, R"("Path":"python3","Args":["vae.py",")" + argument + R"("],)");
    const auto container = parse_container(json);
    REQUIRE(container.has_value());
    return container->command;
  };
  CHECK(seen("--lr") == "python3 vae.py --lr");
  const std::string most(4096 - std::string("python3 vae.py ").size(), 'a');
  CHECK(seen(most) == "python3 vae.py " + most);
  const std::string longer = seen(most + "1");
  CHECK(longer.size() == 4096);
  CHECK(longer.starts_with("python3 vae.py aaa"));
  CHECK(longer != seen(most + "2"));
  CHECK(longer == seen(most + "1"));
}

TEST_CASE("a container's environment is read, and bounded") {
  const auto seen = [](const std::string& list) {
    std::string json = container_json("");
    const std::string at = R"("Config":{)";
    json.insert(json.find(at) + at.size(), R"("Env":[)" + list + "],");
    const auto container = parse_container(json);
    REQUIRE(container.has_value());
    return container->environment;
  };
  using Environment = std::vector<std::pair<std::string, std::string>>;
  CHECK(seen(R"("PATH=/bin","EPOCHS=20","OPTIONS=a=b","EMPTY=")") ==
        Environment{{"PATH", "/bin"}, {"EPOCHS", "20"}, {"OPTIONS", "a=b"}, {"EMPTY", ""}});
  CHECK(seen(R"("NONE",7,null,{},"A=1")") == Environment{{"A", "1"}});
  CHECK(seen(R"("LONG=)" + std::string(5000, 'x') + R"(","A=1")") == Environment{{"A", "1"}});
}

TEST_CASE("a container that was started again is known") {
  const auto seen = [](const std::string& finished) {
    std::string json = container_json("");
    const std::string at = R"("Pid":4711,)";
    json.insert(json.find(at), R"("FinishedAt":")" + finished + R"(",)");
    return parse_container(json)->has_ended_before;
  };
  CHECK(seen("2026-11-21T02:10:00.5Z"));
  CHECK_FALSE(seen("0001-01-01T00:00:00Z"));
  CHECK_FALSE(seen("yesterday"));
}

TEST_CASE("volumes, the cache of the log and the engine's folder are read; nonsense is left out") {
  std::string json = container_json("");
  json.pop_back();
  json += R"(,"HostnamePath":"/d/containers/x/hostname","Mounts":[{"Source":"/v","Destination":)"
          R"("/out"},{"Source":"","Destination":"/tmp"},{"Source":"v","Destination":"/a"},7]})";
  const auto c = parse_container(json);
  REQUIRE(c.has_value());
  CHECK(c->folder == "/d/containers/x");
  REQUIRE(c->mounts.size() == 1);
  CHECK(c->mounts[0].source == "/v");
  CHECK(c->mounts[0].destination == "/out");
  CHECK_FALSE(c->is_log_cache_disabled);
  std::string many = container_json("");
  many.pop_back();
  many += R"(,"Mounts":[)";
  for (int i = 0; i < 1000; ++i) many += R"({"Source":"/v","Destination":"/out"},)";
  CHECK(parse_container(many + "7]}")->mounts.size() == kMaxMounts);
}

TEST_CASE("an answer without a container id is an error") {
  CHECK_FALSE(parse_container("{}").has_value());
  CHECK_FALSE(parse_container("[]").has_value());
  CHECK_FALSE(parse_container("{\"Id\":\"../../etc\"}").has_value());
  CHECK_FALSE(parse_container("nonsense").has_value());
}

TEST_CASE("members of a wrong type are as if they were missing") {
  const auto c = parse_container(
      R"({"Id":")" + kId + R"(","Name":7,"State":[],"HostConfig":null,"Config":{"Labels":3}})");
  REQUIRE(c.has_value());
  CHECK(c->name.empty());
  CHECK_FALSE(c->running);
  CHECK(c->labels.empty());
}

TEST_CASE("an event is read with its time") {
  const auto event = parse_event(
      R"({"Type":"container","Action":"die","Actor":{"ID":")" + kId +
      R"(","Attributes":{"exitCode":"0","name":"vae"}},"time":1,"timeNano":1000000007})");
  REQUIRE(event.has_value());
  CHECK(event->action == "die");
  CHECK(event->id == kId);
  CHECK(event->name == "vae");
  CHECK(event->time_ns == 1000000007);
  CHECK_FALSE(parse_event("{\"Action\":\"die\"}").has_value());
  CHECK_FALSE(parse_event("{\"Action\":").has_value());
}

TEST_CASE("the engine's list is read as the engine orders it") {
  const std::string other(64, 'b');
  const auto list = parse_list(
      R"([{"Id":")" + kId + R"(","State":"exited","ImageID":"sha256:i","Labels":{"a":"1","n":7},)" +
      R"("HostConfig":{"NetworkMode":"bridge"},"Mounts":[{"Type":"volume","Name":"data"},)" +
      R"({"Type":"bind","Source":"/x"}]},{"Id":")" + other + R"("},{"Id":"../x"},{},7])");
  REQUIRE((list.has_value() && list->size() == 2));
  const Listed& first = list->front();
  CHECK(first.id == kId);
  CHECK(first.state == "exited");
  CHECK(first.labels == std::map<std::string, std::string>{{"a", "1"}});
  CHECK(first.image_id == "sha256:i");
  CHECK(first.volumes == std::vector<std::string>{"data"});
  CHECK(first.network == "bridge");
  const Listed& last = list->back();
  CHECK(last.id == other);
  CHECK((last.state.empty() && last.labels.empty() && last.volumes.empty()));
  CHECK_FALSE(parse_list("{}").has_value());
}

TEST_CASE("a container that is frozen is known by its inspect and in the list") {
  std::string json = container_json("");
  CHECK_FALSE(parse_container(json)->is_frozen);
  const std::string at = R"("Pid":4711,)";
  json.insert(json.find(at), R"("Paused":true,)");
  CHECK(parse_container(json)->is_frozen);
  const std::string other(64, 'b');
  const auto list = parse_list(R"([{"Id":")" + kId + R"(","State":"paused"},{"Id":")" + other +
                               R"(","State":"running"}])");
  REQUIRE((list.has_value() && list->size() == 2));
  CHECK(list->at(0).is_frozen());
  CHECK_FALSE(list->at(1).is_frozen());
}

TEST_CASE("an image's labels are read; one without any has none") {
  const auto labels = parse_image_labels(R"({"Config":{"Labels":{"flowcon.weight":"9","n":7}}})");
  REQUIRE(labels.has_value());
  CHECK(*labels == std::map<std::string, std::string>{{"flowcon.weight", "9"}});
  for (const char* none : {R"({"Config":{"Labels":null}})", R"({"Config":null})", "{}", "[]"}) {
    const auto read = parse_image_labels(none);
    CHECK((read.has_value() && read->empty()));
  }
  CHECK_FALSE(parse_image_labels("{").has_value());
}
