// SPDX-License-Identifier: Apache-2.0
// What looks like a metric and is none, goals that the values decide, and values that their names
// stand behind or above.
#include <string>
#include <vector>

#include "tests/ctrl/metrics/lines.h"

namespace flowcon::ctrl::metrics {
namespace {

using test::is_sure;
using test::report_on;
using test::values_of;

std::string number(double value) { return std::to_string(value); }

}  // namespace

TEST_CASE("what solvers, reports, priors and searches print is not sure") {
  const std::vector<std::string> solver{
      "DIIS: error= 7.55D-02 at cycle   1", "DIIS: error= 1.15D-02 at cycle   2",
      "DIIS: error= 8.81D-04 at cycle   3", "DIIS: error= 1.37D-04 at cycle   4",
      "DIIS: error= 1.10D-05 at cycle   5", "DIIS: error= 2.47D-07 at cycle   6",
      "DIIS: error= 2.88D-10 at cycle   7"};
  std::vector<std::string> reports, priors, search, starts, counts;
  for (int i = 0; i < 24; ++i) {
    const std::string some = "0." + std::to_string(10 + i * 37 % 89);
    reports.push_back("    accuracy                           " + some + "        25");
    priors.push_back("Class 'kind" + number(i) + "' - Mean: [" + some + " 0.1498 0.0871]...");
    for (int round : {0, 4}) {
      search.push_back("GA Iter: " + std::to_string(round) + "\tMax score: " + some +
                       "       Min score: " + some + "5       #Pop: 96");
    }
    const std::string falling = number(0.9 - 0.02 * i + 0.1 * (i * 37 % 3));
    counts.push_back("dist = {0: [0.2, 0.25, " + falling + "], 1: [0.23, 0.28]}");
    if (i < 5) starts.push_back("[LightGBM] [Info] Start training from score " + some);
  }
  for (const auto& lines : {solver, reports, priors, search, starts, counts}) {
    const Report report = report_on(lines);
    INFO(report.metric);
    CHECK_FALSE(is_sure(report));
  }
}

TEST_CASE("a toy's error that falls far on lines that count is sure") {
  std::vector<std::string> lines;
  double error = 1;
  for (int i = 0; i < 12; ++i, error /= 10) {
    lines.push_back("epoch " + std::to_string(i) + " error: " + std::to_string(error * 1e9) +
                    "e-9");
  }
  CHECK(is_sure(report_on(lines)));
}

TEST_CASE(
    "a score of Deeplearning4j and BasicSR's l_ are losses; a bare column that wanders, too") {
  std::vector<std::string> scores, parts, columns;
  for (int i = 0; i < 80; ++i) {
    const double noise = 0.1 * (i * 37 % 11);
    scores.push_back("Score at iteration " + std::to_string(i * 100) + " is " +
                     number(1.6 - 0.006 * i + noise));
    parts.push_back("epoch: " + std::to_string(i) + " l_metric: " + number(0.1 + 0.1 * noise));
    columns.push_back(std::to_string(i) + "," + number(0.2 + noise + (i == 0 ? -0.15 : 0)));
  }
  CHECK(report_on(scores).goal == Goal::min);
  CHECK(report_on(parts).goal == Goal::min);
  CHECK(report_on(columns).goal == Goal::min);
  CHECK(values_of(report_on(columns)).size() == 80);
}

TEST_CASE("the bound of a topic model is its metric, and Python's list of words is no head") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 8; ++i) {
    lines.push_back("## Completing Iteration " + std::to_string(i) + " (approx. per word bound = " +
                    number(-7.8 - 0.3 / i) + ", relative change = " + number(0.03 / i) + ")");
  }
  const Report bound = report_on(lines);
  CHECK(bound.samples.front().value == -8.1);
  CHECK(bound.goal == Goal::max);

  std::vector<std::string> settings{"          'image_path', 'center', 'scale', 'rotation'"};
  for (int i = 0; i < 15; ++i) {
    settings.push_back("backbone.layer1.0.downsample.0.weight - torch.Size([" +
                       std::to_string(64 + i * i) + ", " +
                       std::to_string(64 + 32 * (i * 7 % 5 + i)) + ", 3, 3]): ");
  }
  CHECK_FALSE(is_sure(report_on(settings)));
}

