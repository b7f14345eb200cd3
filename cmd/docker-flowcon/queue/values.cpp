// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/values.h"

#include <utility>

#include "ctrl/queue_labels.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kNone = "none";

std::string check(const std::string& key, const std::string& text) {
  ctrl::QueueLabels labels;
  const Result<void> taken = ctrl::take_queue_label(labels, key, text);
  return taken ? "" : taken.error().what;
}

std::string or_none(const std::string& error) { return error.empty() ? "" : error + " (or none)"; }

}  // namespace

Check as_label(std::string key) {
  return [key = std::move(key)](const std::string& text) { return check(key, text); };
}

Check as_label_or_none(std::string key) {
  return [key = std::move(key)](const std::string& text) {
    return text == kNone ? "" : or_none(check(key, text));
  };
}

std::string check_scale(const std::string& text) {
  const bool is_range = text.find(':') != std::string::npos;
  if (is_range) return "one number of workers, not a range: docker flowcon queue scale NAME 4";
  return text == kNone ? "" : or_none(check("workers", text));
}

}  // namespace flowcon::plugin
