// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/template/functions.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/template/nodes.h"
#include "cmd/docker-flowcon/text/raw_json.h"
#include "cmd/docker-flowcon/text/table.h"

namespace flowcon::plugin {
namespace {

using Arguments = std::vector<json::value>;
using Answer = Result<json::value>;

// A width or precision beyond this is a mistake, and would only cost memory.
constexpr int kMaxPrintWidth = 1000;

bool is_text(const json::value& value) { return value.is_string(); }

std::string text_of(const json::value& value) { return std::string(value.get_string()); }

// A character is its first byte and the continuation bytes behind it.
std::size_t end_of_character(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && (text[at] & 0xC0) == 0x80;) ++at;
  return at;
}

std::string first_characters(std::string_view text, std::int64_t count) {
  std::size_t end = 0;
  for (; end < text.size() && count > 0; --count) end = end_of_character(text, end);
  return std::string(text.substr(0, end));
}

Answer call_lower(const Arguments& a) { return json::value(lower(template_text(a[0]))); }
Answer call_upper(const Arguments& a) { return json::value(upper(template_text(a[0]))); }

Answer call_title(const Arguments& a) {
  std::string text = template_text(a[0]);
  char before = ' ';
  for (char& c : text) {
    const char changed = before == ' ' ? upper(c) : c;
    before = std::exchange(c, changed);
  }
  return json::value(text);
}

Answer call_json(const Arguments& a) { return json::value(json_text(a[0])); }

Answer call_join(const Arguments& a) {
  // docker's own argument order: the list, then the separator; a pipe puts the list last.
  const bool list_first = a[0].is_array();
  const json::value& list = list_first ? a[0] : a[1];
  const json::value& separator = list_first ? a[1] : a[0];
  if (!list.is_array() || !is_text(separator)) return bad_input("wants a list and a separator");
  std::string joined;
  bool first = true;
  for (const json::value& item : list.get_array()) {
    if (!first) joined += text_of(separator);
    joined += template_text(item);
    first = false;
  }
  return json::value(joined);
}

Answer call_split(const Arguments& a) {
  if (!is_text(a[0]) || !is_text(a[1]) || a[1].get_string().empty()) {
    return bad_input("wants a string and a separator");
  }
  const std::string text = text_of(a[0]);
  const std::string separator = text_of(a[1]);
  json::array parts;
  std::size_t start = 0;
  for (std::size_t at = 0; (at = text.find(separator, start)) != std::string::npos;) {
    parts.emplace_back(text.substr(start, at - start));
    start = at + separator.size();
  }
  parts.emplace_back(text.substr(start));
  return json::value(std::move(parts));
}

Answer call_truncate(const Arguments& a) {
  if (!is_text(a[0]) || !a[1].is_int64() || a[1].get_int64() < 0) {
    return bad_input("wants a string and a length");
  }
  return json::value(first_characters(text_of(a[0]), a[1].get_int64()));
}

Answer call_len(const Arguments& a) {
  if (a[0].is_string()) return json::value(a[0].get_string().size());
  if (a[0].is_array()) return json::value(a[0].get_array().size());
  if (a[0].is_object()) return json::value(a[0].get_object().size());
  return bad_input("the value has no length");
}

Answer call_index(const Arguments& a) {
  const json::value* value = &a[0];
  for (std::size_t i = 1; i < a.size(); ++i) {
    if (value->is_array() && a[i].is_int64()) {
      const std::int64_t at = a[i].get_int64();
      if (at < 0 || static_cast<std::uint64_t>(at) >= value->get_array().size()) {
        return bad_input("index out of range: " + std::to_string(at));
      }
      value = &value->get_array()[static_cast<std::size_t>(at)];
    } else if (value->is_object() && is_text(a[i])) {
      value = value->get_object().if_contains(text_of(a[i]));
      if (value == nullptr) return json::value();
    } else {
      return bad_input("can't index " + template_text(*value) + " with " + template_text(a[i]));
    }
  }
  return *value;
}

std::string print_all(const Arguments& a, bool always_spaced) {
  std::string out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Go's print puts a space only between two operands that are both not strings.
    const bool spaced = always_spaced || (i > 0 && !is_text(a[i]) && !is_text(a[i - 1]));
    if (i > 0 && spaced) out += ' ';
    out += template_text(a[i]);
  }
  return out;
}

Answer call_print(const Arguments& a) { return json::value(print_all(a, false)); }
Answer call_println(const Arguments& a) { return json::value(print_all(a, true) + "\n"); }

constexpr std::string_view kFlags = "+-# 0";

// One verb of printf: "%-8.3f".
struct Verb {
  std::string flags;
  int width = 0;
  int precision = -1;  // -1 = none
  std::string letter;  // one character
};

