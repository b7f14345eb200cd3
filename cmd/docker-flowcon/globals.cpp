// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/globals.h"

#include <array>
#include <string_view>

namespace flowcon::plugin {
namespace {

struct Global {
  char letter;  // 0 = none
  std::string_view word;
  bool takes_value;
};

constexpr std::array<Global, 12> kGlobals{{{0, "config", true},
                                           {'c', "context", true},
                                           {'D', "debug", false},
                                           {'H', "host", true},
                                           {'l', "log-level", true},
                                           {0, "tls", false},
                                           {0, "tlscacert", true},
                                           {0, "tlscert", true},
                                           {0, "tlskey", true},
                                           {0, "tlsverify", false},
                                           {'h', "help", false},
                                           {'v', "version", false}}};

const Global* find_word(std::string_view word) {
  for (const Global& global : kGlobals) {
    if (!global.word.empty() && global.word == word) return &global;
  }
  return nullptr;
}

const Global* find_letter(char letter) {
  for (const Global& global : kGlobals) {
    if (global.letter != 0 && global.letter == letter) return &global;
  }
  return nullptr;
}

bool is_true(std::string_view value) {
  return value == "true" || value == "1" || value == "t" || value == "T" || value == "TRUE" ||
         value == "True";
}

void note(Invocation& invocation, const Global& global, std::string_view value) {
  if (global.word == "host") invocation.hosts.emplace_back(value);
  if (global.word == "context") invocation.context = value;
  if (global.word == "config") invocation.config_folder = value;
  if (global.word == "help") invocation.wants_help = is_true(value);
  if (global.word == "version") invocation.wants_version = is_true(value);
}

// Options that ask for something of ours are not docker's to see again.
bool is_passed_on(const Global& global) {
  return global.word != "help" && global.word != "version";
}

class GlobalParser {
 public:
  explicit GlobalParser(const std::vector<std::string>& words) : words_(words) {}

  Result<Invocation> parse() {
    for (; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      Result<bool> known = true;
      if (word == "--") {
        // docker's own parser ends its options here too; what follows is the command.
        ++at_;
        break;
      }
      if (word.size() > 2 && word.substr(0, 2) == "--") {
        known = read_long(word.substr(2));
      } else if (word.size() > 1 && word[0] == '-') {
        known = read_letters(word);
      } else {
        break;
      }
      if (!known) return known.error();
    }
    if (at_ < words_.size() && words_[at_] == "help") {
      invocation_.wants_help = true;
      ++at_;
    }
    if (at_ < words_.size() && words_[at_] == "flowcon") ++at_;
    invocation_.words.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return std::move(invocation_);
  }

 private:
  Result<bool> read_long(std::string_view option) {
    const std::size_t equals = option.find('=');
    const std::string name(option.substr(0, equals));
    const Global* global = find_word(name);
    if (global == nullptr) return bad_input("unknown flag: --" + name);
    const std::size_t first = at_;
    std::string_view value = "true";
    if (equals != std::string_view::npos) {
      value = option.substr(equals + 1);
    } else if (global->takes_value) {
      if (at_ + 1 == words_.size()) return bad_input("flag needs an argument: --" + name);
      value = words_[++at_];
    }
    keep(*global, first, value);
    return true;
  }

  // "-D", "-Hunix:///x", "-H=unix:///x", "-DH unix:///x": letters without a value may share a dash.
  Result<bool> read_letters(std::string_view word) {
    const std::size_t first = at_;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Global* global = find_letter(word[i]);
      if (global == nullptr) {
        return bad_input("unknown shorthand flag: '" + std::string(1, word[i]) + "' in " +
                         std::string(word));
      }
      std::string_view rest = word.substr(i + 1);
      const bool has_equals = !rest.empty() && rest[0] == '=';
      if (!global->takes_value && !has_equals) {
        note(invocation_, *global, "true");
        continue;
      }
      if (has_equals) rest.remove_prefix(1);
      if (rest.empty() && !has_equals) {
        if (at_ + 1 == words_.size()) {
          return bad_input("flag needs an argument: '" + std::string(1, word[i]) + "' in " +
                           std::string(word));
        }
        rest = words_[++at_];
      }
      note(invocation_, *global, rest);
      break;
    }
    const Global* only = word.size() == 2 ? find_letter(word[1]) : nullptr;
    if (only == nullptr || is_passed_on(*only)) copy(first);
    return true;
  }

  void keep(const Global& global, std::size_t first, std::string_view value) {
    note(invocation_, global, value);
    if (is_passed_on(global)) copy(first);
  }

  void copy(std::size_t first) {
    for (std::size_t i = first; i <= at_; ++i) invocation_.globals.push_back(words_[i]);
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  Invocation invocation_;
};

}  // namespace

Result<Invocation> parse_globals(const std::vector<std::string>& words) {
  return GlobalParser(words).parse();
}

}  // namespace flowcon::plugin
