// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/run_groups.h"

#include <algorithm>

#include "base/text.h"
#include "cmd/flowcon-sim/reader.h"
#include "sim/groups/summary.h"
#include "sim/render.h"

namespace flowcon::sim {
namespace {

std::vector<std::string> words_of(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

// The baseline comes first where none is named.
std::string natural_policies(const groups::ScheduleKind& schedule) {
  std::string list;
  for (const std::string_view name : schedule.policies) {
    list += (list.empty() ? "" : ",") + std::string(name);
  }
  return list;
}

void read_policies(const groups::ScheduleKind& schedule, const std::string& list, Reader& reader,
                   std::vector<const groups::PolicyKind*>& out) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    const auto& known = schedule.policies;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string_view near = nearest_word(name, known);
      reader.complain("--policy: " + std::string(schedule.name) + " has no policy \"" +
                      printable(name, 40) + "\"" +
                      (near.empty() ? "; it has " + listed(words_of(known))
                                    : "; did you mean " + std::string(near) + "?"));
      return;
    }
    const groups::PolicyKind* kind = groups::find_group_policy(name);
    if (std::find(out.begin(), out.end(), kind) == out.end()) out.push_back(kind);
    at = end + 1;
  }
}

}  // namespace

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string> group_options(const groups::ScheduleKind& schedule) {
  std::vector<std::string> options{"--policy", "--format", "--seeds", "--seed"};
  if (schedule.models.empty()) return options;
  options.insert(options.end(), {"--model", "--counters", "--pause", "--starve-limit"});
  return options;
}

Result<std::string> run_groups(const groups::ScheduleKind& schedule,
                               const GroupArguments& arguments,
                               const std::function<void(const std::string& what)>& progress) {
  groups::GroupExperiment experiment;
  experiment.schedule = &schedule;
  Reader reader;
  read_policies(schedule, arguments.policy.value_or(natural_policies(schedule)), reader,
                experiment.policies);
  Format format = Format::table;
  reader.word<Format>("--format", arguments.format,
                      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}},
                      format);
  reader.number("--seeds", arguments.seeds, 1, 10000, experiment.seeds);
  reader.number("--seed", arguments.seed, 0, 1e15, experiment.first_seed);
  groups::GroupOptions& options = experiment.options;
  if (arguments.counters == "none") {
    options.counters = 0;
  } else if (arguments.counters != "all") {
    reader.number("--counters", arguments.counters, 0, 1, options.counters);
  }
  reader.number("--pause", arguments.pause, 0, 1e6, experiment.parameters.pause);
  reader.number("--starve-limit", arguments.starve_limit, 0, 1e9, options.starve_limit);
  const auto& models = schedule.models;
  if (!arguments.model.empty() &&
      std::find(models.begin(), models.end(), arguments.model) == models.end()) {
    reader.complain("--model: there is no \"" + printable(arguments.model, 40) +
                    "\"; known: " + listed(words_of(models)));
  }
  options.model = arguments.model;
  if (!reader.problem().empty()) return bad_input(reader.problem());
  return groups::render(groups::run_experiment(experiment, progress), format);
}

}  // namespace flowcon::sim
