// SPDX-License-Identifier: Apache-2.0
#include "ctrl/settings.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"
#include "ctrl/queue_labels.h"

namespace flowcon::ctrl {
namespace {

// The contract with users.
constexpr std::array<std::string_view, 24> kKnown = {"enable",
                                                     "log",
                                                     "metric",
                                                     "goal",
                                                     "pattern",
                                                     "weight",
                                                     "floor",
                                                     "ceiling",
                                                     "only-grow",
                                                     "migrate",
                                                     "mounts",
                                                     "queue",
                                                     "request",
                                                     "priority",
                                                     "retries",
                                                     "workers",
                                                     "ps",
                                                     "ps-request",
                                                     "elastic",
                                                     "checkpoint.path",
                                                     "checkpoint.signal",
                                                     "checkpoint.command",
                                                     "checkpoint.timeout",
                                                     "checkpoint.confirm"};
constexpr std::size_t kLongestValue = 1024;
constexpr std::size_t kLongestPath = 1000;

constexpr double kLongestSave = 86400;    // seconds
constexpr double kLongestConfirm = 3600;  // seconds

bool decides_metric(std::string_view key) {
  return key == "metric" || key == "goal" || key == "pattern" || key == "log";
}

Result<bool> parse_truth(const std::string& value) {
  if (const std::optional<bool> said = truth_of(value)) return *said;
  return bad_input("\"" + printable(value, 60) + "\" is neither true nor false");
}

// What Docker's own CMD takes: a list of words, or a line for the shell in the container.
Result<std::vector<std::string>> parse_words(const std::string& text) {
  if (text.empty()) return bad_input("the command is empty");
  if (text.front() != '[') return std::vector<std::string>{"/bin/sh", "-c", text};
  Result<boost::json::value> parsed = parse_json(text);
  if (!parsed || !parsed->is_array() || parsed->get_array().empty()) {
    return bad_input("the command begins with [ but is not a JSON list of strings");
  }
  std::vector<std::string> words;
  for (const boost::json::value& word : parsed->get_array()) {
    if (!word.is_string()) return bad_input("the command has an argument that is not a string");
    words.emplace_back(word.get_string());
  }
  if (words.front().empty()) return bad_input("the command has no program");
  return words;
}

Result<void> take_checkpoint(Checkpoint& checkpoint, std::string_view key,
                             const std::string& value) {
  if (key == "checkpoint.path") {
    Result<std::string> path = clean_path(value);
    if (!path) return path.error();
    checkpoint.path = *path;
  } else if (key == "checkpoint.signal") {
    Result<int> signal = parse_signal(value);
    if (!signal) return signal.error();
    checkpoint.signal = *signal;
  } else if (key == "checkpoint.command") {
    Result<std::vector<std::string>> words = parse_words(value);
    if (!words) return words.error();
    checkpoint.command = std::move(*words);
  } else {
    const bool has_unit = value.ends_with('s');
    const std::string number = value.substr(0, value.size() - (has_unit ? 1 : 0));
    const Result<double> seconds =
        key == "checkpoint.confirm"
            ? parse_bounded(number, 0, kLongestConfirm, "of seconds above 0, at most 3600")
            : parse_bounded(number, 0, kLongestSave, "of seconds above 0, at most 86400");
    if (!seconds) return seconds.error();
    (key == "checkpoint.confirm" ? checkpoint.confirm : checkpoint.timeout) = *seconds;
  }
  return {};
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
  std::string_view word = text;
  if (word.starts_with("SIG")) word.remove_prefix(3);
  const std::optional<int> said = parse_number<int>(word);
  int number = said.value_or(0);
  for (int one = 1; !said && one < SIGRTMIN && number == 0; ++one) {
    const char* name = ::sigabbrev_np(one);
    if (name != nullptr && word == name) number = one;
  }
  if (number < 1 || number > SIGRTMAX) {
    return bad_input("\"" + printable(text, 60) + "\" is not a signal such as USR1");
  }
  if (number == SIGKILL || number == SIGSTOP) {
    return bad_input("a process cannot handle the signal " + signal_name(number));
  }
  return number;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

Result<double> parse_bounded(const std::string& text, double low_exclusive, double high,
                             const char* range) {
  const std::optional<double> number = parse_number<double>(text);
  if (number && *number > low_exclusive && *number <= high) return *number;
  return bad_input("\"" + printable(text, 60) + "\" is not a number " + range);
}

Result<std::string> clean_path(const std::string& path) {
  if (path.empty() || path.front() != '/') {
    return bad_input("the path must begin with a slash (it is one inside the container)");
  }
  if (path.size() > kLongestPath) return bad_input("the path is longer than 1000 bytes");
  std::string clean;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part == "..") return bad_input("the path must not contain \"..\"");
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
    if (std::any_of(part.begin(), part.end(), is_control)) {
      return bad_input("the path is not UTF-8 text");
    }
    if (!part.empty() && part != ".") clean += "/" + part;
  }
  if (clean.empty()) return bad_input("the path names no file");
  return clean;
}

Result<void> take_setting(Settings& settings, std::string_view key, const std::string& value) {
  if (value.size() > kLongestValue) return bad_input("the value is longer than 1024 bytes");
  if (key == "enable") {
    const Result<bool> said = parse_truth(value);
    if (!said) return said.error();
    settings.enabled = *said;
  } else if (key == "metric") {
    settings.spec.metric = value;
  } else if (key == "goal") {
    if (value != "min" && value != "max") {
      return bad_input("\"" + printable(value, 60) + "\" is neither min nor max");
    }
    settings.spec.goal = value == "min" ? Goal::min : Goal::max;
  } else if (key == "pattern") {
    metrics::Spec probe;
    probe.pattern = value;
    if (Result<metrics::Extractor> made = metrics::Extractor::create(probe, 1); !made) {
      return made.error();
    }
    settings.spec.pattern = value;
  } else if (key == "log") {
    constexpr std::string_view events = "tfevents:";
    const bool is_events = value.starts_with(events);
    Result<std::string> path = clean_path(is_events ? value.substr(events.size()) : value);
    if (!path) return path.error();
    settings.log = *path;
    settings.log_is_events = is_events;
  } else if (key == "weight") {
    Result<double> weight = parse_bounded(value, 0, kMostWeight, "at least 0.001, at most 10");
    if (!weight) return weight.error();
    if (*weight < kLeastWeight) return bad_input("the weight must be at least 0.001");
    settings.weight = *weight;
  } else if (key == "floor") {
    Result<double> floor = parse_bounded(value, 0, 1, "above 0, at most 1");
    if (!floor) return floor.error();
    settings.floor = *floor;
  } else if (key == "ceiling") {
    Result<double> ceiling = parse_bounded(value, 0, 1, "above 0, at most 1");
    if (!ceiling) return ceiling.error();
    settings.ceiling = *ceiling;
  } else if (key == "only-grow") {
    const Result<bool> said = parse_truth(value);
    if (!said) return said.error();
    settings.only_grow = *said;
  } else if (key == "migrate") {
    if (value != "no" && value != "app" && value != "criu") {
      return bad_input("\"" + printable(value, 60) + "\" is not no, app or criu");
    }
    settings.migrate = value == "no" ? Migrate::no : value == "app" ? Migrate::app : Migrate::criu;
  } else if (key == "mounts") {
    if (value != "shared") return bad_input("\"" + printable(value, 60) + "\" is not shared");
  } else if (is_queue_label(key)) {
    QueueLabels judged;
    const Result<void> taken = take_queue_label(judged, key, value);
    settings.is_queued = settings.is_queued || judged.is_job;
    return taken;
  } else if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) {
    return take_checkpoint(settings.checkpoint, key, value);
  } else {
    const std::string_view near = nearest_word(key, kKnown);
    return bad_input("unknown label" + (near.empty()
                                            ? std::string()
                                            : "; did you mean flowcon." + std::string(near)));
  }
  return {};
}

