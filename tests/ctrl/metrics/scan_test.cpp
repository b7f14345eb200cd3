// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/scan.h"

#include <cmath>
#include <sstream>

#include "ctrl/metrics/prefix.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

/// "key=value" of every named field, in order; "key=a/b" for counters.
std::string named_fields(const std::string& line) {
  LineScanner scanner;
  std::ostringstream out;
  for (const Field& field : scanner.scan(line).fields) {
    if (field.key.empty()) continue;
    out << (out.tellp() > 0 ? "; " : "") << field.key << (field.average ? "(avg)" : "") << "="
        << field.value;
    if (field.has_total) out << "/" << field.total;
  }
  return out.str();
}

}  // namespace

TEST_CASE("numbers get their names in every common shape") {
  struct Row {
    const char* line;
    const char* fields;
  };
  const Row rows[] = {
      {"loss: 0.5, acc=0.9", "loss=0.5; acc=0.9"},
      {"loss 0.5 acc 0.9", "loss=0.5; acc=0.9"},
      {"iter 5: loss 4.2, time 12.5ms", "iter=5; loss=4.2; time=12.5"},
      {"train.loss : 7.2 None train.lr : 0.1", "train.loss=7.2; train.lr=0.1"},
      {"Loss 6.9 (7.1)\tAcc@1 0.5 (0.4)", "Loss=6.9; Loss(avg)=7.1; Acc@1=0.5; Acc@1(avg)=0.4"},
      {"Gen/Dis Loss: -0.05/-0.25", "Gen Loss=-0.05; Dis Loss=-0.25"},
      {"Accuracy: 9650/10000 (96%)", "Accuracy=96"},
      {"Epoch 3/20", "Epoch=3/20"},
      {"Epoch 3 of 20", "Epoch=3/20"},
      {"train loss = 0.47 = (mf)0.46 + (embed)0.01", "train loss=0.47; mf=0.46; embed=0.01"},
      {"{\"loss\": 0.5, \"lr\": 1e-3}", "loss=0.5; lr=0.001"},
      {"{'eval_loss': 4.0, 'x': True}", "eval_loss=4"},
      {"{\"loss\": \"0.5\"}", "loss=0.5"},
      {"{\"train\": {\"loss\": 1.5}, \"val\": {\"loss\": 2.5}}", "train.loss=1.5; val.loss=2.5"},
      {"{\"key\": \"eval_accuracy\", \"value\": 0.84}", "eval_accuracy=0.84"},
      {"{\"value\": 0.84, \"key\": \"eval_accuracy\"}", "eval_accuracy=0.84"},
      {"eval_accuracy: {\"epoch\": 2, \"value\": 0.3}", "eval_accuracy.epoch=2; eval_accuracy=0.3"},
      {"|    ep_rew_mean     | 22.1     |", "ep_rew_mean=22.1"},
      {"Learning Rate [1.25e-05]", "Learning Rate=1.25e-05"},
      {"719.5, 718.5 avg, 0.001 rate", "avg=718.5; rate=0.001"},
      {"loss: tensor(0.25, device='cuda:0')", "loss=0.25; cuda=0"},
      {"Cost after iteration 100: 0.64", "iteration=100; Cost after iteration=0.64"},
      {"mAP@0.5:0.95 = 0.37", "mAP@0.5:0.95=0.37"},
      {"ndcg@10:0.3,auc:0.7", "ndcg@10=0.3; auc=0.7"},
      {"INFO:tensorflow:loss = 11.2, step = 5", "loss=11.2; step=5"},
      {"2023-07-31 03:19:13.633 loss 0.5", "loss=0.5"},
      {"elapsed time per iteration (ms): 612.4", "elapsed time per iteration (ms)=612.4"},
      {"1epoch:train:1-50batch: loss=85.7", "epoch=1; batch=1; loss=85.7"},
      {"iter: 20, 'loss': '38.5', time: 0.9", "iter=20; loss=38.5; time=0.9"},
      {"loss: '-1.5e-1', acc: '97.5%', x: 'a1'", "loss=-0.15; acc=97.5"},
      {"(:epoch, 1, :trn, 589.5f0, :tst, 590.5f0)", "epoch=1; trn=589.5; tst=590.5"},
      {"loss for minibatches 40-49 is -35.5 over 19538 frames",
       "minibatches=40; loss=-35.5; over=19538"},
      {"Objective for 'output' for minibatches 0-9 is -0.25 + -0.5 = -0.75 over 8 frames.",
       "minibatches=0; Objective for 'output'=-0.75; over=8"},
      {"files of minibatches 40-49 is 3", ""},
      {"ERROR 1000 0.625     2862 4543", "ERROR=0.625"},
      {"pred.        cost: 1.5", "pred.        cost=1.5"},
      {"warped pred. cost: 1.5", "warped pred. cost=1.5"},
      {"Done.   cost: 1.5", "cost=1.5"},
      {"scores: '1' : 0.15, '2' : 0.11", ""},
      {"scores: '1': 0.15", ""},
      {"scores: '1' = 0.15", ""},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    CHECK(named_fields(row.line) == row.fields);
  }
}

