// SPDX-License-Identifier: Apache-2.0
// Which counter speaks for the job while its lines come.
#include "ctrl/metrics/progress.h"

#include <string>
#include <vector>

#include "ctrl/metrics/collector.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics::test {
namespace {

/// What is known after those lines: "-" or "done/total", "epoch n+within" where no total is.
std::string progress_of(const std::vector<std::string>& lines, std::size_t keep = 0) {
  Collector collector("", keep);
  for (const std::string& line : lines) collector.feed(line, 0);
  const std::optional<Counter> counter = collector.progress().result();
  const auto text = [](double number) {
    std::string out = std::to_string(number);
    out.erase(out.find_last_not_of('0') + 1);
    return out.back() == '.' ? out.substr(0, out.size() - 1) : out;
  };
  if (!counter) return "-";
  if (counter->total > 0) return text(counter->done) + "/" + text(counter->total);
  return "epoch " + text(counter->done) + "+" + text(counter->within);
}

/// Lines of `epochs` epochs of 4 batches of `batches`.
std::vector<std::string> epochs_of(const std::string& before, int epochs, int batches) {
  std::vector<std::string> lines;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (int batch = 1; batch <= 4; ++batch) {
      lines.push_back(before + std::to_string(epoch) + " | " + std::to_string(batch * batches / 4) +
                      "/ " + std::to_string(batches) + " batches | loss 0.5");
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("the counter that speaks for the job knows when it came first and last") {
  for (const std::size_t keep : {0, 16}) {
    Collector collector("", keep);
    double time = 100;
    for (const char* line : {"Downloading: 50%|#####     | 5/10", "starting", "epoch 1/3 loss 0.5",
                             "epoch 2/3 loss 0.4", "epoch 3/3 loss 0.3", "saving"}) {
      collector.feed(line, time);
      time += 10;
    }
    const std::optional<Counter> counter = collector.progress().result();
    REQUIRE(counter.has_value());
    CHECK(counter->total == 3);
    CHECK(counter->first_at == 120);
    CHECK(counter->last_at == 140);
  }
}

TEST_CASE("a setting on a line of its own says how many, the source of a share does not") {
  std::vector<std::string> lines{"## Settings", "\tepisodes=4000", "\tlr=0.1"};
  for (const char* episode : {"Episode 1", "Episode 2", "Episode 3"}) {
    lines.push_back(std::string(episode) + "\tScore: 0.12");
  }
  CHECK(progress_of(lines) == "3/4000");
  // A counter that stands alone.
  CHECK(progress_of({"steps=100", "loss=0.5", "steps=200", "loss=0.4"}) == "-");
  std::vector<std::string> shares;
  for (const char* right : {"10.40% (1040", "11.20% (1120", "13.00% (1300", "20.10% (2010"}) {
    shares.push_back("Accuracy on Test-Set: " + std::string(right) + " / 10000)");
  }
  CHECK(progress_of(shares) == "-");
  CHECK(progress_of({"%WER 31.35 [ 15192 / 48460, 1641 ins, 3858 del, 9693 sub ]",
                     "%WER 22.85 [ 11073 / 48460, 1641 ins, 2858 del, 6574 sub ]"}) == "-");
}

TEST_CASE("a counter within an epoch of unknown many never speaks for the job") {
  CHECK(progress_of({"Train Epoch: 4 [640/12000 (5%)]\tLoss: 0.5"}) == "epoch 4+0.053333");
  CHECK(progress_of({"TRAIN [4][600/12000] Loss 0.5"}) == "epoch 4+0.05");
  CHECK(progress_of({"| epoch 001:   1000 / 4000 loss=10.1"}) == "epoch 1+0.25");
  for (int epochs = 1; epochs <= 4; ++epochs) {
    const std::string last = "epoch " + std::to_string(epochs) + "+1";
    CHECK(progress_of(epochs_of("| epoch ", epochs, 175)) == last);
    CHECK(progress_of(epochs_of("| epoch ", epochs, 175), 16) == last);
  }
}

TEST_CASE("a counter that goes on over two epochs counts the job's steps") {
  const auto line = [](int epoch, int step) {
    return "epoch " + std::to_string(epoch) + " step " + std::to_string(step) + "/900 loss 0.5";
  };
  CHECK(progress_of({line(0, 100), line(0, 200)}) == "epoch 0+0.222222");
  CHECK(progress_of({line(0, 100), line(1, 200)}) == "epoch 1+0.222222");
  CHECK(progress_of({line(0, 100), line(1, 200), line(2, 300)}) == "300/900");
}

TEST_CASE("a step before the epoch counts the whole job") {
  CHECK(progress_of({"[step=100/900,epoch=0] loss=0.5"}) == "100/900");
  CHECK(progress_of({"epoch: 0, iter: 100/900, loss: 0.5"}) == "epoch 0+0.111111");
  CHECK(progress_of({"iters: 900", "epoch: 0, iter: 100/900, loss: 0.5"}) == "100/900");
}

TEST_CASE("bars of a validation and of preparations say nothing of the job") {
  const std::vector<std::string> bars = {
      "Validation:  50%|#####     | 10/20 [00:01<00:01, 9.9it/s]",
      "Loading checkpoint shards: 50%|#####     | 1/2 [00:01<00:01, 1it/s]",
      "  0%|          | 45.3M/528M [00:04<00:40, 12.1MB/s]",
      "Training batches: 50%|#####     | 10/20 [00:01<00:01, 9.9it/s]",
      "Fold 1: 50%|#####     | 10/20 [00:01<00:01, 9.9it/s]"};
  for (const std::string& bar : bars) {
    INFO(bar);
    CHECK(progress_of({bar}) == "-");
    CHECK(progress_of({"10% 1/10 [00:01<00:09, 1it/s]", bar}) == "1/10");
  }
}

TEST_CASE("a bar that begins anew counts an epoch") {
  const std::string half = "50% 10/20 [00:01<00:01, 9.9it/s]";
  const std::string full = "100% 20/20 [00:02<00:00, 9.9it/s]";
  const std::string first = "5% 1/20 [00:00<00:02, 9.9it/s]";
  CHECK(progress_of({half, full}) == "20/20");
  CHECK(progress_of({half, full, first}) == "-");
  CHECK(progress_of({"max_epochs: 4", half, full}) == "-");
  CHECK(progress_of({"max_epochs: 4", half, full, half, first}) == "1.05/4");
}

TEST_CASE("a counter is dead where it stands still while the job goes on") {
  std::vector<std::string> lines = {"Computed probabilities for sample 1000 / 1797",
                                    "Computed probabilities for sample 1797 / 1797"};
  CHECK(progress_of(lines) == "1797/1797");
  for (int i = 1; i <= 8; ++i) lines.push_back("Iteration " + std::to_string(i) + ": error = 7.5");
  CHECK(progress_of(lines) == "-");
  CHECK(progress_of({"Using sample 1797 / 1797"}) == "-");
}

TEST_CASE("a full stop behind a counter, and thousands, are read") {
  CHECK(progress_of({"Epoch 3/10. Loss: 3.2"}) == "3/10");
  CHECK(progress_of({"Training step: 100/10000. Played games: 5"}) == "100/10000");
  for (const char* total : {"Total optimization steps = 1,200", "Total steps: 1,200"}) {
    CHECK(progress_of({total, "step 1 loss: 0.9", "step 2 loss: 0.8"}) == "2/1200");
  }
  CHECK(progress_of({"total_steps: 2,500,000", "step 12,345 loss: 0.5", "step 12,350 loss: 0.4"}) ==
        "12350/2500000");
}

TEST_CASE("counters are read in other languages, and as tqdm-loggable writes them") {
  CHECK(
      progress_of({"第 1/30 轮，第 100/391 批，损失：0.5", "第 2/30 轮，第 300/391 批，损失：0.4"})
          .ends_with("/30"));
  std::vector<std::string> within;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (const char* batch : {"50", "100"}) {
      within.push_back("第 " + std::to_string(epoch) + " 轮 第 " + batch + "/100 批 损失 0.5");
    }
  }
  CHECK_FALSE(progress_of(within).ends_with("/100"));  // it is within the epoch
  CHECK(progress_of({"第1/30轮，损失：0.5", "第2/30轮，损失：0.4"}) == "2/30");
  CHECK(progress_of({"INFO: 5/30epoch started", "INFO: 6/30epoch started"}) == "6/30");
  CHECK(progress_of({"config: num_rounds=20", "round 1: loss=2.0", "round 2: loss=1.9"}) == "2/20");
  CHECK(progress_of({R"({"epoch": "3/196", "loss": 1.5})", R"({"epoch": "4/196", "loss": 1.4})"}) ==
        "4/196");
  CHECK(progress_of({"=== EPOCH 1 OF 40 ===", "=== EPOCH 2 OF 40 ==="}) == "2/40");
  CHECK(progress_of({"Tokens: 0.50B/20.97B loss 3", "Tokens: 1.50B/20.97B loss 2",
                     "Tokens: 2.50B/20.97B loss 2"}) == "2500000000/20970000000");
  CHECK(progress_of({"Beginning of Epoch 1/1, Total Generation Batches 3813", "loss: 0.5"}) == "-");
  CHECK(progress_of({"Namespace(train_epochs=6)", "Epoch: 1, loss 0.5", "Epoch: 2, loss 0.4"}) ==
        "2/6");
  CHECK(progress_of({"Use non-epoch mode with number of iterations: 40000",
                     "Iter: 200 Time(200 iters): 1.3s Loss: 0.5",
                     "Iter: 400 Time(200 iters): 1.3s Loss: 0.4"}) == "400/40000");
  CHECK(progress_of({"[config] after-epochs: 20", "Ep. 1 : Cost 5.5", "Ep. 2 : Cost 5.4"}) ==
        "2/20");
  for (const char* of : {" de ", " sur ", " из ", " von ", " out of "}) {
    const std::string rest = std::string(of) + "30: loss 0.5";
    CHECK(progress_of({"Epoch 1" + rest, "Epoch 2" + rest}) == "2/30");
  }
  CHECK(progress_of({"Progress: 91/1000 loss 0.5", "Progress: 92/1000 loss 0.4"}) == "92/1000");
  std::vector<std::string> kit;
  for (const char* done : {"9.10", "9.20", "9.30", "9.40"}) {
    kit.push_back("Progress on:train " + std::string(done) + "kit/10.0kit rate:4.8it/s loss=3.8");
  }
  CHECK(progress_of(kit) == "9400/10000");
}

TEST_CASE("a ratio of the machine's parts is no counter") {
  for (const char* part : {"INFO (0/4) ", "[0/4] ", "[GPU 1/8] "}) {
    std::vector<std::string> lines;
    for (int step = 1; step <= 20; ++step) {
      lines.push_back(part + ("step " + std::to_string(step)) + "/100 loss: 0.5");
    }
    CHECK(progress_of(lines) == "20/100");
  }
}

TEST_CASE("a part of the job that stands before an epoch is not that epoch") {
  for (const char* part : {"Fold: 1/5, Epoch: ", "Fold 1/5 Epoch ", "Run 1/5, Epoch ",
                           "Model 1/3, epoch: ", "GPU: 1/8, epoch "}) {
    CHECK(progress_of({part + std::string("1/100, loss: 0.5"),
                       part + std::string("2/100, loss: 0.4")}) == "2/100");
  }
}

TEST_CASE("an epoch that stands still while another one goes on says nothing") {
  std::vector<std::string> lines{"Started training for 30 epochs (0/29)"};
  for (int epoch = 0; epoch <= 15; ++epoch) {
    lines.push_back("Train epoch " + std::to_string(epoch) + ": loss 0.5");
  }
  CHECK(progress_of(lines) == "-");
}

TEST_CASE("a heading tells the total in many words") {
  for (const char* heading : {"Number of epochs: 20", "number_of_epochs: 20",
                              "Start training: 20 epochs", "Training 20 epochs from scratch"}) {
    CHECK(progress_of({heading, "epoch 1 loss: 0.9", "epoch 2 loss: 0.8", "epoch 3 loss: 0.7"}) ==
          "3/20");
  }
  CHECK(progress_of({"Starting training..., iters: 600", "Iter 1: loss 0.9",
                     "Iter 10: loss 0.8"}) == "10/600");
  CHECK(progress_of({"training until step 5000...", "step 10: loss 0.9", "step 20: loss 0.8"}) ==
        "20/5000");
  CHECK(progress_of({"Epoche 1 von 20: Verlust = 0.9", "Epoche 2 von 20: Verlust = 0.8"}) ==
        "2/20");
  CHECK(progress_of({"Trainable parameters: 0.024% (1.704M/7241.732M)"}) == "-");
  CHECK(progress_of({"iters: 20", "Iter 10: loss 0.9", "Iter 20: loss 0.8"}) == "20/20");
  for (const char* heading : {"Running 100 iterations", "Performing 100 iterations."}) {
    CHECK(progress_of({heading, "iteration 1 loss: 0.9", "iteration 2 loss: 0.8"}) == "2/100");
  }
}

TEST_CASE("an epoch that stopped gives way to the steps that are told and counted behind it") {
  for (const std::size_t keep : {0, 16}) {
    std::vector<std::string> lines{"epochs = 100"};
    for (int i = 1; i <= 61; ++i) lines.push_back("Epoch " + std::to_string(i) + ", loss: 0.5");
    lines.emplace_back("iterations = 30");
    for (int i = 1; i <= 8; ++i) lines.push_back("Iteration " + std::to_string(i) + ", loss: 0.4");
    CHECK(progress_of(lines, keep) == "61/100");
    lines.emplace_back("Iteration 9, loss: 0.4");
    CHECK(progress_of(lines, keep) == "9/30");
    lines.emplace_back("Epoch 62, loss: 0.5");
    CHECK(progress_of(lines, keep) == "62/100");
  }
  // Steps that were there before, or of which nothing tells how many: those of an epoch.
  const std::string first = "Iteration 1, loss: 0.5";
  std::vector<std::string> long_epoch{
      "epochs = 100", "Epoch 1", first,     "Iteration 2, loss: 0.5",
      "Epoch 2",      first,     "Epoch 3", "iterations = 5000"};
  std::vector<std::string> untold{"epochs = 100", "Epoch 1", "Epoch 2", "Epoch 3"};
  for (int i = 1; i <= 3000; ++i) {
    long_epoch.push_back("Iteration " + std::to_string(i) + ", loss: 0.5");
    untold.push_back(long_epoch.back());
  }
  CHECK(progress_of(long_epoch) == "3/100");
  CHECK(progress_of(untold) == "3/100");
}

TEST_CASE("a pair of indices is no counter") {
  std::vector<std::string> lines;
  for (int batch = 100; batch <= 500; batch += 100) {
    lines.push_back("Batch 2/" + std::to_string(batch) + " loss 0.5");
  }
  lines.push_back("Batch 3/100 loss 0.5");
  CHECK(progress_of(lines) == "-");
}

TEST_CASE("a stated total counts for what goes on towards it") {
  CHECK(progress_of({"eval_iters = 20", "max_iters = 200"}) == "-");
  CHECK(progress_of({"max_iters = 200", "eval_iters = 20", "iter 0: loss 4.2",
                     "iter 10: loss 4"}) == "10/200");
  CHECK(progress_of({"Total Epoches: 50", "Epoch 3: loss 0.5"}) == "3/50");
  CHECK(progress_of({"Max epochs   500000. Desired error: 0.001.", "Epochs  1000. error: 0.5",
                     "Epochs  2000. error: 0.4", "Epochs  3000. error: 0.3"}) == "3000/500000");
  CHECK(progress_of({"Training a tagger (60 iterations)", "iter 1 loss 0.5", "iter 2 loss 0.4"}) ==
        "2/60");
  CHECK(progress_of({"Namespace(max_iterations=50000)",
                     "125 iterations per epoch. 12500 max iterations ",
                     "iteration 50, epoch 0 : loss : 5.75, lr: 0.0008",
                     "iteration 100, epoch 0 : loss : 3.9, lr: 0.0008"}) == "100/12500");
  CHECK(progress_of({"3 passes over the corpus", "PROGRESS: pass 0, at document #80/80",
                     "PROGRESS: pass 1, at document #20/80"}) == "1.25/3");
  CHECK(progress_of({"saving every 10 epochs for training", "Epoch 3: loss 0.5"}) == "-");
}

TEST_CASE("numbers without an end are no totals") {
  CHECK(progress_of({"max_iterations: 2147483647", "iteration 1 loss 3", "iteration 2 loss 2"}) ==
        "-");
}

TEST_CASE("counters of hostile logs stay bounded") {
  Progress progress;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    progress.ratio(i % 97, i % 3 == 0 ? Role::epoch : Role::step, 1, 2 + static_cast<double>(i));
    progress.counter(i, Role::step, static_cast<double>(i), true);
    progress.total(i, i % 2 == 0, 1 + static_cast<double>(i));
  }
  const std::optional<Counter> counter = progress.result();
  CHECK((!counter || counter->total == 0 || counter->done <= counter->total));
}

TEST_CASE("an epoch that never moves does not keep steps of a told number from counting") {
  std::vector<std::string> lines{"Namespace(max_steps=500, num_epochs_to_generate_seeds_for=2)",
                                 "datasets.py: epoch = 0"};
  for (int step = 100; step <= 500; step += 100) {
    lines.push_back("global step: " + std::to_string(step) + ", epoch: 0, batch: " +
                    std::to_string(step - 1) + ", loss: " + std::to_string(1.0 / step));
  }
  CHECK(progress_of(lines) == "500/500");
}

TEST_CASE("a step that is printed as the next one is at its end one beyond") {
  std::vector<std::string> lines{"num_train_steps: 45"};
  for (int step = 5; step <= 46; ++step)
    lines.push_back("Iteration: " + std::to_string(step) + " loss 0.5");
  CHECK(progress_of(lines) == "45/45");
  lines.emplace_back("Iteration: 47 loss 0.5");
  CHECK(progress_of(lines) == "-");
}

TEST_CASE("places in a source, a model's parts and rows of words are no counters") {
  CHECK(progress_of({"epochs=3", "W mark_for_compilation_pass.cc:1648] not used",
                     "  (word_embed): HybridSequential(", "    (0): Embedding(30522 -> 768)",
                     "    (1): Dropout(p = 0.1)", "    (2): Dropout(p = 0.1)"}) == "-");
  CHECK(progress_of({"max_epochs=75", "0 | autoencoder | AutoencoderKL | 75.1 M | train",
                     "1 | adv_loss | PatchLoss | 0 | train", "2 | perceptual | Loss | 0 | train",
                     "3 | other | Loss | 0 | train"}) == "-");
  // Epochs whose rows have numbers.
  CHECK(progress_of({"max_epochs=75", "0 | 0.5 | 0.9", "1 | 0.4 | 0.8", "2 | 0.3 | 0.7"}) ==
        "2/75");
}

TEST_CASE("a command in the log tells a total and counts nothing") {
  CHECK(progress_of({"+ python train.py --lr 0.1 --epochs 80 --batch-size=128",
                     "[Epoch 1, Batch 100/115] loss=9.1"}) == "0.869565/80");
  CHECK(progress_of({"number of epochs: 90", "train.py --natan_turn_epoch 70 --start_epoch 0"}) ==
        "-");
  CHECK(progress_of({"epochs=90", "Namespace(lr_turn_epoch=70, start_epoch=3)"}) == "-");
}

TEST_CASE("how many batches an epoch has does not make them the job's") {
  CHECK(progress_of({"Namespace(epochs=3)", "  sample_num=22500, batch_num=1412",
                     "[Epoch 0 Batch 1410/1412] avg loss 0.02"}) == "0.998584/3");
}

TEST_CASE("a total in the name of a ratio's counter, an attempt, steps of training") {
  CHECK(progress_of({"Total batch #  3400/3830 Cost: 1.6", "Total batch #  3800/3830 Cost: 1.5"}) ==
        "3800/3830");
  CHECK(progress_of({"Starting attempt 3/5"}) == "-");
  CHECK(progress_of({"Training steps = 50000, Batch size = 32", "loss = 4.1, step = 100",
                     "loss = 3.9, step = 5000"}) == "5000/50000");
}

TEST_CASE("what comes once, behind the work, is not its counter") {
  std::vector<std::string> lines;
  for (int step = 1; step <= 30; ++step)
    lines.push_back("global_step=" + std::to_string(step) + ", loss=0.5");
  lines.emplace_back("Uploading file 1/5");
  CHECK(progress_of(lines) == "-");
  CHECK(progress_of({"Tuning trial 1/5"}) == "-");
  CHECK(progress_of({"#1: score=0.63, epochs=147, mean epochs=147"}) == "-");
}

TEST_CASE("an epoch in a message behind the bar is not what the bar goes to") {
  CHECK(progress_of({"Epoch 1/10",
                     "1500/1500 [====] - loss: 0.26 - Epoch 00000: val_loss improved"}) == "1/10");
}

TEST_CASE("one of one, a setting of epochs, and ranks that say goodbye are not the job's counter") {
  CHECK(progress_of({"Beginning trial 1 of 1", "options (num_trees:1, max_steps=1)",
                     "step 1/1 loss 0.5"}) == "-");
  CHECK(progress_of({"epochs : 80", "hold_epochs : 26", "ema_epochs: 10"}) == "-");
  std::vector<std::string> lines{"Namespace(max_steps=1271)"};
  for (int step = 100; step <= 900; step += 100) {
    lines.push_back("{'global_steps': " + std::to_string(step) + ", 'eval_loss': 1.5}");
  }
  for (int rank = 0; rank < 60; ++rank) {
    lines.push_back("[" + std::to_string(rank * 7 % 8) + "] NCCL INFO comm rank " +
                    std::to_string(rank * 11 % 64) + " nranks 64 - Abort COMPLETE");
  }
  CHECK(progress_of(lines) == "900/1271");
}

TEST_CASE("a bar of as many as are told, without values, is not the job's") {
  std::vector<std::string> lines{"max_steps: 1000",
                                 "Encoding: 100%|##| 1000/1000 [00:01<00:00, 99it/s]"};
  for (int step = 10; step <= 300; step += 10)
    lines.push_back("step " + std::to_string(step) + " loss 0.5");
  CHECK(progress_of(lines) == "300/1000");
  CHECK(progress_of({"train_steps: 100", "Epoch 1/10", "100/100 [====] - loss: 0.5"}) == "1/10");
  CHECK(progress_of(
            {"train_steps: 500", "Epoch 0 step 250 loss 0.5", "Epoch 0 step 500 loss 0.4"}) == "-");
  CHECK(progress_of({"+ retinanet-train --epochs 10 --steps 100", "Epoch 1/10",
                     "100/100 [====] - loss: 0.5"}) == "1/10");
  CHECK(progress_of({"epochs: 20", "seen_epochs: 7 loss 0.5", "seen_epochs: 8 loss 0.4"}) ==
        "8/20");
}

TEST_CASE("a rate is no place, and fits within a loop are not the job") {
  CHECK(progress_of({"epochs: 37", "eval_per_train_epoch : 4"}) == "-");
  std::vector<std::string> lines;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    lines.push_back("epoch " + std::to_string(epoch));
    lines.emplace_back("Epoch 1/1");
    lines.emplace_back("1565/1565 [====] - 58s - loss: 1.6");
  }
  CHECK(progress_of(lines).find("1/1") == std::string::npos);
}

