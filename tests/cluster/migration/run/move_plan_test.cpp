// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/move_plan.h"

#include <functional>

#include "base/json.h"
#include "base/json_reader.h"
#include "ctrl/began_elsewhere.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::migration;
namespace json = boost::json;

namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

Plan a_plan() {
  Plan plan;
  const auto body = parse_json(R"({"Image":")" + kDigest + R"(","Labels":{"a":"b"},"HostConfig":{
      "PortBindings":{"80/tcp":[{"HostPort":"8080"}],"53/udp":[{"HostPort":""}]},
      "Mounts":[{"Type":"volume","Source":"data","Target":"/data"},
                {"Type":"bind","Source":"/srv","Target":"/srv"}]}})");
  plan.body = body->as_object();
  plan.restart_policy = {{"Name", "on-failure"}, {"MaximumRetryCount", 3}};
  plan.image = {kDigest, {kDigest}};
  plan.image_name = "trainings:1";
  plan.volumes = {{"data", {{"owner", "ada"}}}};
  plan.parts = {{"volume-0", PartKind::volume, "/data"},
                {"path", PartKind::path, "/out/ckpt"},
                {"log", PartKind::log, ""}};
  plan.bytes = 1234567;
  plan.cause = "rebalance";
  plan.confirm = 90;
  plan.awaits_value = true;
  plan.checkpoint.signal = 10;
  plan.checkpoint.command = {"save", "--now"};
  plan.checkpoint.timeout = 12.5;
  return plan;
}

// What the task of a birth asks for, as it is read.
Result<policy::Amounts> request_read(const policy::Amounts& request) {
  Plan plan = a_plan();
  plan.is_birth = true;
  plan.request = request;
  const Result<Plan> read = parse_plan(render_json(to_json(plan)));
  if (!read) return read.error();
  return read->request;
}

// The plan with one of its members changed.
Result<Plan> changed(const std::function<void(json::object&)>& change) {
  json::object plan = to_json(a_plan());
  change(plan);
  return parse_plan(render_json(plan));
}

}  // namespace

TEST_CASE("a birth's request has GPUs where it asks for some") {
  const policy::Amounts plain{{"cpu", 1}, {"mem", 1e9}};
  CHECK(*request_read(plain) == plain);
  const policy::Amounts with_gpus{{"cpu", 1}, {"mem", 1e9}, {"gpu", 0.5}};
  CHECK(*request_read(with_gpus) == with_gpus);
  CHECK_FALSE(request_read({{"cpu", 1}, {"mem", 1e9}, {"gpu", 1e300}}).has_value());
}

TEST_CASE("a plan is read back as it was written") {
  const Result<Plan> read = parse_plan(render_json(to_json(a_plan())));
  REQUIRE(read.has_value());
  CHECK(render_json(to_json(*read)) == render_json(to_json(a_plan())));
  CHECK(read->cause == "rebalance");
  CHECK(read->parts.size() == 3);
  CHECK(read->confirm == 90);
  CHECK(read->awaits_value);
  CHECK(read->checkpoint.timeout == 12.5);
}

TEST_CASE("how long a copy is not believed is bounded, and half a minute where nothing is said") {
  const auto confirm = [](const json::value& said) {
    return changed([&](json::object& plan) { plan["confirm"] = said; })->confirm;
  };
  CHECK(confirm(nullptr) == 30);
  CHECK(confirm(-5) == 1);
  CHECK(confirm(1e12) == 3600);
}

TEST_CASE("a volume without a name is the copy's own, and accepted") {
  const auto unnamed = [](json::object& plan) {
    json::object& host = plan["body"].as_object()["HostConfig"].as_object();
    host["Mounts"].as_array()[0].as_object().erase("Source");
    plan["volumes"] = json::array();
  };
  const Result<Plan> plan = changed(unnamed);
  REQUIRE(plan.has_value());
  AcceptPolicy policy;
  policy.mounts = {"/srv"};
  CHECK(refusals(*plan, policy).empty());
}

TEST_CASE("what CRIU froze comes only where the host says so") {
  Plan plan = a_plan();
  AcceptPolicy policy;
  policy.mounts = {"/srv"};
  CHECK_FALSE(needs_criu(plan));
  CHECK(refusals(plan, policy).empty());
  for (const PartKind kind : {PartKind::layer, PartKind::checkpoint}) {
    plan = a_plan();
    plan.parts.push_back({name(kind), kind, ""});
    CHECK(needs_criu(plan));
    policy.criu = false;
    const std::vector<std::string> reasons = refusals(plan, policy);
    REQUIRE(reasons.size() == 1);
    CHECK(reasons.front().find("accept-criu = on") != std::string::npos);
    policy.criu = true;
    CHECK(refusals(plan, policy).empty());
  }
  // And nothing else comes with it.
  plan.body["HostConfig"].as_object()["Privileged"] = true;
  CHECK(refusals(plan, policy).size() == 1);
}

