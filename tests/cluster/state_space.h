// SPDX-License-Identifier: Apache-2.0
// All states that a model can come to, each with the way to it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::cluster {

/// `World` is ordered, and shown(world) says it in a line.
template <class World>
class StateSpace {
 public:
  [[nodiscard]] std::size_t states() const { return worlds_.size(); }
  /// To what was found, and then what was tried there.
  [[nodiscard]] const std::string& path() const { return path_; }

 protected:
  /// The next state to go on from; null: there is none, or something was found. It stays.
  const World* next() {
    if (queue_.empty() || !found_.empty()) return nullptr;
    at_ = queue_.front();
    queue_.pop_front();
    return &worlds_[at_]->first;
  }

  /// What is wrong there, "" = nothing was found.
  [[nodiscard]] const std::string& found() const { return found_; }

  void find(const std::string& what) {
    if (!found_.empty()) return;
    found_ = what;
    std::vector<std::string> steps;
    for (std::size_t at = at_;; at = parents_[at]) {
      steps.push_back(how_[at] + " → " + shown(worlds_[at]->first));
      if (at == 0) break;
    }
    for (auto one = steps.rbegin(); one != steps.rend(); ++one) path_ += "\n  " + *one;
  }

  /// From the state that next() gave.
  void add(const World& world, std::string_view how) {
    if (found_.empty()) {
      const auto [at, is_new] = index_.try_emplace(world, worlds_.size());
      if (!is_new) return;
      worlds_.push_back(at);
      parents_.push_back(at_);
      how_.emplace_back(how);
      queue_.push_back(worlds_.size() - 1);
    } else if (!path_.empty() && path_.back() != ')') {
      path_ += "\n  (" + std::string(how) + ")";
    }
  }

 private:
  std::map<World, std::size_t> index_;
  std::vector<typename std::map<World, std::size_t>::const_iterator> worlds_;
  std::vector<std::size_t> parents_;
  std::vector<std::string> how_;
  std::deque<std::size_t> queue_;
  std::size_t at_ = 0;
  std::string found_;
  std::string path_;
};

}  // namespace flowcon::cluster
