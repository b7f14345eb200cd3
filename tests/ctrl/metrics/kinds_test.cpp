// SPDX-License-Identifier: Apache-2.0
// Kinds of lines that say more than a name and a value: totals and parts, records printed again,
// headings, names that are none.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "ctrl/metrics/heading.h"
#include "tests/ctrl/metrics/lines.h"

namespace flowcon::ctrl::metrics {
namespace {

using test::report_on;

std::string number(double value) { return std::to_string(value); }

}  // namespace

TEST_CASE("what a service prints with units, or without a counter and a course, is not sure") {
  std::vector<std::string> database, collections, scores, alive;
  for (int i = 0; i < 60; ++i) {
    const std::string some = std::to_string(1000 + 7919 * (i + 1) % 4001);
    database.push_back("checkpoint complete: wrote " + some + " buffers; distance=" + some +
                       " kB, estimate=" + some + " kB");
    collections.push_back("[Times: user=0.05 sys=0.01, real=0." + some + " secs]");
    scores.push_back("request scored, score=0." + some);
    alive.push_back("heartbeat error_count: 0");
  }
  for (const auto& lines : {database, collections, scores, alive}) {
    const Report report = report_on(lines);
    INFO(report.metric);
    CHECK((report.metric.empty() || report.confidence < 0.2));
  }
}

TEST_CASE("a remark in a name, records, and the sides of a game are no series of their own") {
  std::vector<std::string> guide, best, game, stem;
  for (int i = 1; i <= 40; ++i) {
    const std::string down = number(2.0 / i), step = std::to_string(i);
    guide.push_back("Training loss (for one batch) at step " + step + "00: " + down);
    best.push_back("step " + step + " loss: " + down);
    best.push_back("Saving new best policy, reward=" + number(0.5 * i) + "!");
    game.push_back("epoch " + step + " D_loss: " + number(1 + 0.1 * (i % 3)) +
                   " G_loss: " + number(2 - 0.1 * (i % 4)));
    if (i % 4 == 0) game.push_back("FID @ epoch " + step + ": " + number(300.0 / i));
    stem.push_back("epoch " + step + " PPYoloELoss/loss=" + down +
                   ", PPYoloELoss/loss_cls=" + down + ", PPYoloELoss/loss_iou=" + down);
  }
  CHECK(report_on(guide).count == 40);
  CHECK(report_on(best).metric == "loss");
  CHECK(report_on(game).metric.find("FID") == 0);
  CHECK(report_on(stem).metric == "PPYoloELoss/loss");
}

TEST_CASE("a loss that falls fast and then slowly is one, though nothing on its lines counts") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 300; ++i) lines.push_back("loss: " + std::to_string(1000000 / i));
  const Report report = report_on(lines, "", 64);
  CHECK(report.metric == "loss");
  CHECK(report.confidence >= 0.2);
}

TEST_CASE("of which steps a mean is, between its name and its value, is no part of the name") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 20; ++i) {
    lines.push_back(std::to_string(i) + "/20 [00:01<00:00, 910.00it/s, init loss: 912.3, loss [" +
                    std::to_string(i * 50 - 49) + "-" + std::to_string(i * 50) +
                    "]: " + number(2.0 / i) + "]");
  }
  CHECK(report_on(lines).metric == "loss");
  CHECK(report_on(lines).count == 20);
}

TEST_CASE("full-width marks are marks") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 20; ++i) {
    lines.push_back("epoch\xEF\xBC\x9A" + std::to_string(i) + "/30\xEF\xBC\x8Closs\xEF\xBC\x9A" +
                    number(2.0 / i));
  }
  const Report report = report_on(lines);
  CHECK(report.metric == "loss");
  CHECK(report.count == 20);
  REQUIRE(report.counter);
  CHECK(report.counter->total == 30);
}