Labels own_labels(Labels labels, const Labels& image) {
  const auto is_image_s = [&image](const auto& label) {
    const auto found = image.find(label.first);
    return found != image.end() && found->second == label.second;
  };
  std::string named;  // with a blank on both sides of each name
  const auto own = labels.find(kOwnLabel);
  if (own != labels.end() && !is_image_s(*own)) {
    const std::size_t first = std::min(own->second.find(' '), own->second.size());
    named = own->second.substr(first) + " ";
  }
  std::erase_if(labels, [&](const auto& label) {
    if (!label.first.starts_with(kLabelPrefix) || !is_image_s(label)) return false;
    const std::string name = label.first.substr(kLabelPrefix.size());
    return name.empty() || name.find(' ') != std::string::npos ||
           named.find(" " + name + " ") == std::string::npos;
  });
  return labels;
}

bool has_settings(const Labels& labels) {
  return std::any_of(labels.begin(), labels.end(),
                     [](const auto& label) { return label.first.starts_with(kLabelPrefix); });
}

// A request without a job.
void warn_of_no_queue(const Labels& labels, std::vector<std::string>& warnings) {
  const std::string prefix(kLabelPrefix);
  if (labels.contains(prefix + "queue")) return;
  for (const char* key :
       {"request", "priority", "retries", "workers", "ps", "ps-request", "elastic"}) {
    if (!labels.contains(prefix + key)) continue;
    warnings.push_back("label " + prefix + key + " has no effect without " + prefix +
                       "queue=true, which only a container that was created and not started obeys");
  }
}

