// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/open_moves.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>

namespace flowcon::cluster::migration {

MovePtr OpenMoves::find(const std::string& id) const {
  const auto found = moves_.find(id);
  return found == moves_.end() ? nullptr : found->second;
}

MovePtr OpenMoves::find_by_container(const std::string& name) const {
  for (const auto& [id, move] : moves_) {
    const bool is_id =
        name.size() >= 8 && (move->entry.container.starts_with(name) || id.starts_with(name));
    if (move->entry.name == name || is_id) return move;
  }
  return nullptr;
}

void OpenMoves::close(const MovePtr& move) {
  PastMove past{view_of(*move, move->written, world_.network.own_name()), world_.clock.wall()};
  past_.insert(past_.begin(), std::move(past));
  if (past_.size() > kKeptMoves) past_.resize(kKeptMoves);
  ways_.add(move->written);
  drop(move->entry.id);
}

bool OpenMoves::is_moving(const std::string& id) const {
  return std::any_of(moves_.begin(), moves_.end(),
                     [&](const auto& one) { return one.second->entry.container == id; });
}

bool OpenMoves::is_saving(const std::string& id) const {
  return std::any_of(moves_.begin(), moves_.end(), [&](const auto& one) {
    const Move& move = *one.second;
    const Step step = move.entry.step;
    // On the way back, too, it may save and end yet.
    const bool has_been_asked = (step >= Step::save && step <= Step::remove) ||
                                (step == Step::undo && move.entry.has_saved);
    return move.is_source() && !move.is_of_task() && move.entry.container == id && has_been_asked;
  });
}

std::int64_t OpenMoves::reserved() const {
  return std::count_if(moves_.begin(), moves_.end(), [](const auto& one) {
    return !one.second->is_source() && one.second->entry.method != Method::home &&
           one.second->entry.step <= Step::start;
  });
}

std::vector<std::string> OpenMoves::open_with(const std::string& host) const {
  std::vector<std::string> names;
  for (const auto& [key, move] : moves_) {
    if (move->other() == host) names.push_back(move->entry.name);
  }
  return names;
}

std::vector<MoveView> OpenMoves::list(std::size_t most) const {
  std::vector<MoveView> all;
  for (const auto& [id, move] : moves_) {
    if (all.size() >= most) break;
    all.push_back(view_of(*move, move->written, world_.network.own_name()));
  }
  for (const PastMove& past : past_) {
    if (all.size() >= most) break;
    all.push_back(past.view);
    all.back().ended_age = world_.clock.wall() - past.ended;
  }
  return all;
}

std::vector<Way> OpenMoves::ways() const {
  std::vector<Way> all;
  for (const auto& [id, move] : moves_) {
    const Entry& entry = move->written;
    all.push_back({entry.container, entry.name, entry.source, entry.target, true});
  }
  const std::vector<Way> done = ways_.all();
  all.insert(all.end(), done.begin(), done.end());
  return all;
}

std::set<std::string> OpenMoves::images() const {
  std::set<std::string> images;
  for (const auto& [id, move] : moves_) images.insert(move->plan.image.id);
  return images;
}

}  // namespace flowcon::cluster::migration
