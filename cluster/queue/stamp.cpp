// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/stamp.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <utility>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/queue/group.h"
#include "ctrl/gpus.h"

namespace flowcon::cluster::queue {
namespace {

constexpr const char* kPort = "29500";  // of torch.distributed; each task has addresses of its own
constexpr std::size_t kLongestVariable = 100'000;  // bytes; the kernel takes none of 128 KiB
constexpr std::string_view kComposeLabels = "com.docker.compose.";

std::string host_of(const JobEntry& task) {
  if (task.endpoint) return task.endpoint->address;
  return task.alias.empty() ? task.name : task.alias;
}

std::string port_of(const JobEntry& task) {
  return task.endpoint ? std::to_string(task.endpoint->port) : kPort;
}

// "net-s0:29500".
std::string address_of(const JobEntry& task) {
  const std::string host = host_of(task);
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + port_of(task);
}

std::vector<std::string> addresses(const Group& group, bool of_workers) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < group.tasks.size(); ++i) {
    const JobEntry& task = group.tasks[i];
    if (task.is_ps == of_workers || task.has_left) continue;
    all.push_back(address_of(task));
  }
  return all;
}

// The first worker, at which the others meet.
const JobEntry& master_of(const Group& group) {
  return *std::find_if(group.tasks.begin(), group.tasks.end(),
                       [](const JobEntry& task) { return !task.is_ps && !task.has_left; });
}

// 0 where a person has renamed it.
std::size_t number_of(const JobEntry& task) {
  const std::string digits = task.name.substr(task.name.find_last_not_of("0123456789") + 1);
  std::size_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() ? number : 0;
}

// From which those of a role are counted.
std::size_t first_number(const Group& group, bool is_ps) {
  return number_of(*std::find_if(group.tasks.begin(), group.tasks.end(),
                                 [is_ps](const JobEntry& one) { return one.is_ps == is_ps; }));
}

// Its place among those of its role, from 0; where workers come and go, by the numbers in their
// names, so that none is another one's again.
std::size_t rank_of(const Group& group, std::size_t task) {
  const auto has_its_role = [is_ps = group.tasks[task].is_ps](const JobEntry& one) {
    return one.is_ps == is_ps;
  };
  if (ctrl::joins(group.elastic)) {
    const std::size_t own = number_of(group.tasks[task]);
    return own - std::min(own, first_number(group, group.tasks[task].is_ps));
  }
  std::size_t rank = 0;
  for (std::size_t i = 0; i < task; ++i) {
    const JobEntry& one = group.tasks[i];
    if (has_its_role(one) && !one.has_left) ++rank;
  }
  return rank;
}

// From 1; that of a worker that joins is the others'.
std::string attempt_of(const JobEntry& entry) {
  const bool is_counted = entry.state != JobState::waiting && entry.state != JobState::placing;
  return std::to_string(entry.attempt + (is_counted ? 0 : 1));
}

// Its agents meet at the first worker's and begin anew whenever one comes or goes. A worker that
// loses its partner fails, which counts as a restart. That of PyTorch 1.13 fails with Python 3.11
// where nothing is redirected.
std::map<std::string, std::string> torchrun_environment(const JobEntry& entry, std::size_t task) {
  const ctrl::WorkerRange range = entry.group->workers;  // of all agents, whatever is said later
  const bool is_master = &entry.group->tasks[task] == &master_of(*entry.group);
  return {{"PET_NNODES", std::to_string(range.least) + ":" + std::to_string(range.most)},
          {"PET_RDZV_BACKEND", "c10d"},
          {"PET_RDZV_ENDPOINT", address_of(master_of(*entry.group))},
          {"PET_RDZV_ID", entry.id.substr(0, 12) + "-" + attempt_of(entry)},
          {"PET_RDZV_CONF",
           std::string("last_call_timeout=2,join_timeout=60,is_host=") + (is_master ? "1" : "0")},
          {"PET_MAX_RESTARTS", "100"},
          {"PET_NPROC_PER_NODE", "1"},
          {"PET_REDIRECTS", "2"},
          {"PET_TEE", "2"}};
}

// All workers by their ranks. Where they come and go one that has left keeps its place.
std::vector<std::string> by_rank(const JobEntry& entry) {
  const Group& group = *entry.group;
  if (!ctrl::joins(group.elastic)) return addresses(group, true);
  const std::size_t first = first_number(group, false);
  const auto next = static_cast<std::size_t>(group.next_worker);
  std::vector<std::string> all;
  JobEntry gone;
  for (std::size_t number = first; number < next; ++number) {
    gone.name = task_name(entry, false, static_cast<std::int64_t>(number));
    gone.alias = alias_of(entry, gone.name);
    all.push_back(address_of(gone));
  }
  for (const JobEntry& task : group.tasks) {
    const std::size_t number = number_of(task);
    if (task.is_ps || task.has_left || number < first || number >= next) continue;
    all[number - first] = address_of(task);
  }
  return all;
}

