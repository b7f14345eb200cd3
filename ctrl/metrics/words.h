// SPDX-License-Identifier: Apache-2.0
// The dictionary behind judge_name(): single words of metric names, each with one meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flowcon::ctrl::metrics {

enum class Meaning : std::uint8_t {
  none,      ///< not in the dictionary
  lower,     ///< metric, lower is better
  higher,    ///< metric, higher is better
  either,    ///< metric, the direction depends on the program
  decoy,     ///< never a metric, whatever stands beside it
  quantity,  ///< not a metric by itself ("tokens"), but may qualify one ("loss per token")
  epoch,
  step,
  limit,  ///< makes a counter a total ("max", "num")
  train,
  eval,
  best,
  neutral,  ///< says nothing about worth ("avg", "total", "current")
  filler,   ///< the same, and names nothing by itself ("at", "with", "model")
  part      ///< of a composed loss, or an auxiliary one ("kl", "aux", "box")
};

/// How many bytes the letter or digit at `at` has, 0 where there is none: of ASCII, of Latin with
/// accents, Cyrillic, Chinese, Japanese and Korean. Signs and greek letters are none.
[[nodiscard]] std::size_t letter_size(std::string_view text, std::size_t at);

struct Word {
  Meaning meaning = Meaning::none;
  double weight = 0;  ///< of a metric, as in NameInfo::weight
};

/// `word` in lower case.
[[nodiscard]] Word look_up(std::string_view word);

/// The same for a word that is not in the dictionary but contains a metric's name ("mlogloss").
[[nodiscard]] Word look_inside(std::string_view word);

}  // namespace flowcon::ctrl::metrics
