// SPDX-License-Identifier: Apache-2.0
// How far a job will go where its counter does not say so: its command, its environment, the time
// left that it prints. Words only; linear in the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ctrl/metrics/report.h"

namespace flowcon::ctrl::metrics {

/// A number of epochs or of steps.
struct ToldTotal {
  std::string name;  ///< "epochs", "trainer.max_epochs", "EPOCHS"
  bool of_epochs = false;
  double total = 0;
  TotalFrom from = TotalFrom::command;
};

/// "--epochs 20", "--max-steps=1000", "trainer.max_epochs=20"; EPOCHS=20. What counts most comes
/// last: the command, which overrides the environment. A name that is told twice with two numbers
/// (two trainings one after the other) is left out. `command`: arguments with blanks between.
[[nodiscard]] std::vector<ToldTotal> told_totals(
    std::string_view command, const std::vector<std::pair<std::string, std::string>>& environment);

/// "eta: 0:14:16", "ETA 1 day, 2:03:04", "eta=14m16s", "time left: 856s"; of
/// a bar without a count "Training: [00:16<14:16]". Unit: seconds.
[[nodiscard]] std::optional<double> time_left_in(std::string_view line);

}  // namespace flowcon::ctrl::metrics
