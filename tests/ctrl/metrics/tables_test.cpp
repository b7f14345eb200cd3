// SPDX-License-Identifier: Apache-2.0
// Headings and their rows: what stands before, between, within and behind the cells.
#include <string>
#include <vector>

#include "ctrl/metrics/extractor.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

std::string number(double value) { return std::to_string(value); }

/// `heading`, then nine rows: # counts from 1, @ is 2/#, and stands where the loss does.
Report table(const std::vector<std::string>& heading, const std::string& row) {
  auto extractor = Extractor::create(Spec{}, 0);
  REQUIRE(extractor.has_value());
  for (const std::string& line : heading) extractor->feed(line, 0);
  for (int i = 1; i <= 9; ++i) {
    std::string line = row;
    for (std::size_t at; (at = line.find('@')) != line.npos;) line.replace(at, 1, number(2.0 / i));
    for (std::size_t at; (at = line.find('#')) != line.npos;)
      line.replace(at, 1, std::to_string(i));
    extractor->feed(line, i);
  }
  return extractor->report();
}

void is_loss(const Report& report, const std::string& name) {
  CHECK(report.metric == name);
  CHECK(report.goal == Goal::min);
  CHECK(report.count == 9);
  REQUIRE(!report.samples.empty());
  CHECK(report.samples.front().value == 2);
  CHECK(report.confidence >= 0.2);
}

/// Such lines are read as they are without the heading.
void is_no_row(const std::string& heading, const std::string& row) {
  const Report report = table({heading}, row);
  const Report wanted = table({}, row);
  INFO(row);
  CHECK(report.metric == wanted.metric);
  CHECK(report.count == wanted.count);
  CHECK(report.low == wanted.low);
  CHECK(report.high == wanted.high);
  CHECK(report.candidates.size() == wanted.candidates.size());
}

}  // namespace

TEST_CASE("a table is read behind what begins its heading and its rows alike") {
  for (const std::string prefix : {"", "#> ", "## ", "> ", "worker-0 | ",
                                   "Chain 1: ", "## Chain 1: ", "Worker 0:", "Rank 3: "}) {
    auto extractor = Extractor::create(Spec{}, 0);
    REQUIRE(extractor.has_value());
    extractor->feed(prefix + "Iter   TrainDeviance   ValidDeviance   StepSize   Improve", 0);
    for (int i = 1; i <= 9; ++i) {
      extractor->feed(prefix + "     " + std::to_string(i) + "        " + number(2.0 / i) +
                          "             nan     0.1000    0.0767",
                      i);
    }
    INFO(prefix);
    is_loss(extractor->report(), "TrainDeviance");
  }
}

TEST_CASE("pipes may stand between the cells only") {
  is_loss(table({" Epoch  |  Train loss  |  Valid acc  |  Dur", "--------|------|------|-----"},
                "     #  |     @  |     nan  |  0.7s"),
          "Train loss");
  is_loss(table({"accuracy | loss | epoch | train | time", "-- | -- | -- | -- | --"},
                "0.5 | @ | # | True | 00:21"),
          "loss");
}

TEST_CASE("cells that are no numbers leave the others their names") {
  for (const std::string cell : {"2023-04-29 01:45:54", "2023-04-29T01:45:54", "04.29_01:45:54",
                                 "run_a", "\"a run, its name\"", "True", "[0.001]"}) {
    INFO(cell);
    if (cell.find(',') == cell.npos) {
      is_loss(table({"epoch,what,lr,train_loss"}, "#," + cell + ",0.001,@"), "train_loss");
      const bool is_label = cell == "run_a" || cell == "True";
      is_loss(table({"what,epoch,lr,train_loss"}, cell + ",#,0.001,@"),
              "train_loss" + (is_label ? " (" + cell + ")" : ""));
      is_loss(table({"epoch,lr,train_loss,what"}, "#,0.001,@," + cell), "train_loss");
    }
    is_loss(table({"epoch;what;lr;train_loss"}, "#;" + cell + ";0.001;@"), "train_loss");
    is_loss(table({"epoch\twhat\tlr\ttrain_loss"}, "#\t" + cell + "\t0.001\t@"), "train_loss");
  }
}

TEST_CASE("a cell that names the part of the data tells its values apart") {
  for (const std::string run : {"", "run_a,"}) {
    auto extractor = Extractor::create(Spec{}, 0);
    REQUIRE(extractor.has_value());
    extractor->feed((run.empty() ? "" : "run,") + std::string("epoch,phase,loss"), 0);
    for (int i = 1; i <= 9; ++i) {
      extractor->feed(run + std::to_string(i) + ",train," + number(2.0 / i), i);
      extractor->feed(run + std::to_string(i) + ",val," + number(3.0 / i), i);
    }
    is_loss(extractor->report(), run.empty() ? "loss" : "loss (run_a)");
  }
}

TEST_CASE("rows of a logger beneath a heading that was printed keep their first column") {
  const Report report = table({"epoch,loss,acc"}, "2023-04-29 01:45:54 #,@,0.8");
  is_loss(report, "loss");
}

