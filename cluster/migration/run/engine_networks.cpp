// SPDX-License-Identifier: Apache-2.0
// Containers as they are made, the networks of groups, which come and go with them, and those that
// hosts share.
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <set>
#include <string>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/architecture.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/run/engine.h"
#include "ctrl/mutex.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::engine::engine_error;
using ctrl::engine::Reply;

std::string network_of(const json::value& container) {
  return text_of(member(container, "HostConfig"), "NetworkMode");
}

// In one order for whoever asks.
std::vector<std::string> ids_called(const json::value& networks, const std::string& name) {
  std::vector<std::string> ids;
  for (const json::value& one : list_of(networks)) {
    if (text_of(one, "Name") == name) ids.push_back(text_of(one, "Id"));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

DockerEngine::DockerEngine(ctrl::engine::Client& client)
    : client_(client), networks_(std::make_shared<ctrl::Mutex>(client.io())) {}

Async<Result<std::string>> DockerEngine::create(std::string name, json::object body,
                                                std::string image) {
  const bool is_by_id = text_of(json::value(body), "Image") == image;
  std::string path = "/containers/create?name=" + percent_encoded(name);
  Result<Reply> reply =
      co_await client_.call("POST", std::move(path), render_json(body), kStarting);
  const std::string doing = "making container " + printable(name, 80);
  if (!reply) co_return wrap(reply.error(), doing);
  if (reply->status != 201) co_return engine_error(*reply, doing);
  const Result<json::value> answer = parse_json(reply->body);
  std::string container = answer ? text_of(*answer, "Id") : "";
  if (container.size() != 64) co_return bad_input(doing + ": it has no id");
  if (is_by_id) co_return container;
  // A name may mean another image since it was looked at.
  const Result<Seen> copy = co_await look(container);
  if (!copy) co_return copy.error();
  if (copy->image == image) co_return container;
  const Result<void> removed = co_await remove(std::move(container));
  if (!removed) co_return removed.error();
  co_return bad_input("the name of its image has changed meanwhile");
}

// The engine makes a second one of the same name where two ask at a time, and starts nothing in
// either then: one of an earlier flowcond may come late. All but the first go.
Async<Result<void>> DockerEngine::keep_network(std::string name) {
  const auto guard = co_await networks_->lock();
  std::string path = "/networks?" + filter_of("name", name);
  const Result<json::value> all =
      co_await client_.get_json(std::move(path), "listing networks", kQuick);
  if (!all) co_return all.error();
  const std::vector<std::string> there = ids_called(*all, name);
  if (there.empty()) {
    std::string body = render_json(json::object{{"Name", name}, {"Driver", "bridge"}});
    co_return co_await expect("POST", "/networks/create", std::move(body), kQuick,
                              "making the network " + printable(name, 80));
  }
  for (std::size_t i = 1; i < there.size(); ++i) {
    const Result<void> removed = co_await drop_network(there[i]);
    if (!removed) co_return removed;
  }
  co_return Result<void>();
}

// 403: something of a person's is in it.
Async<Result<void>> DockerEngine::drop_network(std::string id) {
  co_return co_await expect("DELETE", "/networks/" + percent_encoded(id), "", kQuick,
                            "removing the network " + printable(id, 80), 403);
}

// A network that is listed was made after its container, so that one is in the list that follows.
// What has ended by now does not need it.
Async<Result<void>> DockerEngine::drop_networks() {
  const auto guard = co_await networks_->lock();
  std::string path = "/networks?" + filter_of("name", kGroupNetworks);
  const Result<json::value> networks =
      co_await client_.get_json(std::move(path), "listing networks", kQuick);
  if (!networks) co_return networks.error();
  if (list_of(*networks).empty()) co_return Result<void>();
  const Result<std::vector<ctrl::engine::Listed>> containers = co_await list();
  if (!containers) co_return containers.error();
  std::set<std::string> used;
  for (const ctrl::engine::Listed& one : *containers) {
    if (one.state != "exited") used.insert(one.network);
  }
  for (const json::value& one : list_of(*networks)) {
    const std::string name = text_of(one, "Name");
    if (!is_group_network(name) || used.contains(name)) continue;
    const Result<void> removed = co_await drop_network(text_of(one, "Id"));
    if (!removed) co_return removed;
  }
  co_return Result<void>();
}

Async<Result<About>> DockerEngine::about() {
  const Result<json::value> said = co_await info();
  if (!said) co_return said.error();
  About about{architecture_of(text_of(*said, "Architecture")), {}, user_mapping(*said)};
  const json::value& swarm = member(*said, "Swarm");
  if (text_of(swarm, "LocalNodeState") != "active") co_return about;
  for (const json::value& one : list_of(swarm, "RemoteManagers")) {
    about.managers.insert(text_of(one, "NodeID"));
  }
  about.managers.erase("");
  co_return about;
}

Async<Result<void>> DockerEngine::remove(std::string container) {
  return remove_by(std::move(container), "?force=1&v=1", 404);
}

Async<Result<void>> DockerEngine::remove_ended(std::string container) {
  return remove_by(std::move(container), "?v=1", 409);
}

Async<Result<void>> DockerEngine::remove_by(std::string container, std::string query,
                                            unsigned fine) {
  const Result<Seen> seen = co_await look(container);
  std::string path = "/containers/" + percent_encoded(container) + query;
  const Result<void> removed =
      co_await expect("DELETE", std::move(path), "", kStarting, "removing it", fine);
  if (!removed) co_return removed;
  // One that could not be looked at may have had one.
  if (seen && !is_group_network(network_of(seen->inspect))) co_return Result<void>();
  co_return co_await drop_networks();
}

}  // namespace flowcon::cluster::migration