std::string tf_config(const JobEntry& entry, std::size_t task) {
  const Group& group = *entry.group;
  json::object cluster{{"worker", texts(by_rank(entry))}};
  if (group.ps > 0) cluster["ps"] = texts(addresses(group, false));
  return render_json(json::object{
      {"cluster", std::move(cluster)},
      {"task",
       {{"type", group.tasks[task].is_ps ? "ps" : "worker"}, {"index", rank_of(group, task)}}}});
}

json::array with_environment(const json::value& config,
                             const std::map<std::string, std::string>& ours) {
  json::array all;
  std::map<std::string, std::string> left = ours;
  for (const json::value& one : list_of(config, "Env")) {
    if (!one.is_string()) continue;
    const std::string text(one.get_string());
    const std::string name = text.substr(0, text.find('='));
    const auto found = left.find(name);
    if (found != left.end() && name.starts_with("FLOWCON_")) continue;
    if (found != left.end()) left.erase(found);
    all.emplace_back(text);
  }
  for (const auto& [name, value] : left) all.emplace_back(name + "=" + value);
  return all;
}

json::object with_labels(const json::value& config, const ctrl::QueueLabels& said,
                         const JobEntry& group, std::size_t task) {
  json::object labels;
  for (const auto& [key, value] : object_of(config, "Labels")) {
    const std::string_view name(key.data(), key.size());
    const bool is_of_group = name == "flowcon.workers" || name == "flowcon.ps" ||
                             name == "flowcon.ps-request" || name == "flowcon.elastic" ||
                             name.starts_with(kComposeLabels);
    if (!is_of_group) labels[key] = value;
  }
  const ctrl::Request ps_request{said.ps_cpu, said.ps_mem};
  const bool is_ps = group.group->tasks[task].is_ps;
  if (is_ps && ps_request != ctrl::Request{}) {
    labels["flowcon.request"] = ctrl::render_request(ps_request);
  }
  labels[migration::kGroupLabel] = group.id;
  if (task == 0) labels[migration::kLeaderLabel] = group.id;
  if (group.attempt > 0) labels[migration::kGoesOnLabel] = "true";
  const std::optional<Endpoint>& endpoint = group.group->tasks[task].endpoint;
  if (endpoint) labels[migration::kPortLabel] = std::to_string(endpoint->port);
  return labels;
}

// A limit that a task was killed at, to twice as much at most: what it used its host has told. What
// it may swap beyond it stays.
void raise_memory(json::object& host_config, double least) {
  const double limit = real_of(member(json::value(host_config), "Memory")).value_or(0);
  least = std::min(least, 2 * limit);
  const double swap = real_of(member(json::value(host_config), "MemorySwap")).value_or(0);
  if (!(limit > 0 && limit < least)) return;
  host_config["Memory"] = static_cast<std::int64_t>(least);
  if (swap > 0) host_config["MemorySwap"] = static_cast<std::int64_t>(swap - limit + least);
}

// At the address that its host has for others, and at no other one.
void publish(json::object& body, json::object& host_config, const Endpoint& endpoint) {
  const std::string port = std::to_string(endpoint.port), key = port + "/tcp";
  const auto with = [&key](const json::value& before, json::value ours) {
    json::object all = object_of(before);
    all[key] = std::move(ours);
    return all;
  };
  const json::value binding{{"HostIp", endpoint.address}, {"HostPort", port}};
  const json::value was = body, host_was = host_config;
  body["ExposedPorts"] = with(member(was, "ExposedPorts"), json::object());
  host_config["PortBindings"] = with(member(host_was, "PortBindings"), json::array{binding});
}

}  // namespace

