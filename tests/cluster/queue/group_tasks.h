// SPDX-License-Identifier: Apache-2.0
// The containers of groups in the engine of a test. For .cpp files only: it includes Asio.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "cluster/migration/plan/group_parts.h"
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {

using Labels = std::map<std::string, std::string>;

// The tasks of groups among the containers of an engine, by name.
inline std::map<std::string, const Box*> tasks_of(const FakeEngine& engine) {
  std::map<std::string, const Box*> found;
  for (const auto& [id, box] : engine.boxes_) {
    if (box.labels.contains(migration::kGroupLabel)) found[box.name] = &box;
  }
  return found;
}

inline std::size_t running(const FakeEngine& engine) {
  const auto tasks = tasks_of(engine);
  return static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), [](const auto& one) {
    return one.second->copy == Copy::running;
  }));
}

inline std::string names_of(const FakeEngine& engine) {
  std::string all;
  for (const auto& [name, box] : tasks_of(engine)) all += (all.empty() ? "" : " ") + name;
  return all;
}

inline std::string variable(const QueueEngine& engine, const std::string& id,
                            const std::string& name) {
  const boost::json::value inspect(engine.inspects_.at(id));
  for (const boost::json::value& one : list_of(member(inspect, "Config"), "Env")) {
    const std::string text(one.get_string());
    if (text.starts_with(name + "=")) return text.substr(name.size() + 1);
  }
  return "";
}

}  // namespace flowcon::cluster::test