TEST_CASE("dates, times, versions and addresses are no values") {
  for (const char* line : {"2023-07-31", "12:30:45", "00:21<00:00", "v0.5.0", "1.2.3",
                           "10.0.0.1:8080", "05/10/2024", "resnet50", "0x7f08", "a1b2c3"}) {
    LineScanner scanner;
    INFO(line);
    CHECK(scanner.scan(line).fields.empty());
  }
}

TEST_CASE("progress bars are recognised with their counter") {
  LineScanner scanner;
  for (const char* line : {" 12/60 [=====>......] - ETA: 3s - loss: 0.7",
                           "Epoch 1:  20%|##   | 12/60 [00:01<00:04, 9.1it/s]",
                           "12/60 \xE2\x94\x81\xE2\x94\x81\xE2\x94\x81 2s 9ms/step - loss: 0.7"}) {
    INFO(line);
    const Bar bar = scanner.scan(line).bar;
    CHECK(bar.present);
    CHECK(bar.done == 12);
    CHECK(bar.total == 60);
  }
  CHECK_FALSE(scanner.scan("step 12/60 loss 0.7").bar.present);
}

TEST_CASE("a part of the data named on the line belongs to its values") {
  LineScanner scanner;
  CHECK(scanner.scan("Test set: Average loss: 0.1").fields.at(0).phase == Phase::eval);
  CHECK(scanner.scan("[TRAIN] epoch: 1, loss: 0.1").fields.at(1).phase == Phase::train);
  CHECK(scanner.scan("{\"mode\": \"val\", \"loss\": 0.1}").fields.at(0).phase == Phase::eval);
  const auto fields = scanner.scan("[train] loss=1.0 [valid] loss=2.0").fields;
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].phase == Phase::train);
  CHECK(fields[1].phase == Phase::eval);
}

TEST_CASE("prefixes of launchers and loggers come off") {
  struct Row {
    const char* line;
    const char* rest;
  };
  const Row rows[] = {
      {"7: TRAIN loss", "TRAIN loss"},
      {"[1,0]<stdout>:loss 0.5", "loss 0.5"},
      {"INFO:root:loss", "loss"},
      {"I0305 19:13:42.060884 1400760 logging_writer.py:48] loss", " loss"},
      {"[2023-04-18 01:46:52,554] [INFO] [timer.py:199:stop] loss", " loss"},
      {"Thu Feb 25 12:11:03 2021[1,0]<stdout>:loss", "loss"},
      {"trainer-1  | loss", " loss"},
      {"[rank3]: loss", " loss"},
      {"(RayTrainWorker pid=123, ip=10.0.0.1) loss", " loss"},
      {"LOG (nnet3-train[5.5]:Train():nnet-training.cc:121) loss", " loss"},
      {"ERROR 1000 files", " 1000 files"},
      {"ERROR 1000 0.625     2862 4543", "ERROR 1000 0.625     2862 4543"},
      {"loss: 0.5", "loss: 0.5"},
      {"100: 0.5", "100: 0.5"},
      {"[Epoch 3] loss", "[Epoch 3] loss"},
      {"E    #       LOSS", "E    #       LOSS"},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    CHECK(without_prefix(row.line) == row.rest);
  }
}

TEST_CASE("hostile lines cost linear time and bounded memory") {
  LineScanner scanner;
  for (const char* piece : {"{", "\"", "'", "\\\"", "1:", "a=1 ", "((", "[[", "@[", "1/", "1e",
                            "= ", "{\"a\":", "of ", "\xE2\x94", "|1"}) {
    std::string line;
    while (line.size() < 64 * 1024) line += piece;
    INFO(piece);
    CHECK(scanner.scan(line).fields.size() <= 256);
  }
}

}  // namespace flowcon::ctrl::metrics
