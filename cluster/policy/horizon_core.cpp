// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_core.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cluster/policy/horizon_problem.h"

namespace flowcon::cluster::policy::horizon {
namespace {

constexpr std::int64_t kMostWork = 2'000'000;  ///< partial plans made, about 0.1 s
constexpr std::int64_t kMostCells = 400'000;   ///< of a knapsack of all jobs; above, no search
constexpr std::size_t kFirstWidth = 16;        ///< partial plans kept of a layer
constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

/// A column for each of the first members.
struct Partial {
  Usage usage{};
  double value = 0;
  double loss = 0;
  double hope = 0;
  std::uint32_t parent = 0;  ///< in the layer before
  std::uint32_t column = 0;
};

/// One layer: of all partial plans that use the same, the best one.
class Layer {
 public:
  explicit Layer(std::vector<Partial>& partials) : partials_(partials), slots_(1024, kFree) {}

  void add(const Partial& partial) {
    std::uint32_t& slot = slots_[slot_of(partial.usage)];
    if (slot != kFree) {
      if (partial.value > partials_[slot].value) partials_[slot] = partial;
      return;
    }
    slot = static_cast<std::uint32_t>(partials_.size());
    partials_.push_back(partial);
    if (2 * partials_.size() > slots_.size()) grow();
  }

 private:
  [[nodiscard]] std::size_t slot_of(const Usage& usage) const {
    std::size_t at = UsageFields::hash(usage) & (slots_.size() - 1);
    while (slots_[at] != kFree && partials_[slots_[at]].usage != usage) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  void grow() {
    slots_.assign(4 * slots_.size(), kFree);
    for (std::uint32_t i = 0; i < partials_.size(); ++i) slots_[slot_of(partials_[i].usage)] = i;
  }

  std::vector<Partial>& partials_;
  std::vector<std::uint32_t> slots_;
};

class Search {
 public:
  Search(const Model& model, const Problem& problem, double value, std::int64_t& work)
      : model_(model), problem_(problem), floor_(value - kRounding), work_(work) {}

  /// Keeps at most `width` partial plans of each layer. False: no plan was found.
  bool run(std::size_t width);

  /// Whether partial plans were dropped that may be better.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  /// The value of the plan found, were the others endless.
  [[nodiscard]] double relaxed_value() const { return best_.hope; }
  [[nodiscard]] Plan plan() const;

 private:
  template <class Take>
  void extend(std::size_t m, Take take);
  void narrow(std::vector<Partial>& layer, std::size_t width);

