// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/decisions.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/policy/algorithms.h"

namespace flowcon::cluster::queue {

namespace json = boost::json;

void Decisions::note(About about, double time, const std::vector<std::string>& jobs,
                     std::shared_ptr<const ctrl::policy::Round> round) {
  for (const std::string& job : jobs) all_[job][about] = {time, round};
}

void Decisions::keep(const std::set<std::string_view>& jobs) {
  std::erase_if(all_, [&jobs](const auto& one) { return !jobs.contains(one.first); });
}

json::value Decisions::view_of(const Decided& decided, const std::string& job) {
  const ctrl::policy::Round& round = *decided.round;
  json::object out{{"time", decided.time}, {"algorithm", round.algorithm}};
  const Result<json::value> state = parse_json(round.state);
  const Result<json::value> decision = parse_json(round.decision);
  out["state"] = state ? *state : json::value(nullptr);
  out["decision"] = decision ? *decision : json::value(nullptr);
  const ctrl::policy::Algorithm* algorithm = policy::find_algorithm(round.algorithm);
  ctrl::policy::About about;
  about.id = job;
  out["sentence"] =
      algorithm == nullptr ? "" : ctrl::policy::sentence_about(*algorithm, round.state, about);
  return out;
}

json::object Decisions::about(const std::string& job) const {
  json::object out{{"decision", nullptr}, {"placement", nullptr}};
  const auto found = all_.find(job);
  if (found == all_.end()) return out;
  for (const auto& [about, decided] : found->second) {
    out[about == About::order ? "decision" : "placement"] = view_of(decided, job);
  }
  return out;
}

json::object decisions_in(std::string_view text) {
  json::object out{{"decision", nullptr}, {"placement", nullptr}};
  const Result<json::value> said = parse_json(text);
  for (auto& told : out) {
    if (said && member(*said, told.key()).is_object()) told.value() = member(*said, told.key());
  }
  return out;
}

}  // namespace flowcon::cluster::queue