TEST_CASE("a value printed again at the same place counts once, equal values of two epochs twice") {
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) {
    const std::string epoch = "epoch " + std::to_string(i);
    lines.push_back(epoch + " loss 0.53124");
    lines.push_back(epoch + " loss 0.531 (best so far)");
  }
  for (const std::size_t keep : {0, 16}) CHECK(report_on(lines, "", keep).count == 10);
  std::vector<std::string> rounds;
  for (int i = 0; i < 4; ++i) {
    for (int step = 10; step <= 50; step += 10)
      rounds.push_back("step " + std::to_string(step) + " loss 0.5" + std::to_string(step));
  }
  for (const std::size_t keep : {0, 32}) CHECK(report_on(rounds, "", keep).count == 20);
}

TEST_CASE("a heading tells validation from training where both have one name") {
  std::vector<std::string> lines;
  for (int i = 0; i < 6; ++i) {
    lines.push_back("Epoch " + std::to_string(i) + "/6");
    lines.emplace_back("Training");
    lines.push_back("loss: " + number(1.0 / (i + 1)));
    lines.emplace_back("--- Validation ---");
    lines.push_back("loss: " + number(2.0 / (i + 1)));
  }
  for (const std::size_t keep : {0, 16}) {
    const Report report = report_on(lines, "", keep);
    CHECK(report.count == 6);
    CHECK(report.high == 1.0);
  }
}

TEST_CASE("a heading names one part of the data and nothing else") {
  CHECK(heading_of("--- Validation ---") == Phase::eval);
  CHECK(heading_of("Epoch 3: evaluating on the test set") == Phase::eval);
  CHECK(heading_of("***** Running training *****") == Phase::train);
  for (const char* line : {"", "Saving the best on validation", "train and validation",
                           "test accuracy", "val 0.5", "Validation 3"}) {
    INFO(line);
    CHECK_FALSE(heading_of(line));
  }
}

TEST_CASE("a score that falls from its first value on is a loss, and its goal a guess") {
  std::vector<std::string> falls;
  std::vector<std::string> rises;
  for (int i = 0; i < 20; ++i) {
    falls.push_back("Score at iteration " + std::to_string(i) + " is " + number(3.0 / (i + 1)));
    rises.push_back("Score at iteration " + std::to_string(i) + " is " +
                    number(3.0 - 3.0 / (i + 1)));
  }
  const Report fallen = report_on(falls);
  CHECK(fallen.count == 20);
  CHECK(fallen.goal == Goal::min);
  CHECK_FALSE(fallen.goal_guess.empty());
  const Report risen = report_on(rises);
  CHECK(risen.goal == Goal::max);
  CHECK(risen.goal_guess.empty());
}

TEST_CASE("a doubtful choice is withheld from a daemon and named") {
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i)
    lines.push_back("GET /a HTTP/1.1 200 " + std::to_string((i * 37) % 11) + " 0.0" +
                    std::to_string((i * 7) % 10));
  const Report report = report_on(lines, "", 16);
  CHECK(report.metric.empty());
  CHECK(report.samples.empty());
  CHECK_FALSE(report.unsure_of.empty());
  CHECK(report.confidence < kSure);
}

TEST_CASE("what is asked for and not there is said, with what was seen") {
  const std::vector<std::string> lines{"loss: 0.5 acc: 0.7 lr: 0.1", "loss: 0.4 acc: 0.8 lr: 0.1"};
  CHECK(report_on(lines, "lss").missing == "nothing named lss; seen: loss, acc");
  CHECK(report_on(lines, "loss", 16).missing.empty());
}

TEST_CASE("a bar behind the training's, of another number of batches, is an evaluation's") {
  const std::string full = "[==============================] - 1s - loss: ";
  for (const std::size_t keep : {0, 64}) {
    std::vector<std::string> lines;
    for (int epoch = 1; epoch <= 10; ++epoch) {
      const std::string batches = std::to_string(360 + epoch / 2);  // buckets
      lines.push_back("Epoch " + std::to_string(epoch) + "/10");
      lines.push_back("Loading: 100%|##| 3/3 [00:01<00:00, 1.0it/s]");
      lines.push_back(batches + "/" + batches + " " + full + number(1.0 / epoch));
    }
    lines.push_back("162/162 " + full + "0.9");
    const Report report = report_on(lines, "", keep);
    CHECK(report.metric == "loss");
    REQUIRE(report.count == 10);
    CHECK(report.samples.back().value == 0.1);
  }
}

