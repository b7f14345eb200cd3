// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/decisions.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/policy/algorithms.h"

namespace flowcon::cluster::queue {

namespace json = boost::json;

namespace {

bool is_large(const ctrl::policy::Round& round) {
  return round.state.size() + round.decision.size() > Decisions::kMostShown;
}

}  // namespace

void Decisions::note(About about, double time, const std::vector<std::string>& jobs,
                     ctrl::policy::Round round, const std::vector<std::string>& sentences) {
  if (!sentences.empty() && is_large(round)) round.state = round.decision = "null";
  const auto kept = std::make_shared<Explained>(Explained{std::move(round), {}});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    all_[jobs[i]][about] = {time, kept, i < sentences.size() ? sentences[i] : ""};
  }
}

void Decisions::keep(const std::set<std::string_view>& jobs) {
  std::erase_if(all_, [&jobs](const auto& one) { return !jobs.contains(one.first); });
}

json::value Decisions::view_of(const Decided& decided, const std::string& job) {
  const ctrl::policy::Round& round = decided.kept->round;
  const auto shown = [&round](const std::string& text) -> json::value {
    const Result<json::value> read = parse_json(text);
    return read && !is_large(round) ? *read : json::value(nullptr);
  };
  json::object out{{"time", decided.time}, {"algorithm", round.algorithm}};
  out["state"] = shown(round.state);
  out["decision"] = shown(round.decision);
  out["sentence"] = decided.sentence;
  const ctrl::policy::Algorithm* algorithm = policy::find_algorithm(round.algorithm);
  if (!decided.sentence.empty() || algorithm == nullptr) return out;
  auto& say = decided.kept->say;
  if (!say) say = ctrl::policy::sentences_of(*algorithm, round.state);
  ctrl::policy::About about;
  about.id = job;
  out["sentence"] = say(about);
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
