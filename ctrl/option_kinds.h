// SPDX-License-Identifier: Apache-2.0
// What options of flowcond are made of: how each kind reads its text and shows its value.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digits.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "ctrl/config.h"

namespace flowcon::ctrl::kinds {

template <class T>
using Field = T& (*)(Config&);

// The member that one or two member pointers lead to.
template <auto... Path>
auto& at(Config& config) {
  return (config.*....*Path);
}

inline std::string quoted(const std::string& text) { return "\"" + printable(text, 60) + "\""; }

// `take` changes a value by a text, `show` turns it into one.
template <class T, class Take, class Show>
Option option(std::string name, std::string value, std::string help, Field<T> field, Take take,
              Show show) {
  Option made;
  made.name = std::move(name);
  made.value = std::move(value);
  made.help = std::move(help);
  made.apply = [=](Config& config, const std::string& text) -> Result<void> {
    return take(text, field(config));
  };
  made.show = [=](const Config& config) { return show(field(const_cast<Config&>(config))); };
  made.copy = [=](Config& to, const Config& from) { field(to) = field(const_cast<Config&>(from)); };
  return made;
}

// A reload does not change it.
inline Option at_start(Option made) {
  made.needs_restart = true;
  return made;
}

template <class T>
Option number(std::string name, std::string value, std::string help, double low, double high,
              Field<T> field) {
  const std::string range = render_number(low) + " to " + render_number(high);
  return option(
      std::move(name), std::move(value), help + " (" + range + ")", field,
      [=](const std::string& text, T& taken) -> Result<void> {
        const std::optional<double> parsed = parse_number<double>(text);
        if (!parsed || !(*parsed >= low && *parsed <= high)) {
          return bad_input(quoted(text) + " is not a number from " + range);
        }
        if (std::integral<T> && *parsed != std::floor(*parsed)) {
          return bad_input(quoted(text) + " is not a whole number");
        }
        taken = static_cast<T>(*parsed);
        return {};
      },
      [](const T& shown) { return render_number(static_cast<double>(shown)); });
}

// A text that `check` has nothing against.
template <class Check>
Option text_option(std::string name, std::string value, std::string help, Field<std::string> field,
                   Check check) {
  return option(
      std::move(name), std::move(value), std::move(help), field,
      [=](const std::string& text, std::string& taken) -> Result<void> {
        if (Result<void> good = check(text); !good) return good;
        taken = text;
        return {};
      },
      [](const std::string& shown) { return shown; });
}

inline Option path(std::string name, std::string help, std::size_t longest,
                   Field<std::string> field) {
  Option made = text_option(
      std::move(name), "PATH", std::move(help), field,
      [=](const std::string& text) -> Result<void> {
        if (text.empty() || text.front() != '/') {
          return bad_input(quoted(text) + " is not an absolute path");
        }
        if (text.size() > longest || text.find('\0') != std::string::npos) {
          return bad_input("the path is longer than " + std::to_string(longest) + " bytes");
        }
        return {};
      });
  // Docker writes unix:///var/run/docker.sock; take both spellings.
  made.apply = [apply = made.apply](Config& config, const std::string& text) {
    return apply(config, text.starts_with("unix://") ? text.substr(7) : text);
  };
  return made;
}

inline Option group(std::string name, std::string help, Field<std::string> field) {
  return text_option(std::move(name), "GROUP", std::move(help), field,
                     [](const std::string&) -> Result<void> { return {}; });
}

// A whole line, quotes and all; "" for none.
template <class Check>
Option line(std::string name, std::string value, std::string help, Field<std::string> field,
            Check check) {
  Option made = text_option(std::move(name), std::move(value), std::move(help), field,
                            [=](const std::string& text) -> Result<void> {
                              if (text.empty()) return {};
                              const auto good = check(text);
                              return good ? Result<void>() : Result<void>(good.error());
                            });
  made.is_line = true;
  return made;
}

inline constexpr std::string_view kBetween = ", \t\n";  // the values of a list

// Values that `check` has nothing against; a known one is not added again.
template <class Check>
Option list(std::string name, std::string value, std::string help,
            Field<std::vector<std::string>> field, Check check) {
  Option made = option(
      std::move(name), std::move(value), std::move(help), field,
      [=](const std::string& text, std::vector<std::string>& taken) -> Result<void> {
        constexpr std::size_t kMostWords = 1000;
        for (const std::string_view part : parts_of(text, kBetween)) {
          const std::string word(part);
          if (const auto good = check(word); !good) return good.error();
          if (std::find(taken.begin(), taken.end(), word) == taken.end()) taken.push_back(word);
          if (taken.size() > kMostWords) return bad_input("there are more than 1000 values");
        }
        return {};
      },
      [](const std::vector<std::string>& shown) { return joined(shown, ","); });
  made.is_list = true;
  return made;
}

inline Result<void> any_word(const std::string&) { return {}; }

template <class Known, class T = typename Known::value_type>
Option some_of(std::string name_of, std::string help, const Known& known,
               Field<std::set<T>> field) {
  const auto word_of = [](T value) { return name(value); };
  const std::string names = joined(known, ", ", word_of);
  return option(
      std::move(name_of), "LIST", "all or a comma-separated list of " + help + ": " + names, field,
      [=](const std::string& text, std::set<T>& taken) -> Result<void> {
        if (text == "all") {
          taken = {known.begin(), known.end()};
          return {};
        }
        std::set<T> found;
        for (const std::string_view part : parts_of(text, kBetween)) {
          const std::string word(part);
          const auto is_meant = [&](T value) { return name(value) == word; };
          const auto value = std::find_if(known.begin(), known.end(), is_meant);
          if (value == known.end()) return bad_input(quoted(word) + " is not one of " + names);
          if (!found.insert(*value).second) return bad_input(quoted(word) + " is there twice");
        }
        if (found.empty()) return bad_input("it needs at least one of " + names);
        taken = std::move(found);
        return {};
      },
      [=](const std::set<T>& shown) {
        return shown.size() == known.size() ? "all" : joined(shown, ",", word_of);
      });
}

// One of a few words, each with its value.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;

template <class T>
Option choice(std::string name, std::string help, const Words<T>& words, Field<T> field) {
  const std::string names = joined(words, "|", [](const auto& word) { return word.first; });
  return option(
      std::move(name), names, std::move(help), field,
      [=](const std::string& text, T& taken) -> Result<void> {
        for (const auto& [word, value] : words) {
          if (word != text) continue;
          taken = value;
          return {};
        }
        return bad_input(quoted(text) + " is not one of " + names);
      },
      [=](const T& shown) {
        for (const auto& [word, value] : words) {
          if (value == shown) return word;
        }
        return std::string();
      });
}

// true and false are taken, too.
inline Option on_off(std::string name, std::string help, Field<bool> field) {
  return option(
      std::move(name), "on|off", std::move(help), field,
      [](const std::string& text, bool& taken) -> Result<void> {
        taken = text == "on" || text == "true";
        if (taken || text == "off" || text == "false") return {};
        return bad_input(quoted(text) + " is not one of on|off");
      },
      [](const bool& shown) { return std::string(shown ? "on" : "off"); });
}

inline Option policy_option(std::string name, std::string help,
                            const std::vector<PolicyName>& known, Field<std::string> field) {
  Words<std::string> words;
  for (const PolicyName& one : known) {
    help += (words.empty() ? ": " : "; ") + one.name + ", " + one.summary;
    words.emplace_back(one.name, one.name);
  }
  return choice(std::move(name), std::move(help), words, field);
}

}  // namespace flowcon::ctrl::kinds

namespace flowcon::ctrl {

/// Those of the queue.
[[nodiscard]] std::vector<Option> queue_options();

}  // namespace flowcon::ctrl
