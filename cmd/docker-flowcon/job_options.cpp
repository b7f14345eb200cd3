// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job_options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"
#include "ctrl/metrics/extractor.h"

namespace flowcon::plugin {
namespace {

std::optional<double> parse_real(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

// CLI11's checks answer with "" where all is well.
std::string check_goal(const std::string& text) {
  return text == "min" || text == "max" ? ""
                                        : "has to be min or max, not \"" + printable(text) + "\"";
}

std::string check_weight(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  return number && *number > 0 ? "" : "has to be a number above 0, not \"" + printable(text) + "\"";
}

std::string check_floor(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  return number && *number > 0 && *number <= 1
             ? ""
             : "has to be a share above 0 and at most 1, not \"" + printable(text) + "\"";
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

using Said = std::pair<const char*, const std::string*>;

std::array<Said, 5> all_words(const JobOptions& options) {
  return {{{"metric", &options.metric},
           {"goal", &options.goal},
           {"pattern", &options.pattern},
           {"weight", &options.weight},
           {"floor", &options.floor}}};
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
                 "Importance beside the other jobs, above 0 (default 1)")
      ->type_name("number")
      ->check(check_weight);
  app.add_option("--floor", options.floor,
                 "Share of the host that is always left to the job, above 0 and at most 1")
      ->type_name("share")
      ->check(check_floor);
}

std::string check_job_options(const JobOptions& options) {
  if (options.pattern.empty()) return "";
  ctrl::metrics::Spec spec;
  spec.pattern = options.pattern;
  // The daemon makes its extractor in the same way, so what passes here passes there.
  const auto extractor = ctrl::metrics::Extractor::create(spec, 1);
  return extractor ? "" : wrap(extractor.error(), "--pattern").message();
}

std::vector<std::string> job_labels(const JobOptions& options) {
  std::vector<std::string> labels{"flowcon.enable=true"};
  for (const auto& [word, value] : all_words(options)) {
    if (!value->empty()) labels.push_back(std::string("flowcon.") + word + "=" + *value);
  }
  return labels;
}

boost::json::object job_body(const JobOptions& options) {
  boost::json::object body;
  for (const auto& [word, value] : all_words(options)) {
    if (!value->empty()) body[word] = *value;
  }
  return body;
}

}  // namespace flowcon::plugin
