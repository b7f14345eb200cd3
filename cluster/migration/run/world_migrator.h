// SPDX-License-Identifier: Apache-2.0
// The migrator, put together from its parts. Private to cluster/migration/run and its tests.
#pragma once

#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/calls.h"
#include "cluster/migration/run/driver.h"
#include "cluster/migration/run/migrator.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/reception.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class WorldMigrator : public Migrator {
 public:
  explicit WorldMigrator(World world);

  Async<Result<std::string>> begin(MoveOrder order) override;
  Async<Result<Freight>> weigh(std::string container) override;
  Async<Result<std::set<std::string>>> shared_volumes() override;
  [[nodiscard]] bool is_movable(const std::string& id) const override;
  [[nodiscard]] bool is_moving(const std::string& id) const override;
  [[nodiscard]] bool is_saving(const std::string& id) const override;
  [[nodiscard]] std::int64_t reserved() const override;
  [[nodiscard]] Result<std::vector<std::string>> open_with(const std::string& id) const override;
  [[nodiscard]] std::vector<MoveView> list(std::size_t most) const override;
  [[nodiscard]] std::vector<Way> ways() const override;
  void release(const std::string& id) override;
  void turn_back(const std::string& id, const std::string& why) override;
  void take_back(const std::string& id) override;
  void expect(const std::string& id, const std::string& birth) override;
  Async<Result<std::optional<Passage>>> passage(std::string id) override;
  [[nodiscard]] std::vector<Passage> expected_births() const override;
  void tell_of_tasks(std::function<void(const std::string& id)> told) override {
    world_.told = std::move(told);
  }
  void judge_room(std::function<std::string(const policy::Amounts&)> judge) override {
    world_.why_no_room = std::move(judge);
  }
  void choose_gpus(
      std::function<std::string(boost::json::object&, const cluster::Passage&)> choose) override {
    world_.give_gpus = std::move(choose);
  }
  Async<void> start() override;
  Async<void> settle(double seconds) override;
  void end() override;
  [[nodiscard]] ctrl::api::Routes routes() override { return calls_.routes(); }
  [[nodiscard]] ctrl::api::Routes peer_routes() override { return reception_.peer_routes(); }

 private:
  Async<bool> restore();
  Async<void> restore_later();
  Async<void> name_lost();
  [[nodiscard]] bool is_away(const Move& move) const;

  World world_;
  OpenMoves open_{world_};
  Records records_{world_, open_};
  Cache cache_{world_, open_};
  Driver driver_{world_, open_, records_, cache_};
  Reception reception_{world_, open_, records_, driver_, cache_};
  Calls calls_{world_, open_, records_, driver_};
};

}  // namespace flowcon::cluster::migration
