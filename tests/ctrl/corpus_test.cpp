// SPDX-License-Identifier: Apache-2.0
// Excerpts of logs as programs print them, tests/corpus/NAME.log, each with what must be found in
// it, NAME.truth.json: metric, goal, values (metric null: nothing to rank a job by), total of the
// job's counter or "unknown", alternatives.
#include <algorithm>
#include <filesystem>

#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

struct Entry {
  std::string name;
  std::string bytes;
  std::vector<Expected> accepted;  ///< none: the log has no metric
};

std::vector<Entry> corpus() {
  std::vector<Entry> entries;
  const std::string suffix = ".truth.json";
  for (const auto& file :
       std::filesystem::directory_iterator(flowcon::test::source_path("tests/corpus"))) {
    const std::string path = file.path().string();
    if (!path.ends_with(suffix)) continue;
    const std::string stem = path.substr(0, path.size() - suffix.size());
    const auto truth = parse_json(read_all(path));
    REQUIRE(truth);
    Entry entry{stem.substr(stem.rfind('/') + 1), read_all(stem + ".log"), {}};
    if (!truth->at("metric").is_null()) {
      entry.accepted = expected_list(truth->at("alternatives"));
      entry.accepted.insert(entry.accepted.begin(), expected_of(*truth));
    }
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace

TEST_CASE("the corpus: the metric is found without its name, and nothing where there is none") {
  const std::vector<Entry> entries = corpus();
  REQUIRE(entries.size() >= 46U);
  for (const Entry& entry : entries) {
    const Report report = report_on(entry.bytes, {});
    INFO(entry.name << ": found " << report.metric << " " << name(report.goal) << " with "
                    << report.samples.size() << " values, confidence " << report.confidence);
    if (entry.accepted.empty()) {
      CHECK((report.metric.empty() || report.confidence < kSure));
    } else {
      CHECK(is_any_series(report, entry.accepted));
      CHECK(report.confidence >= kSure);
    }
  }
}

TEST_CASE("the corpus: the metric is found by its name") {
  for (const Entry& entry : corpus()) {
    if (entry.accepted.empty()) continue;
    Spec spec;
    spec.metric = entry.accepted.front().metric;
    const Report report = report_on(entry.bytes, spec);
    INFO(entry.name << ": asked for " << spec.metric << ", found " << report.metric);
    CHECK(is_series(report, entry.accepted.front()));
  }
}

TEST_CASE("the corpus: a daemon sees the last values of the same series, or none") {
  for (const Entry& entry : corpus()) {
    const Report report = report_on(entry.bytes, {}, 8);
    INFO(entry.name << ": found " << report.metric << ", unsure of " << report.unsure_of);
    if (entry.accepted.empty()) {
      CHECK(report.samples.empty());
      continue;
    }
    CHECK(std::any_of(entry.accepted.begin(), entry.accepted.end(), [&](const Expected& wanted) {
      return report.goal == wanted.goal && !report.samples.empty() &&
             report.count == wanted.values.size() && ends_with_values(wanted, report.samples);
    }));
  }
}

}  // namespace flowcon::ctrl::metrics::test
