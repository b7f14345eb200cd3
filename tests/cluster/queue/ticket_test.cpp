// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/ticket.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::queue {
namespace {

namespace json = boost::json;

// As the engine describes it, with these members of HostConfig and Config.
json::value inspect(const json::object& host_config, const json::object& config = {},
                    const json::object& labels = {{"flowcon.queue", "true"}}) {
  json::object body = test::inspect_of(std::string(64, 'a'), "vae");
  body["HostConfig"] = host_config;
  json::object& whole = body["Config"].as_object();
  for (const auto& [key, value] : config) whole[key] = value;
  whole["Labels"] = labels;
  return body;
}

Ticket ticket_of(const json::value& seen) {
  Result<Ticket> ticket = parse_ticket(seen);
  REQUIRE(ticket.has_value());
  return *ticket;
}

TEST_CASE("a ticket has docker's own limits and what the labels say") {
  const Ticket ticket = ticket_of(
      inspect({{"NanoCpus", 1500000000}, {"Memory", 2000000000}, {"MemorySwap", 3000000000}}, {},
              {{"flowcon.queue", "hold"}, {"flowcon.priority", "2"}}));
  CHECK(ticket.name == "vae");
  CHECK(ticket.docker_cpu == 1.5);
  CHECK(ticket.docker_mem == 2e9);
  CHECK(ticket.docker_swap == 1e9);
  CHECK(ticket.labels.is_held);
  CHECK(ticket.labels.priority == 2);
  CHECK(ticket.command.command == "python3 vae.py");
  CHECK(ticket.refusal.empty());
}

TEST_CASE("a CPU quota counts as cores, and no limit is none") {
  CHECK(ticket_of(inspect({{"CpuQuota", 50000}, {"CpuPeriod", 100000}})).docker_cpu == 0.5);
  CHECK(ticket_of(inspect({{"CpuQuota", 50000}})).docker_cpu == 0.5);
  const Ticket plain = ticket_of(inspect({{"Memory", 0}, {"MemorySwap", -1}}));
  CHECK_FALSE(plain.docker_cpu.has_value());
  CHECK_FALSE(plain.docker_mem.has_value());
  CHECK(plain.docker_swap == -1);
}

TEST_CASE("what a job of the queue cannot have is refused in a sentence that says what to do") {
  const auto refusal = [](const json::object& host_config, const json::object& config = {}) {
    return ticket_of(inspect(host_config, config)).refusal;
  };
  CHECK(refusal({{"AutoRemove", true}}).starts_with("--rm would remove it"));
  CHECK(refusal({}, {{"Tty", true}}).starts_with("-i and -t need somebody"));
  CHECK(refusal({}, {{"OpenStdin", true}}).starts_with("-i and -t need somebody"));
  CHECK(refusal({{"CpusetCpus", "0-1"}}).starts_with("--cpuset-cpus"));
  CHECK(refusal({{"RestartPolicy", {{"Name", "always"}}}}) ==
        "--restart would start it beside the queue; use --retries");
  const json::object port{{"80/tcp", json::array{json::object{{"HostPort", "8080"}}}}};
  CHECK(refusal({{"PortBindings", port}}) ==
        "only one container can have the host's port 8080; publish without it, -p PORT");
  const json::object any_port{{"80/tcp", json::array{json::object{{"HostPort", ""}}}}};
  CHECK(refusal({{"PortBindings", any_port}, {"RestartPolicy", {{"Name", "no"}}}}).empty());
}

TEST_CASE("several containers have one network, and no address that a person chose") {
  const auto refusal = [](const json::object& networks, const char* workers) {
    json::value seen = inspect({{"NetworkMode", "train"}}, {},
                               {{"flowcon.queue", "true"}, {"flowcon.workers", workers}});
    seen.as_object()["NetworkSettings"] = {{"Networks", networks}};
    return ticket_of(seen).refusal;
  };
  const json::object plain{{"IPAMConfig", nullptr},
                           {"Aliases", json::array{"vae", std::string(12, 'a')}}};
  const json::object fixed{{"IPAMConfig", {{"IPv4Address", "10.0.0.7"}}}};
  CHECK(refusal({{"train", plain}}, "2") == "");
  CHECK(refusal({{"train", plain}, {"db", plain}}, "2") ==
        "its containers would be in one of its networks alone; name one, by --network");
  CHECK(refusal({{"train", fixed}}, "2").starts_with("only one of its containers can have the"));
  CHECK(refusal({{"train", fixed}, {"db", plain}}, "1") == "");
}

TEST_CASE("several containers have neither one address of a network card nor one more name") {
  const auto refusal = [](const char* workers, const json::object& network,
                          const json::object& config = {}, const char* service = "") {
    json::value seen = inspect({}, config,
                               {{"flowcon.queue", "true"},
                                {"flowcon.workers", workers},
                                {"com.docker.compose.service", service}});
    seen.as_object()["NetworkSettings"] = {{"Networks", {{"train", network}}}};
    return ticket_of(seen).refusal;
  };
  const std::string mac = "02:42:ac:12:00:09";
  const std::string of_mac = "only one of its containers can have --mac-address; leave it out";
  CHECK(refusal("2", {{"MacAddress", mac}}) == of_mac);
  CHECK(refusal("2", {}, {{"MacAddress", mac}}) == of_mac);
  CHECK(refusal("1", {{"MacAddress", mac}}, {{"MacAddress", mac}}) == "");
  const json::object named{{"MacAddress", ""}, {"Aliases", json::array{"vae", "trainer"}}};
  CHECK(refusal("2", named) ==
        "none of its containers would have the name of --network-alias trainer; leave it out");
  CHECK(refusal("1", named) == "");
  // As compose names each container.
  CHECK(refusal("2", named, {}, "trainer") == "");
}

TEST_CASE("it saves itself where its labels say how") {
  const auto saves = [](const json::object& labels) {
    return ticket_of(inspect({}, {}, labels)).saves_itself;
  };
  CHECK_FALSE(saves({{"flowcon.queue", "true"}}));
  CHECK(saves({{"flowcon.checkpoint.signal", "SIGUSR1"}}));
  CHECK(saves({{"flowcon.checkpoint.command", "save"}}));
  CHECK(saves({{"flowcon.migrate", "app"}}));
}

TEST_CASE("a volume that it only reads is none that brings anything home") {
  const auto has_volumes = [](const json::array& mounts) {
    json::value seen = inspect({});
    seen.as_object()["Mounts"] = mounts;
    return ticket_of(seen).has_volumes;
  };
  const json::object data{{"Type", "volume"}, {"Name", "data"}, {"RW", false}};
  const json::object results{{"Type", "volume"}, {"Name", "results"}, {"RW", true}};
  const json::object unsaid{{"Type", "volume"}, {"Name", "results"}};
  const json::object folder{{"Type", "bind"}, {"Source", "/srv"}, {"RW", true}};
  CHECK_FALSE(has_volumes(json::array()));
  CHECK_FALSE(has_volumes(json::array{data, folder}));
  CHECK(has_volumes(json::array{data, results}));
  CHECK(has_volumes(json::array{unsaid}));
}

TEST_CASE("an answer that is none of the engine's is an error") {
  CHECK_FALSE(parse_ticket(json::object()).has_value());
  CHECK_FALSE(parse_ticket(nullptr).has_value());
  // Members of other types are as if they were not there.
  const Ticket odd = ticket_of(inspect({{"Memory", "much"}, {"PortBindings", 7}}));
  CHECK_FALSE(odd.docker_mem.has_value());
}

}  // namespace
}  // namespace flowcon::cluster::queue
