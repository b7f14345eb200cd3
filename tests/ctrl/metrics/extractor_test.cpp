// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/extractor.h"

#include <cmath>
#include <string>

#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

Extractor extractor_for(const Spec& spec, std::size_t keep) {
  auto made = Extractor::create(spec, keep);
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::vector<double> values_of(const Report& report) {
  std::vector<double> values;
  for (const Sample& sample : report.samples) values.push_back(sample.value);
  return values;
}

Spec with_pattern(const std::string& pattern) {
  Spec spec;
  spec.pattern = pattern;
  return spec;
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a number with a decimal comma is not read in part") {
  const std::string log =
      "epoch 1 loss: 2,3800 acc: 0.31\nepoch 2 loss: 2,120 acc: 0.35\n"
      "epoch 3 loss: 1,9800 acc: 0.42\nepoch 4 loss: 0,865 acc: 0.48\n";
  const Report both = test::report_on(log, {});
  CHECK(both.metric == "acc");
  CHECK(both.count == 4);
  CHECK(both.warning.find("decimal comma") != std::string::npos);
  Spec named;
  named.metric = "loss";
  CHECK(test::report_on(log, named).count == 0);
  const Report alone = test::report_on("loss: 2,3800\nloss: 2,1200\nloss: 1,9800\n", {}, 10);
  CHECK(alone.metric.empty());
  CHECK(alone.warning == both.warning);
}

TEST_CASE("names before a comma, behind the mark of a comment, and with a slash between them") {
  std::string comma, comment = "# step rmse\n", slash;
  for (int i = 1; i <= 9; ++i) {
    const std::string step = std::to_string(10 * i), value = std::to_string(2.0 / i);
    comma += "loss_train, " + value + '\n';
    comment += step + ' ' + value + '\n';
    slash += "step " + step + " bcer/bwer: " + value + '/' + std::to_string(3.0 / i) + '\n';
  }
  for (const auto& [metric, log] :
       {std::pair("loss_train", comma), std::pair("rmse", comment), std::pair("bcer", slash)}) {
    const Report report = test::report_on(log, {});
    CHECK(report.metric == metric);
    CHECK(report.goal == Goal::min);
    REQUIRE(report.count == 9);
    CHECK(report.samples.front().value == 2);
    CHECK(report.confidence >= kSure);
  }
}

TEST_CASE("samples carry the time of their lines") {
  Extractor extractor = extractor_for({}, 4);
  for (int i = 0; i < 6; ++i) {
    extractor.feed("step " + std::to_string(i) + " loss " + std::to_string(5.5 - i), 100.0 + i);
  }
  const Report report = extractor.report();
  CHECK(report.metric == "loss");
  REQUIRE(report.samples.size() == 4);
  CHECK(report.samples.front().time == 102);
  CHECK(report.samples.back().time == 105);
  CHECK(report.count == 6);
  REQUIRE(report.head.size() == 6);
  CHECK(report.head.front().time == 100);
  CHECK(report.low == Approx(0.5));
  CHECK(report.high == Approx(5.5));
}

TEST_CASE("count changes when there is something new") {
  Extractor extractor = extractor_for({}, 4);
  CHECK(extractor.count() == 0);
  extractor.feed("starting", 1);
  CHECK(extractor.count() == 0);
  extractor.feed("loss: 0.5", 2);
  CHECK(extractor.count() == 1);
  extractor.feed("loss: 0.4", 3);
  CHECK(extractor.count() == 2);
}

TEST_CASE("nothing found is said as such") {
  Extractor extractor = extractor_for({}, 0);
  extractor.feed("hello", 1);
  extractor.feed("", 2);
  const Report report = extractor.report();
  CHECK(report.metric.empty());
  CHECK(report.count == 0);
  CHECK(report.samples.empty());
  CHECK(report.confidence == 0);
  CHECK_FALSE(report.counter);
}

TEST_CASE("a pattern finds every value of a line") {
  Extractor named = extractor_for(with_pattern(R"(err=(?P<value>\S+))"), 0);
  named.feed("a err=0.5 b err=nan c err=1e999 d err=x e err=12%", 1);
  const Values values = values_of(named.report());
  REQUIRE(values.size() == 4);
  CHECK(values[0] == 0.5);
  CHECK(std::isnan(values[1]));
  CHECK(std::isinf(values[2]));
  CHECK(values[3] == 12);
  CHECK(named.report().confidence == 1);
  Extractor single = extractor_for(with_pattern(R"(^(\d+)$)"), 0);
  single.feed("17", 1);
  CHECK(values_of(single.report()) == Values{17});
}

TEST_CASE("the goal of a pattern is what its words say, or what the user says") {
  Extractor accuracy = extractor_for(with_pattern("val_acc=(.*)"), 0);
  accuracy.feed("val_acc=0.5", 1);
  CHECK(accuracy.report().goal == Goal::max);
  Spec spec = with_pattern("val_acc=(.*)");
  spec.goal = Goal::min;
  Extractor asked = extractor_for(spec, 0);
  asked.feed("val_acc=0.5", 1);
  CHECK(asked.report().goal == Goal::min);
}

TEST_CASE("patterns that cannot work are refused with a reason") {
  struct Row {
    std::string pattern;
    const char* part;
  };
  const Row rows[] = {
      {"loss=(", "not RE2"},
      {"loss=", "group named"},
      {"(a)(b)", "group named"},
      {"(?=a)(b)", "not RE2"},
      {std::string(5000, 'a'), "4096"},
      {"(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(?P<value>b)", "too many groups"},
  };
  for (const Row& row : rows) {
    INFO(row.pattern.substr(0, 50));
    const auto made = Extractor::create(with_pattern(row.pattern), 0);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what.find(row.part) != std::string::npos);
  }
}

