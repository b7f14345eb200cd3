// SPDX-License-Identifier: Apache-2.0
// Takes the image and the parts of a move, as they come from its source, and believes nothing that
// it did not check.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/world.h"
#include "ctrl/api/server.h"

namespace flowcon::cluster::migration {

class Intake {
 public:
  explicit Intake(World& world) : world_(world) {}
  /// One part, whose bytes are `body`.
  Async<ctrl::api::Response> take(MovePtr move, std::string name, ctrl::Pull body);

 private:
  /// Why the body is taken no more; "" as long as it is.
  using WhyNot = std::function<std::string()>;
  Async<ctrl::api::Response> take_part_of(MovePtr move, std::string name, ctrl::Pull body);
  Async<void> is_taken_no_more(WhyNot why_not);
  Async<Result<std::string>> next_piece(ctrl::Pull body, WhyNot why_not);
  Async<Result<void>> take_one(MovePtr move, std::string name, ctrl::Pull body, WhyNot why_not);
  Async<Result<void>> take_part(MovePtr move, CopyPlace place, Part part, ctrl::Pull body);
  Async<Result<void>> take_image_of(MovePtr move, ctrl::Pull body);
  Async<Result<void>> take_data(std::string folder, CopyPlace place, Part part, ctrl::Pull body,
                                PartLimits limits);
  /// For bytes of the part `name` that go below `folder`.
  [[nodiscard]] Room room_for(MovePtr move, std::string name, std::string folder);
  [[nodiscard]] std::shared_ptr<TreeBudget> memory_of(const std::string& peer);
  Async<Result<void>> believe_received(MovePtr move);

  World& world_;
  std::map<std::string, std::weak_ptr<TreeBudget>> memory_;  ///< of peers
  std::set<std::string> taken_;  ///< places that are being filled, whoever sends
};

/// All of `body`. Errors: its own; EFBIG it is longer than `most` bytes.
Async<Result<std::string>> read_all(ctrl::Pull body, std::size_t most);

}  // namespace flowcon::cluster::migration
