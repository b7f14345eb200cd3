// SPDX-License-Identifier: Apache-2.0
#include "cluster/network.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <tuple>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster {

std::string refusal_of(const Answer& answer) {
  constexpr std::size_t kLongest = 400;
  const std::string said = text_in(answer.body, "error");
  return said.empty() ? "it answers with status " + std::to_string(answer.status)
                      : printable(said, kLongest);
}

std::string passed_call(const std::string& method, const std::string& target,
                        const std::string& body, std::int64_t hops) {
  return render_json({{"method", method}, {"target", target}, {"body", body}, {"hops", hops}});
}

ctrl::api::Response passed_answer(const Answer& answer, const std::string& there,
                                  bool is_forwarded) {
  using ctrl::api::failure;
  const Result<json::value> said = parse_json(answer.body);
  if (!said || !said->is_object()) return failure(502, there + " answers no JSON object");
  if (answer.status >= 400) {
    return failure(answer.status, there + ": " + printable(text_of(*said, "error"), 500));
  }
  json::object out = said->get_object();
  // Of several hosts on the way the last one is it.
  if (is_forwarded && !out.contains("forwarded_to")) out["forwarded_to"] = valid_utf8(there);
  return ctrl::api::answer_with(out, answer.status);
}

const Member& coordinator_of(const std::vector<Member>& members) {
  return *std::min_element(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.name, a.id) < std::tie(b.name, b.id);
  });
}

Member coordinator(const Network& network, bool of_jobs) {
  std::vector<Member> members{{network.own_name(), network.own_id()}};
  for (const Neighbour& neighbour : network.neighbours()) {
    if (!neighbour.is_reachable || !neighbour.state) continue;
    const peers::State& state = *neighbour.state;
    if (!of_jobs || (state.runs_jobs && !state.queue_waits))
      members.push_back({neighbour.state->name, neighbour.id});
  }
  const auto leaders = network.leaders();
  if (!leaders) return coordinator_of(members);
  for (const Member& member : members) {
    if (!leaders->empty() && member.id == leaders->front()) return member;
  }
  return {"the swarm's leader, which is not reached,", ""};
}

bool follows(const Network& network, const std::string& id, bool of_jobs) {
  const auto leaders = network.leaders();
  if (!leaders) return coordinator(network, of_jobs).id == id;
  return std::find(leaders->begin(), leaders->end(), id) != leaders->end();
}

std::string name_of_host(const Network& network, const std::string& id) {
  for (const Neighbour& one : network.neighbours()) {
    if (one.id == id) return one.name;
  }
  return id == network.own_id() ? network.own_name() : id.substr(0, 12);
}

Result<std::string> speaker_id(const Network& network, const std::string& from) {
  if (from.empty()) {
    return bad_input(
        "this host does not know whose key that is: run docker flowcon peer add once more");
  }
  for (const Neighbour& neighbour : network.neighbours()) {
    if (neighbour.name != from) continue;
    if (!neighbour.id.empty()) return neighbour.id;
    return bad_input(printable(from, 80) + " has not been reached from here yet");
  }
  return bad_input(printable(from, 80) + " is no peer of this host: docker flowcon peer add");
}

}  // namespace flowcon::cluster