TEST_CASE("an empty match does not loop") {
  Extractor extractor = extractor_for(with_pattern("(x*)"), 0);
  extractor.feed("abc", 1);
  CHECK(extractor.report().count == 0);
}

TEST_CASE("the user's goal goes before the name's") {
  Spec spec;
  spec.goal = Goal::max;
  Extractor extractor = extractor_for(spec, 0);
  for (int i = 0; i < 9; ++i) extractor.feed("loss: " + std::to_string(1.0 + i), i);
  CHECK(extractor.report().goal == Goal::max);
}

TEST_CASE("a decoy is found when it is asked for") {
  Spec spec;
  spec.metric = "lr";
  Extractor extractor = extractor_for(spec, 0);
  for (int i = 0; i < 5; ++i) extractor.feed("loss: 0.5 lr: 0.1", i);
  CHECK(extractor.report().metric == "lr");
  CHECK(extractor.report().count == 5);
}

TEST_CASE("records printed twice count once, a plateau counts in full") {
  Extractor twice = extractor_for({}, 0);
  Extractor plateau = extractor_for({}, 0);
  Values wanted;
  for (int i = 0; i < 6; ++i) {
    const std::string line = "INFO - Train Loss: " + std::to_string(2.5 - 0.25 * i);
    wanted.push_back(2.5 - 0.25 * i);
    twice.feed(line, i);
    twice.feed(line, i);
    plateau.feed(line, i);
  }
  for (int i = 0; i < 10; ++i) plateau.feed("INFO - Train Loss: 1.000000", 10 + i);
  CHECK(values_of(twice.report()) == wanted);
  CHECK(plateau.report().samples.size() == 16);
}

TEST_CASE(
    "what was printed only grows, whatever turns out to be a copy, and nothing is new twice") {
  Extractor extractor = extractor_for({}, 64);
  std::size_t known = 0;
  std::size_t step = 0;
  Values fresh;
  for (const double value : {0.5, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 1.0, 1.1}) {
    extractor.feed("step " + std::to_string(++step) + " loss: " + std::to_string(value), 1);
    const Report& report = extractor.report();
    CHECK(report.printed == step);
    REQUIRE(report.places.size() == report.samples.size());
    for (std::size_t i = report.first_behind(known); i < report.samples.size(); ++i) {
      fresh.push_back(report.samples[i].value);
    }
    known = report.printed;
  }
  // Of 0.7 both: three values twice are not known to be copies when they come.
  CHECK(fresh.size() >= 8);
  CHECK(fresh.size() <= 10);
  CHECK(std::is_sorted(fresh.begin(), fresh.end()));
}

TEST_CASE("the values within epochs and those of their ends are two series of one name") {
  Extractor extractor = extractor_for({}, 64);
  std::vector<std::uint64_t> numbers;
  for (int epoch = 1; epoch <= 6; ++epoch) {
    extractor.feed("Epoch " + std::to_string(epoch) + "/6", epoch);
    for (int batch = 1; batch <= 20; ++batch) {
      const std::string done = std::to_string(batch) + "/20 ";
      extractor.feed(
          done + (batch < 20 ? "[=>...] - ETA: 1s - loss: " : "[====] - 2s 10ms/step - loss: ") +
              std::to_string(3.0 / (20 * epoch + batch)),
          epoch);
    }
    const Report& report = extractor.report();
    CHECK(report.metric == "loss");
    if (numbers.empty() || numbers.back() != report.series) numbers.push_back(report.series);
    CHECK(report.is_of({"loss", 0}));
    CHECK(report.is_of(report.id()));
    CHECK_FALSE(report.is_of({"loss", report.series + 1}));
  }
  REQUIRE(numbers.size() > 1);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  CHECK_FALSE(extractor.report().is_of({"loss", numbers.front()}));
}