std::string c_format(const Verb& verb, std::string_view conversion) {
  std::string format = "%" + verb.flags;
  if (verb.width > 0) format += std::to_string(verb.width);
  if (verb.precision >= 0) format += "." + std::to_string(verb.precision);
  return format.append(conversion);
}

// Go counts characters, where C counts bytes.
std::string print_text(const Verb& verb, std::string text) {
  if (verb.precision >= 0) text = first_characters(text, verb.precision);
  const auto width = static_cast<std::size_t>(verb.width);
  const std::string blanks(width - std::min(width, character_count(text)), ' ');
  return verb.flags.find('-') == std::string::npos ? blanks + text : text + blanks;
}

// Numbers by the C library after every part of the verb was checked.
Answer print_verb(const Verb& verb, const json::value& value) {
  std::array<char, kMaxPrintWidth + 400> out{};
  int length = 0;
  const bool wants_real = std::string_view("feEgG").find(verb.letter) != std::string_view::npos;
  if (verb.letter == "d" && value.is_uint64() && value.get_uint64() > INT64_MAX) {
    const std::string format = c_format(verb, "llu");
    length = std::snprintf(out.data(), out.size(), format.c_str(),
                           static_cast<unsigned long long>(value.get_uint64()));
  } else if (verb.letter == "d" && value.is_number() && !value.is_double()) {
    const std::string format = c_format(verb, "lld");
    length = std::snprintf(out.data(), out.size(), format.c_str(),
                           static_cast<long long>(value.to_number<std::int64_t>()));
  } else if (wants_real && value.is_number()) {
    const std::string format = c_format(verb, verb.letter);
    length = std::snprintf(out.data(), out.size(), format.c_str(), value.to_number<double>());
  } else if (verb.letter == "s" || verb.letter == "v") {
    return json::value(print_text(verb, template_text(value)));
  } else if (verb.letter == "q") {
    return json::value(json_text(json::value(template_text(value))));
  } else {
    return json::value("%!" + verb.letter + "(" + template_text(value) + ")");
  }
  if (length < 0) return bad_input("cannot print " + template_text(value));
  return json::value(std::string_view(out.data(), static_cast<std::size_t>(length)));
}

Result<int> read_number(std::string_view format, std::size_t& at) {
  int number = 0;
  for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at) {
    number = number * 10 + (format[at] - '0');
    if (number > kMaxPrintWidth) return bad_input("width or precision is too large");
  }
  return number;
}

// From behind the '%' to the last byte of the letter.
Result<Verb> read_verb(std::string_view format, std::size_t& at) {
  Verb verb;
  for (; at < format.size() && kFlags.find(format[at]) != std::string_view::npos; ++at) {
    if (verb.flags.find(format[at]) == std::string::npos) verb.flags += format[at];
  }
  const Result<int> width = read_number(format, at);
  if (!width) return width.error();
  verb.width = *width;
  if (at < format.size() && format[at] == '.') {
    const Result<int> precision = read_number(format, ++at);
    if (!precision) return precision.error();
    verb.precision = *precision;
  }
  if (at >= format.size()) return bad_input("a verb of the format is not complete");
  if (format[at] == '.' || kFlags.find(format[at]) != std::string_view::npos) {
    return bad_input("a verb of the format has its flags first, then its width and precision");
  }
  const std::size_t end = end_of_character(format, at);
  verb.letter = format.substr(at, end - at);
  at = end - 1;
  return verb;
}

Answer call_printf(const Arguments& a) {
  if (!is_text(a[0])) return bad_input("wants a format first");
  const std::string format = text_of(a[0]);
  std::string out;
  std::size_t used = 1;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    ++at;
    const Result<Verb> verb = read_verb(format, at);
    if (!verb) return verb.error();
    if (verb->letter == "%") {
      out += '%';
      continue;
    }
    if (used == a.size()) return bad_input("missing a value for %" + verb->letter);
    const Answer printed = print_verb(*verb, a[used++]);
    if (!printed) return printed;
    out += text_of(*printed);
  }
  if (used != a.size()) return bad_input("more values than the format takes");
  return json::value(out);
}

// -1, 0, 1 as a is less than, equal to, greater than b; an error where they are of two kinds.
Result<int> compare(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.to_number<double>();
    const double y = b.to_number<double>();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (is_text(a) && is_text(b)) {
    const int order = text_of(a).compare(text_of(b));
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is_bool() && b.is_bool()) return a.get_bool() == b.get_bool() ? 0 : 1;
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null() ? 0 : 1;
  return bad_input("incompatible types for comparison");
}

