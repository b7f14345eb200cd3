// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/decide.h"

#include <boost/json/object.hpp>

#include "base/json.h"
#include "cluster/codec/decision_json.h"
#include "cluster/policy/categorise.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/speculate.h"
#include "cluster/policy/steer.h"
#include "ctrl/codec/decision_json.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/policy/executor.h"
#include "ctrl/policy/milestone.h"

namespace flowcon::sim {
namespace {

namespace host = ctrl::policy;
namespace cluster = flowcon::cluster::policy;

constexpr std::size_t kReadBytes = 256 * 1024;

template <auto Read, auto Decide>
Result<std::string> decided(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  const auto state = Read(*json);
  if (!state) return state.error();
  return render_json(to_json(Decide(*state)));
}

void append_answer(std::string& out, const Algorithm& algorithm, std::string_view line) {
  const Result<std::string> decision = algorithm.decide(line);
  out += decision ? *decision
                  : render_json(boost::json::object{{"error", decision.error().message()}});
  out += '\n';
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms{
      {"executor", "lists, limits and the next interval (FlowCon, Algorithm 1)",
       decided<host::executor_state_from, host::decide_executor>},
      {"listener", "containers that came and went (FlowCon, Algorithm 2)",
       decided<host::listener_state_from, host::decide_listener>},
      {"milestone", "ranks and shares of a host's containers (ours)",
       decided<host::milestone_state_from, host::decide_milestone>},
      {"categorise", "categories of a host's containers, who asks to move (SpeCon, Algorithm 3)",
       decided<cluster::categorise_state_from, cluster::decide_categorise>},
      {"speculate", "the host for a container that asks to move (SpeCon, Algorithm 4)",
       decided<cluster::speculate_state_from, cluster::decide_speculate>},
      {"rebalance", "moves that even out the hosts (SpeCon, Algorithm 5)",
       decided<cluster::rebalance_state_from, cluster::decide_rebalance>},
      {"balance", "moves by the work that is left on each host (ours)",
       decided<cluster::steer_state_from, cluster::decide_steer>},
  };
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

Result<void> decide_one(const Algorithm& algorithm, const Source& source, const Sink& sink) {
  std::string state;
  std::string chunk(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> got = source(chunk.data(), chunk.size());
    if (!got) return got.error();
    if (*got == 0) break;
    state.append(chunk, 0, *got);
  }
  Result<std::string> decision = algorithm.decide(state);
  if (!decision) return decision.error();
  *decision += '\n';
  return sink(*decision);
}

Result<void> decide_lines(const Algorithm& algorithm, const Source& source, const Sink& sink) {
  std::string rest;  // the beginning of a line whose end has not been read
  std::string answers;
  std::string chunk(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> got = source(chunk.data(), chunk.size());
    if (!got) return got.error();
    if (*got == 0) break;
    std::string_view unread(chunk.data(), *got);
    // Only the new bytes are searched: a line of any length is read in linear time.
    for (std::size_t end = unread.find('\n'); end != std::string_view::npos;
         end = unread.find('\n')) {
      if (rest.empty()) {
        append_answer(answers, algorithm, unread.substr(0, end));
      } else {
        rest.append(unread.substr(0, end));
        append_answer(answers, algorithm, rest);
        rest.clear();
      }
      unread.remove_prefix(end + 1);
    }
    rest.append(unread);
    if (answers.empty()) continue;
    if (Result<void> written = sink(answers); !written) return written;
    answers.clear();
  }
  if (rest.empty()) return {};
  append_answer(answers, algorithm, rest);
  return sink(answers);
}

}  // namespace flowcon::sim
