// SPDX-License-Identifier: Apache-2.0
// What goes with a container besides its data (cluster/moves.h, Lives), put together from those
// that know a part of it: {"marks":{…},"job":{…}}. A member that is missing or makes no sense is
// left out.
#pragma once

#include "cluster/moves.h"

namespace flowcon::ctrl {
class LocalHost;
}

namespace flowcon::cluster {

class JobLives : public Lives {
 public:
  /// Before all others. `host`: whose records go along; null for none.
  void join(Memory& memory, ctrl::LocalHost* host = nullptr) {
    memory_ = &memory;
    host_ = host;
  }

  Async<Result<std::string>> export_life(std::string id) override;
  Async<Result<void>> import_life(std::string id, std::string text, Cause cause) override;
  Async<Result<void>> forget_life(std::string id) override;

 private:
  Async<void> take_job(std::string id, std::string text);

  Memory* memory_ = nullptr;
  ctrl::LocalHost* host_ = nullptr;
};

}  // namespace flowcon::cluster