Answer call_eq(const Arguments& a) {
  for (std::size_t i = 1; i < a.size(); ++i) {
    const Result<int> order = compare(a[0], a[i]);
    if (!order) return order.error();
    if (*order == 0) return json::value(true);
  }
  return json::value(false);
}

template <class Holds>
Answer compare_by(const Arguments& a, Holds holds) {
  const Result<int> order = compare(a[0], a[1]);
  if (!order) return order.error();
  return json::value(holds(*order));
}

// Order of what is not known is not false, it is not known; Go calls this an error too.
template <class Holds>
Answer order_by(const Arguments& a, Holds holds) {
  const bool comparable =
      (a[0].is_number() && a[1].is_number()) || (is_text(a[0]) && is_text(a[1]));
  if (!comparable) return bad_input("incompatible types for comparison");
  return compare_by(a, holds);
}

Answer call_ne(const Arguments& a) {
  return compare_by(a, [](int order) { return order != 0; });
}
Answer call_lt(const Arguments& a) {
  return order_by(a, [](int order) { return order < 0; });
}
Answer call_le(const Arguments& a) {
  return order_by(a, [](int order) { return order <= 0; });
}
Answer call_gt(const Arguments& a) {
  return order_by(a, [](int order) { return order > 0; });
}
Answer call_ge(const Arguments& a) {
  return order_by(a, [](int order) { return order >= 0; });
}

Answer call_not(const Arguments& a) { return json::value(!is_template_true(a[0])); }

// Go's `and` and `or` answer with one of their arguments, not with a truth value.
Answer call_and(const Arguments& a) {
  const auto found = std::find_if_not(a.begin(), a.end(), is_template_true);
  return found == a.end() ? a.back() : *found;
}
Answer call_or(const Arguments& a) {
  const auto found = std::find_if(a.begin(), a.end(), is_template_true);
  return found == a.end() ? a.back() : *found;
}

struct Function {
  std::string_view name;
  std::size_t least;
  std::size_t most;
  Answer (*call)(const Arguments&);
};

constexpr std::size_t kMany = 1000;
constexpr std::array<Function, 21> kFunctions{{
    {"and", 1, kMany, call_and},
    {"eq", 2, kMany, call_eq},
    {"ge", 2, 2, call_ge},
    {"gt", 2, 2, call_gt},
    {"index", 1, kMany, call_index},
    {"join", 2, 2, call_join},
    {"json", 1, 1, call_json},
    {"le", 2, 2, call_le},
    {"len", 1, 1, call_len},
    {"lower", 1, 1, call_lower},
    {"lt", 2, 2, call_lt},
    {"ne", 2, 2, call_ne},
    {"not", 1, 1, call_not},
    {"or", 1, kMany, call_or},
    {"print", 0, kMany, call_print},
    {"printf", 1, kMany, call_printf},
    {"println", 0, kMany, call_println},
    {"split", 2, 2, call_split},
    {"title", 1, 1, call_title},
    {"truncate", 2, 2, call_truncate},
    {"upper", 1, 1, call_upper},
}};

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() || name.empty() ? nullptr : found;
}

}  // namespace

bool is_template_function(std::string_view name) { return find_function(name) != nullptr; }

Result<json::value> call_template_function(std::string_view name, const Arguments& arguments) {
  const Function* function = find_function(name);
  if (function == nullptr) return bad_input("function is not defined");
  if (arguments.size() < function->least || arguments.size() > function->most) {
    return bad_input("wrong number of args: want " + std::to_string(function->least) +
                     (function->most == function->least ? "" : " or more") + ", got " +
                     std::to_string(arguments.size()));
  }
  return function->call(arguments);
}

std::string template_text(const json::value& value) {
  if (value.is_null()) return "<no value>";
  if (value.is_string()) return text_of(value);
  if (const json::array* list = value.if_array()) {
    return "[" + joined(*list, " ", template_text) + "]";
  }
  if (const json::object* object = value.if_object()) {
    std::vector<std::string> members;
    for (const auto& member : *object) {
      members.push_back(std::string(member.key()) + ":" + template_text(member.value()));
    }
    std::sort(members.begin(), members.end());
    return "map[" + joined(members, " ") + "]";
  }
  return value.is_double() ? render_number(value.get_double()) : render_json(value);
}

bool is_template_true(const json::value& value) {
  if (value.is_null()) return false;
  if (value.is_bool()) return value.get_bool();
  if (value.is_number()) return value.to_number<double>() != 0;
  if (value.is_string()) return !value.get_string().empty();
  if (value.is_array()) return !value.get_array().empty();
  return !value.get_object().empty();
}

std::string json_text(const json::value& value) { return safe_json(render_json(value)); }

}  // namespace flowcon::plugin
