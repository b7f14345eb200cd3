// SPDX-License-Identifier: Apache-2.0
// Finds the values of a job's evaluation function in its output. Lines in, series out; no I/O.
// RE2 only: every line costs time linear in its length, whatever it holds.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctrl/metrics/explain.h"
#include "ctrl/metrics/report.h"
#include "ctrl/metrics/told.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::metrics {

/// What the user said (labels or flags). Empty fields are detected.
struct Spec {
  std::string metric;                ///< name of the series, as printed or normalised; "" = detect
  std::optional<Goal> goal;          ///< empty = from the name
  std::string pattern;               ///< RE2 with a group named `value` (or one group); "" = none
  std::vector<ToldTotal> told = {};  ///< how far it goes, by others than its log
};

/// Reads lines, keeps candidate series, names the best. One per container.
/// Bounded: with `keep` > 0 it holds at most `keep` samples per series and a fixed number of
/// series, whatever the log prints; with keep == 0 it holds everything (for whole files).
class Extractor {
 public:
  /// Errors: a pattern that RE2 refuses or that has no usable group; the message says which.
  [[nodiscard]] static Result<Extractor> create(const Spec& spec, std::size_t keep);
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;
  ~Extractor();

  /// `line` without its line end and without ANSI codes; `time` in seconds since the epoch.
  void feed(std::string_view line, double time);
  /// The present choice, until the next feed(). Made once for all who ask between two lines.
  [[nodiscard]] const Report& report() const;
  /// From now on explain() knows what was refused; costs a little time a line.
  void remember_refused();
  /// Why the present choice is the one that it is.
  [[nodiscard]] Explanation explain() const;
  /// Words one of which a line must hold to matter from now on; empty = every line matters. Only
  /// whole files (keep == 0) come that far: after 50,000 lines, when the choice has long stood,
  /// the other candidates are no longer counted.
  [[nodiscard]] const std::vector<std::string>& needed_words() const;
  /// Number of values of the present choice so far; changes when there is something new.
  [[nodiscard]] std::size_t count() const;

 private:
  struct Impl;
  explicit Extractor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::metrics
