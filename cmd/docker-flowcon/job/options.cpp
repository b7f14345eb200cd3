// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/options.h"

#include <string_view>

#include "base/random_id.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/values.h"
#include "ctrl/metrics/extractor.h"
#include "ctrl/settings.h"

namespace flowcon::plugin {
namespace {

// CLI11's checks answer with "" where all is well.
std::string check_goal(const std::string& text) {
  return text == "min" || text == "max" ? ""
                                        : "has to be min or max, not \"" + printable(text) + "\"";
}

// flowcond resolves it under the container's mounts; this refuses only impossible paths.
std::string check_log(const std::string& text) {
  constexpr std::string_view kEvents = "tfevents:";
  const bool is_events = text.compare(0, kEvents.size(), kEvents) == 0;
  const std::size_t path = is_events ? kEvents.size() : 0;
  return path < text.size() && text[path] == '/'
             ? ""
             : "has to be an absolute path in the container, or tfevents:/PATH, not \"" +
                   printable(text) + "\"";
}

LabelWords all_words(const JobOptions& options) {
  return {{"metric", options.metric},           {"goal", options.goal},
          {"pattern", options.pattern},         {"weight", options.weight},
          {"floor", share_word(options.floor)}, {"ceiling", share_word(options.ceiling)},
          {"only-grow", options.only_grow},     {"log", options.log}};
}

}  // namespace

void declare_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("--metric", options.metric,
                 "Name of the evaluation function in the log, such as loss (default: found in the "
                 "log)")
      ->type_name("string")
      ->check(check_not_empty);
  app.add_option("--goal", options.goal,
                 "Whether a lower or a higher value is better: min or max (default: from the name)")
      ->type_name("string")
      ->check(check_goal);
  app.add_option("--pattern", options.pattern,
                 "Regular expression (RE2) for lines that hold the value, with a group named value "
                 "or one group")
      ->type_name("regexp")
      ->check(check_not_empty);
  app.add_option("--weight", options.weight,
                 "Weight relative to the other jobs, 0.001 to 10 (default 1)")
      ->type_name("number")
      ->check(check_weight);
  app.add_option("--floor", options.floor,
                 "Least share of the host for the job, above 0 and at most 1")
      ->type_name("share")
      ->check(check_share);
  app.add_option("--ceiling", options.ceiling,
                 "Greatest share of the host for the job, above 0 and at most 1")
      ->type_name("share")
      ->check(check_share);
  app.add_flag("--only-grow", options.only_grow, "Raise the job's limits, never lower them")
      ->check(check_bool);
  app.add_option("--log", options.log,
                 "Log file in the container to read instead of its output, or tfevents:/PATH for "
                 "TensorBoard's event files")
      ->type_name("path")
      ->check(check_log);
}

std::string check_job_options(const JobOptions& options) {
  if (options.pattern.empty()) return check_range(options.floor, options.ceiling);
  ctrl::metrics::Spec spec;
  spec.pattern = options.pattern;
  // The daemon makes its extractor in the same way, so what passes here passes there.
  const auto extractor = ctrl::metrics::Extractor::create(spec, 1);
  return extractor ? check_range(options.floor, options.ceiling)
                   : wrap(extractor.error(), "--pattern").message();
}

std::vector<std::string> job_labels(const JobOptions& options, const LabelWords& more) {
  LabelWords words = all_words(options);
  words.insert(words.end(), more.begin(), more.end());
  std::vector<std::string> labels{"flowcon.enable=true"}, names{"enable"};
  for (const auto& [word, value] : words) {
    if (value.empty()) continue;
    labels.push_back("flowcon." + word + "=" + value);
    names.push_back(word);
  }
  // They count where the image has the same ones, too.
  labels.push_back(std::string(ctrl::kOwnLabel) + "=" + ctrl::own_label(random_id(), names));
  return labels;
}

boost::json::object job_body(const JobOptions& options) {
  boost::json::object body;
  for (const auto& [word, value] : all_words(options)) {
    if (!value.empty()) body[word] = value;
  }
  return body;
}

}  // namespace flowcon::plugin