TEST_CASE("a plan from a peer is held to what it may be") {
  using Change = std::function<void(json::object&)>;
  const auto part = [](json::object& plan, const char* member, const char* text) {
    plan["parts"].as_array()[0].as_object()[member] = text;
  };
  const std::vector<std::pair<std::string, Change>> wrong{
      {"image", [](json::object& p) { p["image"].as_object()["id"] = "latest"; }},
      {"image of the body", [](json::object& p) { p["body"].as_object()["Image"] = "latest"; }},
      {"layers", [](json::object& p) { p["image"].as_object()["layers"] = json::array{"../x"}; }},
      {"policy",
       [](json::object& p) {
         p["restart_policy"] = {{"Name", "forever"}};
       }},
      {"volume's name",
       [](json::object& p) { p["volumes"].as_array()[0].as_object()["name"] = "/etc"; }},
      {"volume that is the target's own", [](json::object& p) { p["volumes"] = json::array(); }},
      {"volume twice",
       [](json::object& p) { p["volumes"].as_array().push_back(p["volumes"].as_array()[0]); }},
      {"part's kind", [&](json::object& p) { part(p, "kind", "disk"); }},
      {"part's name", [&](json::object& p) { part(p, "name", "../../x"); }},
      {"part that leaves the container",
       [&](json::object& p) { part(p, "where", "/data/../../etc"); }},
      {"part that is no volume", [&](json::object& p) { part(p, "where", "/etc"); }},
      {"part twice",
       [](json::object& p) { p["parts"].as_array().push_back(p["parts"].as_array()[2]); }},
  };
  for (const auto& [what, change] : wrong) {
    CAPTURE(what);
    CHECK_FALSE(changed(change).has_value());
  }
  CHECK_FALSE(parse_plan("").has_value());
  CHECK_FALSE(parse_plan("[]").has_value());
  CHECK_FALSE(parse_plan(std::string(kMaxPlanBytes + 1, ' ')).has_value());
}

TEST_CASE("what a peer offers has bounds that the journal has not") {
  Plan plan = a_plan();
  json::object& ports = plan.body["HostConfig"].as_object()["PortBindings"].as_object();
  for (int port = 1; port <= 60000; ++port) {
    ports[std::to_string(port) + "/tcp"] = json::array{json::object{{"HostPort", "1"}}};
  }
  const Result<Plan> offered = parse_offer(to_json(plan));
  REQUIRE_FALSE(offered.has_value());
  CHECK(offered.error().what == "a container with more than 64 ports is not accepted");
  CHECK(parse_plan(render_json(to_json(plan))).has_value());
  CHECK(parse_offer(to_json(a_plan())).has_value());
  CHECK_FALSE(parse_offer(nullptr).has_value());
}

TEST_CASE("the copy is labelled with its move and keeps its labels") {
  const json::value body(create_body(a_plan(), "7", "trainings:1"));
  CHECK(text_of(body, "Image") == "trainings:1");
  const json::value& labels = member(body, "Labels");
  CHECK(text_of(labels, "a") == "b");
  CHECK(text_of(labels, kMoveLabel) == "7");
}

TEST_CASE("only the first run of a job's task says that it is one") {
  Plan plan = a_plan();
  plan.is_birth = plan.is_first = true;
  const auto label = [](const Plan& one) {
    const json::value body(create_body(one, "7", "trainings:1"));
    return text_of(member(body, "Labels"), ctrl::kFirstRunLabel);
  };
  CHECK(label(plan) == "true");
  plan.body["Labels"].as_object()[ctrl::kFirstRunLabel] = "true";
  plan.is_first = false;
  CHECK(label(plan).empty());
}

TEST_CASE("ports that the user chose are the ones that must be free") {
  const auto ports = fixed_ports(a_plan());
  REQUIRE(ports.size() == 1);
  CHECK(ports.front() == std::pair<int, std::string>(8080, "tcp"));
}

TEST_CASE("an engine that maps users to others of its host says so") {
  const auto mapping = [](const std::string& options, const std::string& root) {
    return user_mapping(
        *parse_json(R"({"DockerRootDir":")" + root + R"(","SecurityOptions":)" + options + "}"));
  };
  const std::string mapped = R"(["name=apparmor","name=seccomp,profile=builtin","name=userns"])";
  CHECK(mapping(mapped, "/var/lib/docker/100000.200000") == "100000.200000");
  for (const char* other : {"", "/var/lib/docker", "/srv/100000", "/srv/1.x", "/srv/.5"}) {
    CHECK(mapping(mapped, other) == "userns-remap");
  }
  CHECK(mapping(R"(["name=seccomp,profile=builtin","name=rootless"])", "/srv/1.1") == "rootless");
  for (const char* none : {"null", "[]", "[7]", R"(["name=seccomp,profile=name=userns"])"}) {
    CHECK(mapping(none, "/var/lib/docker/1.1").empty());
  }
}

TEST_CASE("only mappings that are known are alike") {
  CHECK(is_same_mapping("", ""));
  CHECK(is_same_mapping("100000.100000", "100000.100000"));
  CHECK_FALSE(is_same_mapping("100000.100000", "100000.200000"));
  CHECK_FALSE(is_same_mapping("", "100000.100000"));
  for (const char* unknown : {"rootless", "userns-remap"}) {
    CHECK_FALSE(is_same_mapping(unknown, unknown));
    CHECK_FALSE(is_same_mapping(unknown, ""));
  }
}

TEST_CASE("a plan says how its engine maps users; an older one says nothing") {
  const auto read = [](const std::function<void(json::object&)>& change) {
    const Result<Plan> plan = changed(change);
    REQUIRE(plan.has_value());
    return plan->user_mapping;
  };
  CHECK(read([](json::object& plan) { plan["user_mapping"] = "1.2"; }) == "1.2");
  CHECK(read([](json::object& plan) { plan.erase("user_mapping"); }).empty());
}
