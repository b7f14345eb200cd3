// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tune/view.h"

#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

using sim::Effect;
using sim::TuneRow;
using sim::TuneSetting;

constexpr std::string_view kTable =
    "{{.Change}}\t{{.MeanText}}\t{{.Time90Text}}\t{{.MakespanText}}\t{{.WorstText}}";

// With one decimal, and no -0.0.
std::string decimal(double number) {
  char text[64];
  const double rounded = std::round(number * 10) / 10;
  std::snprintf(text, sizeof text, "%.1f", rounded == 0 ? 0.0 : rounded);
  return text;
}

std::string effect_text(const Effect& effect) {
  const std::string sign = std::round(effect.percent * 10) > 0 ? "+" : "";
  return sign + decimal(effect.percent) + " ± " + decimal(effect.error) + " %";
}

double rounded(double number) { return std::round(number * 100) / 100; }

const char* mode_of(const TuneSetting& setting) { return setting.is_quota ? "quota" : "weight"; }

struct Line {
  std::string option;
  std::string value;
};

std::vector<Line> lines_of(const TuneSetting& setting) {
  return {{"policy", setting.policy},
          {"limit-mode", mode_of(setting)},
          {"alpha", render_number(setting.alpha)},
          {"beta", render_number(setting.beta)},
          {"interval", render_number(setting.interval)},
          {"interval-max", render_number(setting.interval_max)}};
}

// "alpha 0.01, interval 10": the differences from the current setting.
std::string change_text(const TuneSetting& setting, const TuneSetting& present) {
  std::string text;
  const std::vector<Line> before = lines_of(present);
  std::size_t i = 0;
  for (const Line& line : lines_of(setting)) {
    if (line.value != before[i++].value) {
      text += (text.empty() ? "" : ", ") + line.option + " " + line.value;
    }
  }
  return text;
}

void add_effect(json::object& row, const std::string& name, const Effect& effect, bool exact) {
  row[name + "Percent"] = rounded(effect.percent);
  row[name + "Error"] = rounded(effect.error);
  if (!exact) row[name + "Text"] = effect_text(effect);
}

json::object row_of(const TuneHistory& history, const TuneRow& row, bool exact) {
  json::object out;
  out["Change"] = row.setting ? change_text(*row.setting, history.base.present) : "no control";
  out["Policy"] = out["LimitMode"] = out["Alpha"] = out["Beta"] = nullptr;
  out["Interval"] = out["IntervalMax"] = nullptr;
  if (row.setting) {
    out["Policy"] = row.setting->policy;
    out["LimitMode"] = mode_of(*row.setting);
    out["Alpha"] = row.setting->alpha;
    out["Beta"] = row.setting->beta;
    out["Interval"] = row.setting->interval;
    out["IntervalMax"] = row.setting->interval_max;
  }
  add_effect(out, "Mean", row.mean, exact);
  add_effect(out, "Time90", row.t90, exact);
  add_effect(out, "Makespan", row.makespan, exact);
  add_effect(out, "Worst", row.worst, exact);
  out["Seconds"] = nullptr;
  out["Runs"] = history.runs.size();
  out["Recommended"] = false;
  return out;
}

json::object present_row(const TuneHistory& history, const sim::Tuning& tuning, bool exact) {
  json::object out = row_of(history, {history.base.present, {}, {}, {}, {}}, exact);
  out["Change"] = "none (current)";
  out["Seconds"] = json::object{{"Mean", rounded(tuning.mean)},
                                {"Time90", rounded(tuning.t90)},
                                {"Makespan", rounded(tuning.makespan)}};
  if (!exact) {
    out["MeanText"] = decimal(tuning.mean) + " s";
    out["Time90Text"] = decimal(tuning.t90) + " s";
    out["MakespanText"] = decimal(tuning.makespan) + " s";
    out["WorstText"] = kUnknown;
  }
  return out;
}

std::string objective_text(sim::Objective objective) {
  return objective == sim::Objective::mean  ? "mean JCT"
         : objective == sim::Objective::t90 ? "time to 90 %"
                                            : "makespan";
}

}  // namespace

std::string_view tune_table() { return kTable; }