TEST_CASE("confidence is that of the choice, and no number overflows it") {
  Extractor huge = extractor_for({}, 64);
  for (int i = 1; i <= 40; ++i) {
    huge.feed("step " + std::to_string(i) + " loss: " + (i % 3 == 0 ? "1.5e308" : "-1.6e308") +
                  " acc: " + std::to_string(1 - 1.0 / i),
              i);
    CHECK(huge.report().confidence >= 0);
    CHECK(huge.report().confidence <= 1);
    for (const Candidate& one : huge.report().candidates) CHECK(std::isfinite(one.score));
  }
}

TEST_CASE("a line that is no metric does not hide the value at its end") {
  for (const std::string& before : {std::string(3000, '1'), std::string("{\\\"\\'\\\"\\'\\\"\\'"),
                                    std::string("1,111,1,111,")}) {
    INFO(before.substr(0, 20));
    const std::string line = before + " | loss: 0.5\n" + before + " | loss: 0.25\n";
    CHECK(values_of(test::report_on(line, {})) == Values{0.5, 0.25});
  }
}

TEST_CASE("of a pattern's matches in a line the first sixteen count") {
  Spec spec;
  spec.pattern = "(?P<value>[0-9]+)(?:.*b)?";
  Extractor extractor = extractor_for(spec, 0);
  std::string line;
  for (int i = 0; i < 100; ++i) line += std::to_string(i) + " ";
  extractor.feed(line, 1);
  CHECK(extractor.report().count == 16);
}

TEST_CASE("the choice settles and does not change for a slightly better candidate") {
  Extractor extractor = extractor_for({}, 32);
  for (int i = 0; i < 200; ++i)
    extractor.feed("step " + std::to_string(i) + " train_loss " + std::to_string(3.0 / (i + 1)), i);
  REQUIRE(extractor.report().metric == "train_loss");
  for (int i = 200; i < 230; ++i)
    extractor.feed("step " + std::to_string(i) + " mean_loss " + std::to_string(3.0 / (i + 1)), i);
  CHECK(extractor.report().metric == "train_loss");
}

TEST_CASE("a thousand names a line do not crowd the metric out") {
  Extractor extractor = extractor_for({}, 16);
  for (int i = 0; i < 300; ++i) {
    extractor.feed("step " + std::to_string(i) + " loss " + std::to_string(4.0 / (i + 1)), i);
    std::string noise;
    for (int k = 0; k < 200; ++k)
      noise += "key_" + std::string(1, static_cast<char>('a' + k % 26)) +
               std::to_string(i * 200 + k) + "x=0.5 ";
    extractor.feed(noise, i);
  }
  CHECK(extractor.report().metric == "loss");
  CHECK(extractor.report().count == 300);
}

TEST_CASE("nested counters are one progress") {
  Extractor extractor = extractor_for({}, 0);
  extractor.feed("Epoch 3/20", 1);
  extractor.feed("batch 25/100 loss 0.5", 2);
  const Report report = extractor.report();
  REQUIRE(report.counter);
  CHECK(report.counter->done == 2.25);
  CHECK(report.counter->total == 20);
}

TEST_CASE("progress is no date, no accuracy and no time") {
  Extractor extractor = extractor_for({}, 0);
  for (const char* line : {"05/10/2024 loss 0.5", "Accuracy: 9650/10000 (96%)", "Channel 00/32",
                           "ETA 00:12:34", "Gen/Dis Loss: 0.5/0.25", "epoch 5/3"}) {
    extractor.feed(line, 1);
  }
  CHECK_FALSE(extractor.report().counter);
}

TEST_CASE("progress is found in every common shape") {
  struct Row {
    const char* line;
    double done;
    double total;
  };
  const Row rows[] = {
      {"epoch 3/20", 3, 20},
      {"step 100/1000 loss 0.5", 100, 1000},
      {"[3/20][100/500] loss 0.5", 2.2, 20},
      {" 12%|#2        | 120/1000 [00:10<01:13, 11.9it/s]", 120, 1000},
      {"iter 5 of 10", 5, 10},
      {"Epoch 3 out of 20", 3, 20},
      {"{\"epoch\":3,\"epochs\":20,\"loss\":0.5}", 3, 20},
      {"12% 4/33 [00:01<00:09, 7.5it/s]", 4, 33},
      {"Step 57,350 / 100,000 loss 0.5", 57350, 100000},
      {" 6%|6         | 12.9k/200k [00:13<03:10, 980it/s]", 12900, 200000},
      {"950/1,797 done", 950, 1797},
      {"iteration: 1 of max_iter: 30", 1, 30},
      {"Progress: 12.3% words/sec/thread: 45678 lr: 0.0439", 12.3, 100},
      {"34% complete", 34, 100},
      {"Progress:  12%|███      |  ETA: 0:00:12", 12, 100},
      {"  completed  20  /  200 epochs", 20, 200},
      {"Processed 640/60000 samples", 640, 60000},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    Extractor extractor = extractor_for({}, 0);
    extractor.feed(row.line, 1);
    const Report report = extractor.report();
    REQUIRE(report.counter);
    CHECK(report.counter->done == row.done);
    CHECK(report.counter->total == row.total);
  }
}

