// SPDX-License-Identifier: Apache-2.0
// Lines that show a command, a program or no text: what is in them was not measured.
#pragma once

#include <string_view>

namespace flowcon::ctrl::metrics {

/// "+ python train.py --epochs 80 --lr 0.1": options tell totals, and are no counters.
[[nodiscard]] bool is_command(std::string_view line);

/// "return step % 2 == 1", "return 404;", the exit status of a build's step, and the scores of a
/// search in scikit-learn's words.
[[nodiscard]] bool is_listing(std::string_view line);

/// Of UTF-16 every second byte of a word is zero; one alone is a slip.
[[nodiscard]] bool is_binary(std::string_view line);

/// The "accuracy  0.88  25" of scikit-learn's report on a model.
[[nodiscard]] bool is_of_report(std::string_view line);
/// "Fold #1: loss=3.6": a part of a cross-validation.
[[nodiscard]] bool is_of_fold(std::string_view line);

}  // namespace flowcon::ctrl::metrics
