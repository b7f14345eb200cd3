// SPDX-License-Identifier: Apache-2.0
// What peers ask of the migrator (docs/peers.md): would a move be taken, take it, how is it. Their
// plans come from another machine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/driver.h"
#include "cluster/migration/run/intake.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"
#include "ctrl/api/routes.h"

namespace flowcon::cluster::migration {

class Reception {
 public:
  Reception(World& world, OpenMoves& open, Records& records, Driver& driver, Cache& cache)
      : world_(world),
        open_(open),
        records_(records),
        driver_(driver),
        cache_(cache),
        intake_(world) {}

  /// As Migrator says.
  [[nodiscard]] ctrl::api::Routes peer_routes();

 private:
  /// What this host says of a move that it is asked to take.
  struct Judgement {
    std::vector<std::string> reasons;  ///< against it
    bool has_image = false;
    std::size_t layers_there = 0;
    std::set<std::string> parts_there;  ///< names of parts
  };
  /// Of these, `speaker` is the id of the host that asks; empty: none of the peers.
  using TakesPlan = Async<ctrl::api::Response> (Reception::*)(std::string body,
                                                              std::string speaker);
  Async<ctrl::api::Response> hear(std::string id, std::string body, std::string speaker);
  Async<ctrl::api::Response> take_part(std::string path, ctrl::Pull body, std::string speaker);
  Async<ctrl::api::Response> take_plan(TakesPlan take, ctrl::Pull body, std::string speaker);
  Async<ctrl::api::Response> read_plan(TakesPlan take, ctrl::Pull body, std::string speaker);
  Async<ctrl::api::Response> check(std::string body, std::string speaker);
  Async<ctrl::api::Response> reserve(std::string body, std::string speaker);
  Async<ctrl::api::Response> reserve_new(Entry theirs, Plan plan, std::string speaker);
  /// What an ended task has written comes home into its ticket.
  Async<ctrl::api::Response> reserve_return(Entry theirs, Plan offered);
  Async<Result<std::string>> judge_return(std::string ticket, std::uint64_t bytes);
  /// `container`: of a return, the ticket; else "".
  Async<ctrl::api::Response> open_move(Entry theirs, Plan plan, Judgement judged,
                                       std::string container);
  Async<ctrl::api::Response> take_report(std::string id, std::string body, std::string speaker);
  /// Errors: the engine's.
  /// What is to come to the disk. Unit: bytes, without those of the image.
  struct Coming {
    std::set<std::string> kept;  ///< Cache::kept_for()
    ImageInfo image;
    std::uint64_t bytes = 0;
  };
  Async<Result<std::string>> make_room(std::string root, Coming coming, bool may_remove);
  Async<Result<std::vector<std::string>>> judge(std::string name, Plan plan, std::string speaker,
                                                bool is_taken);
  Async<Result<Judgement>> judge_reservation(Entry theirs, Plan plan);
  Async<void> wait_for(std::string id);
  [[nodiscard]] std::string why_no_seat_for(const std::string& peer) const;
  [[nodiscard]] ctrl::api::Response answer_of(const Move& move) const;
  [[nodiscard]] ctrl::api::Response answer_unknown() const;

  World& world_;
  OpenMoves& open_;
  Records& records_;
  Driver& driver_;
  Cache& cache_;
  Intake intake_;
  std::map<std::string, std::string> reserving_;  ///< ids that are being looked at, and whose
  std::multiset<std::string> planning_;           ///< peers whose plans are being looked at
};

}  // namespace flowcon::cluster::migration
