// SPDX-License-Identifier: Apache-2.0
// The short ways, of a settled choice and of a job that runs, give exactly what the long way gives.
#include <filesystem>
#include <sstream>

#include "ctrl/metrics/choose.h"
#include "ctrl/metrics/collector.h"
#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  logs::LineSplitter splitter([&](const logs::Line& line) { lines.emplace_back(line.text); });
  splitter.feed(read_all(path), 0, false);
  splitter.finish();
  return lines;
}

/// Feeds `lines`; chooses after the first third and, if asked, settles there. Gives the chosen
/// series' samples and the counter. `settled` says whether it came to that.
struct Outcome {
  std::vector<Sample> samples;
  std::optional<Counter> counter;
  bool settled = false;
};

Outcome outcome_of(const std::vector<std::string>& lines, bool settle) {
  Collector collector("", 0);
  Outcome outcome;
  const Series* chosen = nullptr;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == lines.size() / 3) {
      const auto ranked = rank_candidates(collector.series(), collector.query());
      if (ranked.empty()) return outcome;
      chosen = ranked.front().series;
    }
    if (i >= lines.size() / 3) collector.favour(chosen);
    if (i == lines.size() / 3 && settle) outcome.settled = collector.settle();
    collector.feed(lines[i], static_cast<double>(i));
  }
  outcome.samples = chosen->samples();
  outcome.counter = collector.progress().result();
  return outcome;
}

bool is_same(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i].value) && std::isnan(b[i].value);
    if (a[i].time != b[i].time || (a[i].value != b[i].value && !both_nan)) return false;
  }
  return true;
}

/// Compares both ways on every log of a folder; returns how many settled.
int compare_folder(const std::string& folder) {
  int settled = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".log")) continue;
    const std::vector<std::string> lines = lines_of(path);
    const Outcome fast = outcome_of(lines, true);
    const Outcome slow = outcome_of(lines, false);
    if (!fast.settled) continue;
    ++settled;
    INFO(path << ": " << fast.samples.size() << " and " << slow.samples.size() << " values");
    CHECK(is_same(fast.samples, slow.samples));
  }
  return settled;
}

/// All that a running job's collector knows after `lines`, as text; by plans, or without any.
std::string known_of(const std::vector<std::string>& lines, const std::string& metric,
                     bool has_plans) {
  Collector collector(metric, 64);
  if (!has_plans) collector.remember_refused();
  std::ostringstream text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    collector.feed(lines[i], static_cast<double>(i));
    if (i % 16 != 0) continue;
    const auto ranked = rank_candidates(collector.series(), collector.query());
    collector.favour(ranked.empty() ? nullptr : ranked.front().series);
  }
  for (const auto& series : collector.series()) {
    text << series->traits.name << ' ' << series->added << ' ' << series->integers << ' '
         << series->rises << ' ' << series->first_line << ' ' << series->last_line << ' '
         << series->low << ' ' << series->high << ' ' << series->count();
    for (const Sample& sample : series->samples())
      text << ' ' << sample.time << '=' << sample.value;
    text << '\n';
  }
  const std::optional<Counter> counter = collector.progress().result();
  if (counter) text << counter->done << '/' << counter->total;
  return text.str();
}

int compare_running(const std::string& folder) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".log")) continue;
    ++compared;
    const std::vector<std::string> lines = lines_of(path);
    for (const char* metric : {"", "loss"}) {
      INFO(path << " " << metric);
      CHECK(known_of(lines, metric, true) == known_of(lines, metric, false));
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("the plans of a running job's lines lose no value and no counter") {
  CHECK(compare_running(flowcon::test::source_path("tests/ctrl/metrics/data")) > 30);
  const std::string recorded = flowcon::test::shared_path("logs");
  if (std::filesystem::is_directory(recorded)) CHECK(compare_running(recorded) > 20);
}

TEST_CASE("a plan whose series had to go is made anew") {
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i) {
    const std::string name(1, static_cast<char>('a' + i % 26));
    lines.push_back("step " + std::to_string(i) + " loss " + std::to_string(1.0 / (i + 1)) + " " +
                    name + "_" + name + std::string(1, static_cast<char>('a' + i / 26)) + " 0.5");
  }
  CHECK(known_of(lines, "", true) == known_of(lines, "", false));
}

TEST_CASE("a settled choice loses no value") {
  CHECK(compare_folder(flowcon::test::source_path("tests/ctrl/metrics/data")) > 30);
  const std::string recorded = flowcon::test::shared_path("logs");
  if (std::filesystem::is_directory(recorded)) CHECK(compare_folder(recorded) > 20);
}

TEST_CASE("shapes tell lines apart that are read differently") {
  const auto hash = [](const char* line) {
    LineShape shape;
    REQUIRE(read_shape(line, shape));
    return shape.hash;
  };
  CHECK(hash("step 1 loss 0.5") == hash("step 200 loss 10.25"));
  CHECK(hash("step 1 loss 0.5") != hash("step 1 loss 5e-05"));
  CHECK(hash("step 1 loss 0.5") != hash("step 1 loss -0.5"));
  CHECK(hash("top1 0.5") != hash("top5 0.5"));
  CHECK(hash("12:30 loss 1") != hash("1:30 loss 1"));
  CHECK(hash("{\"layer 1\": 0.5}") != hash("{\"layer 2\": 0.5}"));
  LineShape shape;
  CHECK_FALSE(read_shape("Acc@1 0.5", shape));
  CHECK_FALSE(read_shape("loss 1,234.5", shape));
}

TEST_CASE("a long log settles and keeps every value and the counter") {
  Extractor extractor = *Extractor::create({}, 0);
  constexpr int kLines = 120000;
  for (int i = 0; i < kLines; ++i) {
    if (i % 4 == 0) {
      extractor.feed("Epoch " + std::to_string(i / 1200 + 1) + "/100", i);
      extractor.feed(
          "batch " + std::to_string(i % 1200) + " loss " + std::to_string(1.0 + 1.0 / (i + 1)), i);
    } else {
      extractor.feed("worker " + std::to_string(i) + " ready", i);
    }
  }
  CHECK_FALSE(extractor.needed_words().empty());
  const Report report = extractor.report();
  CHECK(report.metric == "loss");
  CHECK(report.count == kLines / 4);
  REQUIRE(report.counter);
  CHECK(report.counter->done == 100);
}

}  // namespace flowcon::ctrl::metrics::test
