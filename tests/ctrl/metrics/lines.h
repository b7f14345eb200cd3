// SPDX-License-Identifier: Apache-2.0
// What an extractor reports on lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ctrl/metrics/extractor.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics::test {

/// `metric` "": it is to be found. Keeps at most `keep` values; 0: all.
inline Report report_on(const std::vector<std::string>& lines, const std::string& metric = "",
                        std::size_t keep = 0) {
  Spec spec;
  spec.metric = metric;
  auto extractor = Extractor::create(spec, keep);
  REQUIRE(extractor.has_value());
  for (const std::string& line : lines) extractor->feed(line, 1);
  return extractor->report();
}

inline std::vector<double> values_of(const Report& report) {
  std::vector<double> values;
  for (const Sample& sample : report.samples) values.push_back(sample.value);
  return values;
}

inline bool is_sure(const Report& report) { return report.count > 0 && report.confidence >= kSure; }

}  // namespace flowcon::ctrl::metrics::test
