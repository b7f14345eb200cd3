// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/arguments.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cmd/docker-flowcon/job/run_words.h"

namespace flowcon::plugin {
namespace {

// The value behind "=" of a switch, as Go reads it. Empty: it is none.
std::optional<bool> parse_switch(std::string_view value) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (value == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (value == word) return false;
  }
  return std::nullopt;
}

class Scanner {
 public:
  Scanner(const CLI::App& app, const std::vector<std::string>& words, WordStyle style)
      : app_(app), words_(words), style_(style) {}

  Scan scan() {
    for (; scan_.taken < words_.size() && !ends_; ++scan_.taken) {
      const std::size_t first = scan_.taken;
      const std::string& word = words_[first];
      const bool is_option = word.size() > 1 && word[0] == '-';
      if (style_ == WordStyle::before_image && (!is_option || word == "--")) {
        give(first + (is_option ? 1 : 0), words_.size());
        scan_.taken = words_.size();
        return scan_;
      }
      if (word == "--") {
        end_options();
      } else if (is_option && word[1] == '-') {
        read_long(word);
      } else if (is_option) {
        read_letters(word);
      } else if (style_ == WordStyle::mixed) {
        scan_.positionals.push_back(word);
      } else {
        give(first, words_.size());
        break;
      }
      if (!scan_.problem.empty()) return scan_;
      if (std::exchange(is_dockers_, false)) {
        give(first, scan_.taken + 1);
      } else {
        keep(first);
      }
    }
    if (style_ == WordStyle::mixed && !scan_.wants_help) check_count();
    return scan_;
  }

 private:
  [[nodiscard]] std::vector<std::string>::const_iterator at(std::size_t word) const {
    return words_.begin() + static_cast<std::ptrdiff_t>(word);
  }

  // One with a value behind "=", as docker reads it: for CLI11 two words, and a switch by its long
  // name.
  void keep(std::size_t first) {
    const std::string& word = words_[first];
    const std::size_t equals = std::exchange(value_at_, std::string::npos);
    const CLI::Option* letter = std::exchange(switch_, nullptr);
    if (equals == std::string::npos) {
      scan_.own.insert(scan_.own.end(), at(first), at(scan_.taken + 1));
    } else if (letter != nullptr) {
      if (equals > 2) scan_.own.push_back(word.substr(0, equals - 1));
      scan_.own.push_back("--" + long_name(*letter) + word.substr(equals));
    } else {
      scan_.own.insert(scan_.own.end(), {word.substr(0, equals), word.substr(equals + 1)});
    }
  }

  void give(std::size_t first, std::size_t end) {
    scan_.positionals.insert(scan_.positionals.end(), at(first), at(end));
  }

  void take_dockers() {
    is_dockers_ = true;
    scan_.taken += read_run_option(words_, scan_.taken).words - 1;
  }

  void end_options() {
    ends_ = true;
    give(scan_.taken + 1, words_.size());
    if (style_ == WordStyle::mixed) scan_.taken = words_.size() - 1;
  }

  void read_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name == "--help") {
      const std::string value = equals == std::string::npos ? "true" : word.substr(equals + 1);
      const std::optional<bool> is_on = parse_switch(value);
      scan_.wants_help = is_on.value_or(false);
      if (!is_on) scan_.problem = "--help takes true or false, not \"" + printable(value) + "\"";
      return;
    }
    const CLI::Option* option = app_.get_option_no_throw(name);
    if (option == nullptr) {
      unknown("unknown flag: " + printable(name), name.substr(2));
    } else if (takes_value(*option)) {
      if (equals == std::string::npos) take_value("flag needs an argument: " + name);
      value_at_ = equals;
    }
  }

  void read_letters(const std::string& word) {
    if (style_ == WordStyle::before_image) return take_dockers();  // ours have no letters
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (word[i] == 'h') {
        scan_.wants_help = scan_.used_letter_h = true;
        continue;
      }
      const CLI::Option* option = app_.get_option_no_throw(std::string("-") + word[i]);
      if (option == nullptr) {
        unknown(
            "unknown shorthand flag: '" + printable(word.substr(i, 1)) + "' in " + printable(word),
            "");
        return;
      }
      const bool has_value = i + 2 < word.size() && word[i + 1] == '=';
      if (!takes_value(*option) && !has_value) continue;
      if (!takes_value(*option)) {
        switch_ = option;
        value_at_ = i + 1;
      } else if (i + 1 == word.size()) {
        take_value("flag needs an argument: '" + word.substr(i, 1) + "' in " + word);
      } else if (word[i + 1] == '=') {
        value_at_ = i + 1;
      }
      return;
    }
  }

  void take_value(const std::string& complaint) {
    if (scan_.taken + 1 < words_.size()) {
      ++scan_.taken;
    } else {
      scan_.problem = complaint;
    }
  }

  void unknown(const std::string& complaint, const std::string& name) {
    if (style_ == WordStyle::before_image) {
      const bool is_known = read_run_option(words_, scan_.taken).takes_value;
      if (!is_known && scan_.suggestion.empty()) {
        scan_.suggestion = suggest(name);
        scan_.unknown = "--" + name;
      }
      return take_dockers();
    }
    if (!name.empty()) scan_.suggestion = suggest(name);
    scan_.problem = complaint;
  }

  std::string suggest(const std::string& name) const {
    std::vector<std::string> names{"help"};
    for (const CLI::Option* option : app_.get_options()) {
      if (!long_name(*option).empty()) names.push_back(long_name(*option));
    }
    const std::string_view near = nearest_word(name, names);
    return near.empty() ? "" : "--" + std::string(near);
  }

  void check_count() {
    std::size_t least = 0;
    std::size_t most = 0;
    for (const CLI::Option* option : app_.get_options()) {
      if (!option->get_positional()) continue;
      const bool many = option->get_items_expected_max() > 1;
      least += option->get_required() ? 1 : 0;
      most = many || most > words_.size() ? words_.size() : most + 1;
    }
    const std::size_t given = scan_.positionals.size();
    if (given >= least && given <= std::max(most, least)) return;
    const bool too_few = given < least;
    const std::size_t wanted = too_few ? least : most;
    const std::string limit = least == most ? "" : too_few ? "at least " : "at most ";
    scan_.lacks_subject = true;
    scan_.problem = wanted == 0 ? "accepts no arguments"
                                : "requires " + limit + std::to_string(wanted) + " argument" +
                                      (wanted == 1 ? "" : "s");
  }

  const CLI::App& app_;
  const std::vector<std::string>& words_;
  WordStyle style_;
  Scan scan_;
  bool ends_ = false;
  bool is_dockers_ = false;
  std::size_t value_at_ = std::string::npos;  // of "=" in the option that was read last
  const CLI::Option* switch_ = nullptr;       // the letter before that "=", if it is a switch
};

}  // namespace

Scan scan_words(const CLI::App& app, const std::vector<std::string>& words, WordStyle style) {
  return Scanner(app, words, style).scan();
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

std::string short_name(const CLI::Option& option) {
  return option.get_snames().empty() ? "" : option.get_snames().front();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

}  // namespace flowcon::plugin
