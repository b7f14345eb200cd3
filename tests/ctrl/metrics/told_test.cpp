// SPDX-License-Identifier: Apache-2.0
// How far a job goes where its counter does not say so.
#include "ctrl/metrics/told.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ctrl/metrics/collector.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// "epochs 20 command, steps 100 environment".
std::string told_by(const std::string& command, const Environment& environment = {}) {
  std::string text;
  for (const ToldTotal& told : told_totals(command, environment)) {
    if (!text.empty()) text += ", ";
    text += std::string(told.of_epochs ? "epochs " : "steps ") +
            std::to_string(static_cast<long>(told.total)) + ' ' + name(told.from);
  }
  return text;
}

struct Timed {
  double time = 0;
  std::string line;
};

/// "done/total from" after those lines; "-" where nothing is known.
std::string progress_of(const std::vector<Timed>& lines, const std::vector<ToldTotal>& totals = {},
                        std::size_t keep = 16) {
  Collector collector("", keep);
  collector.told(totals);
  for (const Timed& line : lines) collector.feed(line.line, line.time);
  const std::optional<Counter> counter = collector.progress().result();
  if (!counter || counter->total <= 0) return "-";
  const auto whole = [](double number) { return std::to_string(std::lround(number)); };
  return whole(counter->done) + '/' + whole(counter->total) + ' ' + name(counter->from);
}

/// "0:01:40".
std::string clock_of(int seconds) {
  const std::string two = std::to_string(100 + seconds % 60).substr(1);
  return "0:" + std::to_string(100 + seconds / 60).substr(1) + ':' + two;
}

}  // namespace

TEST_CASE("a command tells how many epochs or steps its training has") {
  for (const char* command :
       {"python3 train.py --epochs 20", "python3 train.py --epochs=20 --lr 0.1",
        "train --num-epochs 20", "train --n_epochs 20", "train -epochs 20", "train --nepochs 20",
        "train --num_train_epochs 20.0", "train trainer.max_epochs=20", "train --epoch 20",
        "sh -c python train.py --epochs 20; ls", "sh -c 'exec python train.py --epochs 20'",
        "EPOCHS=20 python train.py", "train --train.epochs 20", "train ++max_epoch=20"}) {
    INFO(command);
    CHECK(told_by(command) == "epochs 20 command");
  }
  for (const char* command :
       {"train --max-steps 1000", "train --steps 1000", "train --max_iters=1000",
        "train --num_train_steps 1e3", "train --iterations 1000", "train --total-timesteps 1000"}) {
    INFO(command);
    CHECK(told_by(command) == "steps 1000 command");
  }
  CHECK(told_by("train --epochs 3 --max_steps 1000") == "epochs 3 command, steps 1000 command");
}

TEST_CASE("what is another amount is not told by a command") {
  for (const char* command : {"train --warmup-epochs 5",
                              "train --save-steps 500",
                              "train --eval_steps 100",
                              "train --steps-per-epoch 100",
                              "train --epochs-per-eval 2",
                              "train --start-epoch 3",
                              "train --resume-epoch 3",
                              "train --batch-size 32",
                              "train --max_steps -1",
                              "train --epochs",
                              "train --epochs all",
                              "train --epochs 2.5",
                              "train --epochs 50%",
                              "train --epochs 0",
                              "train epochs 20",
                              "train --epochs --lr 1",
                              "train --logging_steps=10",
                              "train --gradient-accumulation-steps 4",
                              "train --epochs nan",
                              "train =20 --=20",
                              ""}) {
    INFO(command);
    CHECK(told_by(command).empty());
  }
}

TEST_CASE("two trainings in one command tell nothing") {
  CHECK(told_by("sh -c train --epochs 10 && train --epochs 20").empty());
  CHECK(told_by("sh -c train --epochs 10 && test --epochs 10") ==
        "epochs 10 command, epochs 10 command");
}

TEST_CASE("an environment tells it, and the command overrides it") {
  CHECK(told_by("train", {{"EPOCHS", "20"}}) == "epochs 20 environment");
  CHECK(told_by("train", {{"MAX_STEPS", "1000"}}) == "steps 1000 environment");
  CHECK(told_by("train", {{"PATH", "/bin"}, {"WARMUP_EPOCHS", "3"}, {"OMP_NUM_THREADS", "4"}}) ==
        "");
  const auto both = told_totals("train --epochs 30", {{"EPOCHS", "20"}});
  CHECK(progress_of({{0, "epoch 3 loss 0.5"}, {1, "epoch 4 loss 0.4"}}, both) == "4/30 command");
}

TEST_CASE("a command of any size costs little and is bounded") {
  std::string command = "train";
  for (int i = 0; i < 100000; ++i) command += " --epochs 20";
  CHECK(told_totals(command, {}).size() < 512);
  Collector collector("", 16);
  collector.told(told_totals(command, {}));
  collector.feed("epoch 3 loss 0.5", 0);
  CHECK(collector.progress().result()->total == 20);
}

