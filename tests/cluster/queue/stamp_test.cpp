// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/stamp.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/queue/group.h"
#include "ctrl/began_elsewhere.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

namespace json = boost::json;

JobEntry group_of(std::int64_t workers, std::int64_t ps) {
  JobEntry entry;
  entry.id = std::string(64, 'a');
  entry.name = "net";
  entry.group = Group();
  entry.group->workers = {workers, workers};
  entry.group->ps = ps;
  for (std::int64_t i = 0; i < workers; ++i) {
    entry.group->tasks.emplace_back().name = "net-w" + std::to_string(i);
  }
  for (std::int64_t i = 0; i < ps; ++i) {
    entry.group->tasks.emplace_back().name = "net-s" + std::to_string(i);
    entry.group->tasks.back().is_ps = true;
  }
  return entry;
}

json::value inspect_of(const char* environment, const char* labels, const char* host) {
  const std::string text = std::string(R"({"Id":")") + std::string(64, 'a') +
                           R"(","Config":{"Hostname":"aaaaaaaaaaaa","Image":"trainer","Env":)" +
                           environment + R"(,"Labels":)" + labels + R"(},"HostConfig":)" + host +
                           "}";
  return *parse_json(text);
}

std::vector<std::string> environment_in(const json::object& body) {
  std::vector<std::string> all;
  for (const json::value& one : body.at("Env").as_array()) all.emplace_back(one.as_string());
  return all;
}

TEST_CASE("tasks in the network of their hosts are told addresses, ports and the interface") {
  JobEntry entry = group_of(2, 1);
  entry.group->network = kHostNetwork;
  entry.group->tasks[0].endpoint = Endpoint{"192.0.2.7", 29500, "eth1"};
  entry.group->tasks[1].endpoint = Endpoint{"2001:db8::8", 29507, "bond0"};
  entry.group->tasks[2].endpoint = Endpoint{"2001:db8::8", 29508, "bond0"};
  const auto told = environment_of(entry, 1);
  CHECK(told.at("FLOWCON_PS") == "[2001:db8::8]:29508");
  CHECK(told.at("FLOWCON_PORT") == "29507");
  CHECK(told.at("MASTER_ADDR") == "192.0.2.7");
  CHECK(told.at("MASTER_PORT") == "29500");
  CHECK(told.at("GLOO_SOCKET_IFNAME") == "bond0");
  const json::value inspect = inspect_of("[]", "{}", R"({"NetworkMode":"default"})");
  const json::object body = task_body(inspect, {}, entry, 1);
  CHECK(text_of(body.at("HostConfig"), "NetworkMode") == "host");
  CHECK(text_of(body.at("Labels"), migration::kPortLabel) == "29507");
  CHECK_FALSE(body.contains("Hostname"));
}

TEST_CASE("a server with a published port is in a network of its host, and found at its host") {
  JobEntry entry = group_of(1, 1);
  entry.group->network = kPublished;
  entry.group->tasks[1].endpoint = Endpoint{"192.0.2.8", 29507, "bond0"};
  const auto told = environment_of(entry, 0);
  CHECK(told.at("FLOWCON_PS") == "192.0.2.8:29507");
  CHECK(told.at("FLOWCON_PORT") == "29500");
  CHECK(environment_of(entry, 1).at("FLOWCON_PORT") == "29507");
  CHECK(environment_of(entry, 1).at("GLOO_SOCKET_IFNAME") == "eth0");
  const json::value inspect = inspect_of("[]", "{}", R"({"NetworkMode":"default"})");
  const json::object body = task_body(inspect, {}, entry, 1);
  CHECK(migration::is_group_network(text_of(body.at("HostConfig"), "NetworkMode")));
  CHECK(render_json(member(body.at("HostConfig"), "PortBindings")) ==
        R"({"29507/tcp":[{"HostIp":"192.0.2.8","HostPort":"29507"}]})");
  CHECK(render_json(body.at("ExposedPorts")) == R"({"29507/tcp":{}})");
  CHECK(text_of(body.at("Labels"), migration::kPortLabel) == "29507");
  CHECK_FALSE(
      member(task_body(inspect, {}, entry, 0).at("HostConfig"), "PortBindings").is_object());
}