TEST_CASE("a name stands behind its value, behind whose it is, and around a counter") {
  const std::vector<std::string> models{
      "\t-16.9511      = Validation score (-MAE)", "\t0.02    s     = Training runtime",
      "\t-25.5982      = Validation score (-MAE)", "\t-26.4093      = Validation score (-MAE)"};
  const Report scored = report_on(models, "Validation score");
  CHECK(values_of(scored) == std::vector<double>{-16.9511, -25.5982, -26.4093});
  CHECK(scored.goal == Goal::max);

  const std::vector<std::string> trials{
      "Current best trial: 6fe47_00000 with loss=5.84 and params={'lr': 0.015}",
      "Current best trial: 6fe47_00001 with loss=2.99 and params={'lr': 0.015}",
      "Current best trial: 6fe47_00007 with loss=2.61 and params={'lr': 0.015}"};
  CHECK(values_of(report_on(trials, "loss")) == std::vector<double>{5.84, 2.99, 2.61});

  const std::vector<std::string> learners{
      " at 0.1s,  estimator lgbm's best error=0.0248,  best estimator lgbm's best error=0.0248",
      " at 0.4s,  estimator xgboost's best error=0.0233,  best estimator xgboost's best "
      "error=0.0233"};
  CHECK(values_of(report_on(learners, "best error")) == std::vector<double>{0.0248, 0.0233});

  const std::vector<std::string> epochs{"The loss after 1 epochs is 0.266",
                                        "The loss after 2 epochs is 0.241",
                                        "The loss after 3 epochs is 0.218"};
  CHECK(values_of(report_on(epochs)) == std::vector<double>{0.266, 0.241, 0.218});
}

TEST_CASE("a word among the values of a row names none of them") {
  const std::vector<std::string> rows{
      "0   WeightedEnsemble_L3   0.778789    accuracy      64.120703   191.468206    0.286449",
      "1     LightGBM_BAG_L2     0.778763    accuracy     295.271434  1471.467147    1.641614",
      "2     CatBoost_BAG_L1     0.778507    accuracy       0.975786    86.297275    0.975786"};
  CHECK(report_on(rows, "accuracy").samples.empty());
  const std::vector<std::string> pairs{"step  10   loss   0.5   acc   0.81",
                                       "step  20   loss   0.4   acc   0.83"};
  CHECK(values_of(report_on(pairs, "acc")) == std::vector<double>{0.81, 0.83});
}

TEST_CASE("the head of a column that the user names is found in tables of any form") {
  const std::vector<std::string> forest{
      "ntree      OOB      1      2      3", "   10:   4.88%  2.63%  6.85%  6.14%",
      "   20:   1.92%  0.72%  2.97%  2.34%", "   30:   1.14%  0.31%  1.77%  1.46%",
      "RMSE: 12.574443275895302"};
  const std::vector<std::string> folded{
      "##             timestamp   duration number_of_trees training_rmse",
      "## 1 2019-03-19 15:33:54  0.281 sec               0            NA",
      "## 2 2019-03-19 15:34:01  7.499 sec               1       0.22863",
      "##   training_mae training_deviance validation_rmse validation_mae",
      "## 1           NA                NA              NA             NA",
      "## 2      0.13202           0.05227         0.23194        0.13239",
      "##             timestamp   duration number_of_trees training_rmse",
      "## 3 2019-03-19 15:34:12 12.972 sec               2       0.20612"};
  const std::vector<std::string> box{"│ Trial name   status      iter   total time (s)     loss │",
                                     "├───────────────────────────────────────────────────────┤",
                                     "│ fit_00000    RUNNING        7          24.5415  5.84721 │",
                                     "│ fit_00001    PENDING                                   │",
                                     "│ fit_00002    RUNNING        9          24.5415  4.10000 │"};
  for (std::size_t keep : {0, 8}) {
    CHECK(values_of(report_on(forest, "OOB", keep)) == std::vector<double>{4.88, 1.92, 1.14});
    CHECK(values_of(report_on(folded, "training_rmse", keep)) ==
          std::vector<double>{0.22863, 0.20612});
    CHECK(values_of(report_on(folded, "validation_rmse", keep)) == std::vector<double>{0.23194});
    CHECK(values_of(report_on(box, "loss", keep)) == std::vector<double>{5.84721, 4.1});
  }
  // What stands before a value is closer, and prose is no head.
  const std::vector<std::string> prose{"now computing the loss of the batch", "loss 20 acc 3",
                                       "loss 10 acc 4"};
  CHECK(values_of(report_on(prose, "loss")) == std::vector<double>{20, 10});
}

TEST_CASE("what is correct of all is an accuracy, and no counter of the job") {
  std::vector<std::string> lines, twice, shares;
  for (int i = 0; i < 9; ++i) {
    lines.push_back("Epoch " + std::to_string(i) + ": " + std::to_string(9055 + 40 * i) +
                    "/10000 correct (9" + std::to_string(i) + "%)");
    twice.push_back("Iteration " + std::to_string(25 * (i + 1)) +
                    ": error = " + number(1.0 / (i + 1)));
    shares.push_back("Progress: 0.3%  words/sec/thread: 1801822  loss: " +
                     number(1.386 - 0.01 * i));
  }
  twice.push_back("Error after 225 iterations: 0.111");
  const auto total_of = [](const std::vector<std::string>& text) {
    const Report report = report_on(text);
    return report.counter ? report.counter->total : 0;
  };
  CHECK(total_of(lines) == 0);
  CHECK(total_of(twice) == 0);
  CHECK(total_of(shares) == 100);
}

}  // namespace flowcon::ctrl::metrics