TEST_CASE("the words of a bar say more of its part than its place") {
  std::vector<std::string> lines;
  for (int epoch = 1; epoch <= 10; ++epoch) {
    lines.push_back("Epoch " + std::to_string(epoch) + "/10");
    lines.push_back(
        "Validation: 100%|##| 20/20 [00:01<00:00, 9.0it/s, loss=" + number(2.0 / epoch) + "]");
    lines.push_back("Train: 100%|##| 100/100 [00:09<00:00, 9.0it/s, loss=" + number(1.0 / epoch) +
                    "]");
  }
  CHECK(report_on(lines).count == 10);
}

TEST_CASE("a report that looks like options, a name that begins with CV, big numbers, real costs") {
  std::vector<std::string> marks, names, inertia, costs;
  for (int i = 1; i <= 20; ++i) {
    const std::string step = std::to_string(i);
    marks.push_back("Epoch: " + step + " --loss: " + number(1.0 / i) +
                    " --acc: " + number(0.04 * i));
    names.push_back("[CVAE] epoch " + step + " loss: " + number(1.0 / i));
    inertia.push_back("Iteration " + step + ", inertia " + number(1.53e9 - 1e5 * i));
    costs.push_back("epoch " + step + " training cost: " + number(0.45 + 0.22 / i) +
                    " accuracy: " + number(0.5 + 0.01 * i));
  }
  CHECK(report_on(marks).metric.find("loss") != std::string::npos);
  CHECK(report_on(names).metric == "loss");
  CHECK(report_on(inertia).metric == "inertia");
  CHECK(report_on(inertia).confidence >= 0.2);
  CHECK(report_on(costs).metric == "training cost");
}

TEST_CASE("what is printed while a bar is open is a line of its own") {
  std::vector<std::string> lines{"  Num Epochs = 25", "  Total optimization steps = 500"};
  for (int step = 8; step < 500; step += 41) {
    lines.push_back("Steps:  " + std::to_string(step / 5) + "%|# | " + std::to_string(step) +
                    "/500 [00:20<37:50,  2.29s/it, loss=" + number(1.0 / step) +
                    ", lr=1]12/04/2023 08:54:14 - INFO - __main__ - Running validation...");
  }
  lines.push_back("Steps: 100%|##| 500/500 [43:15<00:00,  2.27s/it, loss=0.001, lr=1]Model saved");
  for (int image = 10; image <= 20; ++image) {
    lines.push_back(" 40%|####  | " + std::to_string(image) + "/25 [00:01<00:02,  7.46it/s]");
  }
  const Report report = report_on(lines);
  CHECK(report.metric == "loss");
  CHECK(report.count == 13);
  REQUIRE(report.counter.has_value());
  CHECK(report.counter->done == 500);
  CHECK(report.counter->total == 500);
}

TEST_CASE("a clock, a cost in time, the code and the command that a log shows are no metric") {
  std::vector<std::string> stamps, code, costs, search;
  for (int i = 1; i <= 40; ++i) {
    const std::string step = std::to_string(i);
    stamps.push_back(":::MLL 15586358" + std::to_string(10 + i) + ".4 cache_clear: {\"value\": 1}");
    code.push_back("        return step % 2 == 1");
    code.push_back("      return 404 \"{}\";");
    costs.push_back("[Epoch " + step + "] Training cost: " + number(600 + i % 7) +
                    ", ObjLoss=" + number(170.0 / i));
    search.push_back("[CV] ..... n_neighbors=3, score=0.97" + step + ", total= 2.1s");
  }
  for (const auto& lines : {stamps, code, search}) {
    const Report report = report_on(lines);
    INFO(report.metric);
    CHECK((report.metric.empty() || report.confidence < 0.2));
  }
  CHECK(report_on(costs).metric == "ObjLoss");
  std::vector<std::string> real;
  for (int i = 1; i <= 40; ++i)
    real.push_back("step " + std::to_string(i) + " Batch Cost: " + number(9.0 / i));
  CHECK(report_on(real).metric == "Batch Cost");
}

