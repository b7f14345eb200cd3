// SPDX-License-Identifier: Apache-2.0
#include "ctrl/log.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl::log {
namespace {

// One id per kind of event, so that journalctl can select and explain it.
constexpr const char* kPlainMessage = "MESSAGE_ID=6f5cf5c1f0714d4cb3ad2ffb10c8c0a1";
constexpr const char* kLimitMessage = "MESSAGE_ID=0d2a0ac1bb7b4d6b8e6d94b6a4e0a7f2";

Level threshold = Level::info;

bool to_journal() {
  static const bool connected = std::getenv("JOURNAL_STREAM") != nullptr;
  return connected;
}

const char* word(Level level) {
  switch (level) {
    case Level::error:
      return "error: ";
    case Level::warning:
      return "warning: ";
    case Level::debug:
      return "debug: ";
    default:
      return "";
  }
}

void say(Level level, std::string_view message) {
  if (level > threshold) return;
  const std::string text = printable(message, 2000);
  if (to_journal()) {
    sd_journal_send("MESSAGE=%s", text.c_str(), "PRIORITY=%i", static_cast<int>(level),
                    kPlainMessage, nullptr);
  } else {
    std::fprintf(stderr, "flowcond: %s%s\n", word(level), text.c_str());
  }
}

}  // namespace

void set_level(Level level) { threshold = level; }

bool parse_level(std::string_view text, Level* level) {
  constexpr std::pair<std::string_view, Level> kWords[] = {{"error", Level::error},
                                                           {"warning", Level::warning},
                                                           {"notice", Level::notice},
                                                           {"info", Level::info},
                                                           {"debug", Level::debug}};
  for (const auto& [name, value] : kWords) {
    if (name == text) {
      *level = value;
      return true;
    }
  }
  return false;
}

void error(std::string_view message) { say(Level::error, message); }
void warning(std::string_view message) { say(Level::warning, message); }
void info(std::string_view message) { say(Level::info, message); }
void debug(std::string_view message) { say(Level::debug, message); }

void limit_change(const LimitChange& change) {
  if (Level::info > threshold) return;
  const std::string before = render_number(change.before);
  const std::string after = render_number(change.after);
  const std::string text =
      printable((change.dry_run ? "would set limit of " : "limit of ") + change.container + ": " +
                before + " -> " + after + " (" + change.reason + ")");
  if (to_journal()) {
    sd_journal_send("MESSAGE=%s", text.c_str(), "PRIORITY=%i", static_cast<int>(Level::info),
                    kLimitMessage, "FLOWCON_CONTAINER=%s", change.id.c_str(), "FLOWCON_ACTION=%s",
                    change.dry_run ? "plan" : "limit", "FLOWCON_OLD=%s", before.c_str(),
                    "FLOWCON_NEW=%s", after.c_str(), "FLOWCON_REASON=%s", change.reason.c_str(),
                    nullptr);
  } else {
    std::fprintf(stderr, "flowcond: %s\n", text.c_str());
  }
}

bool Repeated::count() {
  ++total_;
  if (total_ < next_) return false;
  next_ *= 10;
  return true;
}

}  // namespace flowcon::ctrl::log
