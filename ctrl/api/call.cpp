// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/call.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace flowcon::ctrl::api {
namespace {

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

Result<std::size_t> last_of(std::string_view query) {
  std::size_t last = 0;
  const char* end = query.data() + query.size();
  if (query.rfind("last=", 0) != 0 ||
      std::from_chars(query.data() + 5, end, last) != std::from_chars_result{end, std::errc()} ||
      last < 1 || last > 1000) {
    return bad_input("explain takes ?last=N, N from 1 to 1000");
  }
  return last;
}

Result<std::uint64_t> from_of(std::string_view question) {
  constexpr std::string_view key = "from=";
  std::uint64_t from = 0;
  const std::string_view digits = question.substr(std::min(key.size(), question.size()));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), from);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (question.substr(0, key.size()) != key || !is_number || from > (1ULL << 62U)) {
    return bad_input("past-log takes from=N, how many bytes to leave out");
  }
  return from;
}

template <class Number>
std::optional<Number> number_of(std::string_view digits) {
  Number number{};
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

// Takes "key=" off the beginning; false where it is not there.
bool take_key(std::string_view& text, std::string_view key) {
  if (text.substr(0, key.size()) != key) return false;
  text.remove_prefix(key.size());
  return true;
}

// "recent=N"; any other question of `status` has no meaning.
Result<std::size_t> recent_of(std::string_view question) {
  if (!take_key(question, "recent=")) return std::size_t{0};
  const std::optional<std::size_t> count = number_of<std::size_t>(question);
  if (!count || *count > 200) return bad_input("status takes ?recent=N, N from 0 to 200");
  return *count;
}

// "since=T", behind it "&after=N" where `call` may have it.
Result<void> read_since(std::string_view question, bool has_after, Call& call) {
  const std::size_t border = std::min(question.find('&'), question.size());
  std::string_view since = question.substr(0, border);
  std::string_view after = question.substr(std::min(border + 1, question.size()));
  call.since = take_key(since, "since=") ? number_of<double>(since) : std::nullopt;
  if (!call.since || !std::isfinite(*call.since)) {
    return bad_input("since=T has to be a number of seconds since the epoch");
  }
  if (border == question.size()) return {};
  const std::optional<std::int64_t> number =
      has_after && take_key(after, "after=") ? number_of<std::int64_t>(after) : std::nullopt;
  if (!number || *number < 0) return bad_input("behind since=T only changes take after=N");
  call.after = *number;
  return {};
}

// What follows the ? of a call that has something there.
Result<void> read_question(const std::string& word, std::string_view question, Call& call) {
  if (word == "explain") {
    Result<std::size_t> last = last_of(question);
    if (!last) return last.error();
    call.last = *last;
  } else if (word == "past-log") {
    Result<std::uint64_t> from = from_of(question);
    if (!from) return from.error();
    call.from = *from;
  } else if (word == "status") {
    Result<std::size_t> recent = recent_of(question);
    if (!recent) return recent.error();
    call.recent = *recent;
  } else if (word == "history" || word == "runs" || word == "changes") {
    return read_since(question, word == "changes", call);
  }
  return {};
}

}  // namespace

Result<Call> parse_call(const std::string& method, const std::string& target) {
  Call call;
  const std::size_t question = target.find('?');
  const std::string path = target.substr(0, question);
  const std::size_t slash = path.rfind('/');
  const std::string_view version = "/v1/", containers = "/v1/containers/", peers = "/v1/peers/";
  const auto is_below = [&](std::string_view folder) {
    return path.rfind(folder, 0) == 0 && slash > folder.size();
  };
  if (is_below(containers) || is_below(peers)) {
    const std::string_view folder = is_below(peers) ? peers : containers;
    Result<std::string> name =
        percent_decoded(std::string_view(path).substr(folder.size(), slash - folder.size()));
    if (!name) return name.error();
    (is_below(peers) ? call.peer : call.container) = *name;
  } else if (path.rfind(version, 0) != 0 || slash + 1 != version.size()) {
    return errno_error(ENOENT, "there is nothing at " + printable(path, 200) +
                                   "; docs/api.md lists what there is");
  }
  const std::string word = path.substr(slash + 1);
  if (question != std::string::npos) {
    Result<void> read = read_question(word, std::string_view(target).substr(question + 1), call);
    if (!read) return read.error();
  }
  call.verb = method + " " + word;
  return call;
}

}  // namespace flowcon::ctrl::api