json::object tune_headings() {
  return {{"Change", "CHANGE"},
          {"MeanText", "MEAN JCT"},
          {"Time90Text", "TIME TO 90 %"},
          {"MakespanText", "MAKESPAN"},
          {"WorstText", "WORST RUN"},
          {"MeanPercent", "MEAN JCT %"},
          {"MeanError", "ERROR %"},
          {"Time90Percent", "TIME90 %"},
          {"Time90Error", "ERROR %"},
          {"MakespanPercent", "MAKESPAN %"},
          {"MakespanError", "ERROR %"},
          {"WorstPercent", "WORST RUN %"},
          {"WorstError", "ERROR %"},
          {"Seconds", "SECONDS"},
          {"Policy", "POLICY"},
          {"LimitMode", "LIMIT MODE"},
          {"Alpha", "ALPHA"},
          {"Beta", "BETA"},
          {"Interval", "INTERVAL"},
          {"IntervalMax", "INTERVAL MAX"},
          {"Runs", "RUNS"},
          {"Recommended", "RECOMMENDED"}};
}

std::vector<json::object> tune_rows(const TuneHistory& history, const sim::Tuning& tuning,
                                    bool exact) {
  std::vector<json::object> rows{present_row(history, tuning, exact)};
  for (const TuneRow& other : tuning.others) rows.push_back(row_of(history, other, exact));
  if (tuning.best) rows[*tuning.best + 1]["Recommended"] = true;
  rows.push_back(row_of(history, tuning.free, exact));
  return rows;
}

std::string history_text(const TuneHistory& history) {
  const std::size_t count = history.runs.size();
  std::string text = std::to_string(count) + (count == 1 ? " run" : " runs") + " on " +
                     (history.host.empty() ? "this host" : history.host);
  if (count > 0) text += " since " + moment_text(history.runs.front().started);
  std::string reasons;
  for (const auto& [why, number] : history.left_out) {
    reasons += (reasons.empty() ? "; left out: " : ", ") + std::to_string(number) + " " + why;
  }
  return text + reasons;
}

std::string verdict_text(const TuneHistory& history, const sim::Tuning& tuning,
                         sim::Objective objective) {
  const std::string what = objective_text(objective);
  const Effect& free = tuning.free.of(objective);
  if (!tuning.best) {
    const bool is_better = free.percent <= -sim::kLeastGain && sim::is_beyond_error(free);
    return "The current setting is as good as any: no other changes " + what +
           " by more than twice its error and 1 %." +
           (is_better ? " But no control at all would be better." : "");
  }
  const TuneRow& row = tuning.others[*tuning.best];
  std::string text = "Best is: " + change_text(*row.setting, history.base.present) +
                     ". Expected effect on " + what + ": " + effect_text(row.of(objective)) + ".";
  std::string worse;
  for (const auto& [name, effect] : {std::pair("mean JCT", row.mean),
                                     {"time to 90 %", row.t90},
                                     {"makespan", row.makespan},
                                     {"the worst run", row.worst}}) {
    if (effect.percent >= sim::kLeastGain && sim::is_beyond_error(effect)) {
      worse +=
          (worse.empty() ? " It costs: " : ", ") + std::string(name) + " " + effect_text(effect);
    }
  }
  if (!worse.empty()) text += worse + ".";
  const bool is_as_good = free.percent <= row.of(objective).percent;
  return text + (is_as_good ? " But no control at all would be as good." : "");
}

std::string caveat_text() {
  return "These numbers are simulated from each run's CPU work, greatest number of cores, values "
         "and start. They ignore other programs, omitted runs, memory, disks and the weights, "
         "floors and pins of single containers; ± is one standard error (bootstrap).";
}

std::string render_drop_in(const TuneHistory& history, const TuneRow& row, const std::string& path,
                           double now) {
  std::string text = "# Written by docker flowcon tune --apply, version " FLOWCON_VERSION ", on " +
                     moment_text(now) + ";\n# it rewrites this file each time.\n";
  text += "# From " + history_text(history) + ".\n";
  text += "# Expected, as simulated: mean JCT " + effect_text(row.mean) + ", time to 90 % " +
          effect_text(row.t90) + ",\n# makespan " + effect_text(row.makespan) + ", worst run " +
          effect_text(row.worst) + ".\n";
  text += "# Before: " + change_text(history.base.present, *row.setting) + ".\n";
  text += "# To undo: rm " + printable(path, 400) + " && systemctl reload flowcond\n\n";
  for (const Line& line : lines_of(*row.setting)) text += line.option + " = " + line.value + "\n";
  return text;
}

}  // namespace flowcon::plugin
