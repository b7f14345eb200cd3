// SPDX-License-Identifier: Apache-2.0
// What a container's labels (or the words given to `adopt`) say. Pure. A value that cannot be used
// is a warning that says why; it is never ignored silently and never half used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctrl/labels.h"
#include "ctrl/metrics/extractor.h"

namespace flowcon::ctrl {

/// How a job saves itself before it is moved, and what of that has to travel.
struct Checkpoint {
  std::string path;                  ///< file or folder inside the container; "" = in its volumes
  int signal = 0;                    ///< that makes it save and end; 0 = none was said
  std::vector<std::string> command;  ///< run in the container, saves; empty = none was said
  double timeout = 60;               ///< seconds that saving may take
  double confirm = 30;  ///< seconds until a copy that prints nothing is taken to run on
};

/// May the job be moved to another host, and how is its state saved?
enum class Migrate { unsaid, no, app, criu };

struct Settings {
  bool enabled = false;  ///< flowcon.enable=true, or any other flowcon label without enable=false
  bool is_mistaken = false;  ///< flowcon.enable has a value that is neither true nor false
  metrics::Spec spec;
  bool spec_is_usable = true;     ///< false: a wrong metric label; the job gets no metric at all
  double weight = 1;              ///< factor on the container's share, (0,kMostWeight]
  std::optional<double> floor;    ///< least share of the host, (0,1]
  std::optional<double> ceiling;  ///< greatest share of the host, (0,1]; wins over the floor
  std::string log;                ///< file inside the container to read; "" = what it prints
  bool log_is_events = false;     ///< `log` is TensorBoard's event files
  bool only_grow = false;         ///< its limit is never lowered
  bool is_queued = false;         ///< it is a job of the queue
  Migrate migrate = Migrate::unsaid;
  Checkpoint checkpoint;
  std::vector<std::string> warnings;
};

/// Do its labels say how it saves itself?
[[nodiscard]] inline bool saves_itself(const Settings& settings) {
  return settings.migrate == Migrate::app || settings.checkpoint.signal > 0 ||
         !settings.checkpoint.command.empty();
}

/// Greatest weight: beside one job of weight 1 with the same limit a job gets 10/11 of what the two
/// share, whatever it asks for.
inline constexpr double kMostWeight = 10;
inline constexpr double kLeastWeight = 0.001;

/// Label of a container that names the labels that are its own although its image may have the same
/// ones: "UNIQUE NAME NAME...", names without kLabelPrefix. It counts only where the image does not
/// have it with the same value: one that was committed from such a container has it too.
inline constexpr const char* kOwnLabel = "org.flowcon.own";

/// The value of kOwnLabel. `unique`: without blanks, another one each time.
[[nodiscard]] inline std::string own_label(const std::string& unique,
                                           const std::vector<std::string>& names) {
  std::string value = unique;
  for (const std::string& name : names) value += " " + name;
  return value;
}

/// Without those labels with our prefix that came from the container's image: who pulls an image
/// has not asked for what is baked into it. A label that who started the container gave with the
/// very value that the image has is told from the image's by kOwnLabel alone.
[[nodiscard]] Labels own_labels(Labels labels, const Labels& image);

/// Does any of them have our prefix?
[[nodiscard]] bool has_settings(const Labels& labels);

/// One value into `settings`, by the label's name without the prefix. The error says what is wrong
/// with it; nothing is changed then.
[[nodiscard]] Result<void> take_setting(Settings& settings, std::string_view key,
                                        const std::string& value);

/// A number in (low, high]; `range` says so in words for the error.
[[nodiscard]] Result<double> parse_bounded(const std::string& text, double low_exclusive,
                                           double high, const char* range);

/// A file's path inside a container, absolute, without empty parts, "." and a slash at the end.
/// Errors: not absolute, longer than 1,000 bytes, a part is "..", a byte is below a blank.
[[nodiscard]] Result<std::string> clean_path(const std::string& path);

/// "SIGUSR1", "USR1" or "10" as a number. Errors: there is no such signal; KILL or STOP, which no
/// process hears.
[[nodiscard]] Result<int> parse_signal(std::string_view text);

/// "SIGUSR1".
[[nodiscard]] std::string signal_name(int signal);

/// Warnings about labels that mean nothing; an image can have any number of them. More are counted.
inline constexpr std::size_t kMostLabelWarnings = 20;

/// From labels, with the prefix. Labels of others are skipped.
[[nodiscard]] Settings parse_labels(const Labels& labels);

/// From values given by command: a JSON object of strings, names without the prefix. Strict: the
/// first wrong value is the error.
[[nodiscard]] Result<Settings> parse_choice(std::string_view json);

}  // namespace flowcon::ctrl
