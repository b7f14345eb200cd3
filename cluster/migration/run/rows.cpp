// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/rows.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "ctrl/effects.h"

namespace flowcon::cluster::migration {

using ctrl::store::LostMove;
using ctrl::store::Migration;

Async<Result<void>> StoreRows::save(Migration row) {
  auto write = [&store = host_.store(), row = std::move(row)] { return store.save_migration(row); };
  co_return co_await host_.effects().run(std::move(write));
}

Async<Result<std::vector<Migration>>> StoreRows::read(std::size_t most) {
  auto read = [&store = host_.store(), most] { return store.migrations(most); };
  co_return co_await host_.effects().run(std::move(read));
}

Async<Result<std::vector<std::string>>> StoreRows::ended(std::size_t most) {
  auto read = [&store = host_.store(), most] { return store.ended_migrations(most); };
  co_return co_await host_.effects().run(std::move(read));
}

Async<Result<Migration>> StoreRows::find(std::string id) {
  auto read = [&store = host_.store(), id = std::move(id)] { return store.migration(id); };
  co_return co_await host_.effects().run(std::move(read));
}

Async<Result<std::vector<LostMove>>> StoreRows::lost() {
  auto read = [&store = host_.store()] { return store.lost_moves(); };
  co_return co_await host_.effects().run(std::move(read));
}

bool StoreRows::is_whole() const { return host_.store().is_journal_whole(); }

}  // namespace flowcon::cluster::migration