TEST_CASE("of a log in UTF-16, a machine's load and a build nothing is a metric") {
  std::string wide, load, build;
  for (int i = 0; i < 8; ++i) {
    for (const char c : "loss: 0." + std::to_string(900 - i) + "\n") {
      wide += c;
      if (c != '\n') wide += '\0';
    }
    load += "load 1." + std::to_string(i) + "\n";
    build += "make[2]: *** [Makefile:868: part" + std::string(1, static_cast<char>('a' + i)) +
             ".1] Error 1" + std::to_string(i) + "\n";
  }
  CHECK(test::report_on(wide, {}).count == 0);
  CHECK(test::report_on(load, {}).confidence < kSure);
  CHECK(test::report_on(build, {}).confidence < kSure);
}

TEST_CASE("an objective function of Kaldi is found, the greater the better") {
  const std::string head =
      "LOG (nnet3-chain-train[5.5]:PrintStatsForThisPhase():nnet-training.cc:302) ";
  std::string rises, wanders;
  for (int i = 0; i < 12; ++i) {
    const std::string range = std::to_string(10 * i) + "-" + std::to_string(10 * i + 9) + " is ";
    const std::string end = " over 1953" + std::to_string(i % 10) + " frames.\n";
    const std::string before = head + "Average objective function for 'output";
    rises += before + "-xent' for minibatches " + range + std::to_string(-3.0 / (i + 1)) + end;
    rises += before + "' for minibatches " + range +
             "-0.5 + -0.25 = " + std::to_string(-1.0 / (i + 1)) + end;
    wanders += before + "' for minibatches " + range + std::to_string(-35 - i * 7 % 5) + ".5" + end;
  }
  rises += head + "Overall average objective function for 'output' is -0.41 over 102400 frames.\n";
  Spec named;
  named.metric = "objective function";
  for (const Spec& spec : {Spec(), named}) {
    const Report report = test::report_on(rises, spec);
    CHECK(report.metric == "objective function for 'output'");
    CHECK(report.goal == Goal::max);
    CHECK(report.count == 12);
    CHECK(report.low == -1);
    CHECK(report.confidence >= kSure);
  }
  CHECK(test::report_on(wanders, {}).goal == Goal::max);
}

TEST_CASE("one zero byte does not hide the value beside it") {
  const std::string log = std::string("loss: 0.9\nloss: 0.5\nloss: 0.25") + '\0' + "\n";
  CHECK(test::report_on(log, {}).count == 3);
}

TEST_CASE("the hole at the beginning of a file that was cut hides nothing") {
  Extractor extractor = extractor_for({}, 8);
  extractor.feed(std::string(500, '\0') + "step 700 | loss 4.5", 1);
  extractor.feed("step 710 | loss 4.25", 2);
  CHECK(values_of(extractor.report()) == Values{4.5, 4.25});
  CHECK(extractor.report().warning.empty());
}

TEST_CASE("a name with initials stands behind its value as well") {
  Spec spec;
  spec.metric = "C.E. Loss";
  Extractor extractor = extractor_for(spec, 8);
  extractor.feed("Epoch 0 @ 10:27 PM : 0.9816 C.E. Loss, 94.28% Accuracy", 1);
  extractor.feed("Epoch 1 @ 10:48 PM : 0.9731 C.E. Loss, 94.78% Accuracy", 2);
  CHECK(extractor.report().metric == "C.E. Loss");
  CHECK(values_of(extractor.report()) == Values{0.9816, 0.9731});
}

TEST_CASE("of names that differ in their case the one asked for is meant") {
  Spec spec;
  spec.metric = "Loss";
  Extractor extractor = extractor_for(spec, 8);
  for (int i = 1; i <= 6; ++i) {
    extractor.feed("batch " + std::to_string(i) + "/60 loss=88", i);
    if (i % 3 == 0) extractor.feed("Epoch " + std::to_string(i / 3) + " Loss: 91.5", i);
  }
  CHECK(values_of(extractor.report()) == Values{91.5, 91.5});
}

}  // namespace flowcon::ctrl::metrics