TEST_CASE("a pair whose second number goes on is a pair of indices") {
  CHECK(progress_of({"Batch 4/203700 loss 12.6", "Batch 4/203800 loss 23.6"}) == "-");
  CHECK(progress_of({"Batch 4/203700 loss 12.6", "Batch 4/0 loss 28.5"}) == "-");
  CHECK(progress_of({"step 0/1 loss 1", "step 5/200 loss 1", "step 6/200 loss 1"}) == "6/200");
  CHECK(progress_of({"Epoch 1/2", "step 1000/1500 loss 1", "Epoch 2/2", "step 1000/3000 loss 1",
                     "step 2000/3000 loss 1"}) != "-");
}

TEST_CASE("the unit may stand before the slash, and a percentage in a record") {
  CHECK(progress_of({"100 iter, 3 epoch / 100 epochs", "200 iter, 4 epoch / 100 epochs"}) ==
        "4/100");
  CHECK(progress_of({R"({"loss": 0.5, "progress": 8.25})", R"({"loss": 0.4, "progress": 9.5})"}) ==
        "9.5/100");
  CHECK(progress_of({R"({"loss": 0.5, "progress": 0.25})", R"({"loss": 0.4, "progress": 0.5})"}) ==
        "-");
  for (const std::size_t keep : {0, 256}) {
    CHECK(progress_of({R"({"loss": 0.5, "progress": 0.83})", R"({"loss": 0.4, "progress": 8.30})",
                       R"({"loss": 0.3, "progress": 9.50})"},
                      keep) == "9.5/100");
  }
  CHECK(progress_of({R"({"loss": 0.5, "memory": {"percent": 61.2}})",
                     R"({"loss": 0.4, "memory": {"percent": 62.2}})"}) == "-");
  CHECK(progress_of({"Epoch 1.0/3.0 loss 0.5", "Epoch 2.0/3.0 loss 0.4"}) == "2/3");
  CHECK(progress_of({"T: 00s | E: 1.0/10 | B: 1/10 | L: 9.5",
                     "T: 00s | E: 2.0/10 | B: 2/10 | L: 4.5"}) == "2/10");
  CHECK(progress_of({"E: 0.5/0.7 loss 0.5", "E: 0.4/0.7 loss 0.4"}) == "-");
}

