// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/ticket.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/engine/client.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kLongestGroup = 57;  // with "-w191" that is a name of DNS

// "8080" of the first port of the host that it names; "" where it names none.
std::string fixed_port(const json::value& host_config) {
  for (const auto& [port, bindings] : object_of(host_config, "PortBindings")) {
    if (!bindings.is_array()) continue;
    for (const json::value& binding : bindings.get_array()) {
      const std::string on_host = text_of(binding, "HostPort");
      if (!on_host.empty() && on_host != "0") return on_host;
    }
  }
  return "";
}

std::string why_refused(const json::value& config, const json::value& host_config) {
  if (is_true(host_config, "AutoRemove")) {
    return "--rm would remove it with its log and its results when it ends; leave it out";
  }
  if (is_true(config, "Tty") || is_true(config, "OpenStdin")) {
    return "-i and -t need somebody who types, and a job of the queue starts by itself; leave them "
           "out";
  }
  const std::string port = fixed_port(host_config);
  if (!port.empty()) {
    return "only one container can have the host's port " + printable(port, 20) +
           "; publish without it, -p PORT";
  }
  if (!text_of(host_config, "CpusetCpus").empty() || !text_of(host_config, "CpusetMems").empty()) {
    return "--cpuset-cpus and --cpuset-mems pin it to processors; ask for --cpus instead";
  }
  const std::string restart = text_of(member(host_config, "RestartPolicy"), "Name");
  if (!restart.empty() && restart != "no") {
    return "--restart would start it beside the queue; use --retries";
  }
  return "";
}

// A name that --network-alias gives it in this network; "" = it has those alone that docker and
// compose give each container.
std::string alias_of(const json::value& inspect, const json::value& network) {
  const std::string name = text_of(inspect, "Name"), id = text_of(inspect, "Id").substr(0, 12);
  const std::string service =
      text_of(member(member(inspect, "Config"), "Labels"), "com.docker.compose.service");
  for (const json::value& one : list_of(network, "Aliases")) {
    const std::string alias = text_of(one);
    const bool is_own = "/" + alias == name || alias == id;
    if (!is_own && alias != service) return alias;
  }
  return "";
}

// Tasks of a group find each other by their names, in a network of their own or one of the user's.
std::string why_no_group(const Ticket& ticket, const json::value& inspect) {
  const ctrl::QueueLabels& labels = ticket.labels;
  if (labels.workers.most <= 1 && labels.ps == 0) return "";
  if (labels.elastic == ctrl::Elastic::restart && !ticket.saves_itself) {
    return "its workers cannot start again without a checkpoint: say by flowcon.checkpoint.signal "
           "or .command how it saves itself, or leave out flowcon.elastic";
  }
  const std::string mode = text_of(member(inspect, "HostConfig"), "NetworkMode");
  if (mode == "none" || mode.starts_with("container:")) {
    return "its workers could not find each other with --network " + printable(mode, 40) +
           "; leave it out, or name a network of your own";
  }
  const std::string mac = "only one of its containers can have --mac-address; leave it out";
  if (!text_of(member(inspect, "Config"), "MacAddress").empty()) return mac;
  std::size_t networks = 0;
  for (const auto& [name, own] : object_of(member(inspect, "NetworkSettings"), "Networks")) {
    const json::value& fixed = member(own, "IPAMConfig");
    if (!text_of(fixed, "IPv4Address").empty() || !text_of(fixed, "IPv6Address").empty()) {
      return "only one of its containers can have the address of --ip; leave it out";
    }
    if (!text_of(own, "MacAddress").empty()) return mac;
    const std::string alias = alias_of(inspect, own);
    if (!alias.empty()) {
      return "none of its containers would have the name of --network-alias " +
             printable(alias, 40) + "; leave it out";
    }
    ++networks;
  }
  if (networks > 1) {
    return "its containers would be in one of its networks alone; name one, by --network";
  }
  if (ticket.name.size() > kLongestGroup) {
    return "its name is too long for the names of its workers; take one of at most " +
           std::to_string(kLongestGroup) + " characters";
  }
  return "";
}

std::optional<double> cores_of(const ctrl::engine::Container& container) {
  if (container.nano_cpus > 0) return static_cast<double>(container.nano_cpus) / 1e9;
  if (container.cpu_quota_us <= 0) return std::nullopt;
  const auto period = container.cpu_period_us > 0 ? container.cpu_period_us : 100000;
  return static_cast<double>(container.cpu_quota_us) / static_cast<double>(period);
}

}  // namespace

Result<Ticket> parse_ticket(const json::value& inspect) {
  const Result<ctrl::engine::Container> container = ctrl::engine::read_container(inspect);
  if (!container) return container.error();
  const json::value& host_config = member(inspect, "HostConfig");
  Ticket ticket;
  ticket.id = container->id;
  ticket.name = container->name;
  ticket.labels = ctrl::parse_queue_labels(container->labels);
  ticket.command = {valid_utf8(container->image), valid_utf8(container->image_id),
                    valid_utf8(container->command),
                    ctrl::estimate::numbers_in(container->environment)};
  ticket.docker_cpu = cores_of(*container);
  const double memory = real_of(member(host_config, "Memory")).value_or(0);
  if (memory > 0) ticket.docker_mem = memory;
  ticket.gpus = container->gpus;
  const double swap = real_of(member(host_config, "MemorySwap")).value_or(0);
  ticket.docker_swap = swap < 0 ? -1 : swap > memory ? swap - memory : 0;
  const std::string mode = text_of(host_config, "NetworkMode");
  if (mode != "default" && mode != "bridge") ticket.network = mode;
  const ctrl::Settings settings = ctrl::parse_labels(container->labels);
  ticket.checkpoint = settings.checkpoint;
  ticket.hides_signal = container->labels.contains("signal");
  const std::string stops = text_of(member(inspect, "Config"), "StopSignal");
  const Result<int> stop_signal = ctrl::parse_signal(stops.empty() ? "TERM" : stops);
  if (stop_signal) ticket.stop_signal = *stop_signal;
  ticket.saves_itself = ctrl::saves_itself(settings);
  for (const json::value& mount : list_of(inspect, "Mounts")) {
    const json::value& writes = member(mount, "RW");
    const bool is_read_only = writes.is_bool() && !writes.get_bool();
    ticket.has_volumes =
        ticket.has_volumes || (text_of(mount, "Type") == "volume" && !is_read_only);
  }
  ticket.has_gpu = !list_of(host_config, "DeviceRequests").empty() ||
                   !list_of(host_config, "Devices").empty() ||
                   text_of(host_config, "Runtime") == "nvidia";
  ticket.refusal = ticket.labels.wrong_queue;
  if (ticket.refusal.empty()) ticket.refusal = why_refused(member(inspect, "Config"), host_config);
  if (ticket.refusal.empty()) ticket.refusal = why_no_group(ticket, inspect);
  return ticket;
}

}  // namespace flowcon::cluster::queue