TEST_CASE("marks behind a row, and several values in a cell") {
  is_loss(
      table({"average    since      example   current", "loss       last       counter   label"},
            "@   5.39   #   2.0 h"),
      "average loss");
  is_loss(table({"epoch   train_loss   val_loss"}, "#   @   0.5 *"), "train_loss");
  is_loss(table({"epoch   train_loss   val_loss"}, "#   @   0.5 <-- best"), "train_loss");
  is_loss(table({"Step      Train loss              Test loss               Test metric"},
                "#000      [@, 2.02e+00]    [2.84e+01, 4.46e+00]    []"),
          "Train loss");
}

TEST_CASE("rows may end in a remark behind three numbers") {
  const std::string heading = "  iter        loss   delta_mean   ";
  const std::string row = "   #        @         0.5   ";
  for (const std::string remark : {"CONVERGED", "MAY BE DIVERGING... INSPECT LOSS",
                                   "MEAN TRAINING LOSS CONVERGED   MEDIAN LOSS CONVERGED"}) {
    INFO(remark);
    is_loss(table({heading + "notes"}, row + remark), "loss");
    is_loss(table({heading + "Status"}, row + remark), "loss");
  }
  is_loss(table({heading + "verdict"}, row + "MAY BE DIVERGING"), "loss");
  is_loss(table({heading + "verdict"}, "   #        @         0.5\tMAY DIVERGE"), "loss");
  CHECK(table({heading + "notes"}, row + "loss 0.3 again").high < 1);
}

TEST_CASE("a gap in the last column is no remark") {
  for (const std::string gap : {"None", "N/A", "-", "nan"}) {
    INFO(gap);
    is_loss(table({"iter loss notes"}, "# @ " + gap), "loss");
    is_loss(table({"step loss phi"}, "# @ " + gap), "loss");
    is_loss(table({"iter loss acc notes"}, "# @ 0.5   " + gap), "loss");
    is_loss(table({"iter loss acc notes"}, "# @ 0.5   " + gap + " *"), "loss");
  }
}

TEST_CASE("prose beneath a table, and a word that tells the part, are no remarks") {
  is_no_row("iter  loss  delta  notes", "# 12.5 3 files were skipped");
  is_no_row("iter loss notes", "# @   converged early");
  is_no_row("epoch loss acc verdict", "# @ 0.11   good");
  is_no_row("epoch loss acc status", "# @ 0.11   val");
  is_no_row("# step loss notes", "5 # @   converged early");
  for (const std::string row : {"# @ 0.11 train", "#  @  0.11   train", "#  @  0.11   train *"}) {
    is_no_row("epoch loss acc split", row);
  }
  auto extractor = Extractor::create(Spec{}, 0);
  REQUIRE(extractor.has_value());
  extractor->feed("epoch loss acc split", 0);
  for (int i = 1; i <= 9; ++i) {
    extractor->feed(std::to_string(i) + " 1.000 0.11 train", i);
    extractor->feed(std::to_string(i) + " 2.000 0.11 val", i);
  }
  CHECK(extractor->report().count == 9);
  CHECK(extractor->report().high < 1);
}

TEST_CASE("bars around the name of a norm part no columns, and a heading may come again") {
  is_loss(table({"iter      cost      cost_change  |gradient|   |step|    tr_ratio"},
                "   #  @    0.00e+00    6.15e+04   4.53e-01   0.00e+00"),
          "cost");
  const std::string heading =
      "iter    objective    inf_pr   inf_du lg(mu)  ||d||  lg(rg) alpha_du alpha_pr  ls";
  auto extractor = Extractor::create(Spec{}, 0);
  REQUIRE(extractor.has_value());
  for (int i = 1; i <= 9; ++i) {
    if (i % 4 == 1) extractor->feed(heading, i);
    extractor->feed("   " + std::to_string(i) + "  " + number(2.0 / i) +
                        " 0.00e+00 8.78e-04  -5.7 6.20e-03    -  1.00e+00 1.00e+00f  1",
                    i);
  }
  is_loss(extractor->report(), "objective");
}

TEST_CASE("bars around the name of a value are walls") {
  is_loss(table({"epoch |loss| acc"}, "# |@| 0.5"), "loss");
  is_loss(table({"epoch | loss | acc"}, "# | @ | 0.5"), "loss");
  is_loss(table({"epoch| loss| acc"}, "#| @| 0.5"), "loss");
}

TEST_CASE("a tab behind the last name or the last value begins no further column") {
  is_loss(table({"total loss\tscore loss\tctc loss\t"}, "@\t0.5\t0.#\t"), "total loss");
  is_loss(table({"total loss\tscore loss\tctc loss"}, "@\t0.5\t0.#\t"), "total loss");
}

TEST_CASE("prose beneath a heading is no row") {
  const Report report = table({"epoch, loss, accuracy"}, "next, we look at run, #");
  CHECK(report.metric.find("accuracy") == std::string::npos);
}

}  // namespace flowcon::ctrl::metrics