TEST_CASE("a percentage in brackets behind a step is the job's once it has risen twice") {
  for (const std::size_t keep : {0, 16}) {
    std::vector<std::string> lines{"Iteration 0 [0%]: ELBO = -1372.98",
                                   "Iteration 2000 [10%]: ELBO = -294.57"};
    CHECK(progress_of(lines, keep) == "-");
    lines.emplace_back("Iteration 4000 [20%]: ELBO = -193.17");
    CHECK(progress_of(lines, keep) == "20/100");
    lines.emplace_back("Iteration 4100 [20%]: ELBO = -193.15");
    CHECK(progress_of(lines, keep) == "20/100");
    lines.emplace_back("Iteration 0 [0%]: ELBO = -1372.98");
    lines.emplace_back("Iteration 2000 [10%]: ELBO = -294.57");
    CHECK(progress_of(lines, keep) == "-");
  }
  for (const std::string counter : {"step", "Steps", "ITER", "iters", "iteration"}) {
    INFO(counter);
    CHECK(progress_of({counter + " 1 [ 1.5%], loss 3", counter + " 2 [ 3.0%], loss 2",
                       counter + " 3 [ 4.5%], loss 1"}) == "4.5/100");
    CHECK(progress_of({counter + ": 1 [1%]", counter + ": 2 [2%]", counter + ": 3 [3%]"}) ==
          "3/100");
  }
}

