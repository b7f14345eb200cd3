// SPDX-License-Identifier: Apache-2.0
// A decision by name: how it is made from JSON, said in a sentence, and what it changed.
// `flowcon-sim decide`, `explain`, the recorded rounds and the report all go by these rows. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ctrl/policy/changes.h"
#include "ctrl/policy/explain.h"

namespace flowcon::ctrl::policy {

/// Says a decision about one container after the other. Errors: it is not in the state.
using Explain = std::function<Result<std::string>(const About&)>;

using Changes = std::vector<PlaceChange> (*)(const boost::json::value& state,
                                             const boost::json::value& decision);

struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< what it decides
  std::string_view help;     ///< how its state is written
  /// State JSON to decision JSON without a newline. Errors: not JSON, or a field that is missing or
  /// ill-typed, named in the sentence; or nothing can be decided from it.
  Result<std::string> (*decide)(std::string_view state);
  /// Decides once more from a recorded state, by the very function that did. Errors: as decide().
  Result<Explain> (*explain)(const boost::json::value& state);
  Changes changes;
};

/// A decision as one that can fail.
template <class Decision>
Result<Decision> as_result(Decision decision) {
  return decision;
}
template <class Decision>
Result<Decision> as_result(Result<Decision> decision) {
  return decision;
}

/// Algorithm::decide of a function and the reader of its state.
template <auto Read, auto Decide>
Result<std::string> decide_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  const auto state = Read(*json);
  if (!state) return state.error();
  const auto decision = as_result(Decide(*state));
  if (!decision) return decision.error();
  return render_json(to_json(*decision));
}

/// Algorithm::explain of them, where explain(state, decision, about) is there.
template <auto Read, auto Decide>
Result<Explain> explain_state(const boost::json::value& json) {
  auto state = Read(json);
  if (!state) return state.error();
  auto decision = as_result(Decide(*state));
  if (!decision) return decision.error();
  return Explain([state = std::move(*state), decision = std::move(*decision)](const About& about) {
    return explain(state, decision, about);
  });
}

/// The row of a decision, from the function that makes it and the reader of its state.
template <auto Read, auto Decide>
Algorithm algorithm(std::string_view summary, std::string_view help, Changes changes) {
  using State = std::decay_t<decltype(*Read(std::declval<const boost::json::value&>()))>;
  return {State::kAlgorithm,           summary, help, decide_text<Read, Decide>,
          explain_state<Read, Decide>, changes};
}

/// Those of one host; the cluster's follow in cluster/policy/algorithms.h.
[[nodiscard]] const std::vector<Algorithm>& host_algorithms();

/// The one of that name, or null.
[[nodiscard]] const Algorithm* find_algorithm(const std::vector<Algorithm>& all,
                                              std::string_view name);

/// Explains a recorded state, one container at a time, in a sentence each, whatever is wrong with
/// it. `state` is read and decided once.
[[nodiscard]] std::function<std::string(const About&)> sentences_of(const Algorithm& algorithm,
                                                                    std::string_view state);
/// The same about one.
[[nodiscard]] std::string sentence_about(const Algorithm& algorithm, std::string_view state,
                                         const About& about);

}  // namespace flowcon::ctrl::policy