TEST_CASE("a total that is told goes with the counter that the log has") {
  const auto epochs = told_totals("train --epochs 20", {});
  CHECK(progress_of({{0, "Epoch 5 loss: 0.5"}, {1, "Epoch 6 loss: 0.4"}}, epochs) ==
        "6/20 command");
  CHECK(progress_of({{0, "[5] loss=0.5"}, {1, "[6] loss=0.4"}, {2, "[7] loss=0.3"}}, epochs) ==
        "7/20 command");
  CHECK(progress_of({{0, "Epoch 5/30 loss: 0.5"}}, epochs) == "5/30 counter");
  CHECK(progress_of({{0, "epochs=25"}, {1, "Epoch 5 loss: 0.5"}}, epochs) == "5/25 log");
  // It was to go on elsewhere, or the option means something else.
  CHECK(progress_of({{0, "Epoch 21 loss: 0.5"}}, epochs) == "-");
  CHECK(progress_of({{0, "loss: 0.5"}}, epochs) == "-");
  const auto steps = told_totals("train --max-steps 1000", {});
  CHECK(progress_of({{0, "step 100 loss 0.5"}, {1, "step 200 loss 0.4"}}, steps) ==
        "200/1000 command");
}

TEST_CASE("the time left is read as it is printed") {
  const std::vector<std::pair<const char*, double>> known = {
      {"eta: 0:14:16  iter: 19", 856},
      {"[50/1000] eta 14:16, loss 0.5", 856},
      {"ETA: 1 day, 2:03:04", 93784},
      {"eta=14m16s", 856},
      {"time left: 856s", 856},
      {"remaining: 1h 2m", 3720},
      {"Remaining time: 2 hours, 5 min", 7500},
      {"eta: 12.5 s", 12.5},
      {"ETA 0:00:00", 0},
      {"(ETA: 5 seconds)", 5},
      {"Training: [00:16<14:16, 6.5it/s, loss=0.5]", 856},
      {"[1:00:16<2:14:16]", 8056}};
  for (const auto& [line, seconds] : known) {
    INFO(line);
    CHECK(time_left_in(line) == seconds);
  }
  for (const char* line :
       {"beta: 0:14:16", "eta: 0.3", "theta 14m", "meta: 5 s", "eta: 12:34:56:78", "eta",
        "remaining: 5", "eta: -1:00", "loss_eta: 5s", "eta: n/a", "", "Training: [00:16<?, ?it/s]",
        "  1%|1 | 16/872 [00:16<14:16, 1.0it/s]", "Epoch 3:   1%|1 | [00:16<14:16]"}) {
    INFO(line);
    CHECK(!time_left_in(line));
  }
}

TEST_CASE("a job's time left speaks for it where its counter has no total") {
  std::vector<Timed> lines{{100, "Starting"}};
  for (int i = 1; i <= 5; ++i) {
    lines.push_back({100.0 + 10 * i, "eta: " + clock_of(110 - 10 * i) +
                                         "  iter: " + std::to_string(19 * i) + "  loss: 0.5"});
  }
  CHECK(progress_of(lines) == "50/110 time left");
  // Too few.
  lines.resize(3);
  CHECK(progress_of(lines) == "-");
}

TEST_CASE("the time left of a bar without a count speaks for the job") {
  std::vector<Timed> lines{{100, "Starting"}};
  for (int i = 1; i <= 5; ++i) {
    lines.push_back({100.0 + 10 * i, "Training: [" + clock_of(10 * i) + '<' +
                                         clock_of(110 - 10 * i) + ", 6.50it/s, loss=0.5]"});
  }
  CHECK(progress_of(lines) == "50/110 time left");
}

TEST_CASE("the time left of an epoch does not speak for the job") {
  std::vector<Timed> lines{{0, "Starting"}};
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int i = 1; i <= 5; ++i) {
      lines.push_back({100.0 * epoch + 10 * i, "epoch " + std::to_string(epoch) + ", ETA: " +
                                                   std::to_string(50 - 10 * i) + "s, loss 0.5"});
      CHECK(progress_of(lines) == "-");
    }
  }
}

TEST_CASE("the time left over epochs of unknown many is the job's once the second has begun") {
  std::vector<Timed> lines{{0, "Starting"}};
  for (int i = 1; i <= 8; ++i) {
    lines.push_back({10.0 * i, "Epoch(train) [" + std::to_string(i > 5 ? 2 : 1) + "][" +
                                   std::to_string(10 * ((i - 1) % 5 + 1)) +
                                   "/50] eta: " + clock_of(200 - 10 * i) + " loss: 0.5"});
    if (i <= 5) CHECK(progress_of(lines) == "-");
  }
  CHECK(progress_of(lines) == "80/200 time left");
}

}  // namespace flowcon::ctrl::metrics::test
