// SPDX-License-Identifier: Apache-2.0
// A recorded log and what must be found in it.
#pragma once

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ctrl/logs/framing.h"
#include "ctrl/metrics/extractor.h"

namespace flowcon::ctrl::metrics::test {

inline std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// One series that a log holds.
struct Expected {
  std::string metric;
  Goal goal = Goal::min;
  std::vector<double> values;
};

inline Expected expected_of(const boost::json::value& value) {
  Expected out;
  out.metric = std::string(value.at("metric").as_string());
  out.goal = value.at("goal").as_string() == "max" ? Goal::max : Goal::min;
  for (const auto& number : value.at("values").as_array()) {
    if (!number.is_string()) {
      out.values.push_back(number.to_number<double>());
    } else if (number.as_string() == "nan") {
      out.values.push_back(std::numeric_limits<double>::quiet_NaN());
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      out.values.push_back(number.as_string() == "inf" ? infinity : -infinity);
    }
  }
  return out;
}

inline std::vector<Expected> expected_list(const boost::json::value& list) {
  std::vector<Expected> out;
  for (const auto& value : list.as_array()) out.push_back(expected_of(value));
  return out;
}

/// The report on `bytes`, fed in blocks of `block` bytes.
inline Report report_on(const std::string& bytes, const Spec& spec, std::size_t keep = 0,
                        std::size_t block = 1 << 20) {
  Extractor extractor = *Extractor::create(spec, keep);
  logs::LineSplitter lines([&](const logs::Line& line) { extractor.feed(line.text, line.time); });
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    lines.feed(std::string_view(bytes).substr(at, block), 0, false);
  }
  lines.finish();
  return extractor.report();
}

/// The last `values.size()` values of `wanted` are those of the report, bit for bit, NaN like NaN.
inline bool ends_with_values(const Expected& wanted, const std::vector<Sample>& samples) {
  if (samples.size() > wanted.values.size()) return false;
  const std::size_t skip = wanted.values.size() - samples.size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double a = wanted.values[skip + i];
    const double b = samples[i].value;
    if (!(a == b || (std::isnan(a) && std::isnan(b)))) return false;
  }
  return true;
}

inline bool is_series(const Report& report, const Expected& wanted) {
  return report.goal == wanted.goal && report.samples.size() == wanted.values.size() &&
         ends_with_values(wanted, report.samples);
}

inline bool is_any_series(const Report& report, const std::vector<Expected>& wanted) {
  for (const Expected& one : wanted) {
    if (is_series(report, one)) return true;
  }
  return false;
}

}  // namespace flowcon::ctrl::metrics::test
