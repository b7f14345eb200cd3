// SPDX-License-Identifier: Apache-2.0
// Two hosts for jobs of several containers: h1 and h2 have four cores each and are in one Docker
// Swarm. For .cpp files only: it includes Asio.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {

class SpreadQueues : public TwoQueues {
 public:
  SpreadQueues() {
    ctrl::log::set_level(ctrl::log::Level::error);
    offer(h2, 4, 8);
    for (Side* side : {&h1, &h2}) {
      side->engine.swarm_ = {"manager"};
      side->host.config_.queue.group_network = "train";
    }
    run(35);
  }
  ~SpreadQueues() { ctrl::log::set_level(ctrl::log::Level::info); }
  SpreadQueues(const SpreadQueues&) = delete;
  SpreadQueues& operator=(const SpreadQueues&) = delete;

  [[nodiscard]] std::size_t both() const { return running(h1.engine) + running(h2.engine); }
  std::string note(const std::string& name) { return text_of(job(name), "note"); }
  void end_all(std::int64_t status = 0) {
    for (Side* side : {&h1, &h2}) {
      std::vector<std::string> ids;
      for (const auto& [name, box] : tasks_of(side->engine)) {
        if (box->copy == Copy::running) ids.push_back(box->id);
      }
      for (const std::string& id : ids) side->engine.end_with(id, status);
    }
  }
};

/// Where tasks can be in the networks of their hosts.
class OpenQueues : public SpreadQueues {
 public:
  OpenQueues() {
    std::uint16_t first = 41700;
    for (Side* side : {&h1, &h2}) {
      side->host.config_.queue.group_network = "host";
      side->host.config_.queue.advertise = "127.0.0.1";
      side->host.config_.queue.group_ports = {first, static_cast<std::uint16_t>(first + 49)};
      side->host.config_.accept.host_network = true;
      side->engine.swarm_.clear();
      first = static_cast<std::uint16_t>(first + 50);
    }
  }
};

}  // namespace flowcon::cluster::test
