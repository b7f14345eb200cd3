// SPDX-License-Identifier: Apache-2.0
// What programs that do not learn print like a metric; values and totals that a training prints in
// other shapes than most.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ctrl/metrics/names.h"
#include "tests/ctrl/metrics/lines.h"

namespace flowcon::ctrl::metrics {
namespace {

using test::report_on;
using test::values_of;

double total_of(const std::vector<std::string>& lines) {
  const Report report = report_on(lines);
  return report.counter ? report.counter->total : 0;
}

bool is_sure(const std::vector<std::string>& lines) { return test::is_sure(report_on(lines)); }

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

TEST_CASE("a loss that falls by equal steps is sure") {
  CHECK(is_sure(lines_of(20, [](int i) {
    return "epoch " + std::to_string(i) + "/100000 loss: " + std::to_string(1000000 - 1000 * i);
  })));
}

TEST_CASE("a loss is sure where nothing counts, also while it rises or goes nowhere") {
  for (const int count : {3, 10}) {
    CHECK(is_sure(lines_of(count, [](int i) { return "loss: " + number(0.1 + 0.01 * i); })));
  }
  CHECK(is_sure(lines_of(20, [](int i) { return "loss: " + number(2 + any(i)); })));
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

TEST_CASE("values are neither lost between short ones nor on the longest lines") {
  const std::vector<std::string> rounds{
      "node 1 round 0: local MAE 0.300", "node 2 round 0: local MAE 0.246",
      "node 3 round 0: local MAE 0.236", "node 1 round 1: local MAE 0.188",
      "node 2 round 1: local MAE 0.175", "node 3 round 1: local MAE 0.205"};
  CHECK(values_of(report_on(rounds)).size() == 6);

  // One line is shorter than the others by a digit here and there.
  const auto records = lines_of(9, [](int i) {
    std::string line = R"({"loss": )" + std::to_string(9 - i) + ".0";
    for (int k = 0; k < 150; ++k) {
      line += ", \"part_" + std::to_string(k) + "_unscaled\": " + (i == 0 ? "1.5" : "1.50000001");
    }
    return line + R"(, "epoch": )" + std::to_string(i) + "}";
  });
  REQUIRE(records[0].size() < 4096);
  REQUIRE(records[1].size() > 4096);
  CHECK(values_of(report_on(records)) == std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("a record glued to a bar by a tab is a line of its own") {
  std::vector<std::string> lines{
      "Epoch:   0%|          | 0/8 [00:00<?, ?epoch/s]\tTrain Epoch: 1 \tLoss: 2.75 Acc@1: 15.4"};
  for (int i = 2; i <= 8; ++i) {
    lines.push_back("\tTrain Epoch: " + std::to_string(i) + " \tLoss: " + number(3.0 / i));
  }
  const Report report = report_on(lines);
  CHECK(report.count == 8);
  CHECK(values_of(report).front() == 2.75);
}

TEST_CASE("a mark among the cells of a row is no reason to refuse it") {
  std::vector<std::string> lines{"  epoch     iou    train_loss    valid_loss    cp      dur",
                                 "-------  ------  ------------  ------------  ----  -------"};
  for (int i = 1; i <= 9; ++i) {
    lines.push_back("      " + std::to_string(i) + "  0." + std::to_string(40 + i) + "        0." +
                    std::to_string(39 - i) + "          0.39" +
                    (i == 4 ? "            47.1" : "        +   47.1"));
  }
  CHECK(report_on(lines, "iou").count == 9);
  CHECK(report_on(lines).count == 9);
}

TEST_CASE("a bracket's name is the name of the loss in it") {
  const auto lines = lines_of(5, [](int i) {
    return "Epoch 0, batch " + std::to_string(10 * i) + ", loss[loss=" + number(1.5 - 0.1 * i) +
           ", over 2436.00 frames. ], tot_loss[loss=" + number(2.5 - 0.1 * i) +
           ", over 2436.00 frames. ], batch size: 4";
  });
  CHECK(values_of(report_on(lines, "tot_loss")).front() == 2.5);
  CHECK(values_of(report_on(lines, "loss")).front() == 1.5);
}

TEST_CASE("a total is not the largest number, a setting that is passed, or what is prepared") {
  const auto steps = [](int count, int each) {
    return lines_of(count, [each](int i) {
      return "iter: " + std::to_string(each * i) + " loss: " + number(2.0 / (i + 1));
    });
  };
  const auto behind = [](std::vector<std::string> before, const std::vector<std::string>& lines) {
    before.insert(before.end(), lines.begin(), lines.end());
    return before;
  };
  CHECK(total_of({"number of epochs: 2147483646", "epoch 1 loss 3", "epoch 2 loss 2"}) == 0);
  CHECK(total_of(behind({"  MAX_ITER: 9000", "  NUM_ITER: 200"}, steps(40, 20))) == 9000);
  CHECK(total_of(behind({"Training for 1000 steps."}, steps(17, 63))) == 1000);
  CHECK(total_of(behind({"Training for 1000 steps."}, steps(19, 63))) == 0);
  CHECK(total_of(behind({"Running solvers for 200 iterations..."}, lines_of(9, [](int i) {
                          return std::to_string(10 * i) + ") loss=" + number(2.0 / (i + 1));
                        }))) == 200);
  CHECK(total_of({"Writing example 0 of 70000", "Writing example 10000 of 70000",
                  "Writing example 20000 of 70000"}) == 0);
  CHECK(total_of({"config.json:   0%|          | 0.00/454 [00:00<?, ?B/s]",
                  "config.json:  50%|#####     | 227/454 [00:00<00:01, 227B/s]"}) == 0);
}

TEST_CASE("counts, times, and results in their order are not sure without a training") {
  const auto times = [](int i) {
    return "\tthread (" + number(i) + ") (s): " + number(1e-3 * i * i);
  };
  CHECK_FALSE(is_sure(lines_of(40, times)));
  CHECK_FALSE(is_sure(lines_of(
      20, [](int i) { return "model" + number(i) + " | score: " + number(82 - 4 * any(i) - i); })));
  const auto whole = [](int i) { return std::to_string(i); };
  CHECK_FALSE(is_sure(lines_of(14, [&](int i) {
    return std::to_string(40 - i) + "\terror counts: " + whole(900 - i * 11);
  })));
  CHECK_FALSE(is_sure(
      lines_of(4, [&](int i) { return "Tasks: 96 total, " + whole(4 - i / 2) + " running"; })));
  CHECK_FALSE(is_sure(lines_of(12, [&](int i) {
    return "[" + whole(i) + "/37] int f(int x){ return x*" + whole(i + 3) + "; }";
  })));
  CHECK_FALSE(
      is_sure(lines_of(3, [&](int i) { return " " + whole(i + 1) + "/12 Test #" + whole(i); })));
  CHECK(is_sure(lines_of(20, [](int i) {
    return "Metric val_loss improved by 0.01 >= min_delta = 0.0. New best score: " +
           number(0.9 / (i + 1));
  })));
}

TEST_CASE("a count is read where it is glued to its word") {
  const auto lines = lines_of(6, [](int i) {
    return "12:10 | INFO | train:8 - epoch" + std::to_string(i + 1) + "/10: loss " +
           number(1.0 / (i + 1));
  });
  CHECK(total_of(lines) == 10);
  CHECK(total_of({"Epoch1/10", "loss 0.5", "Epoch2/10", "loss 0.4"}) == 10);
  const Report report = report_on({"epoch0; batch0; loss:24.5", "epoch0; batch1; loss:22.5"});
  CHECK(report.metric == "loss");
  CHECK(values_of(report) == std::vector<double>{24.5, 22.5});
  CHECK(total_of({"saved model-epoch1/10 loss 0.5", "saved model-epoch2/10 loss 0.4"}) == 0);
}

TEST_CASE("a range of steps counts with blanks in it and without") {
  const auto lines = lines_of(30, [](int i) {
    const std::string from = std::to_string(i * 100 + 1), to = std::to_string(i * 100 + 100);
    const auto padded = [](const std::string& text) {
      return std::string(4 - text.size(), ' ') + text;
    };
    return " Minibatch[" + padded(from) + "-" + padded(to) + "]: loss = " + number(9.5 - any(i)) +
           " * 80";
  });
  CHECK(values_of(report_on(lines)).size() == 30);
}

TEST_CASE("Keras draws an epoch's bar again below what a callback printed: one value") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 4; ++i) {
    const std::string bar = "224/224 \u2501\u2501\u2501\u2501\u2501\u2501 ";
    const std::string loss = number(3.0 - 0.5 * i);
    lines.push_back("Epoch " + std::to_string(i) + "/50");
    lines.push_back(bar + "0s 33ms/step - accuracy: 0.5966 - loss: " + number(3.01 - 0.5 * i));
    lines.push_back("Epoch " + std::to_string(i) + ": val_loss improved from 1.08639 to 0.97769");
    lines.push_back(bar + "8s 35ms/step - accuracy: 0.5967 - loss: " + loss + " - val_loss: 1.0");
  }
  CHECK(values_of(report_on(lines, "loss")) == std::vector<double>{2.5, 2, 1.5, 1});
}

TEST_CASE(
    "a setting of what is disabled, and a round that DeepSpeed does not count, tell no total") {
  std::vector<std::string> lines{
      "data_efficiency_config ... {'enabled': False, 'sampling': {'enabled': False, 'num_epochs': "
      "1000, "
      "'num_workers': 0}}"};
  for (int i = 1; i <= 10; ++i) {
    const std::string step = std::to_string(i);
    lines.push_back("[timer.py:264:stop] epoch=0/micro_step=" + step + "/global_step=" + step);
    lines.push_back("[Step " + step + "/100] Loss: " + number(5.0 - 0.1 * i));
  }
  CHECK(total_of(lines) == 100);
}

TEST_CASE("values of few digits at one place are no copies of each other") {
  CHECK(values_of(report_on({"epoch 1 loss 1.0", "epoch 1 loss 0.98", "epoch 1 loss 0.96",
                             "epoch 1 loss 0.94"}))
            .size() == 4);
  const std::string batch = "Epoch[0] Batch [";
  CHECK(values_of(report_on({batch + "0-20] acc=0.50", batch + "20-40] acc=0.51",
                             batch + "40-60] acc=0.52"})) == std::vector<double>{0.5, 0.51, 0.52});
  CHECK(values_of(report_on({"epoch 1 loss 1.0", "epoch 1 loss 0.998", "epoch 1 loss 0.995",
                             "epoch 1 loss 0.991"}))
            .size() == 3);
  for (const char* rounded : {"0.42", "0.416", "0.4156"}) {
    CHECK(values_of(report_on({"epoch 1 loss 0.9", std::string("epoch 2 loss ") + rounded,
                               "epoch 2 loss 0.415649"}))
              .size() == 2);
  }
}

TEST_CASE("what neither its name nor its values speak for is no metric") {
  std::vector<std::string> served, running;
  for (int i = 1; i <= 12; ++i) {
    served.push_back("INFO: 127.0.0.1:" + std::to_string(50000 + i) +
                     " - \"POST /predict HTTP/1.1\" 200 OK");
    running.push_back("running at " + number(2.5 - 0.1 * i) + " for " + std::to_string(3 * i));
  }
  CHECK(report_on(served).metric.empty());
  CHECK(report_on(running).metric.empty());
  CHECK(report_on(served, "OK").metric == "OK");
}

TEST_CASE("training and evaluation in turn under one name are not sure, two ranks are") {
  const auto in_turn = [](double apart) {
    return lines_of(16, [apart](int i) {
      const int epoch = 1 + i / 2;
      return "Epoch " + std::to_string(epoch) + " loss: " + number(2.0 / epoch + i % 2 * apart);
    });
  };
  CHECK_FALSE(is_sure(in_turn(0.2)));
  CHECK(is_sure(in_turn(0.0005)));
}

}  // namespace flowcon::ctrl::metrics
