// SPDX-License-Identifier: Apache-2.0
// Which move of a container of this host can be made: what the container is, and what the target
// says of it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

struct Proposal {
  std::string container;  ///< full id
  std::string name;
  Method method = Method::app;
  Plan plan;
  std::set<std::string> data;  ///< names of the volumes here that it only reads
  /// Of the birth of a group's task: its id, by which its volumes are called there; "" = as here.
  std::string own_volumes;
  std::vector<std::string> obstacles;
  std::vector<std::string> notes;  ///< what will be another there
  std::string life;                ///< Seen::started
  /// Of the image, that the target has already; empty where it was not asked, or does not tell.
  std::optional<std::int64_t> layers_there;
  std::optional<std::uint64_t> missing_bytes;  ///< of its other layers; empty: not known
};

class Proposer {
 public:
  Proposer(World& world, OpenMoves& open) : world_(world), open_(open) {}
  /// What is against it here. Changes nothing, as rehearse().
  Async<Result<Proposal>> propose(MoveOrder order);
  /// Here and on the target.
  Async<Result<Proposal>> rehearse(MoveOrder order);

 private:
  /// The birth of a task, or its return.
  Async<Result<Proposal>> propose_task(MoveOrder order);
  /// Shared by the coroutines that add to it.
  using Draft = std::shared_ptr<Proposal>;
  Async<Result<Seen>> look(std::string container);
  [[nodiscard]] ctrl::Settings judge_container(Proposal& made, const Seen& seen,
                                               const MoveOrder& order) const;
  Async<Result<void>> add_mapping(Draft made);
  Async<Result<bool>> add_volumes(Draft made, Description described);
  Async<Result<void>> add_checkpoint(Draft made);
  Async<Result<void>> measure(Draft made, bool may_look);
  /// Of a birth: what the task only reads is one volume for all jobs there.
  void name_data(Proposal& made, const CopyPlace& place, const std::vector<Tree>& trees) const;
  void name_own_volumes(Proposal& made) const;
  Async<Result<void>> add_layer(Draft made);
  Async<Result<void>> look_at_layer(Draft made, std::string upper);
  Async<Result<Proposal>> ask_target(Proposal proposal, std::string target);
  Async<std::optional<std::uint64_t>> weigh_missing(ImageInfo image, std::size_t there);

  World& world_;
  OpenMoves& open_;
};

/// Files of the writable layer: without a word from the job's owner they may be what it has learnt.
void weigh_left_behind(Proposal& made, const LeftBehind& left);

}  // namespace flowcon::cluster::migration