TEST_CASE("a percentage in brackets of a part, or behind anything else, says nothing of the job") {
  for (const char* form : {"Epoch # [#0%]: loss 0.5",
                           "batch # [#0%]: loss 0.5",
                           "Update # [#0%]: loss 0.5",
                           "global_step # [#0%]: loss 0.5",
                           "Iteration [#0%]: loss 0.5",
                           "[#0%] Building model.o",
                           "Iteration # [#0%] loss 0.5",
                           "Iteration # [#0%]- loss 0.5",
                           "Iteration # (#0%): loss 0.5",
                           "Epoch 1 iteration # [#0%]: loss 0.5",
                           "Minibatch 1, iteration # [#0%]: loss 0.5",
                           "Batches 2, step # [#0%]: loss 0.5",
                           "Trial 2, step # [#0%]: loss 0.5",
                           "fold_2 step # [#0%]: loss 0.5",
                           "Chain 1 iteration # [#0%]: loss 0.5",
                           "Run 2, iter # [#0%]: loss 0.5",
                           "On rank0, iter # [#0%]: loss 0.5",
                           "Client 3: step # [#0%]: loss 0.5",
                           "worker-1 step # [#0%]: loss 0.5",
                           "Validation step # [#0%]: loss 0.5"}) {
    std::vector<std::string> lines;
    for (int i = 1; i <= 9; ++i) {
      std::string line = form;
      for (std::size_t at; (at = line.find('#')) != line.npos;)
        line.replace(at, 1, std::to_string(i));
      lines.push_back(line);
    }
    INFO(form);
    CHECK(progress_of(lines) == "-");
  }
}

