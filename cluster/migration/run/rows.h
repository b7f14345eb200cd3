// SPDX-License-Identifier: Apache-2.0
// The rows of the journal of migrations, as the migrator reads and writes them. All but is_whole()
// wait for the disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/extension.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::migration {

class Rows {
 public:
  virtual ~Rows() = default;
  /// Survives a loss of power once it returns.
  virtual Async<Result<void>> save(ctrl::store::Migration row) = 0;
  /// Those that have not ended, and the newest of those that have, at most `most`.
  virtual Async<Result<std::vector<ctrl::store::Migration>>> read(std::size_t most) = 0;
  /// The entries of those that have ended, newest first, at most `most`.
  virtual Async<Result<std::vector<std::string>>> ended(std::size_t most) = 0;
  /// Errors: ENOENT there is none.
  virtual Async<Result<ctrl::store::Migration>> find(std::string id) = 0;
  /// What can be read of those that were lost.
  virtual Async<Result<std::vector<ctrl::store::LostMove>>> lost() = 0;
  /// Has it lost none?
  [[nodiscard]] virtual bool is_whole() const = 0;
};

class StoreRows : public Rows {
 public:
  explicit StoreRows(ctrl::LocalHost& host) : host_(host) {}
  Async<Result<void>> save(ctrl::store::Migration row) override;
  Async<Result<std::vector<ctrl::store::Migration>>> read(std::size_t most) override;
  Async<Result<std::vector<std::string>>> ended(std::size_t most) override;
  Async<Result<ctrl::store::Migration>> find(std::string id) override;
  Async<Result<std::vector<ctrl::store::LostMove>>> lost() override;
  [[nodiscard]] bool is_whole() const override;

 private:
  ctrl::LocalHost& host_;
};

}  // namespace flowcon::cluster::migration
