// SPDX-License-Identifier: Apache-2.0
// What a job will need, from what earlier ones were like (Liquid, 4 and 6.1): by runs of the same
// command, by a random forest, by runs of its family, or not at all. Pure functions: no clock, no
// I/O, no logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace flowcon::ctrl::estimate {

/// Numbers and kinds of a job by name, in the order they were listed.
using Features = std::vector<std::pair<std::string, std::variant<double, std::string>>>;

/// A run that ended well.
struct Profile {
  std::string family;  ///< image repository and command without numbers and values
  std::string key;     ///< equal for equal image digest and exact command
  double age = 0;      ///< seconds; larger = earlier
  Features features;
  std::vector<std::pair<std::string, double>> labels;  ///< what it needed; each above 0
};

/// The same by when it ended, as it is handed on inside one process. Units: seconds since the
/// epoch.
struct EndedProfile {
  std::string family;  ///< as Profile::family
  std::string key;     ///< as Profile::key
  double ended = 0;
  Features features;
  std::vector<std::pair<std::string, double>> labels;  ///< as Profile::labels
};

/// At `now`, seconds since the epoch.
[[nodiscard]] Profile profile_at(EndedProfile run, double now);

struct EstimateJob {
  std::string id;
  std::string family;
  std::string key;
  Features features;
};

struct EstimateState {
  static constexpr const char* kAlgorithm = "estimate";

  double quantile = 0.9;   ///< of the forest's errors that `upper` is to cover, 0 to 1
  std::uint64_t seed = 1;  ///< of the forest
  std::vector<Profile> history;
  std::vector<EstimateJob> jobs;
};

/// By which means.
enum class EstimateBasis { repeat, forest, family, none };

/// "repeat", "forest", "family", "none".
[[nodiscard]] const char* name(EstimateBasis basis);

struct LabelEstimate {
  std::string label;
  std::optional<double> expected;
  std::optional<double> upper;
  EstimateBasis basis = EstimateBasis::none;
  std::size_t rows = 0;  ///< that it rests on
};

struct JobEstimate {
  std::string id;
  std::vector<LabelEstimate> labels;
};

struct EstimateDecision {
  std::vector<JobEstimate> jobs;  ///< as in the state
};

/// Estimates from one history, which must outlive it.
class Estimator {
 public:
  /// Names and values above this are not in a forest: those that most rows have are.
  static constexpr std::size_t kMostColumns = 256;

  Estimator(const std::vector<Profile>& history, double quantile, std::uint64_t seed);
  ~Estimator();
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  /// Plants the forest of each label that has rows enough; without it the first estimate that rests
  /// on one does. O(labels · rows · columns), some seconds for thousands of rows.
  void train();

  /// Of each label, in the order of their first appearance in the history.
  [[nodiscard]] std::vector<LabelEstimate> estimate(const EstimateJob& job);

 private:
  struct Label;

  LabelEstimate estimate(Label& label, const EstimateJob& job);
  void plant(Label& label);

  const std::vector<Profile>& history_;
  const double quantile_;
  const std::uint64_t seed_;
  std::vector<std::unique_ptr<Label>> labels_;
};

/// The same state gives the same estimates, on any machine of one kind.
[[nodiscard]] EstimateDecision decide_estimate(const EstimateState& state);

}  // namespace flowcon::ctrl::estimate