TEST_CASE("an accuracy that gets worse is one still; what begins as a loss and falls is none") {
  std::vector<std::string> worse, loss;
  for (int i = 1; i <= 12; ++i) {
    worse.push_back("epoch " + std::to_string(i) + " val_acc " + number(0.91 - 0.01 * i));
    loss.push_back("epoch " + std::to_string(i) + " accuracy " + number(9.0 / i));
  }
  CHECK(report_on(worse).goal == Goal::max);
  CHECK(report_on(loss).goal == Goal::min);
}

TEST_CASE("a number in a call is read like the number alone, the first of a list is none") {
  std::vector<std::string> calls, lists;
  for (int i = 1; i <= 10; ++i) {
    calls.push_back("Batch accuracy: tensor(0." + std::to_string(50 + i) + ")");
    lists.push_back("     'scores': [" + number(160 - 5 * i) + ",");
    lists.push_back("                266.01,");
    lists.push_back("                171.97],");
  }
  CHECK(report_on(calls).metric == "Batch accuracy");
  CHECK(report_on(calls).count == 10);
  CHECK(report_on(lists).confidence < 0.2);
}

TEST_CASE("part of a word names no metric, a whole part does") {
  for (const char* name : {"Various", "Furious", "Glossary", "Auction", "Cauchy"}) {
    INFO(name);
    CHECK(judge_name(name).role != Role::metric);
  }
  for (const char* name : {"valloss", "trainlossavg", "giou", "prauc", "closs1", "trainiou1"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
  }
}

TEST_CASE("where a tree tells two kinds of data by its round, what it tries is no metric") {
  std::vector<std::string> lines;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 6; ++j) {
      lines.push_back("year_produced, bin=4" + std::to_string(j) + " score " +
                      number(669154.0 + 31000 * i - 999 * j));
    }
    lines.push_back(std::to_string(i) + ":\tlearn: " + number(5040.0 / (i + 1)) +
                    "\ttest: " + number(5141.0 / (i + 1)) + "\ttotal: 17ms\tremaining: 71ms");
  }
  const Report report = report_on(lines);
  CHECK(report.metric == "learn");
  CHECK(report.goal == Goal::min);
}

TEST_CASE("counts, marks, and the results of folds and of classes are not sure") {
  std::vector<std::string> packages, marks, folds, classes;
  for (int i = 1; i <= 9; ++i) {
    const std::string number_of = std::to_string(i);
    packages.push_back("Hit:" + std::to_string(1 + i % 5) + " http://example.org InRelease");
    marks.push_back("**Score: " + number_of + "0/100**");
    folds.push_back("Fold #" + number_of + ": loss=" + number(1.0 / i));
    classes.push_back("Test Accuracy of     " + number_of + ": 9" + number_of + "% (972/980)");
  }
  CHECK(report_on(classes).samples.front().value == 91);
  for (const auto& lines : {packages, marks, folds}) {
    for (std::size_t count = 1; count <= lines.size(); ++count) {
      const Report report = report_on({lines.begin(), lines.begin() + static_cast<long>(count)});
      INFO(report.metric << " of " << lines.front());
      CHECK(report.confidence < 0.2);
    }
  }
}

TEST_CASE("values beneath the heading of an epoch are those of a training, however they wander") {
  std::vector<std::string> lines, running;
  for (int i = 1; i <= 60; ++i) {
    lines.push_back("Epoch " + std::to_string(i) + "/100");
    lines.push_back(" - 30s - loss: " + number(1.4 + 0.1 * (i * 7 % 5)));
    running.push_back("Training Accuracy:" + std::string(i == 1 ? "100.%" : "50.0%"));
  }
  CHECK(report_on(lines).confidence >= 0.2);
  CHECK(report_on(running).goal == Goal::max);
}

TEST_CASE("a value behind a lone dash is named by the words before it") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 20; ++i) {
    lines.push_back("mtdnn - INFO - Task - [ 0] Updates - [ " + std::to_string(i * 500) +
                    "] Training Loss - [" + number(2.0 / i) + "] Time Remaining - [4:25:55]");
  }
  CHECK(report_on(lines).metric == "Training Loss");
  CHECK(report_on(lines).count == 20);
}

