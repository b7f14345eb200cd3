// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/told.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/number.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMostWords = 512;

enum class Kind { epochs, steps };

// What an option or a variable of this name limits. In a log "steps: 100" may be a counter; as an
// option it is a limit.
std::optional<Kind> kind_of(std::string_view name) {
  constexpr std::array<std::string_view, 4> epochs{"epoch", "nepoch", "nepochs", "ep"};
  constexpr std::array<std::string_view, 7> steps{"steps", "iter",   "iters",    "iterations",
                                                  "niter", "niters", "timesteps"};
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    name.remove_prefix(dot + 1);
  }
  const std::vector<std::string> words = name_words(name);
  if (words.size() == 1 && std::count(epochs.begin(), epochs.end(), words[0]) > 0)
    return Kind::epochs;
  if (words.size() == 1 && std::count(steps.begin(), steps.end(), words[0]) > 0) return Kind::steps;
  if (words == std::vector<std::string>{"total", "timesteps"}) return Kind::steps;
  if (judge_name(name).role != Role::total) return std::nullopt;
  return is_of_epochs(name) ? Kind::epochs : Kind::steps;
}

void tell(std::string_view name, std::string_view value, TotalFrom from,
          std::vector<ToldTotal>& told) {
  while (!value.empty() &&
         std::string_view("'\";,)").find(value.back()) != std::string_view::npos) {
    value.remove_suffix(1);
  }
  const std::optional<Number> number = whole_number(value);
  if (!number || number->percent || !(number->value >= 1) ||
      number->value != std::floor(number->value)) {
    return;
  }
  if (const auto kind = kind_of(name)) {
    told.push_back({std::string(name), *kind == Kind::epochs, number->value, from});
  }
}

// One told twice, and not the same: which of them the log is of is not known.
void drop_contradictions(std::vector<ToldTotal>& told) {
  const std::vector<ToldTotal> all = told;
  std::erase_if(told, [&all](const ToldTotal& one) {
    return std::any_of(all.begin(), all.end(), [&one](const ToldTotal& other) {
      return other.from == one.from && other.name == one.name && other.total != one.total;
    });
  });
}

// Groups: days, hours, minutes and seconds of a clock; then days, hours, minutes, seconds by unit.
const re2::RE2& time_left() {
  static const re2::RE2 pattern(
      R"((?i)(?:(?:^|[^a-z_])(?:eta|time left|remaining(?: time)?)[ \t]*[:=]?[ \t]*|)"
      R"(^[^/%]*\[[\d:]+<))"
      R"((?:(?:(\d{1,5}) days?,? )?(?:(\d{1,4}):)?(\d{1,4}):(\d\d)(?:$|[^:\d])|)"
      R"((?:(\d{1,5}) ?d(?:ays?)?,? ?)?(?:(\d{1,6}) ?h(?:(?:ou)?rs?)?,? ?)?)"
      R"((?:(\d{1,7}) ?m(?:in(?:ute)?s?)?,? ?)?(?:(\d{1,8}(?:\.\d{1,9})?) ?s(?:ec(?:ond)?s?)?)?\b))");
  return pattern;
}

}  // namespace

std::vector<ToldTotal> told_totals(
    std::string_view command, const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<ToldTotal> told;
  for (const auto& [name, value] : environment) tell(name, value, TotalFrom::environment, told);
  std::string_view option;  // that waits for its value
  for (std::size_t words = 0; !command.empty() && words < kMostWords; ++words) {
    const std::size_t end = std::min(command.find_first_of(" \t\n"), command.size());
    std::string_view word = command.substr(0, end);
    command.remove_prefix(std::min(end + 1, command.size()));
    if (word.empty()) continue;
    if (!option.empty()) tell(option, word, TotalFrom::command, told);
    option = {};
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      const std::size_t name = std::min(word.find_first_not_of("-'\""), equals);
      tell(word.substr(name, equals - name), word.substr(equals + 1), TotalFrom::command, told);
    } else if (word.size() > 1 && word[0] == '-') {
      option = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    }
  }
  drop_contradictions(told);
  return told;
}

std::optional<double> time_left_in(std::string_view line) {
  constexpr std::array<double, 8> units{86400, 3600, 60, 1, 86400, 3600, 60, 1};  // seconds
  std::array<re2::StringPiece, units.size() + 1> groups;
  if (!time_left().Match({line.data(), line.size()}, 0, line.size(), re2::RE2::UNANCHORED,
                         groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  double seconds = 0;
  bool is_told = false;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto number = whole_number({groups[i + 1].data(), groups[i + 1].size()});
    if (!number) continue;
    is_told = true;
    seconds += number->value * units[i];
  }
  return is_told ? std::optional(seconds) : std::nullopt;
}

}  // namespace flowcon::ctrl::metrics
