// SPDX-License-Identifier: Apache-2.0
// What the daemon stands on: clock, engine, control groups, store. Tests bring their own. For .cpp
// files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "ctrl/config.h"
#include "ctrl/model.h"
#include "ctrl/pool.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// The containers of an engine; see Pool.
class Containers {
 public:
  virtual ~Containers() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  [[nodiscard]] virtual std::vector<Change> take() = 0;
  [[nodiscard]] virtual bool has_changes() const = 0;
  [[nodiscard]] virtual const EngineStatus& engine() const = 0;
  [[nodiscard]] virtual std::string problem() const = 0;
  /// As engine::Client::inspect().
  virtual Async<Result<engine::Container>> inspect(std::string name) = 0;
};

struct World {
  std::function<Moment()> clock;
  /// `wake` is called when take() has something new.
  std::function<std::unique_ptr<Containers>(std::function<void()> wake)> containers;
  /// The control group of a container, by its process.
  std::function<Result<cgroups::Group>(std::int64_t pid, const std::string& id)> find_group;
  std::unique_ptr<cgroups::CgroupFs> fs;
  std::unique_ptr<store::Store> store;
};

/// This machine. `io` has to outlive it, `config` the making of its containers.
[[nodiscard]] World real_world(boost::asio::io_context& io, const Config& config,
                               std::unique_ptr<cgroups::CgroupFs> fs,
                               std::unique_ptr<store::Store> store);

}  // namespace flowcon::ctrl