TEST_CASE("in an overlay a task has the name that the others are told, beside its own") {
  JobEntry entry = group_of(2, 1);
  entry.group->network = "train";
  for (JobEntry& one : entry.group->tasks) one.alias = alias_of(entry, one.name);
  const auto told = environment_of(entry, 1);
  CHECK(told.at("MASTER_ADDR") == "aaaaaaaaaaaa-w0");
  CHECK(told.at("FLOWCON_PS") == "aaaaaaaaaaaa-s0:29500");
  const json::value inspect = inspect_of("[]", "{}", R"({"NetworkMode":"default"})");
  const json::object body = task_body(inspect, {}, entry, 1);
  CHECK(text_of(body.at("HostConfig"), "NetworkMode") == "train");
  CHECK(render_json(body.at("NetworkingConfig")) ==
        R"({"EndpointsConfig":{"train":{"Aliases":["aaaaaaaaaaaa-w1"]}}})");
  entry.group->tasks[1].alias.clear();  // an earlier flowcond made it
  CHECK_FALSE(task_body(inspect, {}, entry, 1).contains("NetworkingConfig"));
}

TEST_CASE("a worker is told who it is and where the others are") {
  const auto told = environment_of(group_of(2, 1), 1);
  CHECK(told.at("FLOWCON_JOB") == "net");
  CHECK(told.at("FLOWCON_ROLE") == "worker");
  CHECK(told.at("FLOWCON_RANK") == "1");
  CHECK(told.at("FLOWCON_WORLD_SIZE") == "2");
  CHECK(told.at("FLOWCON_PS") == "net-s0:29500");
  CHECK(told.at("FLOWCON_ATTEMPT") == "1");
  CHECK_FALSE(told.contains("FLOWCON_RESUME"));
  CHECK(told.at("MASTER_ADDR") == "net-w0");
  CHECK(told.at("RANK") == "1");
  CHECK(told.at("WORLD_SIZE") == "2");
  CHECK(told.at("PET_NNODES") == "2");
  CHECK(told.at("PET_NODE_RANK") == "1");
  CHECK(told.at("TF_CONFIG") ==
        R"({"cluster":{"worker":["net-w0:29500","net-w1:29500"],"ps":["net-s0:29500"]},)"
        R"("task":{"type":"worker","index":1}})");
}

TEST_CASE("torchrun's agents meet at the first worker's, which stays") {
  JobEntry entry = group_of(3, 0);
  entry.group->workers = {2, 6};
  entry.group->elastic = ctrl::Elastic::torchrun;
  entry.group->tasks[2].name = "net-w7";
  const auto first = environment_of(entry, 0), told = environment_of(entry, 2);
  CHECK(told.at("PET_NNODES") == "2:6");
  CHECK(told.at("PET_RDZV_BACKEND") == "c10d");
  CHECK(told.at("PET_RDZV_ENDPOINT") == "net-w0:29500");
  CHECK(told.at("PET_RDZV_ID") == first.at("PET_RDZV_ID"));
  CHECK(told.at("PET_RDZV_CONF").ends_with(",is_host=0"));
  CHECK(first.at("PET_RDZV_CONF").ends_with(",is_host=1"));
  CHECK(told.at("FLOWCON_RANK") == "7");
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "PET_NODE_RANK"}) {
    CHECK_FALSE(told.contains(name));
  }
  entry.chosen.workers = 3;
  CHECK(environment_of(entry, 0).at("PET_NNODES") == "2:6");
  entry.attempt = 1;
  entry.state = JobState::running;  // one joins
  CHECK(environment_of(entry, 2).at("PET_RDZV_ID") == first.at("PET_RDZV_ID"));
  CHECK(environment_of(entry, 2).at("FLOWCON_ATTEMPT") == "1");
  entry.state = JobState::placing;
  CHECK(environment_of(entry, 0).at("PET_RDZV_ID") != first.at("PET_RDZV_ID"));
  entry.group->tasks[0].endpoint = Endpoint{"2001:db8::8", 29507, "eth0"};
  CHECK(environment_of(entry, 2).at("PET_RDZV_ENDPOINT") == "[2001:db8::8]:29507");
}

TEST_CASE("workers that come and go are counted from the first one of their attempt") {
  JobEntry entry = group_of(2, 2);
  entry.group->elastic = ctrl::Elastic::join;
  for (const auto& [task, name] : std::vector<std::pair<std::size_t, std::string>>{
           {0, "net-w4"}, {1, "net-w7"}, {2, "net-s2"}, {3, "net-s3"}}) {
    entry.group->tasks[task].name = name;
  }
  CHECK(environment_of(entry, 0).at("FLOWCON_RANK") == "0");
  CHECK(environment_of(entry, 1).at("FLOWCON_RANK") == "3");
  CHECK(environment_of(entry, 1).at("RANK") == "3");
  CHECK(environment_of(entry, 3).at("FLOWCON_RANK") == "1");
}

