// SPDX-License-Identifier: Apache-2.0
// Checks a command's words before CLI11 reads them: takes ours from among docker's, and words
// errors as docker does.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace flowcon::plugin {

/// Which words belong to a command.
enum class WordStyle {
  mixed,        ///< all: options and positionals in any order, as docker's commands take them
  until_word,   ///< options up to the first other word; an unknown option is an error
  before_image  ///< options up to the image, among those of `docker run`
};

struct Scan {
  std::size_t taken = 0;    ///< words that were looked at, with a `--` that ends them
  bool wants_help = false;  ///< --help or -h is among them
  bool used_letter_h = false;
  std::vector<std::string> own;          ///< the words for CLI11
  std::vector<std::string> positionals;  ///< the others: arguments, what follows, docker's words
  std::string problem;                   ///< "" = fine
  bool lacks_subject = false;            ///< `problem` is to follow the command's path
  std::string suggestion;  ///< the nearest option, where an unknown one looks like a typo
  std::string unknown;     ///< that one, in WordStyle::before_image
};

/// Checks `words` against the options and positionals that `app` declares.
[[nodiscard]] Scan scan_words(const CLI::App& app, const std::vector<std::string>& words,
                              WordStyle style);

/// The names of an option: "quiet" and "q", without dashes; "" where there is none.
[[nodiscard]] std::string long_name(const CLI::Option& option);
[[nodiscard]] std::string short_name(const CLI::Option& option);

/// True if the option wants a value.
[[nodiscard]] bool takes_value(const CLI::Option& option);

}  // namespace flowcon::plugin