  const Model& model_;
  const Problem& problem_;
  double floor_;
  std::int64_t& work_;
  std::vector<std::vector<Partial>> layers_;
  Partial best_;
  bool is_cut_ = false;
};

// Every partial plan of member m's layer with every column of it that leaves hope.
template <class Take>
void Search::extend(std::size_t m, Take take) {
  const Member& member = problem_.members()[m];
  for (std::uint32_t p = 0; p < layers_[m].size(); ++p) {
    const Partial& from = layers_[m][p];
    if (work_ > kMostWork) {
      is_cut_ = true;
      return;
    }
    for (std::uint32_t c = 0; c < member.columns.size(); ++c) {
      const double loss = from.loss + member.columns[c].loss;
      if (loss > problem_.most_loss()) break;
      ++work_;
      const Usage usage = UsageFields::sum(from.usage, member.usages[c]);
      if (!problem_.fields().fits(usage, member.most)) continue;
      const double value = from.value + member.columns[c].value;
      const double hope = problem_.hope(m, usage, value);
      if (hope >= floor_) take(Partial{usage, value, loss, hope, p, c});
    }
  }
}

void Search::narrow(std::vector<Partial>& layer, std::size_t width) {
  if (layer.size() <= width) return;
  is_cut_ = true;
  const auto middle = layer.begin() + static_cast<std::ptrdiff_t>(width);
  std::nth_element(layer.begin(), middle, layer.end(), [](const Partial& a, const Partial& b) {
    return a.hope != b.hope ? a.hope > b.hope : a.usage < b.usage;
  });
  layer.erase(middle, layer.end());
}

bool Search::run(std::size_t width) {
  const std::size_t members = problem_.members().size();
  layers_.assign(members, {});
  layers_[0].emplace_back();
  is_cut_ = false;
  for (std::size_t m = 0; m + 1 < members; ++m) {
    Layer layer(layers_[m + 1]);
    extend(m, [&](const Partial& partial) { layer.add(partial); });
    narrow(layers_[m + 1], width);
  }
  // With the last one placed, hope is what the plan has if the others are endless.
  bool has_any = false;
  extend(members - 1, [&](const Partial& partial) {
    if (!has_any || partial.hope > best_.hope) best_ = partial;
    has_any = true;
  });
  return has_any;
}

Plan Search::plan() const {
  const auto steps = static_cast<std::size_t>(model_.steps);
  Plan plan;
  plan.choices.resize(model_.jobs.size() * steps);
  std::uint32_t column = best_.column;
  std::uint32_t parent = best_.parent;
  for (std::size_t m = layers_.size(); m-- > 0;) {
    const Member& member = problem_.members()[m];
    std::copy_n(member.columns[column].choices.begin(), steps,
                plan.choices.begin() + static_cast<std::ptrdiff_t>(member.job * steps));
    column = layers_[m][parent].column;
    parent = layers_[m][parent].parent;
  }
  std::vector<Choice> choices;
  for (std::size_t t = 0; t < steps; ++t) {
    problem_.choose_others(static_cast<int>(t), best_.usage, choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      plan.choices[problem_.others()[i] * steps + t] = choices[i];
    }
  }
  plan.value = value_of(model_, plan);
  return plan;
}

// Adds the jobs that come to their end in `plan`. False: they are all in the core.
bool widen(const Model& model, const Plan& plan, std::vector<std::uint8_t>& is_member) {
  bool is_wider = false;
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    const Choice* choices = plan.choices.data() + i * static_cast<std::size_t>(model.steps);
    if (is_member[i] != 0 || uncapped_share(model, model.jobs[i], choices) <= 1) continue;
    is_member[i] = 1;
    is_wider = true;
  }
  return is_wider;
}

}  // namespace

void improve_plan(const Model& model, const Dual& dual, Sweeper& sweeper, Plan& plan,
                  double& bound) {
  const auto jobs = static_cast<std::int64_t>(model.jobs.size());
  if (jobs * model.nodes > kMostCells) return;
  if (!UsageFields(model.nodes, model.steps).can_hold()) return;
  // A pause ties a job's steps to each other.
  std::vector<std::uint8_t> is_member(model.jobs.size(), model.has_pause ? 1 : 0);
  widen(model, plan, is_member);
  if (std::count(is_member.begin(), is_member.end(), 1) == 0) is_member[0] = 1;
  std::size_t width = kFirstWidth;
  std::int64_t work = 0;
  while (work < kMostWork && bound > plan.value + kRounding) {
    const Problem problem(model, dual, is_member, plan.value);
    work += problem.work();
    bound = std::max(plan.value, std::min(bound, problem.bound()));
    Search search(model, problem, plan.value, work);
    const bool has_plan = search.run(width);
    const bool is_proof = !search.is_cut() && problem.has_all_columns();
    const double most = has_plan ? search.relaxed_value() : plan.value;
    if (is_proof) bound = std::max(plan.value, std::min(bound, most));
    bool is_wider = false;
    if (has_plan) {
      Plan found = search.plan();
      is_wider = widen(model, found, is_member);
      sweeper.sweep(found, false);
      if (found.value > plan.value) plan = std::move(found);
      bound = std::max(bound, plan.value);
    }
    if (is_wider) continue;
    if (!search.is_cut()) return;
    width *= 4;
  }
}

}  // namespace flowcon::cluster::policy::horizon
