// SPDX-License-Identifier: Apache-2.0
#include "ctrl/hook_gate.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kMostRemembered = 4096;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(valid_utf8(text));
}

}  // namespace

bool HookGate::admit(const Event& event, double interval, double now) {
  tokens_ = std::min(kBurst, tokens_ + std::max(0.0, now - filled_at_) * kPerSecond);
  filled_at_ = now;
  const std::string key = std::string(name(event.kind)) + " " +
                          (event.id.empty() ? event.sentence.substr(0, 100) : event.id);
  const auto before = last_.find(key);
  const bool is_soon = before != last_.end() && now - before->second < interval;
  if (is_soon || tokens_ < 1) {
    ++held_back_;
    return false;
  }
  tokens_ -= 1;
  last_[key] = now;
  if (last_.size() > kMostRemembered) {
    std::erase_if(last_, [&](const auto& entry) { return now - entry.second >= interval; });
    // All of them are recent: what is forgotten may be told once more, memory stays bounded.
    if (last_.size() > kMostRemembered) last_.clear();
  }
  return true;
}

std::string render_event(const Event& event, std::string_view host, std::uint64_t held_back) {
  json::object out;
  out["event"] = name(event.kind);
  out["time"] = event.time;
  out["host"] = valid_utf8(host);
  out["container"] = text_or_null(event.container);
  out["id"] = text_or_null(event.id);
  out["metric"] = text_or_null(event.metric);
  out["value"] = number_or_null(event.value);
  out["sentence"] = valid_utf8(printable(event.sentence, 2000));
  out["held_back"] = held_back;
  return render_json(out) + "\n";
}

Result<std::vector<std::string>> parse_hook(const std::string& text) {
  constexpr std::size_t kLongest = 4000;
  if (text.size() > kLongest) return bad_input("the command is longer than 4000 bytes");
  std::vector<std::string> words;
  for (const std::string_view word : parts_of(text, " \t")) words.emplace_back(word);
  if (!words.empty() && words.front().front() != '/') {
    return bad_input("\"" + printable(words.front(), 60) +
                     "\" is not the absolute path of a program (there is no shell)");
  }
  return words;
}

Result<void> check_webhook(const std::string& url) {
  constexpr std::size_t kLongest = 2000;
  const std::string_view rest = url.starts_with("https://")  ? std::string_view(url).substr(8)
                                : url.starts_with("http://") ? std::string_view(url).substr(7)
                                                             : std::string_view();
  // It is not repeated: it may hold a secret.
  if (rest.empty() || rest.front() == '/' || url.size() > kLongest) {
    return bad_input("it is not http:// or https:// with a host, of at most 2000 bytes");
  }
  const bool is_plain = std::all_of(url.begin(), url.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>';
  });
  if (!is_plain) return bad_input("the address has bytes that no address has");
  return {};
}

std::vector<std::string> webhook_words() {
  // --disable: nobody's .curlrc. --globoff: brackets of an IPv6 address are no pattern.
  return {"curl",     "--disable",   "--silent",   "--show-error",
          "--fail",   "--globoff",   "--max-time", "10",
          "--proto",  "=http,https", "--header",   "Content-Type: application/json",
          "--output", "/dev/null",   "--config",   "-"};
}

std::string webhook_input(const std::string& url, std::string_view body) {
  std::string quoted;
  for (const char c : body) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? "\\n" : std::string(1, c);
  }
  // check_webhook() lets nothing through that would have to be quoted.
  return "url = \"" + url + "\"\ndata-binary = \"" + quoted + "\"\n";
}

std::string render_failure(int status, bool is_late, std::string said) {
  if (is_late) return "it did not end within " + render_number(kLongestHookCall) + " s";
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return "its status is " + std::to_string(status) +
         (said.empty() ? "" : ": " + printable(said, 300));
}

}  // namespace flowcon::ctrl
