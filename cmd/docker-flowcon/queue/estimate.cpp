// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/estimate.h"

#include <boost/json/array.hpp>
#include <chrono>
#include <ostream>

#include "base/digits.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/units.h"
#include "cmd/docker-flowcon/text/values.h"

namespace flowcon::plugin {
namespace {

// A check has a minute, and ends what it has begun.
constexpr std::chrono::seconds kCheckTimeout{150};

constexpr std::size_t kWordBytes = 40;
constexpr std::size_t kCommandBytes = 200;

// The command as flowcond records it: its words with blanks between.
std::string command_of(const EstimateOptions& options) {
  std::string command;
  for (std::size_t i = 1; i < options.words.size(); ++i) {
    command += (i > 1 ? " " : "") + options.words[i];
  }
  return command;
}

std::string runs_text(const json::value& answer) {
  const double runs = real_of(member(answer, "runs")).value_or(0);
  return number_text(runs, 6) + (runs == 1 ? " run" : " runs");
}

int tell_estimate(const Session& session, const EstimateOptions& options,
                  const json::value& answer) {
  const std::string table = estimates_table(member(answer, "labels"));
  if (table.empty()) {
    const std::string command = command_of(options);
    session.terminal.err << "Nothing is known of "
                         << printable(
                                options.words.front() + (command.empty() ? "" : " ") + command,
                                kCommandBytes)
                         << " yet: it takes 3 runs like it that ended with status 0, or 20 of any "
                            "kind, and flowcond has recorded "
                         << runs_text(answer) << "\n";
    return kDone;
  }
  session.terminal.out << table;
  return kDone;
}

int tell_check(const Session& session, const json::value& answer) {
  std::string rows;
  for (const auto& entry : object_of(answer, "labels")) {
    const std::optional<double> runs = real_of(member(entry.value(), "runs"));
    const std::optional<double> r2 = real_of(member(entry.value(), "r2"));
    rows += printable(entry.key(), kWordBytes) + "\t" + number_text(runs) + "\t" +
            (r2 ? two_digits(*r2) : std::string(kUnknown)) + "\t" +
            percent_text(real_of(member(entry.value(), "above"))) + "\n";
  }
  if (rows.empty()) {
    session.terminal.err << "There is nothing to check yet: that takes 21 runs that ended with "
                            "status 0\n";
    return kDone;
  }
  session.terminal.out << align_columns("LABEL\tRUNS\tR²\tABOVE\n" + rows);
  return kDone;
}

}  // namespace

void declare_estimate(CLI::App& app, EstimateOptions& options) {
  app.add_flag("--check", options.check,
               "Show how good the estimates of earlier runs were: R² of the logarithms, and the "
               "share of runs above the upper estimate");
  app.add_option("-e,--env", options.environment,
                 "Set an environment variable of the job, as docker does")
      ->type_name("list")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(check_not_empty);
  app.add_option("--format", options.format, "Output as table or json (default: table)")
      ->type_name("string")
      ->check([](const std::string& text) {
        return text == "table" || text == "json" ? std::string() : "has to be table or json";
      });
}

std::string check_estimate(const EstimateOptions& options) {
  if (options.check) {
    const bool is_alone = options.words.empty() && options.environment.empty();
    return is_alone ? "" : "--check covers all runs: leave out the image and --env";
  }
  return options.words.empty() ? "'docker flowcon estimate' requires an image" : "";
}

json::object estimate_body(const EstimateOptions& options, const Environment& environment) {
  json::array variables;
  for (const std::string& setting : options.environment) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (equals != std::string::npos) {
      variables.push_back(json::array{name, setting.substr(equals + 1)});
    } else if (environment.count(name) != 0) {
      variables.push_back(json::array{name, lookup(environment, name)});
    }
  }
  return {{"image", options.words.front()},
          {"command", command_of(options)},
          {"environment", std::move(variables)}};
}

int run_estimate(const Session& session, const EstimateOptions& options) {
  const Result<DaemonClient> found = find_daemon(session, "estimate");
  if (!found) return report(session.terminal, found.error());
  const DaemonClient daemon = found->with_timeout(options.check ? kCheckTimeout : kControlTimeout);
  const Result<json::value> answer =
      options.check
          ? daemon.get("/v1/estimate/check")
          : daemon.post("/v1/estimate", render_json(estimate_body(options, session.environment)));
  if (!answer) return report(session.terminal, answer.error());
  if (options.format == "json") {
    session.terminal.out << json_text(*answer) << "\n";
    return kDone;
  }
  return options.check ? tell_check(session, *answer) : tell_estimate(session, options, *answer);
}

}  // namespace flowcon::plugin