TEST_CASE(
    "where workers come and go TF_CONFIG has each at its rank, and a place for who has left") {
  JobEntry entry = group_of(3, 1);
  entry.group->elastic = ctrl::Elastic::join;
  entry.group->next_worker = 8;
  for (std::size_t i = 0; i < 3; ++i) {
    entry.group->tasks[i].name = std::vector<std::string>{"net-w4", "net-w6", "net-w7"}[i];
    entry.group->tasks[i].endpoint = Endpoint{"192.0.2.7", 29500, "eth1"};
  }
  entry.group->tasks[1].has_left = true;  // and of net-w5 nothing is kept
  CHECK(environment_of(entry, 2).at("TF_CONFIG") ==
        R"({"cluster":{"worker":["192.0.2.7:29500","net-w5:29500","net-w6:29500",)"
        R"("192.0.2.7:29500"],"ps":["net-s0:29500"]},"task":{"type":"worker","index":3}})");
  entry.group->next_worker = 100'000;
  CHECK_FALSE(environment_of(entry, 2).contains("TF_CONFIG"));  // no container would start
}

TEST_CASE("the name that a person gives a worker is no number beyond all bounds") {
  JobEntry entry = group_of(2, 0);
  entry.group->elastic = ctrl::Elastic::join;
  entry.group->tasks[0].name = "net-w4";
  entry.group->tasks[1].name = "net-w99999999999999999999999";
  CHECK(environment_of(entry, 1).at("RANK") == "0");
}

TEST_CASE("a parameter server has no rank among the workers") {
  const auto told = environment_of(group_of(2, 2), 3);
  CHECK(told.at("FLOWCON_ROLE") == "ps");
  CHECK(told.at("FLOWCON_RANK") == "1");
  CHECK_FALSE(told.contains("RANK"));
  CHECK_FALSE(told.contains("PET_NNODES"));
  CHECK(told.at("TF_CONFIG").find(R"("type":"ps","index":1)") != std::string::npos);
}

TEST_CASE("a task of a later attempt resumes what was saved, and is no first run of its command") {
  JobEntry group = group_of(2, 0);
  group.attempt = 1;
  CHECK_FALSE(environment_of(group, 0).contains("FLOWCON_RESUME"));
  CHECK(environment_of(group, 0).at("FLOWCON_ATTEMPT") == "2");
  group.has_parked = true;
  CHECK(environment_of(group, 0).at("FLOWCON_RESUME") == "1");
  const json::object body = task_body(inspect_of("[]", "{}", "{}"), {}, group, 0);
  CHECK(body.at("Labels").as_object().contains(ctrl::kGoesOnLabel));
  CHECK(std::string(ctrl::kGoesOnLabel) == migration::kGoesOnLabel);
}

TEST_CASE("what the user has set stays, but for what the queue says of the job") {
  const json::object body =
      task_body(inspect_of(R"(["MASTER_PORT=1234","FLOWCON_RANK=9","A=1"])", "{}", "{}"), {},
                group_of(2, 0), 0);
  const std::vector<std::string> all = environment_in(body);
  const auto has = [&](const char* text) {
    return std::count(all.begin(), all.end(), std::string(text));
  };
  CHECK(has("MASTER_PORT=1234") == 1);
  CHECK(has("MASTER_PORT=29500") == 0);
  CHECK(has("FLOWCON_RANK=0") == 1);
  CHECK(has("FLOWCON_RANK=9") == 0);
  CHECK(has("A=1") == 1);
}

TEST_CASE("a task has its group's label, and of the queue's those that are its own") {
  const char* labels = R"({"flowcon.queue":"true","flowcon.workers":"2","flowcon.ps":"1",
      "flowcon.request":"cpu=2","flowcon.ps-request":"cpu=0.5 mem=1G",
      "com.docker.compose.service":"net","mine":"1"})";
  ctrl::QueueLabels said;
  said.ps_cpu = 0.5;
  said.ps_mem = 1073741824.0;
  const json::value inspect = inspect_of("[]", labels, "{}");
  const JobEntry group = group_of(2, 1);
  const json::object leader = task_body(inspect, said, group, 0);
  const json::object server = task_body(inspect, said, group, 2);
  const json::object& first = leader.at("Labels").as_object();
  const json::object& last = server.at("Labels").as_object();
  CHECK(first.at(migration::kGroupLabel) == json::value(group.id));
  CHECK(first.at(migration::kLeaderLabel) == json::value(group.id));
  CHECK_FALSE(last.contains(migration::kLeaderLabel));
  CHECK(first.at("flowcon.request") == json::value("cpu=2"));
  CHECK(last.at("flowcon.request") == json::value("cpu=0.5 mem=1G"));
  CHECK_FALSE(first.contains("flowcon.workers"));
  CHECK_FALSE(first.contains("com.docker.compose.service"));
  CHECK(first.at("mine") == json::value("1"));
  CHECK(migration::group_of(leader) == group.id);
  CHECK(migration::is_follower(server));
  CHECK_FALSE(migration::is_follower(leader));
}

