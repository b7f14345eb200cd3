// SPDX-License-Identifier: Apache-2.0
// How far a job is by its own account. Every counter with a total is followed; where an epoch of a
// known number of epochs and a counter within the epoch are both printed, they are one progress:
// done = (e - 1) + b/B of E (e + b/B where the epochs begin at 0).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl/metrics/extractor.h"
#include "ctrl/metrics/names.h"

namespace flowcon::ctrl::metrics {

class Progress {
 public:
  /// A counter "done/total" on line number `line`. `key` identifies it (a hash of its name).
  void ratio(std::uint64_t key, Role role, double done, double total, std::uint64_t line);
  /// A counter without a total ("epoch: 3").
  void counter(std::uint64_t key, Role role, double done, std::uint64_t line);
  /// A total that stands elsewhere: max_epochs, "epochs=20".
  void total(bool of_epochs, double total);

  [[nodiscard]] std::optional<Counter> result() const;

 private:
  struct State {
    std::uint64_t key = 0;
    Role role = Role::unknown;
    double first = 0;
    double done = 0;
    double total = 0;     ///< 0 = not printed
    double fraction = 0;  ///< of the present epoch, by a counter within it
    bool has_inner = false;
    std::uint64_t count = 0;
    std::uint64_t falls = 0;
    std::uint64_t rises = 0;
    std::uint64_t last_line = 0;
  };
  State& state(std::uint64_t key, Role role, double done);
  [[nodiscard]] const State* best(bool epochs) const;
  [[nodiscard]] double total_of(const State& state) const;

  std::vector<State> states_;
  double total_epochs_ = 0;
  double total_steps_ = 0;
};

}  // namespace flowcon::ctrl::metrics
