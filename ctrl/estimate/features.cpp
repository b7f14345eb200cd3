// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/digits.h"
#include "base/sha256.h"
#include "base/text.h"

namespace flowcon::ctrl::estimate {
namespace {

constexpr std::size_t kMostFeatures = 64;
constexpr std::size_t kLongest = 64;  // bytes of a name or a text

// The whole text as a finite number.
std::optional<double> number_of(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const std::optional<double> number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_secret(std::string_view name) {
  const std::string said = upper(name);
  const auto holds = [&said](const char* word) { return said.find(word) != std::string::npos; };
  constexpr std::array<const char*, 5> kWords = {"PASS", "TOKEN", "KEY", "SECRET", "CRED"};
  return std::any_of(kWords.begin(), kWords.end(), holds);
}

// As long as a key is, of letters and digits, some of each: "AKIA…", "hf_…", 40 hexadecimal digits.
bool has_key_in(std::string_view text) {
  constexpr std::size_t kLeast = 16;
  std::size_t length = 0;
  bool has_letter = false, has_digit = false;
  for (const char c : text) {
    const bool is_part = is_alnum(c);
    length = is_part ? length + 1 : 0;
    has_letter = is_part && (has_letter || is_letter(c));
    has_digit = is_part && (has_digit || is_digit(c));
    if (length >= kLeast && has_letter && has_digit) return true;
  }
  return false;
}

// 40 letters, digits, + and /, with capitals and small ones: AWS's secret keys.
bool is_base64_key(std::string_view text) {
  const auto any = [&text](char low, char high) {
    return std::any_of(text.begin(), text.end(), [&](char c) { return c >= low && c <= high; });
  };
  const auto is_part = [](char c) { return is_alnum(c) || c == '+' || c == '/'; };
  return text.size() == 40 && std::all_of(text.begin(), text.end(), is_part) && any('a', 'z') &&
         any('A', 'Z');
}

// "https://user:password@host" or "https://token@host".
bool has_login(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("://", at)) != std::string_view::npos;) {
    at += 3;
    if (text.substr(at, text.find('/', at) - at).find('@') != std::string_view::npos) return true;
  }
  return false;
}

// "NAME=…" with the name of a secret.
bool is_named_secret(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && is_secret(word.substr(0, equals));
}

// A word that may say a secret by itself.
bool says_secret(std::string_view word) {
  const std::string_view value = word.substr(word.find('=') + 1);
  return is_named_secret(word) || has_login(word) || has_key_in(word) || is_base64_key(value);
}

std::vector<std::string_view> words_of(std::string_view command) {
  std::vector<std::string_view> words;
  while (!command.empty()) {
    const std::size_t end = std::min(command.find(' '), command.size());
    if (end > 0) words.push_back(command.substr(0, end));
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return words;
}

// "--batch-size" or "-b", and no negative number.
bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !number_of(word);
}

// One argument: an option with its value, an option alone, or a word.
struct Argument {
  std::string_view option;  // with its dashes; "" = none
  std::optional<std::string_view> value;
  bool is_joined = false;  // "--option=value"
  bool is_hidden = false;  // it may be the rest of a secret, which had blanks in it
};

// An option's value is what follows "=" in it, or the next word that is no option.
std::vector<Argument> arguments_of(const std::vector<std::string_view>& words) {
  std::vector<Argument> arguments;
  bool is_hidden = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_option(words[i])) {
      arguments.push_back({"", words[i], false, is_hidden});
    } else if (const std::size_t at = words[i].find('='); at != std::string_view::npos) {
      arguments.push_back({words[i].substr(0, at), words[i].substr(at + 1), true});
    } else if (i + 1 < words.size() && !is_option(words[i + 1])) {
      arguments.push_back({words[i], words[i + 1]});
      ++i;
    } else {
      arguments.push_back({words[i], std::nullopt});
    }
    const Argument& last = arguments.back();
    is_hidden =
        last.is_hidden || is_secret(last.option) || is_named_secret(last.value.value_or(""));
  }
  return arguments;
}

// "host:5000/team/vae" of "host:5000/team/vae:2@sha256:…".
std::string_view repository_of(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  if (colon == std::string_view::npos) return image;
  return slash == std::string_view::npos || colon > slash ? image.substr(0, colon) : image;
}

class Collector {
 public:
  explicit Collector(Features known) : features_(std::move(known)) {
    if (features_.size() > kMostFeatures) features_.resize(kMostFeatures);
  }

  void add(std::string name, std::string_view text) {
    if (is_secret(name) || says_secret(name) || says_secret(text)) return;
    const auto is_same = [&name](const auto& feature) { return feature.first == name; };
    if (features_.size() == kMostFeatures || name.size() > kLongest || text.empty() ||
        std::any_of(features_.begin(), features_.end(), is_same)) {
      return;
    }
    if (const auto number = number_of(text)) {
      features_.emplace_back(std::move(name), *number);
    } else if (text.size() <= kLongest) {
      features_.emplace_back(std::move(name), std::string(text));
    }
  }

  Features take() { return std::move(features_); }

 private:
  Features features_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> numbers_in(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::pair<std::string, std::string>> numbers;
  for (const auto& variable : environment) {
    if (number_of(variable.second) && !is_secret(variable.first)) numbers.push_back(variable);
  }
  return numbers;
}

Command cleaned(Command command) {
  return {valid_utf8(command.image), valid_utf8(command.digest), valid_utf8(command.command),
          numbers_in(command.environment)};
}

Features known_features(double cores, double memory, const std::string& gpu_model) {
  Features known{{"workers", 1.0}, {"ps", 0.0}, {"cores", cores}, {"memory", memory}};
  if (!gpu_model.empty()) known.emplace_back("gpu", gpu_model);
  return known;
}

std::string key_of(const Command& command) {
  Sha256 sum;
  sum.feed(command.digest);
  sum.feed(" ");
  sum.feed(command.command);
  return sum.finish();
}

std::string family_of(const Command& command) {
  std::string family(repository_of(command.image));
  for (const Argument& argument : arguments_of(words_of(command.command))) {
    if (!argument.option.empty()) {
      family += ' ';
      family += says_secret(argument.option) ? "#" : argument.option;
    }
    if (!argument.value) continue;
    family += argument.is_joined ? '=' : ' ';
    const bool is_value =
        argument.is_hidden || !argument.option.empty() || number_of(*argument.value);
    family += is_value || says_secret(*argument.value) ? "#" : *argument.value;
  }
  return family;
}

Features features_of(const Command& command, Features known) {
  Collector features(std::move(known));
  std::size_t place = 0;
  for (const Argument& argument : arguments_of(words_of(command.command))) {
    if (argument.option.empty()) {
      const std::string at = "arg." + std::to_string(place++);
      if (!argument.is_hidden) features.add(at, *argument.value);
      continue;
    }
    std::string_view name = argument.option;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    features.add("arg." + std::string(name), argument.value.value_or("1"));
  }
  for (const auto& [name, value] : command.environment) features.add("env." + name, value);
  return features.take();
}

}  // namespace flowcon::ctrl::estimate
