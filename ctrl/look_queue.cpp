// SPDX-License-Identifier: Apache-2.0
#include "ctrl/look_queue.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl {
namespace {

double doubled(double first, int times, double most) {
  return std::min(most, std::ldexp(first, std::min(times, 30)));
}

}  // namespace

void LookQueue::ask(const std::string& id, double time, bool is_update) {
  const auto [found, is_new] = entries_.try_emplace(id);
  Entry& entry = found->second;
  entry.look.id = id;
  entry.look.is_update = entry.look.is_update || is_update;
  entry.asked = ++asked_;
  if (time > 0) entry.look.time = time;
  if (is_new) fresh_.push_back(id);
  if (entry.is_on_its_way) entry.is_again = true;
  if (time > 0) begin_anew(entry);
}

void LookQueue::begin_anew() {
  for (auto& [id, entry] : entries_) begin_anew(entry);
}

void LookQueue::begin_anew(Entry& entry) {
  if (entry.is_on_its_way) {
    entry.is_anew = true;
  } else if (entry.failures > 0) {
    repeats_.erase({entry.due, entry.look.id});
    entry.failures = 0;
    fresh_.push_back(entry.look.id);
  }
}

void LookQueue::end(const std::string& id) {
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.is_stale = found->second.is_on_its_way;
}

void LookQueue::keep(const std::set<std::string>& listed, std::size_t asked) {
  for (auto at = repeats_.begin(); at != repeats_.end();) {
    if (listed.contains(at->second) || entries_.at(at->second).asked > asked) {
      ++at;
    } else {
      entries_.erase(at->second);
      at = repeats_.erase(at);
    }
  }
}

void LookQueue::start(Entry& entry, std::vector<Look>& all) {
  entry.is_on_its_way = true;
  entry.is_again = entry.is_anew = entry.is_stale = false;
  entry.look.patience = doubled(kFirstPatience, entry.failures, kLongestPatience);
  ++on_their_way_;
  if (entry.failures > 0) ++repeats_on_their_way_;
  all.push_back(entry.look);
}

std::vector<Look> LookQueue::take(double now) {
  std::vector<Look> all;
  while (on_their_way_ < kWidth && !fresh_.empty()) {
    start(entries_.at(fresh_.front()), all);
    fresh_.pop_front();
  }
  while (on_their_way_ < kWidth && repeats_on_their_way_ < kMostRepeats && !repeats_.empty() &&
         repeats_.begin()->first <= now) {
    start(entries_.at(repeats_.begin()->second), all);
    repeats_.erase(repeats_.begin());
  }
  return all;
}

bool LookQueue::is_stale(const std::string& id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.is_stale;
}

void LookQueue::finish(const std::string& id, bool is_answered, double now) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || !found->second.is_on_its_way) return;
  Entry& entry = found->second;
  entry.is_on_its_way = false;
  --on_their_way_;
  if (entry.failures > 0) --repeats_on_their_way_;
  if (!is_answered && !entry.is_anew) {
    entry.due = now + doubled(kFirstPause, entry.failures, kLongestPause);
    ++entry.failures;
    repeats_.emplace(entry.due, id);
  } else if (!is_answered || entry.is_again || entry.is_stale) {
    entry.failures = 0;
    fresh_.push_back(id);
  } else {
    entries_.erase(found);
  }
}

std::optional<double> LookQueue::next() const {
  const bool is_full = on_their_way_ >= kWidth || repeats_on_their_way_ >= kMostRepeats;
  if (is_full || repeats_.empty()) return std::nullopt;
  return repeats_.begin()->first;
}

std::size_t LookQueue::failing(int times) const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [times](const auto& entry) { return entry.second.failures >= times; }));
}

}  // namespace flowcon::ctrl