TEST_CASE("a value that two loggers round from the same number is one value") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 20; ++i) {
    const std::string step = std::to_string(i);
    const double loss = i == 8 ? 11.14648 : 90.0 / i;
    std::array<char, 32> fine{}, coarse{};
    std::snprintf(fine.data(), fine.size(), "%.6g", loss);
    std::snprintf(coarse.data(), coarse.size(), "%.3f", loss);
    lines.push_back("[" + step + "] global_step=" + step + ", loss=" + fine.data());
    lines.push_back(step + ") loss = " + coarse.data() + ", grad_norm = 1.0");
  }
  CHECK(report_on(lines).count == 20);
}

TEST_CASE("a clock of many ranks, a switch, and what was never computed are not sure") {
  std::vector<std::string> clock, flag, never, still;
  for (int i = 1; i <= 60; ++i) {
    clock.push_back("ts=15417202" + std::to_string(85 + i * 7 % 5) + ".29 worker3 ready");
    flag.push_back("INFO COLLNET set by environment to " + std::string(i < 30 ? "1." : "0."));
    never.push_back("Epoch[0] Batch [" + std::to_string(i * 20) + "] accuracy=nan");
    still.push_back("Step " + std::to_string(i) + ": Reward=-1.0");
  }
  for (const auto& lines : {clock, flag, never, still}) {
    const Report report = report_on(lines);
    INFO(report.metric);
    CHECK((report.metric.empty() || report.confidence < 0.2));
  }
}

TEST_CASE("the words around a count name the value behind it") {
  for (const char* form : {"Loss after # steps: @", "Training loss per 100 training steps: @",
                           "Average loss over 10 batches: @", "Cost after # iterations = @",
                           "loss at # steps @", "Mean loss of last 100 steps: @"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 20; ++i) {
      std::string line = form;
      line.replace(line.find('@'), 1, number(2.0 / (i + 1)));
      if (const std::size_t at = line.find('#'); at != line.npos)
        line.replace(at, 1, std::to_string(10 * i));
      lines.push_back(line);
    }
    const Report report = report_on(lines);
    INFO(form << " " << report.metric);
    CHECK(report.count == 20);
    REQUIRE(!report.samples.empty());
    CHECK(report.samples.front().value == 2);
    CHECK(report.goal == Goal::min);
    CHECK(report.confidence >= 0.2);
  }
}

TEST_CASE(
    "telephones, ranges, coordinates and texts with markup are neither counters nor metrics") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 20; ++i) {
    const std::string some = std::to_string(200 + i * 37 % 90);
    lines.push_back("{'box': [" + some + ", 91, 376, 175], 'text': 'R&D'}");
    lines.push_back("What is the cost?</s_question><s_answer>" + some + "/924-6648</s_answer>");
    lines.push_back("6x Precision Zoom, 1/8-1/2000 Shutter Speed");
  }
  const Report report = report_on(lines);
  INFO(report.metric);
  CHECK(report.confidence < 0.2);
  CHECK(!report.counter.has_value());
}

TEST_CASE("a line in quotes is read as what is in it, and a time whose unit stands apart is none") {
  for (const char* form :
       {"[1] \"Epoch #, loss: @\"", "\"Epoch # loss: @\"",
        "Epoch # loss: @, Cost=22# sec, lr=0.001", "Epoch # loss(x, y) = param(@)"}) {
    std::vector<std::string> lines;
    for (int i = 1; i <= 9; ++i) {
      std::string line = form;
      line.replace(line.find('@'), 1, number(2.0 / i));
      for (std::size_t at; (at = line.find('#')) != line.npos;)
        line.replace(at, 1, std::to_string(i));
      lines.push_back(line);
    }
    const Report report = report_on(lines);
    INFO(form << " " << report.metric);
    CHECK(report.metric.starts_with("loss"));
    CHECK(report.count == 9);
    REQUIRE(!report.samples.empty());
    CHECK(report.samples.front().value == 2);
    CHECK(report.confidence >= 0.2);
  }
}

