// SPDX-License-Identifier: Apache-2.0
// The options of `docker run` and `docker create`, read only as far as it takes to find the image
// behind them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace flowcon::plugin {

/// One option of `docker run`.
struct RunOption {
  std::size_t words = 1;  ///< 2 where its value is a word of its own
  std::string name;       ///< "--env"; for letters in one word the last one's: "-e" in "-ite"
  std::string value;      ///< "" where none is there; "false" of "--rm=false"
  std::string letters;    ///< all of one word: "ite"; "" of a long option
  bool takes_value = false;
};

/// The option at words[at], which begins with "-". One that is not known takes no value.
[[nodiscard]] RunOption read_run_option(const std::vector<std::string>& words, std::size_t at);

/// The options before the image.
[[nodiscard]] std::vector<RunOption> read_run_options(const std::vector<std::string>& words);

}  // namespace flowcon::plugin
