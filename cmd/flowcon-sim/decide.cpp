// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/decide.h"

#include <boost/json/object.hpp>
#include <utility>
#include <variant>

#include "base/json.h"
#include "cluster/codec/allocate_json.h"
#include "cluster/solver/cbc.h"

namespace flowcon::sim {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;

void append_answer(std::string& out, const Decide& decide, std::string_view line) {
  const Result<std::string> decision = decide(line);
  out += decision ? *decision
                  : render_json(boost::json::object{{"error", decision.error().message()}});
  out += '\n';
}

}  // namespace

Decide with_cbc(int seconds) {
  namespace policy = cluster::policy;
  return [seconds](std::string_view text) -> Result<std::string> {
    const auto json = parse_json(text);
    if (!json) return json.error();
    const Result<policy::AllocateState> state = policy::allocate_state_from(*json);
    if (!state) return state.error();
    policy::AllocateDecision decision = policy::decide_allocate(*state);
    if (auto* horizon = std::get_if<policy::HorizonDecision>(&decision)) {
      Result<policy::HorizonDecision> better = cluster::solver::improve_by_cbc(
          std::get<policy::HorizonState>(*state), std::move(*horizon), seconds);
      if (!better) return better.error();
      *horizon = std::move(*better);
    }
    return render_json(policy::to_json(decision));
  };
}

Result<void> decide_one(const Decide& decide, const Source& source, const Sink& sink) {
  std::string state;
  std::string chunk(kReadBytes, '\0');
  for (;;) {
    const Result<std::size_t> got = source(chunk.data(), chunk.size());
    if (!got) return got.error();
    if (*got == 0) break;
    state.append(chunk, 0, *got);
  }
  Result<std::string> decision = decide(state);
  if (!decision) return decision.error();
  *decision += '\n';
  return sink(*decision);
}

Result<void> decide_lines(const Decide& decide, const Source& source, const Sink& sink) {
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
        append_answer(answers, decide, unread.substr(0, end));
      } else {
        rest.append(unread.substr(0, end));
        append_answer(answers, decide, rest);
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
  append_answer(answers, decide, rest);
  return sink(answers);
}

}  // namespace flowcon::sim