TEST_CASE("a cost in seconds alone is no metric") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i)
    lines.push_back("Epoch " + std::to_string(i) + " Cost=22" + std::to_string(i) +
                    " sec, lr=0.01");
  const Report report = report_on(lines);
  INFO(report.metric);
  CHECK((report.metric.empty() || report.confidence < 0.2));
}

TEST_CASE("names in a row name as many values, and a count within a name is none of it") {
  for (const char* form :
       {"client 4 ::: train, round, loss, acc ===> 00#, @, 0.5,", "Epoch # loss, acc: @, 0.5",
        "Epoch #/10 loss, acc: @, 0.5", "Epoch #/10 - loss, acc: @, 0.5",
        "Epoch # (loss, acc) = (@, 0.5)", "Epoch # loss/acc: @/0.5",
        "Epoch[#] Speed: 5.46 samples/sec, Loss:(pitch, yaw)/(@, 5.638)",
        "The train loss of epoch#-batch-0:@", "epoch_#_loss: @",
        "#: loss @passed: 17.4 sec total: 3m 13s"}) {
    std::vector<std::string> lines;
    for (int i = 1; i <= 9; ++i) {
      std::string line = form;
      line.replace(line.find('@'), 1, number(2.0 / i));
      line.replace(line.find('#'), 1, std::to_string(i));
      lines.push_back(line);
    }
    const Report report = report_on(lines);
    INFO(form << " " << report.metric);
    CHECK(lower(report.metric).find("loss") != std::string::npos);
    CHECK(report.metric.find("10") == std::string::npos);
    CHECK(report.count == 9);
    REQUIRE(!report.samples.empty());
    CHECK(report.samples.front().value == 2);
    CHECK(report.confidence >= 0.2);
  }
  // Those that are no metrics stay as they are, and no count is a fraction.
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i) lines.push_back("Resumed, loss: " + number(2.0 / i) + ", 12");
  CHECK(report_on(lines).metric == "loss");
  for (std::string& line : lines) line = "After epoch, " + line.substr(line.find("loss"));
  CHECK(report_on(lines).samples.front().value == 2);
}

TEST_CASE("a ratio of values is read whatever its first values are") {
  for (const std::size_t keep : {0, 256}) {
    std::vector<std::string> lines{"step 1 box/cls: 1.0/2.0"};
    for (int i = 2; i <= 9; ++i)
      lines.push_back("step " + std::to_string(i) + " box/cls: 0.93/1.8" + std::to_string(i));
    CHECK(report_on(lines, "", keep).count == 9);
  }
}

TEST_CASE("a loss of a class among a box's is no class's") {
  std::vector<std::string> lines{"     Epoch   gpu_mem       box       obj       cls    labels"};
  for (int i = 0; i <= 9; ++i) {
    lines.push_back("    " + std::to_string(i) + "/299     1.62G   " + number(0.2 / (i + 1)) +
                    "   0.03387         0        25");
  }
  const Report report = report_on(lines);
  CHECK(report.metric == "box");
  CHECK(report.confidence >= 0.2);
}

TEST_CASE("what a heading says holds over blank lines where a table was before") {
  for (const char* between : {"", "   "}) {
    std::vector<std::string> lines{"epoch,loss,acc", "1,0.9,0.1", "2,0.8,0.2", "3,0.7,0.3"};
    for (int i = 1; i <= 9; ++i) {
      lines.push_back("step " + std::to_string(i) + " err: " + number(2.0 / i));
      lines.emplace_back("--- Validation ---");
      if (*between != 0) lines.emplace_back(between);
      lines.push_back("err: " + number(5.0 / i));
    }
    CHECK(report_on(lines, "err").count == 9);
  }
}

TEST_CASE("the total is the choice although the last line holds it alone") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i) {
    lines.push_back("step " + std::to_string(i) + " loss: " + number(2.0 / i) +
                    " loss_cls: " + number(1.0 / i) + " loss_l1: " + number(1.0 / i));
  }
  lines.emplace_back("step 10 loss: 0.2 loss_cls: ");
  CHECK(report_on(lines).metric == "loss");
}

