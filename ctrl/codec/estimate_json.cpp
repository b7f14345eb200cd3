// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/estimate_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_fields.h"

namespace flowcon::ctrl::estimate {
namespace {

constexpr std::size_t kMostNames = 64;  // features or labels of a run, labels in all
constexpr std::size_t kMostRuns = 20'000;
constexpr std::size_t kMostJobs = 10'000;

using LabelNames = std::set<std::string, std::less<>>;

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

Features read_features(FieldReader& reader, std::string_view) {
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

void features(auto& io, auto& features) {
  io.as("features", features, read_features, [](const Features& of) { return to_json(of); });
}

// `known`: the labels in all, so far.
void profile_fields(auto& io, auto& profile, LabelNames& known) {
  using Labels = std::vector<std::pair<std::string, double>>;
  const auto read_labels = [&known](FieldReader& reader, auto) {
    Labels labels;
    each_member(reader, "labels", [&](FieldReader& inner, std::string_view name) {
      labels.emplace_back(name, inner.number(name));
      inner.require(labels.back().second > 0, name, "must be above 0");
      known.emplace(name);
      if (known.size() > kMostNames) inner.complain(name, "is one of more than 64 labels in all");
    });
    return labels;
  };
  io("family", profile.family);
  io("key", profile.key);
  io("age", profile.age);
  features(io, profile.features);
  io.as("labels", profile.labels, read_labels, [](const Labels& of) { return to_json(of); });
}

}  // namespace

static void fields(auto& io, Is<Profile> auto& profile) {
  LabelNames known;
  profile_fields(io, profile, known);
}

static void fields(auto& io, Is<EstimateJob> auto& job) {
  io("id", job.id);
  io("family", job.family);
  io("key", job.key);
  features(io, job.features);
}

static void fields(auto& io, Is<EstimateState> auto& state) {
  LabelNames known;
  io("quantile", state.quantile, 0, 1);
  io("seed", state.seed, FieldReader::kMostCounted);
  if (io.is_longer("history", kMostRuns)) io.complain("history", "must be at most 20000");
  if (io.is_longer("jobs", kMostJobs)) io.complain("jobs", "must be at most 10000");
  io.each("history", state.history,
          [&known](auto& inner, auto& run) { profile_fields(inner, run, known); });
  io("jobs", state.jobs);
  io.require_unique_ids("jobs", state.jobs);
}

Result<EstimateState> estimate_state_from(const json::value& json) {
  return read_json<EstimateState>(json);
}
Result<Profile> profile_from(const json::value& json) { return read_json<Profile>(json); }

json::value to_json(const EstimateState& state) { return fields_json(state); }
json::value to_json(const Profile& profile) { return fields_json(profile); }

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
