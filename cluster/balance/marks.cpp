// SPDX-License-Identifier: Apache-2.0
#include "cluster/balance/marks.h"

#include "base/json.h"
#include "base/json_reader.h"

namespace flowcon::cluster::balance {
namespace {

constexpr double kLongestAge = 100 * 366 * 86400.0;

boost::json::value age(const std::optional<double>& time, double now) {
  return number_or_null(time ? std::optional(std::max(now - *time, 0.0)) : std::nullopt);
}

std::optional<double> read_time(FieldReader& reader, const char* name, double now) {
  const std::optional<double> age = reader.number_or_null(name);
  reader.require(!age || (*age >= 0 && *age <= kLongestAge), name, "must be an age in seconds");
  return age ? std::optional(now - *age) : std::nullopt;
}

}  // namespace

Round Marks::take_round(const std::vector<Observed>& containers, double alpha, double now,
                        double interval) {
  Round round;
  round.state.alpha = alpha;
  for (const Observed& seen : containers) {
    const auto known = marks_.find(seen.id);
    const Mark before = known == marks_.end() ? Mark() : known->second;
    const bool is_recent = known != marks_.end() && now - before.seen <= 1.5 * interval;
    policy::ObservedContainer container;
    container.id = seen.id;
    container.category = before.category;
    container.value = seen.value;
    if (is_recent) container.previous_value = before.value;
    container.previous_growth = before.growth;
    container.migrated = before.migrated.has_value();
    round.state.containers.push_back(std::move(container));
  }
  round.decision = policy::decide_categorise(round.state);
  round.is_news = !round.decision.requests.empty();
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const policy::CategorisedContainer& decided = round.decision.containers[i];
    Mark& mark = marks_[decided.id];
    const bool is_converged = decided.category == policy::Category::cc;
    if (decided.category != mark.category) round.is_news = true;
    if (is_converged && !mark.converged) mark.converged = now;
    if (!is_converged) mark.converged.reset();
    mark.category = decided.category;
    mark.value = containers[i].value;
    mark.growth = decided.growth;
    mark.seen = now;
  }
  return round;
}

policy::Counts Marks::count(const std::vector<std::string>& ids) const {
  policy::Counts counts;
  for (const std::string& id : ids) {
    const Mark* mark = find(id);
    const policy::Category category = mark != nullptr ? mark->category : policy::Category::pc;
    ++(category == policy::Category::pc   ? counts.pc
       : category == policy::Category::wc ? counts.wc
                                          : counts.cc);
  }
  return counts;
}

const Mark* Marks::find(const std::string& id) const {
  const auto found = marks_.find(id);
  return found == marks_.end() ? nullptr : &found->second;
}

void Marks::mark_migrated(const std::string& id, double now) { marks_[id].migrated = now; }

std::vector<std::string> Marks::forget_old(double now) {
  std::vector<std::string> gone;
  for (auto mark = marks_.begin(); mark != marks_.end();) {
    if (now - mark->second.seen <= kKept) {
      ++mark;
      continue;
    }
    gone.push_back(mark->first);
    mark = marks_.erase(mark);
  }
  return gone;
}

boost::json::object render_mark(const Mark& mark, double now) {
  return {{"category", policy::name(mark.category)},
          {"value", number_or_null(mark.value)},
          {"growth", number_or_null(mark.growth)},
          {"seen_age", age(mark.seen, now)},
          {"converged_age", age(mark.converged, now)},
          {"migrated_age", age(mark.migrated, now)},
          {"rebalanced", mark.rebalanced},
          {"moves", mark.moves}};
}

Result<Mark> parse_mark(const boost::json::object& json, double now) {
  const boost::json::value whole(json);
  FieldReader reader(whole, "");
  Mark mark;
  const std::string category = reader.text("category");
  if (category == policy::name(policy::Category::wc)) {
    mark.category = policy::Category::wc;
  } else if (category == policy::name(policy::Category::cc)) {
    mark.category = policy::Category::cc;
  } else {
    reader.require(category == policy::name(policy::Category::pc), "category",
                   "must be PC, WC or CC");
  }
  mark.value = reader.number_or_null("value");
  mark.growth = reader.number_or_null("growth");
  mark.seen = read_time(reader, "seen_age", now).value_or(now);
  mark.converged = read_time(reader, "converged_age", now);
  mark.migrated = read_time(reader, "migrated_age", now);
  mark.rebalanced = reader.boolean("rebalanced");
  const std::int64_t moves = reader.count("moves");
  reader.require(moves <= kMostMoves, "moves", "must be at most 1000000");
  mark.moves = static_cast<std::uint32_t>(std::min<std::int64_t>(moves, kMostMoves));
  if (reader.failed()) return reader.error();
  return mark;
}

}  // namespace flowcon::cluster::balance
