// SPDX-License-Identifier: Apache-2.0
// What the name of a printed number says about it: is it a value of an evaluation function, which
// way is better, of which part of the data; or a counter, or one of the many numbers of a training
// log that move just as smoothly and mean nothing (learning rate, speed, time left). Words only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::ctrl::metrics {

/// Which data a value was measured on, by its name or by a word before it on the line.
enum class Phase : std::uint8_t { none, train, eval };

enum class Role : std::uint8_t {
  unknown,  ///< the words say nothing: only its behaviour can
  metric,   ///< a value of an evaluation function
  epoch,    ///< counts rounds over the data
  step,     ///< counts something finer: steps, batches, iterations
  total,    ///< says how far a counter will go ("max_epochs")
  decoy     ///< certainly not a metric
};

/// What its line says of a ratio besides.
enum class RatioKind : std::uint8_t {
  plain,
  of_epoch,  ///< it counts the batches of an epoch: "batch 3/391"
  to_last    ///< of epochs from 0, up to the number of the last one: "Epoch 0/9 ━━━"
};

enum class Better : std::uint8_t { unknown, lower, higher };

struct NameInfo {
  Role role = Role::unknown;
  Better better = Better::unknown;
  Phase phase = Phase::none;
  bool is_best = false;  ///< best/lowest/highest so far: a record, not a measurement
  bool plain = false;    ///< the whole value: "loss", "total_loss", not "loss_0", "iou_loss"
  bool negated = false;  ///< "neg_log_perplexity": the sign of the values tells which way is better
  bool vague = false;    ///< "score", "accuracy": programs print losses under it, too
  /// How good a choice the name makes it, 0 to 14: a plain "loss" has 10. Only for metrics.
  double weight = 0;
};

/// Above this weight a name tells which kind of value it is; "train", "avg" tell less.
inline constexpr double kNamedWeight = 5;
/// Of a reward at least.
inline constexpr double kRewardWeight = 12;
/// Of "train=0.93": which data, and not what is measured.
inline constexpr double kPhaseWeight = 5;

/// Judges a name as printed ("train_loss", "Acc@1", "lm loss", "ep_rew_mean").
[[nodiscard]] NameInfo judge_name(std::string_view name);

/// Why judge_name() gives no metric, in plain words: the word that decides, or what it counts.
[[nodiscard]] std::string explain_name(std::string_view name);

/// The words of a name in lower case: "AvgCost" and "avg_cost" are both {avg, cost}; a digit that
/// belongs to a word stays with it ("top1", "f1").
[[nodiscard]] std::vector<std::string> name_words(std::string_view name);

/// train, training -> train; val, valid, dev, eval, test … -> eval; anything else -> none.
/// `word` must be in lower case.
[[nodiscard]] Phase phase_of_word(std::string_view word);

/// Of the name of a total: it is one of epochs, or of rounds, not of steps.
[[nodiscard]] bool is_of_epochs(std::string_view name);

}  // namespace flowcon::ctrl::metrics
