// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ctrl/estimate/columns.h"
#include "ctrl/estimate/forest.h"

namespace flowcon::ctrl::estimate {
namespace {

constexpr std::size_t kForestRows = 20;
constexpr std::size_t kFewRows = 3;  // of one key, of one family
constexpr std::size_t kLastRows = 5;
constexpr double kSame = 1.1;  // greatest of the same command against the least

struct Value {
  double age = 0;
  double value = 0;
};

// The middle one, of an even number the upper, and the greatest.
void fill(LabelEstimate& estimate, std::vector<double> values, EstimateBasis basis) {
  std::sort(values.begin(), values.end());
  estimate.expected = values[values.size() / 2];
  estimate.upper = values.back();
  estimate.basis = basis;
  estimate.rows = values.size();
}

// Of the sorted errors the one that so large a share of them is at most, or a bit more; never below
// 0.
double margin_of(std::vector<double> errors, double quantile) {
  std::sort(errors.begin(), errors.end());
  const auto count = static_cast<double>(errors.size());
  const double place = std::clamp(std::ceil(quantile * (count + 1)), 1.0, count);
  return std::max(errors[static_cast<std::size_t>(place) - 1], 0.0);
}

}  // namespace

// What is known of one label.
struct Estimator::Label {
  std::string name;
  std::vector<const Profile*> rows;
  std::vector<double> values;                                  // of each row
  std::unordered_map<std::string, std::vector<Value>> by_key;  // the last first
  std::unordered_map<std::string, std::vector<double>> by_family;
  std::unique_ptr<Columns> columns;  // of the forest, once it is planted
  std::unique_ptr<Forest> forest;
  double margin = 0;  // of logarithms
};

Profile profile_at(EndedProfile run, double now) {
  return {std::move(run.family), std::move(run.key), now - run.ended, std::move(run.features),
          std::move(run.labels)};
}

const char* name(EstimateBasis basis) {
  switch (basis) {
    case EstimateBasis::repeat:
      return "repeat";
    case EstimateBasis::forest:
      return "forest";
    case EstimateBasis::family:
      return "family";
    case EstimateBasis::none:
      return "none";
  }
  return "";
}

Estimator::Estimator(const std::vector<Profile>& history, double quantile, std::uint64_t seed)
    : history_(history), quantile_(quantile), seed_(seed) {
  std::unordered_map<std::string_view, Label*> known;
  for (const Profile& row : history_) {
    for (const auto& [name, value] : row.labels) {
      Label*& label = known[name];
      if (!label) {
        labels_.push_back(std::make_unique<Label>());
        label = labels_.back().get();
        label->name = name;
      }
      label->rows.push_back(&row);
      label->values.push_back(value);
      label->by_key[row.key].push_back({row.age, value});
      label->by_family[row.family].push_back(value);
    }
  }
  for (const auto& label : labels_) {
    for (auto& [key, values] : label->by_key) {
      std::stable_sort(values.begin(), values.end(),
                       [](const Value& a, const Value& b) { return a.age < b.age; });
    }
  }
}

Estimator::~Estimator() = default;

void Estimator::plant(Label& label) {
  if (label.forest) return;
  std::vector<double> logarithms;
  for (const double value : label.values) logarithms.push_back(std::log(value));
  label.columns = std::make_unique<Columns>(label.rows);
  Rows rows;
  for (const Profile* row : label.rows) {
    rows.push_back(label.columns->row(row->family, row->features));
  }
  label.forest = std::make_unique<Forest>(rows, logarithms, seed_);
  std::vector<double> errors = std::move(logarithms);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= label.forest->out_of_bag()[i];
  label.margin = margin_of(std::move(errors), quantile_);
}

void Estimator::train() {
  for (const auto& label : labels_) {
    if (label->rows.size() >= kForestRows) plant(*label);
  }
}

LabelEstimate Estimator::estimate(Label& label, const EstimateJob& job) {
  LabelEstimate estimate;
  estimate.label = label.name;
  const auto same = label.by_key.find(job.key);
  if (same != label.by_key.end() && same->second.size() >= kFewRows) {
    std::vector<double> last;
    for (const Value& value : same->second) {
      if (last.size() < kLastRows) last.push_back(value.value);
    }
    const auto [least, greatest] = std::minmax_element(last.begin(), last.end());
    if (*greatest <= kSame * *least) {
      fill(estimate, std::move(last), EstimateBasis::repeat);
      return estimate;
    }
  }
  if (label.rows.size() >= kForestRows) {
    plant(label);
    const double expected = label.forest->predict(label.columns->row(job.family, job.features));
    estimate.expected = std::exp(expected);
    estimate.upper = *estimate.expected * std::exp(label.margin);
    estimate.basis = EstimateBasis::forest;
    estimate.rows = label.rows.size();
    return estimate;
  }
  const auto family = label.by_family.find(job.family);
  if (family != label.by_family.end() && family->second.size() >= kFewRows) {
    fill(estimate, family->second, EstimateBasis::family);
  }
  return estimate;
}

std::vector<LabelEstimate> Estimator::estimate(const EstimateJob& job) {
  std::vector<LabelEstimate> estimates;
  for (const auto& label : labels_) estimates.push_back(estimate(*label, job));
  return estimates;
}

EstimateDecision decide_estimate(const EstimateState& state) {
  Estimator estimator(state.history, state.quantile, state.seed);
  EstimateDecision decision;
  for (const EstimateJob& job : state.jobs) {
    decision.jobs.push_back({job.id, estimator.estimate(job)});
  }
  return decision;
}

}  // namespace flowcon::ctrl::estimate
