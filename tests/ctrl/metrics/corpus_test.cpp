// SPDX-License-Identifier: Apache-2.0
// Excerpts of what programs print, in tests/corpus: NAME.log and NAME.truth.json with the metric
// (null: none), its goal and series, alternatives, and the total of the job's counter ("unknown";
// other_totals: as right).
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "ctrl/metrics/collector.h"
#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

namespace fs = std::filesystem;

struct Program {
  std::string name;
  std::string bytes;
  bool has_metric = false;
  std::vector<Expected> right;  ///< any of these
  std::vector<double> totals;   ///< 0 = unknown
};

std::vector<Program> all_programs() {
  std::vector<Program> programs;
  const std::string suffix = ".truth.json";
  for (const auto& entry : fs::directory_iterator(flowcon::test::source_path("tests/corpus"))) {
    const std::string path = entry.path().string();
    if (!path.ends_with(suffix)) continue;
    const auto parsed = parse_json(read_all(path));
    REQUIRE(parsed);
    const boost::json::object& truth = parsed->as_object();
    Program program;
    program.name = entry.path().filename().string();
    program.bytes = read_all(path.substr(0, path.size() - suffix.size()) + ".log");
    program.has_metric = !truth.at("metric").is_null();
    if (program.has_metric) program.right.push_back(expected_of(*parsed));
    if (const auto* others = truth.if_contains("alternatives")) {
      for (const Expected& other : expected_list(*others)) program.right.push_back(other);
    }
    const auto& total = truth.at("total");
    program.totals.push_back(total.is_string() ? 0 : total.to_number<double>());
    if (const auto* others = truth.if_contains("other_totals")) {
      for (const auto& other : others->as_array())
        program.totals.push_back(other.to_number<double>());
    }
    programs.push_back(std::move(program));
  }
  std::sort(programs.begin(), programs.end(),
            [](const Program& a, const Program& b) { return a.name < b.name; });
  return programs;
}

bool holds(const std::vector<double>& totals, double total) {
  return std::find(totals.begin(), totals.end(), total) != totals.end();
}

struct Score {
  void add(const std::string& name, bool is_right) {
    ++all;
    right += is_right;
    if (!is_right) missed += " " + name;
  }
  [[nodiscard]] double percent() const { return 100.0 * right / all; }
  int all = 0;
  int right = 0;
  std::string missed;
};

double total_of(const std::optional<Counter>& counter) { return counter ? counter->total : 0; }

}  // namespace

TEST_CASE("the total of every program's counter is found") {
  const std::vector<Program> programs = all_programs();
  REQUIRE(programs.size() >= 20U);
  for (const Program& program : programs) {
    const Report report = report_on(program.bytes, {});
    INFO(program.name << ": total " << total_of(report.counter));
    CHECK(holds(program.totals, total_of(report.counter)));
  }
}

TEST_CASE("at no line does another counter speak for the job, of nearly all programs") {
  Score score;
  for (const Program& program : all_programs()) {
    double wrong = 0;
    for (const bool is_bounded : {false, true}) {
      Collector collector("", is_bounded ? kKeptSamples : 0);
      logs::LineSplitter splitter([&](const logs::Line& line) {
        collector.feed(line.text, line.time);
        const double total = total_of(collector.progress().result());
        if (total != 0 && wrong == 0 && !holds(program.totals, total)) wrong = total;
      });
      splitter.feed(program.bytes, 0, false);
      splitter.finish();
    }
    score.add(program.name, wrong == 0);
  }
  INFO(score.missed);
  CHECK(score.percent() >= 95);
}

TEST_CASE("the metric of nearly every program is found, and none is sure where there is none") {
  Score score;
  for (const Program& program : all_programs()) {
    const Report report = report_on(program.bytes, {});
    const bool is_sure = report.count > 0 && report.confidence >= kSure;
    score.add(program.name, is_sure == program.has_metric &&
                                (!program.has_metric || is_any_series(report, program.right)));
  }
  INFO(score.missed);
  CHECK(score.percent() >= 94);
}

TEST_CASE("the metric of nearly every program is found by its name") {
  Score score;
  for (const Program& program : all_programs()) {
    if (!program.has_metric) continue;
    Spec spec;
    spec.metric = program.right.front().metric;
    score.add(program.name, is_series(report_on(program.bytes, spec), program.right.front()));
  }
  INFO(score.missed);
  CHECK(score.percent() >= 94);
}

TEST_CASE("a daemon sees the last values of the same series, or none") {
  Score score;
  for (const Program& program : all_programs()) {
    const Report report = report_on(program.bytes, {}, 8);
    const auto is_seen = [&report](const Expected& wanted) {
      return report.goal == wanted.goal && !report.samples.empty() &&
             report.count == wanted.values.size() && ends_with_values(wanted, report.samples);
    };
    score.add(program.name, program.has_metric
                                ? std::any_of(program.right.begin(), program.right.end(), is_seen)
                                : report.samples.empty());
  }
  INFO(score.missed);
  CHECK(score.percent() >= 90);
}

}  // namespace flowcon::ctrl::metrics::test