TEST_CASE("tasks have a network of their own unless the user names one") {
  const auto mode = [](const char* host) {
    const json::object body = task_body(inspect_of("[]", "{}", host), {}, group_of(2, 0), 0);
    CHECK_FALSE(body.contains("Hostname"));
    return std::string(body.at("HostConfig").as_object().at("NetworkMode").as_string());
  };
  CHECK(mode(R"({"NetworkMode":"default"})") == "flowcon-group-" + std::string(32, 'a'));
  CHECK(mode(R"({"NetworkMode":"bridge"})") == "flowcon-group-" + std::string(32, 'a'));
  CHECK(mode(R"({"NetworkMode":"mesh"})") == "mesh");
  CHECK(migration::is_group_network(mode("{}")));
  CHECK_FALSE(migration::is_group_network("flowcon-group-mine"));
}

TEST_CASE("a volume without a name is that of the ticket, for all tasks") {
  const std::string name(64, 'c');
  json::value inspect = inspect_of("[]", "{}", R"({"NetworkMode":"default","Binds":["out:/out"]})");
  inspect.as_object()["Mounts"] = *parse_json(
      R"([{"Type":"volume","Name":"out","Destination":"/out"},{"Type":"bind","Destination":"/in"},)"
      R"({"Type":"volume","Name":")" +
      name + R"(","Destination":"/ckpt"}])");
  const auto binds = [&] {
    return render_json(
        member(json::value(task_body(inspect, {}, group_of(2, 0), 1).at("HostConfig")), "Binds"));
  };
  CHECK(binds() == R"(["out:/out",")" + name + R"(:/ckpt"])");
  inspect.at("HostConfig").as_object()["Mounts"] =
      *parse_json(R"([{"Type":"volume","Target":"/ckpt"}])");
  CHECK(binds() == R"(["out:/out"])");
  CHECK(text_of(
            list_of(member(json::value(task_body(inspect, {}, group_of(2, 0), 1).at("HostConfig")),
                           "Mounts"))
                .front(),
            "Source") == name);
  inspect.at("HostConfig").as_object().erase("Mounts");
  inspect.at("HostConfig").as_object()["Binds"] = json::array{name + ":/ckpt:rw"};
  CHECK(binds() == R"([")" + name + R"(:/ckpt:rw"])");
}

TEST_CASE("tasks of a ticket without an entrypoint do not get that of its image") {
  json::value inspect = inspect_of("[]", "{}", "{}");
  const auto entrypoint = [&] {
    return render_json(task_body(inspect, {}, group_of(2, 0), 1).at("Entrypoint"));
  };
  CHECK(entrypoint() == R"([""])");
  inspect.at("Config").as_object()["Entrypoint"] = nullptr;
  CHECK(entrypoint() == R"([""])");
  inspect.at("Config").as_object()["Entrypoint"] = json::array{"/run.sh"};
  CHECK(entrypoint() == R"(["/run.sh"])");
}

TEST_CASE("after a task was killed for memory all have a limit twice as large") {
  JobEntry group = group_of(2, 0);
  const auto limits = [&](const char* host) {
    const json::object body = task_body(inspect_of("[]", "{}", host), {}, group, 0);
    const json::object& config = body.at("HostConfig").as_object();
    return std::pair(config.at("Memory").to_number<double>(),
                     config.at("MemorySwap").to_number<double>());
  };
  const char* host = R"({"Memory":1000,"MemorySwap":1500})";
  CHECK(limits(host) == std::pair(1000.0, 1500.0));
  group.has_doubled = true;
  group.least_memory = 2000;
  CHECK(limits(host) == std::pair(2000.0, 2500.0));
  CHECK(limits(R"({"Memory":1000,"MemorySwap":-1})") == std::pair(2000.0, -1.0));
  CHECK(limits(R"({"Memory":0,"MemorySwap":0})") == std::pair(0.0, 0.0));
  // Whatever a peer tells that it used there.
  group.least_memory = 1e15;
  CHECK(limits(host) == std::pair(2000.0, 2500.0));
}

TEST_CASE("the same volume of two births has two names, and none of a user's") {
  const std::string one = migration::task_volume("a", "ck"),
                    other = migration::task_volume("b", "ck");
  CHECK(one != other);
  CHECK(migration::is_task_volume(one));
  CHECK_FALSE(migration::is_task_volume("ck"));
  CHECK_FALSE(migration::is_task_volume("flowcon-task-ck"));
}

}  // namespace
}  // namespace flowcon::cluster::queue