TEST_CASE("a percentage in brackets gives way to epochs, and to a counter that has a total") {
  const std::vector<std::string> shares{"Iteration 100 [10%]: loss 0.5",
                                        "Iteration 200 [20%]: loss 0.4",
                                        "Iteration 300 [30%]: loss 0.3"};
  CHECK(progress_of(shares) == "30/100");
  const auto behind = [&shares](const std::string& first) {
    std::vector<std::string> lines{first};
    lines.insert(lines.end(), shares.begin(), shares.end());
    return progress_of(lines);
  };
  CHECK(behind("max_iters: 5000") == "300/5000");
  CHECK(behind("Epoch 1/4") == "1/4");
  CHECK(behind("Epoch 1") == "-");
  CHECK(behind("epochs: 4") == "-");
  CHECK(behind("step 7/90 loss 0.9") == "7/90");
}

TEST_CASE("the end in brackets is that of the percentages before it") {
  const auto with = [](const std::string& last) {
    return progress_of({"Iteration 0 [0%]: ELBO = -1372.98", "Iteration 2000 [10%]: ELBO = -294.57",
                        "Iteration 4000 [20%]: ELBO = -193.17", last});
  };
  CHECK(with("Finished [100%]: ELBO = -149.73") == "100/100");
  CHECK(with("Done [100%]") == "100/100");
  CHECK(with("completed [100%], ELBO = -149.73") == "100/100");
  CHECK(with("Model 2 Finished [100%]: ELBO = -149.73") == "20/100");
  CHECK(with("Finished [90%]: ELBO = -149.73") == "20/100");
  CHECK(with("Finished [100%] ELBO = -149.73") == "20/100");
  CHECK(progress_of({"Finished [100%]: loss 0.5", "step 1 [1%]: loss 0.5", "step 2 [2%]: loss 0.4",
                     "step 3 [3%]: loss 0.3"}) == "3/100");
  CHECK(progress_of({"Finished [100%]: a", "Finished [100%]: b", "Finished [100%]: c"}) == "-");
}

TEST_CASE("two ratios with their shares are the epoch and what is within it") {
  CHECK(progress_of({"Train:    1/3 ( 33%) [  49/323 ( 15%)]  Loss: 36.77 (81.7)",
                     "Train:    1/3 ( 33%) [  99/323 ( 31%)]  Loss: 23.51 (54.8)",
                     "Train:    2/3 ( 67%) [  10/323 (  3%)]  Loss: 23.51 (54.8)"})
            .ends_with("/3"));
}

}  // namespace flowcon::ctrl::metrics::test
