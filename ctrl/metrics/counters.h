// SPDX-License-Identifier: Apache-2.0
// What the words around a number say of it as a counter. Words only; linear in the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/scan.h"

namespace flowcon::ctrl::metrics {

/// The letters of a text: what its fixed part is.
[[nodiscard]] std::uint64_t letters_hash(std::string_view text);

/// Where the percentage begins that a bar is drawn behind: "12%|███", "12% ━━━", "12% 4/33 [00:04";
/// npos where no bar is.
[[nodiscard]] std::size_t percent_of_bar(std::string_view line);

/// What the ratio counts: the words of a bar's title ("Training epochs:  5%|"; the "Epoch 3:" of
/// one that counts within it is followed by its number), the word behind it ("3 / 200 epochs").
[[nodiscard]] Role role_of_ratio(std::string_view text, const Field& ratio);

/// The ratio counts an evaluation, what comes before the training (files, downloads), or within one
/// of several parts (the batches of an epoch, a fold, a chain).
[[nodiscard]] bool is_aside(std::string_view text, const Field& ratio);

/// The field is how much is done in percent: "Progress: 12.3%", "12% complete", a bar without
/// counter.
[[nodiscard]] bool is_progress(std::string_view text, const Field& field);

struct StatedTotal {
  bool of_epochs = false;
  double total = 0;
};

/// "training for 5 epochs", "(60 iterations)", "5 passes over": a total told in prose by the number
/// at `at`.
[[nodiscard]] std::optional<StatedTotal> stated_total(std::string_view text, const Field& field);

/// Chinese names a counter behind its number: "第 3 轮". `rest`: what stands behind it. "" =
/// nothing of that kind does.
[[nodiscard]] std::string_view counter_behind(std::string_view rest);

}  // namespace flowcon::ctrl::metrics
