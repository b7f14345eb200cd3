// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/estimate_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"

namespace flowcon::ctrl::estimate {
namespace {

constexpr std::size_t kMostNames = 64;  // features or labels of a run, labels in all
constexpr std::size_t kMostRuns = 20'000;
constexpr std::size_t kMostJobs = 10'000;
constexpr std::int64_t kMostSeed = std::int64_t{1} << 53;

// Calls read(inner, name) for each member of the object `field`.
template <class Read>
void each_member(FieldReader& reader, const char* field, Read read) {
  FieldReader inner(reader.member(field), reader.place(field));
  const json::object& members = object_of(reader.member(field));
  if (members.size() > kMostNames) reader.complain(field, "must be at most 64");
  for (const auto& member : members) {
    if (inner.failed() || reader.failed()) break;
    read(inner, member.key());
  }
  reader.take_complaint(inner);
}

Features read_features(FieldReader& reader) {
  Features features;
  each_member(reader, "features", [&](FieldReader& inner, std::string_view name) {
    const json::value& value = inner.member(name);
    inner.require(value.is_number() || value.is_string(), name, "must be a number or a string");
    if (value.is_string()) {
      features.emplace_back(name, inner.text(name));
    } else {
      features.emplace_back(name, inner.number(name));
    }
  });
  return features;
}

Profile read_profile(FieldReader& reader, std::set<std::string, std::less<>>& labels) {
  Profile profile;
  profile.family = reader.text("family");
  profile.key = reader.text("key");
  profile.age = reader.number("age");
  profile.features = read_features(reader);
  each_member(reader, "labels", [&](FieldReader& inner, std::string_view name) {
    profile.labels.emplace_back(name, inner.number(name));
    inner.require(profile.labels.back().second > 0, name, "must be above 0");
    labels.emplace(name);
    if (labels.size() > kMostNames) inner.complain(name, "is one of more than 64 labels in all");
  });
  return profile;
}

EstimateJob read_job(FieldReader& reader) {
  EstimateJob job;
  job.id = reader.text("id");
  job.family = reader.text("family");
  job.key = reader.text("key");
  job.features = read_features(reader);
  return job;
}

}  // namespace

Result<EstimateState> estimate_state_from(const json::value& json) {
  FieldReader reader(json, "");
  EstimateState state;
  state.quantile = reader.number("quantile", 0, 1);
  state.seed = static_cast<std::uint64_t>(reader.count("seed", kMostSeed));
  if (reader.array("history").size() > kMostRuns) {
    reader.complain("history", "must be at most 20000");
  }
  if (reader.array("jobs").size() > kMostJobs) reader.complain("jobs", "must be at most 10000");
  std::set<std::string, std::less<>> labels;
  state.history =
      reader.each("history", [&labels](FieldReader& run) { return read_profile(run, labels); });
  state.jobs = reader.each("jobs", read_job);
  reader.require_unique_ids("jobs", state.jobs);
  if (reader.failed()) return reader.error();
  return state;
}

Result<Profile> profile_from(const json::value& json) {
  FieldReader reader(json, "");
  std::set<std::string, std::less<>> labels;
  Profile profile = read_profile(reader, labels);
  if (reader.failed()) return reader.error();
  return profile;
}

json::value to_json(const Features& features) {
  json::object object;
  for (const auto& [name, value] : features) {
    std::visit([&object, &name = name](const auto& of) { object.emplace(name, of); }, value);
  }
  return object;
}

json::value to_json(const std::vector<std::pair<std::string, double>>& labels) {
  json::object object;
  for (const auto& [name, value] : labels) object.emplace(name, value);
  return object;
}

json::value to_json(const Profile& profile) {
  return json::object{{"family", profile.family},
                      {"key", profile.key},
                      {"age", profile.age},
                      {"features", to_json(profile.features)},
                      {"labels", to_json(profile.labels)}};
}

json::value to_json(const EstimateState& state) {
  json::array history = rendered(state.history, [](const Profile& run) { return to_json(run); });
  json::array jobs = rendered(state.jobs, [](const EstimateJob& job) {
    return json::object{{"id", job.id},
                        {"family", job.family},
                        {"key", job.key},
                        {"features", to_json(job.features)}};
  });
  return json::object{{"quantile", state.quantile},
                      {"seed", state.seed},
                      {"history", std::move(history)},
                      {"jobs", std::move(jobs)}};
}

json::value to_json(const std::vector<LabelEstimate>& labels) {
  json::object object;
  for (const LabelEstimate& estimate : labels) {
    object.emplace(estimate.label, json::object{{"expected", number_or_null(estimate.expected)},
                                                {"upper", number_or_null(estimate.upper)},
                                                {"basis", name(estimate.basis)},
                                                {"rows", estimate.rows}});
  }
  return object;
}

json::value to_json(const EstimateDecision& decision) {
  json::array jobs = rendered(decision.jobs, [](const JobEstimate& job) {
    return json::object{{"id", job.id}, {"labels", to_json(job.labels)}};
  });
  return json::object{{"jobs", std::move(jobs)}};
}

}  // namespace flowcon::ctrl::estimate
