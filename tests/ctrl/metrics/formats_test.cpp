// SPDX-License-Identifier: Apache-2.0
// Logs in the formats of ninety programs, written by data/make_logs.py.
#include <algorithm>
#include <filesystem>

#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

const std::string kData = flowcon::test::source_path("tests/ctrl/metrics/data/");

struct Format {
  std::string name;
  std::string bytes;
  std::vector<Expected> accept;
  std::vector<Expected> named;
  boost::json::value progress;
};

std::vector<Format> all_formats() {
  std::vector<Format> formats;
  for (const auto& entry : std::filesystem::directory_iterator(kData)) {
    const std::string path = entry.path().string();
    const std::string suffix = ".expected.json";
    if (!path.ends_with(suffix)) continue;
    const std::string stem = path.substr(0, path.size() - suffix.size());
    const auto expected = parse_json(read_all(path));
    REQUIRE(expected);
    formats.push_back({stem.substr(kData.size()), read_all(stem + ".log"),
                       expected_list(expected->at("accept")), expected_list(expected->at("named")),
                       expected->at("progress")});
  }
  std::sort(formats.begin(), formats.end(),
            [](const Format& a, const Format& b) { return a.name < b.name; });
  return formats;
}

}  // namespace

TEST_CASE("the metric of every known format is found without its name") {
  const std::vector<Format> formats = all_formats();
  REQUIRE(formats.size() >= 90U);
  for (const Format& format : formats) {
    const Report report = report_on(format.bytes, {});
    INFO(format.name << ": found " << report.metric << " with " << report.samples.size()
                     << " values");
    CHECK(is_any_series(report, format.accept));
  }
}

TEST_CASE("a named metric is found in every known format") {
  for (const Format& format : all_formats()) {
    for (const Expected& wanted : format.named) {
      Spec spec;
      spec.metric = wanted.metric;
      const Report report = report_on(format.bytes, spec);
      INFO(format.name << ": asked for " << wanted.metric << ", found " << report.metric << " with "
                       << report.samples.size() << " values of " << wanted.values.size());
      CHECK(is_series(report, wanted));
    }
  }
}

TEST_CASE("the progress counter of every known format is found") {
  for (const Format& format : all_formats()) {
    if (format.progress.is_null()) continue;
    const Report report = report_on(format.bytes, {});
    INFO(format.name);
    REQUIRE(report.counter);
    CHECK(report.counter->done == format.progress.at("done").to_number<double>());
    CHECK(report.counter->total == format.progress.at("total").to_number<double>());
  }
}

TEST_CASE("the cut of the bytes makes no difference") {
  for (const Format& format : all_formats()) {
    const Report whole = report_on(format.bytes, {});
    const Report pieces = report_on(format.bytes, {}, 0, 7);
    INFO(format.name);
    CHECK(pieces.metric == whole.metric);
    CHECK(pieces.samples.size() == whole.samples.size());
    CHECK(pieces.candidates.size() == whole.candidates.size());
  }
}

TEST_CASE("a bounded extractor ends with the last values of a right series") {
  for (const Format& format : all_formats()) {
    const Report report = report_on(format.bytes, {}, 8);
    INFO(format.name << ": found " << report.metric);
    CHECK(report.samples.size() <= 8);
    CHECK(std::any_of(format.accept.begin(), format.accept.end(), [&](const Expected& wanted) {
      return report.goal == wanted.goal && !report.samples.empty() &&
             report.count == wanted.values.size() && ends_with_values(wanted, report.samples);
    }));
  }
}

}  // namespace flowcon::ctrl::metrics::test
