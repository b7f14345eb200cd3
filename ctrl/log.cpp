// SPDX-License-Identifier: Apache-2.0
#include "ctrl/log.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl::log {
namespace {

// One id per kind of event, so that journalctl can select and explain it.
constexpr const char* kPlainMessage = "MESSAGE_ID=6f5cf5c1f0714d4cb3ad2ffb10c8c0a1";
constexpr const char* kLimitMessage = "MESSAGE_ID=0d2a0ac1bb7b4d6b8e6d94b6a4e0a7f2";

struct Kind {
  MessageId event;
  Level level;
  const char* word;
  const char* id;
};
constexpr std::array<Kind, 19> kKinds{{
    {MessageId::container_found, Level::info, "container-found",
     "MESSAGE_ID=3e871169fa6a4d56a66ca1f221407e9e"},
    {MessageId::container_unread, Level::warning, "container-unread",
     "MESSAGE_ID=01a334ab2c4946b0b6e13bf852454fa9"},
    {MessageId::container_ended, Level::info, "container-ended",
     "MESSAGE_ID=65476dcb50a7469f8547d138ed88e5c1"},
    {MessageId::limit_refused, Level::error, "limit-refused",
     "MESSAGE_ID=c8a6cdbb7ad0446b81a54f91604a8cb1"},
    {MessageId::limit_reverted, Level::info, "limit-reverted",
     "MESSAGE_ID=94751007afc349acb865845cc23ed129"},
    {MessageId::limits_left, Level::info, "limits-left",
     "MESSAGE_ID=75257e9ebdef4c76a24ac1cf002ff74e"},
    {MessageId::stopped, Level::info, "stopped", "MESSAGE_ID=831e1eee9d044d44ae4be8051aa6d303"},
    {MessageId::decided, Level::info, "decided", "MESSAGE_ID=4f57e561d0004c56a444cce92d48c889"},
    {MessageId::engine_found, Level::info, "engine-found",
     "MESSAGE_ID=e7cc6caab87f4bf5b779653edbd2b4af"},
    {MessageId::engine_lost, Level::warning, "engine-lost",
     "MESSAGE_ID=e38c531a10214336bfd33b253126cea4"},
    {MessageId::config_read, Level::info, "config-read",
     "MESSAGE_ID=c6bff3fdb19a41dcaff4fce9f605e361"},
    {MessageId::config_refused, Level::warning, "config-refused",
     "MESSAGE_ID=c00f35b2fd0a48698c39db71e274cc32"},
    {MessageId::records_wait, Level::error, "records-wait",
     "MESSAGE_ID=573457f84dab46e990fe2501370d7b5b"},
    {MessageId::clock_jumped, Level::warning, "clock-jumped",
     "MESSAGE_ID=03d71ba9681d4cadab961c3ea4b9b51a"},
    {MessageId::peer_found, Level::info, "peer-found",
     "MESSAGE_ID=f879ac89973c41feba9d761bc3dbdc89"},
    {MessageId::peer_lost, Level::warning, "peer-lost",
     "MESSAGE_ID=b1946525efa34de98568b1d91877efa8"},
    {MessageId::move_step, Level::info, "move-step", "MESSAGE_ID=dab6ddbe93ab4fcc8b282db43b9fbfe2"},
    {MessageId::move_trouble, Level::warning, "move-trouble",
     "MESSAGE_ID=f8262e459f6245678df8df747464ddd8"},
    {MessageId::job_step, Level::info, "job-step", "MESSAGE_ID=5d0f6c2e8a3b4f7d9c1e60b7a24d83f5"},
}};

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

void error(std::string_view message) { say(Level::error, message); }
void warning(std::string_view message) { say(Level::warning, message); }
void info(std::string_view message) { say(Level::info, message); }
void debug(std::string_view message) { say(Level::debug, message); }

void event(MessageId kind, std::string_view message, std::string_view container) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [kind](const Kind& one) { return one.event == kind; });
  if (found == kKinds.end()) return say(Level::error, message);
  if (found->level > threshold || !to_journal()) return say(found->level, message);
  const std::string text = printable(message, 2000);
  const std::string id = printable(container, 100);
  sd_journal_send("MESSAGE=%s", text.c_str(), "PRIORITY=%i", static_cast<int>(found->level),
                  found->id, "FLOWCON_ACTION=%s", found->word,
                  id.empty() ? nullptr : "FLOWCON_CONTAINER=%s", id.c_str(), nullptr);
}

void limit_change(const LimitChange& change) {
  if (Level::info > threshold) return;
  const std::string before = render_number(change.before);
  const std::string after = render_number(change.after);
  const std::string text = printable((change.dry_run ? "would set limit of " : "limit of ") +
                                     change.container + ": " + share_text(change.before) + " -> " +
                                     share_text(change.after) + " (" + change.reason + ")");
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
