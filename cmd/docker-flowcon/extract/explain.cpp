// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/extract/explain.h"

#include <array>
#include <boost/json/array.hpp>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::plugin {
namespace {

using ctrl::metrics::Explained;
using ctrl::metrics::Explanation;
using ctrl::metrics::Reason;
using ctrl::metrics::Refused;

constexpr std::size_t kNameBytes = 64;

// "+9.5", "-0.7": the sign always shows.
std::string points_text(double points) {
  std::array<char, 32> out{};
  const int length = std::snprintf(out.data(), out.size(), "%+.3g", points);
  return {out.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string times_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " time" : " times");
}

std::string candidate_line(const Explained& candidate) {
  std::string line = printable(candidate.metric, kNameBytes) + ", " + times_text(candidate.count) +
                     ", " + ctrl::name(candidate.goal) + " " + candidate.direction + ", score " +
                     render_number(std::round(candidate.score * 100) / 100) + ": ";
  bool is_first = true;
  for (const Reason& reason : candidate.reasons) {
    line += (is_first ? "" : "; ") + points_text(reason.points) + " " + reason.text;
    is_first = false;
  }
  return line + "\n";
}

double rounded(double score) { return std::round(score * 1000) / 1000; }

}  // namespace

std::string explanation_text(const Explanation& explanation, const ExtractOptions& options) {
  std::string out = "WHY\n";
  if (!options.pattern.empty()) {
    out += "The pattern selects the values. Without it:\n";
  } else if (!options.metric.empty()) {
    out += "Only what fits the name \"" + printable(options.metric) + "\" counts:\n";
  }
  for (const Explained& candidate : explanation.candidates) out += candidate_line(candidate);
  for (const Refused& refused : explanation.refused) {
    out += printable(refused.name, kNameBytes) + ", " + times_text(refused.count) +
           ", no candidate: " + printable(refused.text) + "\n";
  }
  return out;
}

boost::json::object explanation_json(const Explanation& explanation) {
  boost::json::array candidates;
  for (const Explained& candidate : explanation.candidates) {
    boost::json::array reasons;
    for (const Reason& reason : candidate.reasons) {
      reasons.push_back(
          boost::json::object{{"points", rounded(reason.points)}, {"text", reason.text}});
    }
    candidates.push_back(boost::json::object{{"metric", valid_utf8(candidate.metric)},
                                             {"goal", ctrl::name(candidate.goal)},
                                             {"direction", candidate.direction},
                                             {"score", rounded(candidate.score)},
                                             {"count", candidate.count},
                                             {"reasons", std::move(reasons)}});
  }
  boost::json::array refused;
  for (const Refused& name : explanation.refused) {
    refused.push_back(boost::json::object{
        {"name", valid_utf8(name.name)}, {"text", valid_utf8(name.text)}, {"count", name.count}});
  }
  return {{"candidates", std::move(candidates)}, {"refused", std::move(refused)}};
}

}  // namespace flowcon::plugin