std::map<std::string, std::string> environment_of(const JobEntry& entry, std::size_t task) {
  const Group& group = *entry.group;
  const bool is_ps = group.tasks[task].is_ps;
  const std::string rank = std::to_string(rank_of(group, task));
  const std::vector<std::string> workers = addresses(group, true);
  const std::string size = std::to_string(workers.size());
  const std::optional<Endpoint>& endpoint = group.tasks[task].endpoint;
  const bool is_in_host = endpoint && group.network == kHostNetwork;
  const std::string interface = is_in_host ? endpoint->interface : "eth0";
  std::map<std::string, std::string> all{{"FLOWCON_JOB", entry.name},
                                         {"FLOWCON_ROLE", is_ps ? "ps" : "worker"},
                                         {"FLOWCON_RANK", rank},
                                         {"FLOWCON_WORLD_SIZE", size},
                                         {"FLOWCON_PS", joined(addresses(group, false), ",")},
                                         {"FLOWCON_PORT", port_of(group.tasks[task])},
                                         {"FLOWCON_ATTEMPT", attempt_of(entry)},
                                         {"TF_CONFIG", tf_config(entry, task)},
                                         {"GLOO_SOCKET_IFNAME", interface},
                                         {"NCCL_SOCKET_IFNAME", interface}};
  if (all["TF_CONFIG"].size() > kLongestVariable) all.erase("TF_CONFIG");
  if (entry.has_parked) all["FLOWCON_RESUME"] = "1";
  if (is_ps) return all;
  if (group.elastic == ctrl::Elastic::torchrun) {
    all.merge(torchrun_environment(entry, task));
    return all;
  }
  const JobEntry& master = master_of(group);
  all["MASTER_ADDR"] = all["PET_MASTER_ADDR"] = host_of(master);
  all["MASTER_PORT"] = all["PET_MASTER_PORT"] = port_of(master);
  all["RANK"] = all["PET_NODE_RANK"] = rank;
  all["WORLD_SIZE"] = all["PET_NNODES"] = size;
  all["LOCAL_RANK"] = "0";
  all["PET_NPROC_PER_NODE"] = "1";
  return all;
}

// Volumes without a name are the ticket's, and so all its tasks', as those that have one.
static void share_volumes(const json::value& inspect, json::object& host_config) {
  json::array binds = list_of(json::value(host_config), "Binds");
  json::array mounts = list_of(json::value(host_config), "Mounts");
  for (const json::value& mount : list_of(inspect, "Mounts")) {
    const std::string name = text_of(mount, "Name"), path = text_of(mount, "Destination");
    const bool is_nameless = text_of(mount, "Type") == "volume" && is_sha256(name);
    bool is_said = std::any_of(binds.begin(), binds.end(), [&](const json::value& one) {
      return text_of(one).starts_with(name + ":");
    });
    // Of --mount type=volume,dst=PATH the engine would take no second one.
    for (json::value& one : mounts) {
      if (!is_nameless || text_of(one, "Target") != path || !one.is_object()) continue;
      one.get_object()["Source"] = name;
      is_said = true;
    }
    if (is_nameless && !is_said) binds.emplace_back(name + ":" + path);
  }
  if (!mounts.empty()) host_config["Mounts"] = std::move(mounts);
  if (!binds.empty()) host_config["Binds"] = std::move(binds);
}

json::object task_body(const json::value& inspect, const ctrl::QueueLabels& said,
                       const JobEntry& group, std::size_t task) {
  const json::value& config = member(inspect, "Config");
  json::object body = config.is_object() ? config.get_object() : json::object();
  // The engine's own choice is one of each container; in the host's network it is the host's.
  const bool is_own = text_of(config, "Hostname") == group.id.substr(0, 12);
  const std::string& shared = group.group->network;
  if (is_own || shared == kHostNetwork) body.erase("Hostname");
  // Where none is said, the engine takes the image's: [""] says that there is none.
  if (is_nothing(member(config, "Entrypoint"))) body["Entrypoint"] = json::array{""};
  body["Env"] = with_environment(config, environment_of(group, task));
  body["Labels"] = with_labels(config, said, group, task);
  const json::value& host = member(inspect, "HostConfig");
  json::object host_config = host.is_object() ? host.get_object() : json::object();
  host_config.erase("ContainerIDFile");
  const bool has_gpus = !group.group->tasks[task].is_ps || said.ps_gpu.value_or(0) > 0;
  if (!has_gpus && !ctrl::gpus_in(host).is_none()) ctrl::set_gpus(host_config, {});
  share_volumes(inspect, host_config);
  const std::string mode = text_of(host, "NetworkMode");
  const bool is_plain = mode.empty() || mode == "default" || mode == "bridge";
  if (group.has_doubled) raise_memory(host_config, group.least_memory);
  const std::string own = is_plain ? migration::group_network(group.id) : mode;
  host_config["NetworkMode"] = shared.empty() || shared == kPublished ? own : shared;
  const std::optional<Endpoint>& endpoint = group.group->tasks[task].endpoint;
  if (endpoint && shared == kPublished) publish(body, host_config, *endpoint);
  const std::string& alias = group.group->tasks[task].alias;
  if (!alias.empty()) {
    const json::object names{{"Aliases", json::array{alias}}};
    body["NetworkingConfig"] = json::object{{"EndpointsConfig", json::object{{shared, names}}}};
  }
  body["HostConfig"] = std::move(host_config);
  return body;
}

}  // namespace flowcon::cluster::queue