Settings parse_labels(const Labels& labels) {
  Settings settings;
  bool any = false;
  bool has_enable = false;
  std::size_t more = 0;
  for (const auto& [label, value] : labels) {
    if (!label.starts_with(kLabelPrefix)) continue;
    const std::string key = label.substr(kLabelPrefix.size());
    any = true;
    has_enable = has_enable || key == "enable";
    const bool is_known = std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end();
    if (!is_known && settings.warnings.size() >= kMostLabelWarnings) {
      ++more;
      continue;
    }
    if (Result<void> taken = take_setting(settings, key, value); !taken) {
      settings.warnings.push_back("label " + printable(label, 80) + ": " + taken.error().message());
      if (decides_metric(key)) settings.spec_is_usable = false;
      if (key == "enable") settings.is_mistaken = true;
    }
  }
  if (more > 0) {
    settings.warnings.push_back("and " + std::to_string(more) + " more labels that are unknown");
  }
  if (any && !has_enable) settings.enabled = true;
  warn_of_no_queue(labels, settings.warnings);
  if (settings.floor && settings.ceiling && *settings.floor > *settings.ceiling) {
    settings.warnings.emplace_back("flowcon.floor is above flowcon.ceiling; the ceiling wins");
  }
  return settings;
}

Result<Settings> parse_choice(std::string_view text) {
  Settings settings;
  settings.enabled = true;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return settings;
  Result<boost::json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return bad_input("the body is not a JSON object");
  for (const auto& [key, value] : parsed->get_object()) {
    const std::string shown = printable(std::string_view(key.data(), key.size()), 80);
    if (!value.is_string()) return bad_input(shown + " must be a string");
    if (key == "enable" || is_queue_label(std::string_view(key.data(), key.size()))) {
      return bad_input("adopt does not take " + shown);
    }
    Result<void> taken = take_setting(settings, std::string_view(key.data(), key.size()),
                                      std::string(value.get_string()));
    if (!taken) return wrap(taken.error(), shown);
  }
  return settings;
}

}  // namespace flowcon::ctrl
