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

void read_policies(const groups::ScheduleKind& schedule, const std::string& list, Reader& reader,
                   std::vector<const groups::GroupPolicyKind*>& out) {
  reader.each(list, [&](const std::string& name) {
    const auto& known = schedule.policies;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string_view near = nearest_word(name, known);
      reader.complain("--policy: " + std::string(schedule.name) + " has no policy \"" +
                      printable(name, 40) + "\"" +
                      (near.empty() ? "; it has " + listed(words_of(known))
                                    : "; did you mean " + std::string(near) + "?"));
      return;
    }
    const groups::GroupPolicyKind* kind = groups::find_group_policy(name);
    if (std::find(out.begin(), out.end(), kind) == out.end()) out.push_back(kind);
  });
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
                               const std::map<std::string, std::string, std::less<>>& words,
                               const std::function<void(const std::string& what)>& progress) {
  const auto said = [&words](std::string_view option) {
    const auto found = words.find(option);
    return found == words.end() ? "" : found->second;
  };
  groups::GroupExperiment experiment;
  experiment.schedule = &schedule;
  Reader reader;
  // The baseline comes first where none is named.
  const std::string policies =
      words.contains("--policy") ? said("--policy") : joined(schedule.policies, ",");
  read_policies(schedule, policies, reader, experiment.policies);
  Format format = Format::table;
  reader.word<Format>("--format", said("--format"),
                      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}},
                      format);
  reader.number("--seeds", said("--seeds"), 1, 10000, experiment.seeds);
  reader.number("--seed", said("--seed"), 0, 1e15, experiment.first_seed);
  groups::GroupOptions& options = experiment.options;
  const std::string counters = said("--counters");
  if (counters == "none") {
    options.counters = 0;
  } else if (counters != "all") {
    reader.number("--counters", counters, 0, 1, options.counters);
  }
  reader.number("--pause", said("--pause"), 0, 1e6, experiment.parameters.pause);
  reader.number("--starve-limit", said("--starve-limit"), 0, 1e9, options.starve_limit);
  const auto& models = schedule.models;
  const std::string model = said("--model");
  if (!model.empty() && std::find(models.begin(), models.end(), model) == models.end()) {
    reader.complain("--model: there is no \"" + printable(model, 40) +
                    "\"; known: " + listed(words_of(models)));
  }
  options.model = model;
  if (!reader.problem().empty()) return bad_input(reader.problem());
  return groups::render(groups::run_experiment(experiment, progress), format);
}

}  // namespace flowcon::sim
