// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/decision_json.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/policy/algorithm.h"
#include "ctrl/policy/milestone_policy.h"

namespace flowcon::ctrl::policy {
namespace {

std::vector<PlaceChange> list_changes(const boost::json::value& state,
                                      const boost::json::value& decision) {
  return place_changes(state, decision, "list");
}

}  // namespace

const std::vector<Algorithm>& host_algorithms() {
  static const std::vector<Algorithm> kAlgorithms{
      algorithm<executor_state_from, decide_executor>(
          "lists, limits and the next interval (FlowCon, Algorithm 1)", kExecutorHelp,
          list_changes),
      algorithm<listener_state_from, decide_listener>(
          "containers that came and went (FlowCon, Algorithm 2)", kListenerHelp, no_changes),
      algorithm<milestone_state_from, decide_milestone>(
          "ranks and shares of a host's containers (ours)", kMilestoneHelp, rank_changes),
  };
  return kAlgorithms;
}

const Algorithm* find_algorithm(const std::vector<Algorithm>& all, std::string_view name) {
  for (const Algorithm& algorithm : all) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

std::function<std::string(const About&)> sentences_of(const Algorithm& algorithm,
                                                      std::string_view state) {
  const Result<boost::json::value> json = parse_json(state);
  Result<Explain> explained = json ? algorithm.explain(*json) : Result<Explain>(json.error());
  return [explained = std::move(explained)](const About& about) -> std::string {
    if (!explained) return "the recorded state is damaged";
    const Result<std::string> sentence = (*explained)(about);
    return sentence ? *sentence : sentence.error().message();
  };
}

std::string sentence_about(const Algorithm& algorithm, std::string_view state, const About& about) {
  return sentences_of(algorithm, state)(about);
}

}  // namespace flowcon::ctrl::policy
