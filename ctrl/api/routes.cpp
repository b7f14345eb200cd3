// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/routes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/digits.h"
#include "base/text.h"

namespace flowcon::ctrl::api {
namespace {

constexpr std::string_view kName = "NAME";

// "%2F" and the like in a path segment. Errors: cut or not hexadecimal.
Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string_view hex = text.substr(i + 1, 2);
    unsigned byte = 0;
    const char* end = hex.data() + hex.size();
    if (hex.size() != 2 || std::from_chars(hex.data(), end, byte, 16).ptr != end) {
      return bad_input("the address has a % without two hexadecimal digits");
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

// What stands in `path` for the NAME of `pattern`, "" where it has none; empty: it does not fit.
std::optional<std::string_view> name_in(std::string_view path, std::string_view pattern) {
  const std::size_t at = pattern.find(kName);
  if (at == std::string_view::npos) {
    return path == pattern ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, at), behind = pattern.substr(at + kName.size());
  const bool fits = path.size() > before.size() + behind.size() && path.starts_with(before) &&
                    path.ends_with(behind);
  if (!fits) return std::nullopt;
  return path.substr(before.size(), path.size() - before.size() - behind.size());
}

std::optional<double> number_of(std::string_view text, const Parameter& parameter) {
  const std::optional<double> number = parse_number<double>(text);
  const bool is_right = number && *number >= parameter.least && *number <= parameter.most &&
                        (!parameter.is_whole || *number == std::floor(*number));
  return is_right ? number : std::nullopt;
}

std::string shown(const Parameter& parameter) {
  if (!parameter.is_whole) return parameter.name + "=SECONDS since the epoch";
  return parameter.name + "=N, N from " + std::to_string(std::llround(parameter.least)) + " to " +
         std::to_string(std::llround(parameter.most));
}

Error bad_query(const Route& route) {
  const std::string all = joined(route.parameters, " and ", shown);
  return bad_input(route.path + " takes " + (all.empty() ? "no query" : all));
}

Result<void> read_query(const Route& route, std::string_view query, Call& call) {
  for (bool is_last = false; !is_last;) {
    const std::size_t border = query.find('&');
    is_last = border == std::string_view::npos;
    const std::string_view part = query.substr(0, border);
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto parameter =
        std::find_if(route.parameters.begin(), route.parameters.end(),
                     [&](const Parameter& one) { return one.name == part.substr(0, equals); });
    if (parameter == route.parameters.end() || equals == part.size()) return bad_query(route);
    const std::optional<double> number = number_of(part.substr(equals + 1), *parameter);
    if (!number || !call.query.emplace(parameter->name, *number).second) return bad_query(route);
    if (!is_last) query.remove_prefix(border + 1);
  }
  return {};
}

}  // namespace

Route get(std::string path, std::string meaning, Answer answer, std::vector<Parameter> parameters) {
  return {"GET", std::move(path), std::move(meaning), std::move(parameters), std::move(answer)};
}

Route post(std::string path, std::string meaning, Answer answer) {
  return {"POST", std::move(path), std::move(meaning), {}, std::move(answer)};
}

Route with_long_body(std::string method, std::string path, std::string meaning, LongAnswer answer) {
  return {std::move(method), std::move(path), std::move(meaning), {}, {}, std::move(answer)};
}

Parameter moment(std::string name) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return {std::move(name), false, -kMost, kMost};
}

Result<std::pair<const Route*, Call>> find_route(const Routes& routes, const std::string& method,
                                                 const std::string& target) {
  const std::size_t question = target.find('?');
  const std::string_view path = std::string_view(target).substr(0, question);
  std::string methods;
  for (const Route& route : routes) {
    const std::optional<std::string_view> name = name_in(path, route.path);
    if (!name) continue;
    if (route.method != method) {
      methods += (methods.empty() ? "" : " or ") + route.method;
      continue;
    }
    Call call;
    Result<std::string> decoded = percent_decoded(*name);
    if (!decoded) return decoded.error();
    call.name = std::move(*decoded);
    if (question != std::string::npos) {
      const std::string_view query = std::string_view(target).substr(question + 1);
      if (Result<void> read = read_query(route, query, call); !read) return read.error();
    }
    return std::pair(&route, std::move(call));
  }
  const std::string shown = printable(path, 200);
  if (methods.empty()) {
    return errno_error(ENOENT, "there is nothing at " + shown + "; docs/api.md lists all calls");
  }
  return errno_error(EOPNOTSUPP, shown + " takes " + methods + ", not " + printable(method, 10));
}

bool has_long_body(const Routes& routes, const Request& request) {
  const auto found = find_route(routes, request.method, request.target);
  return found && found->first->long_answer;
}

}  // namespace flowcon::ctrl::api
