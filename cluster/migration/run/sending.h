// SPDX-License-Identifier: Apache-2.0
// What a side says to the other one of its own accord: its entry, and from the source the image and
// the parts.
#pragma once

#include <set>
#include <string>

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class Sender {
 public:
  explicit Sender(World& world) : world_(world) {}
  /// Tells the other side this entry and hears its own. Has anything changed by it?
  Async<bool> report(MovePtr move);
  /// Opens a connection for it, so that nobody waits for ssh when the job stands still. Errors: no
  /// such peer.
  Result<void> connect(Move& move) const;
  /// Sends all that has not arrived yet. Has anything changed by it?
  Async<bool> send(MovePtr move);

 private:
  [[nodiscard]] std::string message_of(const Move& move) const;
  Async<Result<void>> send_one(MovePtr move, std::string part, ctrl::Pull body, double idle);
  Async<bool> send_parts(MovePtr move);
  Async<Result<void>> send_image_of(MovePtr move);
  Async<Result<ctrl::Pull>> open_part(MovePtr move, std::string part);
  Async<Result<std::string>> next_unchanged(ctrl::Pull body, VolumePlace from, std::string copy);
  /// Ends when nothing more is to be sent, whatever the connection does.
  Async<void> sends_no_more(MovePtr move);

  World& world_;
  std::set<std::string> images_;  ///< that are on their way, with the hosts where they go
};

}  // namespace flowcon::cluster::migration
