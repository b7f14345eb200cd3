// SPDX-License-Identifier: Apache-2.0
// What the words around a number say of it as a counter. Words only; linear in the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/scan.h"

namespace flowcon::ctrl::metrics {

/// Where the percentage begins that a bar is drawn behind: "12%|███", "12% ━━━", "12% 4/33 [00:04";
/// npos where no bar is.
[[nodiscard]] std::size_t percent_of_bar(std::string_view line);

/// Where the bar ends that another line is glued to: "… 2.29s/it, loss=0.094]12/04/2023 - INFO";
/// else the end of the line. A record in braces stays with its bar.
[[nodiscard]] std::size_t end_of_bar(std::string_view line);

/// The number that leads its line is an index: of a model's parts ("(0): Embedding"), of a table
/// of words ("0 | model | ResNet | 1.3 K").
[[nodiscard]] bool is_index(std::string_view text, const Field& field);

/// "Samples: 640/60000", "Progress: 3/10": a counter although its name is none.
[[nodiscard]] bool counts_data(std::string_view key);

/// "[3][100/500]", "[3/20][100/500]": the epoch stands before what counts within it.
[[nodiscard]] bool stands_outside(const std::vector<Field>& fields, std::size_t index,
                                  std::string_view text);

/// Not how many an epoch has.
[[nodiscard]] bool is_counter_of_steps(std::string_view key);

/// "epoch=0/micro_step=10/global_step=10": DeepSpeed counts rounds of its own loader only.
[[nodiscard]] bool is_at_rest(const std::vector<Field>& fields, std::size_t index);

/// Whole, and no setting of what is off: "{'enabled': False, 'num_epochs': 1000}" of DeepSpeed.
[[nodiscard]] bool may_be_total(std::string_view text, const Field& field);

/// "iters: 600", "Training steps = 50000" may be how many there will be.
[[nodiscard]] bool is_many_steps(std::string_view key);

/// What the ratio counts: the words of a bar's title ("Training epochs:  5%|"; the "Epoch 3:" of
/// one that counts within it is followed by its number), the word behind it ("3 / 200 epochs").
[[nodiscard]] Role role_of_ratio(std::string_view text, const Field& ratio);

/// The ratio counts an evaluation, what comes before the training (files, downloads), or within one
/// of several parts (the batches of an epoch, a fold, a chain).
[[nodiscard]] bool is_aside(std::string_view text, const Field& ratio);

/// "batch 3/391", "40/ 175 batches", "3/391 [00:04<09:10, 2.1batch/s": of an epoch, unless the log
/// says otherwise. A "sample 500/2000" of Monte Carlo is of the job.
/// "Epoch 4/9 ━━━━ 11/33 0:00:01 • 0:00:02": Lightning's epochs begin at 0 and end at the total.
[[nodiscard]] RatioKind kind_of_ratio(std::string_view text, const Field& ratio, Role role);

/// "Epoch 2: 50% loss 0.7": the percentage of `share` tells how much of the epoch before it is
/// over.
[[nodiscard]] bool is_share_of_epoch(std::string_view text, const Field& epoch, const Field& share);

/// "class [2] IoU 79.36".
[[nodiscard]] bool is_class(const Field& field);

/// "Accuracy: 10.4% (1040 / 10000)", "%WER 31.35 [ 15192 / 48460": a ratio behind it is its source.
[[nodiscard]] bool is_share(const Field& field);

/// {"progress": 8.3}, {"percentage": 12}: how much is done in percent, once it is above 1.
[[nodiscard]] bool may_be_percentage(const Field& field);

/// The field is how much is done in percent: "Progress: 12.3%", "12% complete", a bar without
/// counter.
[[nodiscard]] bool is_progress(std::string_view text, const Field& field);

/// "Iteration 2000 [10%]: ELBO = -294.6": how much of the steps is done, of the job or of a part
/// that other lines name.
[[nodiscard]] bool is_share_of_steps(std::string_view text, const Field& field);

/// "Finished [100%]: ELBO = -149.7": where such shares end, if there were any.
[[nodiscard]] bool is_end_of_shares(std::string_view text, const Field& field);

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
