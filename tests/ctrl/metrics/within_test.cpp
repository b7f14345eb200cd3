// SPDX-License-Identifier: Apache-2.0
// Counters that stand within an epoch, and the many ways in which programs write counts and totals.
#include <string>
#include <vector>

#include "ctrl/metrics/names.h"
#include "tests/ctrl/metrics/lines.h"

namespace flowcon::ctrl::metrics::test {
namespace {

using Lines = std::vector<std::string>;

std::string text(double number) {
  std::string out = std::to_string(number);
  out.erase(out.find_last_not_of('0') + 1);
  return out.back() == '.' ? out.substr(0, out.size() - 1) : out;
}

/// "-", "done/total", or "epoch n+within" where no total is known.
std::string progress_of(const Lines& lines, std::size_t keep = 0) {
  const auto counter = report_on(lines, "", keep).counter;
  if (!counter) return "-";
  if (counter->total > 0) return text(counter->done) + "/" + text(counter->total);
  return "epoch " + text(counter->done) + "+" + text(counter->within);
}

/// `form` once for each number, which stands for its #; `epochs` times, which stand for its @.
Lines lines_of(const std::string& form, const std::vector<int>& counts, int epochs = 1) {
  Lines lines;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const int count : counts) {
      std::string line = form;
      for (const auto& [mark, number] : {std::pair('#', count), std::pair('@', epoch)}) {
        if (const auto at = line.find(mark); at != line.npos)
          line.replace(at, 1, std::to_string(number));
      }
      lines.push_back(line + " loss " +
                      std::to_string(2.0 / static_cast<double>(2 + lines.size())));
    }
  }
  return lines;
}

Lines behind(const std::string& first, Lines lines) {
  lines.insert(lines.begin(), first);
  return lines;
}

}  // namespace

TEST_CASE("an epoch may be a letter and its number") {
  for (const char* form : {"e@ batch #/400", "ep@ #/400", "E0@ [#/400]", "[E@] iter #/400"}) {
    for (const std::size_t keep : {0, 16}) {
      INFO(form);
      CHECK(progress_of(lines_of(form, {100, 200, 300}, 3), keep) == "epoch 2+0.75");
      CHECK(progress_of(behind("epochs=10", lines_of(form, {100, 200, 300}, 3))).ends_with("/10"));
    }
  }
  CHECK(progress_of(lines_of("e5f@ step #/400", {100, 200, 300})) == "300/400");
}

TEST_CASE("batches are those of an epoch until a total is told elsewhere") {
  for (const char* form : {"| #/ 400 batches |", "Minibatch #/400:", "batch #/400", "#/400 samples",
                           "Mini-batch # of 400,", "75%|== | #/400 [00:02<00:03, 40.0batch/s],"}) {
    INFO(form);
    const Lines lines = lines_of(form, {100, 200, 300});
    CHECK(progress_of(lines) == "-");
    CHECK(progress_of(lines, 16) == "-");
    CHECK(progress_of(behind("max_steps: 400", lines)) == "300/400");
    CHECK(progress_of(behind("epochs: 3", lines)) == "0.75/3");
    CHECK(progress_of(behind("epochs: 1", lines)) == "300/400");
  }
  for (const char* form : {"sample #/400", "Total batch #/400", "step #/400"}) {
    INFO(form);
    CHECK(progress_of(lines_of(form, {100, 200, 300})) == "300/400");
  }
  // No values of a training: what comes in batches may be the whole job.
  CHECK(progress_of({"[Batch 1/500] took 0.9 s", "[Batch 2/500] took 0.9 s"}) == "2/500");
}

TEST_CASE("one fall from the last print to the first one begins a counter anew") {
  Lines lines = lines_of("iter #/175", {40, 80, 120, 160});
  CHECK(progress_of(lines) == "160/175");
  lines.emplace_back("iter 40/175 loss 0.1");
  CHECK(progress_of(lines) == "-");
  // Resumed from a checkpoint.
  lines.back() = "iter 120/175 loss 0.1";
  CHECK(progress_of(lines) == "120/175");
}

TEST_CASE("a percentage behind an epoch is how much of it is over") {
  for (const char* form : {"Epoch @: #%", "[Epoch @] #%,"}) {
    INFO(form);
    CHECK(progress_of(lines_of(form, {20, 50, 80}, 2)) == "epoch 1+0.8");
  }
  CHECK(progress_of(lines_of("Epoch @: 60%", {0}, 3)) == "-");  // once each: an accuracy
}

TEST_CASE("the last of Lightning's epochs has the number that it prints as their total") {
  Lines lines;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (const char* batch : {"11", "33"}) {
      lines.push_back("Epoch " + std::to_string(epoch) + "/9 \u2501\u2501\u2501\u2501 " + batch +
                      "/33 0:00:01 \u2022 0:00:02 12.7it/s train_loss: 0.5");
    }
  }
  CHECK(progress_of(lines) == "5/10");
}

TEST_CASE("counts stand in groups of digits") {
  for (const char* form : {"step #_735/100_000", "step #'735/100'000", "step # 735 / 100 000,",
                           "step #,735 / 100 000,", "step # 735 / 100,000"}) {
    for (const std::size_t keep : {0, 16}) {
      INFO(form);
      CHECK(progress_of(lines_of(form, {5, 6, 7}), keep) == "7735/100000");
    }
  }
  CHECK(progress_of({"step 500 / 100 000 loss 0.5", "step 900 / 100 000 loss 0.4"}) ==
        "900/100000");
  CHECK(progress_of(lines_of("Epoch @ #/391", {120, 240, 360}, 2)) == "epoch 1+0.920716");
  CHECK(progress_of({"Epoch 3 120/391 250 ms", "Epoch 3 240/391 250 ms"}) == "epoch 3+0.613811");
}

TEST_CASE("a limit in parentheses, and a share that is completed") {
  CHECK(progress_of(lines_of("Iteration # (max 30):", {1, 2, 3})) == "3/30");
  CHECK(progress_of(lines_of("iter # (out of 30)", {1, 2, 3})) == "3/30");
  CHECK(progress_of({"reward 5 (max 9)", "reward 6 (max 9)", "reward 7 (max 9)"}) == "-");
  CHECK(progress_of(lines_of("completed #%:", {6, 12, 18})) == "18/100");
  const Lines lines = lines_of("Progress: |====----| #.0% Complete", {10, 20, 30});
  CHECK(progress_of(lines) == "30/100");
  CHECK(report_on(lines).metric == "loss");
}

TEST_CASE("a total has many names") {
  for (const char* total : {"Namespace(passes=20, lr=0.1)", "epochs to train: 20",
                            "# of epochs: 20", "Total epoch num = 20", "num_boost_round=20"}) {
    INFO(total);
    CHECK(progress_of(behind(total, lines_of("round #", {1, 2, 3}))) == "3/20");
  }
  CHECK(progress_of(behind("generations = 20", lines_of("generation #", {1, 2, 3}))) == "3/20");
  Lines table = behind("eval_iters ................ 100", lines_of("iteration # |", {10, 20, 30}));
  table = behind("train_iters ................ 1000", table);
  CHECK(progress_of(table) == "30/1000");
  CHECK(judge_name("epoch_num").role != Role::total);
}

}  // namespace flowcon::ctrl::metrics::test
