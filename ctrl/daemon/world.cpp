// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/world.h"

#include <boost/asio/awaitable.hpp>

#include "base/seconds.h"
#include "cgroups/group.h"
#include "ctrl/engine/client.h"

namespace flowcon::ctrl {
namespace {

class Engine : public Containers {
 public:
  Engine(boost::asio::io_context& io, const Config& config, std::function<void()> wake)
      : client_(io, config.engine), pool_(io, client_, config.image_labels, std::move(wake)) {}

  void start() override { pool_.start(); }
  void stop() override { pool_.stop(); }
  [[nodiscard]] std::vector<Change> take() override { return pool_.take(); }
  [[nodiscard]] bool has_changes() const override { return pool_.has_changes(); }
  [[nodiscard]] const EngineStatus& engine() const override { return pool_.engine(); }
  [[nodiscard]] std::string problem() const override { return pool_.problem(); }
  Async<Result<engine::Container>> inspect(std::string name) override {
    co_return co_await client_.inspect(std::move(name));
  }

 private:
  engine::Client client_;
  Pool pool_;
};

}  // namespace

World real_world(boost::asio::io_context& io, const Config& config,
                 std::unique_ptr<cgroups::CgroupFs> fs, std::unique_ptr<store::Store> store) {
  World world;
  world.clock = [] { return Moment{wall_seconds(), steady_seconds()}; };
  world.containers = [&io, &config](std::function<void()> wake) {
    return std::make_unique<Engine>(io, config, std::move(wake));
  };
  world.find_group = [mode = fs->mode()](std::int64_t pid, const std::string& id) {
    return cgroups::find_container_group(pid, id, mode);
  };
  world.fs = std::move(fs);
  world.store = std::move(store);
  return world;
}

}  // namespace flowcon::ctrl