TEST_CASE("values in quotes and the letter of a loss are metrics, names in quotes are no values") {
  std::vector<std::string> quoted, keys, letter;
  for (int i = 1; i <= 9; ++i) {
    const std::string step = std::to_string(i);
    // Equal texts in quotes: the plan of a line's shape must find them.
    quoted.push_back("iter: " + step + "0, lr: 0.005, 'loss': '" + (i < 5 ? "38.3" : "31.5") +
                     "', time: 0." + step + "8, eta: 7:48:0" + step);
    keys.push_back("scores: '" + step + "' : 0.1" + step);
    letter.push_back("Step 0008953" + step + " L_out=0.0" + (i % 2 == 0 ? "49" : "61") +
                     " L_reg=0.033 Acc=0.98");
    letter.push_back("Validation : " + step +
                     ".0% (timings : " + number(100.0 * i + 110 * (i % 2)) + " 6.77)");
  }
  for (const std::size_t keep : {0, 64}) {
    const Report report = report_on(quoted, "", keep);
    CHECK(report.metric == "loss");
    CHECK(report.goal == Goal::min);
    CHECK(report.count == 9);
  }
  CHECK(report_on(keys).candidates.size() == 1);
  CHECK(report_on(keys).count == 9);
  CHECK(report_on(letter).metric == "L_out");
  CHECK(report_on(letter).confidence >= 0.2);
}

TEST_CASE("what is used of a thing, the ends of fits, and one class after the other are not sure") {
  std::vector<std::string> used, fits, classes;
  for (int i = 1; i <= 20; ++i) {
    used.push_back("Running: " + std::to_string(i * 7 % 8) + ".0/7.0 CPU, 0.0/0.0 GPU");
    fits.push_back(" Initial cost : 0." + std::to_string(360 + 37 * i % 90) + " [px]");
    fits.push_back("   Final cost : 0." + std::to_string(300 + 37 * i % 90) + " [px]");
    classes.push_back(" * class [" + std::to_string(i) + "] IoU " +
                      std::to_string(20 + 37 * i % 60) + ".36");
  }
  for (const auto& lines : {used, fits, classes}) {
    const Report report = report_on(lines);
    INFO(report.metric << " " << report.confidence);
    CHECK((report.metric.empty() || report.confidence < 0.2));
  }
}

TEST_CASE("a count in thousands goes on, the label of a bar and a name behind a unit are none") {
  std::vector<std::string> short_counts, map, rates, tensors, cuts, parts;
  for (int i = 1; i <= 30; ++i) {
    const std::string down = number(3.0 / (i + 1)), step = std::to_string(i);
    short_counts.push_back("step:" + (i < 5 ? step + "00" : step + "K") + " loss:" + down);
    map.push_back("Map:  " + std::to_string(3 * i) + "%|###       | " + step + "000/33333 [00:01]");
    rates.push_back("global step " + step + "00 lr 1 wps 8.00K ppl " + down + " bleu 0.00");
    tensors.push_back("Step: " + step + " MLL: tf.Tensor(-" + down + ", shape=(), dtype=float64)");
    cuts.push_back("NDCG(k=20): 0." + std::to_string(200 + i) + " - NDCG(k=50): 0." +
                   std::to_string(500 + i));
    parts.push_back("Training average positive_sample_loss at step " + step + ": 4.5");
    parts.push_back("Training average loss at step " + step + ": " + down);
  }
  const Report counted = report_on(short_counts, "", 100);
  CHECK(counted.samples.size() == 30);
  const Report labelled = report_on(map);
  INFO(labelled.metric);
  CHECK((labelled.metric.empty() || labelled.confidence < 0.2));
  CHECK(report_on(rates, "ppl").low == Approx(3.0 / 31));
  CHECK(report_on(tensors, "MLL").metric == "MLL");
  const Report cut = report_on(cuts, "NDCG(k=50)", 100);
  CHECK(cut.count == 30);
  CHECK(cut.low == Approx(0.501));
  CHECK(report_on(parts, "Training average loss").high == Approx(1.5));
}

}  // namespace flowcon::ctrl::metrics
