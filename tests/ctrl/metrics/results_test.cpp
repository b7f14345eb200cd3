// SPDX-License-Identifier: Apache-2.0
// What programs that do not learn print like a metric; values and totals that a training prints in
// other shapes than most.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ctrl/metrics/extractor.h"
#include "ctrl/metrics/names.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

Report report_on(const std::vector<std::string>& lines, const std::string& metric = "") {
  Spec spec;
  spec.metric = metric;
  auto extractor = Extractor::create(spec, 0);
  REQUIRE(extractor.has_value());
  for (const std::string& line : lines) extractor->feed(line, 1);
  return extractor->report();
}

bool is_sure(const std::vector<std::string>& lines) {
  const Report report = report_on(lines);
  return report.count > 0 && report.confidence >= kSure;
}

std::string number(double value) { return std::to_string(value); }

/// 0 to 1, without order.
double any(int i) { return (i * 37 % 89) / 88.0; }

std::vector<std::string> lines_of(int count, const std::function<std::string(int)>& line) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) lines.push_back(line(i));
  return lines;
}

}  // namespace

TEST_CASE("a few results that nothing counts are not sure, a few values of a training are") {
  CHECK_FALSE(is_sure({R"( "score": 31.4,)", R"( "score": 30.9,)", R"( "score": 30.2,)"}));
  const auto samples =
      lines_of(6, [](int i) { return "Sample " + number(i * i) + " (CER: " + number(i) + "%)"; });
  CHECK_FALSE(is_sure(samples));
  CHECK_FALSE(is_sure(lines_of(10, [](int i) {
    return "pair " + number(any(i)) + " psnr: " + number(20 + 9 * any(i + 3));
  })));
  CHECK_FALSE(is_sure(lines_of(
      26, [](int i) { return "Optimal:  Objective = " + number(4e3 + 1e4 * any(i) + 300 * i); })));
  CHECK(is_sure(lines_of(6, [](int i) { return "val accuracy: " + number(0.9 + 0.01 * i); })));
  CHECK(is_sure({"epoch 1 loss 0.9", "epoch 2 loss 0.7", "epoch 3 loss 0.6"}));
}

TEST_CASE("evaluations over and over, and the mean of one so far, are not sure") {
  CHECK_FALSE(is_sure(lines_of(60, [](int i) {
    return "[EVAL] episode=" + std::to_string(i % 10 + 1) + " reward=" + number(300 * any(i));
  })));
  CHECK_FALSE(is_sure(lines_of(11, [](int i) {
    return "  [" + std::to_string(100 * i + 100) +
           "/1150] Accuracy so far: " + number(0.85 + 0.01 * any(i));
  })));
  CHECK_FALSE(is_sure(lines_of(100, [](int i) {
    return R"({"test_mrr": )" + number(any(i)) + R"(, "validation_mrr": )" + number(any(i + 1)) +
           R"(, "layers": 3})";
  })));
  CHECK(is_sure(lines_of(60, [](int i) {
    return "[EVAL] episode=" + std::to_string(i + 1) + " reward=" + number(3 * i + 20 * any(i));
  })));
}

TEST_CASE("means of games, numbers of stages, flags and one value for each thing are not sure") {
  CHECK_FALSE(is_sure(lines_of(80, [](int i) {
    return "\t" + std::to_string(i) + " - 9 | (" + std::to_string(i) +
           " games, average: " + number(9 * any(i)) + " - 7.5) [A B]";
  })));
  CHECK_FALSE(is_sure(lines_of(
      48, [](int i) { return std::string("task in stage ") + (i < 24 ? "24.0" : "25.0"); })));
  CHECK_FALSE(is_sure(lines_of(200, [](int i) {
    return std::to_string(i) + "  real:" + (i < 100 ? "1" : "0") + ",  predict:1, TP";
  })));
  CHECK_FALSE(is_sure(lines_of(480, [](int i) {
    return "Time: " + number(i / 12) + ", kind " + std::string(1, static_cast<char>('A' + i % 12)) +
           "x is at " + number(1 - 0.002 * i + 0.01 * any(i)) + " of its first";
  })));
  CHECK(judge_name("acc. prob").role == Role::decoy);
  CHECK(judge_name("mean acceptance").role == Role::decoy);
}

TEST_CASE("a function over a grid is not sure, columns behind a counter are") {
  const auto row = [](double first, int i) {
    return number(first) + "  " + number(std::exp(-0.05 * i)) + "  " + number(std::exp(-0.04 * i));
  };
  CHECK_FALSE(is_sure(lines_of(90, [&](int i) { return row(7 - 0.01 * i, i); })));
  CHECK(is_sure(lines_of(90, [&](int i) {
    return std::to_string(i + 1) + "  " + number(std::exp(-0.05 * i) + 0.02 * any(i)) + "  " +
           number(std::exp(-0.04 * i) + 0.02 * any(i + 5));
  })));
}

TEST_CASE("a validation's value on every line until the next one gives way to the training's") {
  const Report report = report_on(lines_of(96, [](int i) {
    return "iteration " + std::to_string(i) +
           "/95 | train_loss: " + number(2 - 0.01 * i + 0.02 * any(i)) +
           " | val_loss: " + number(1.9 - 0.1 * (i / 12));
  }));
  CHECK(report.metric == "train_loss");
}

TEST_CASE("a bare column that rises from its lowest value to its highest is better the higher") {
  const Report report = report_on(
      lines_of(60, [](int i) { return number(100 - 50 * std::exp(-0.8 * i) - 0.3 * any(i)); }));
  CHECK(report.count == 60);
  CHECK(report.goal == Goal::max);
}

}  // namespace flowcon::ctrl::metrics
