// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/names.h"

#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {

TEST_CASE("names of metrics say which way is better") {
  for (const char* name : {"loss", "train_loss", "val_loss", "AvgCost", "Loss/tok", "lm loss",
                           "ppl", "CrossEntropyWithSoftmax", "validation_0-rmse", "cross-entropy",
                           "risk", "negative log likelihood", "WER", "train rmse <loss>"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
    CHECK(judge_name(name).better == Better::lower);
  }
  for (const char* name :
       {"accuracy", "Acc@1", "top1", "val_acc", "mIoU", "mAP@.5:.95", "ep_rew_mean", "BLEU4",
        "eval_f1", "episode_return", "heatmap_accuracy", "AverageEpRet", "ndcg@10"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
    CHECK(judge_name(name).better == Better::higher);
  }
}

TEST_CASE("numbers that move smoothly and mean nothing are decoys") {
  for (const char* name :
       {"lr",          "learning rate", "loss_scale",         "grad norm",    "eta",
        "samples/sec", "Tok/s",         "batch_cost",         "reader_cost",  "time cost",
        "momentum",    "gpu_mem",       "temperature",        "elapsed_time", "ips",
        "lossScale",   "ep_len_mean",   "explained_variance", "loss weight",  "tokens/s",
        "error_count", "Errno"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::decoy);
  }
}

TEST_CASE("counters and their totals are told apart") {
  for (const char* name : {"epoch", "Train Epoch", "Ep.", "epoch_num"})
    CHECK(judge_name(name).role == Role::epoch);
  for (const char* name :
       {"step", "global_step", "Iteration", "minibatch", "num_updates", "total_timesteps"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::step);
  }
  for (const char* name :
       {"epochs", "max_epochs", "num_train_epochs", "total_steps", "max_iters"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::total);
  }
}

TEST_CASE("the main loss outweighs its parts, the validation's and the best so far") {
  const double loss = judge_name("loss").weight;
  for (const char* name :
       {"loss_rpn_cls", "kl_loss", "val_loss", "best_loss", "aux_output_loss", "value_loss"}) {
    INFO(name);
    CHECK(judge_name(name).weight < loss);
  }
  CHECK(judge_name("ep_rew_mean").weight > loss);
  CHECK(judge_name("best val acc").is_best);
}

TEST_CASE("names are read in the languages in which people print them") {
  for (const char* name : {"损失", "平均损失", "训练损失", "損失", "손실", "потери", "pérdida"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
    CHECK(judge_name(name).better == Better::lower);
  }
  CHECK(judge_name("验证准确率").better == Better::higher);
  CHECK(judge_name("验证准确率").phase == Phase::eval);
  CHECK(judge_name("точность").better == Better::higher);
  CHECK(judge_name("学习率").role == Role::decoy);
  CHECK(judge_name("loss_value").weight > judge_name("ppo/loss/value").weight + 1);
  for (const char* name : {"轮次", "第 轮", "Эпоха", "Época", "エポック"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::epoch);
  }
  // Not one of the words, nor whole: nothing of it is known, and nothing is read beyond its end.
  CHECK(judge_name("很好的损失吗").role != Role::decoy);
  CHECK(name_words("\xE6\x8D").empty());
  CHECK(name_words("loss \xC3").size() == 1);
  CHECK(name_words("±Δloss²") == std::vector<std::string>{"loss"});
}

TEST_CASE("an objective function is better as its values go, whatever loss it is of") {
  for (const char* name :
       {"objective function for 'output'", "objective function for 'output-xent'"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
    CHECK(judge_name(name).better == Better::unknown);
  }
  CHECK(judge_name("objective function for 'output'").weight >
        judge_name("objective function for 'output-xent'").weight + 1);
}

TEST_CASE("the words of a name are found in every spelling") {
  using Words = std::vector<std::string>;
  CHECK(name_words("AvgCost") == Words{"avg", "cost"});
  CHECK(name_words("valid_1's binary_logloss") == Words{"valid", "1", "s", "binary", "logloss"});
  CHECK(name_words("top1 mIoU") == Words{"top1", "miou"});
  CHECK(name_words("<>--").empty());
}

TEST_CASE("the letter of a loss names the whole one") {
  for (const char* name : {"L_out", "L_total", "train/L_total"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::metric);
    CHECK(judge_name(name).better == Better::lower);
    CHECK(judge_name(name).plain);
  }
  CHECK(judge_name("L_out").weight > judge_name("L_reg").weight);
  CHECK(judge_name("URL_total").role != Role::metric);
}

TEST_CASE("several times are one time, and a norm is no step") {
  for (const char* name : {"timing", "timings", "|step|", "|gradient|", "||d||"}) {
    INFO(name);
    CHECK(judge_name(name).role == Role::decoy);
  }
}

TEST_CASE("phases have many words") {
  CHECK(phase_of_word("training") == Phase::train);
  CHECK(phase_of_word("dev") == Phase::eval);
  CHECK(phase_of_word("loss") == Phase::none);
  CHECK(judge_name("eval_loss").phase == Phase::eval);
}

TEST_CASE("a cross entropy is a loss, the entropy of an agent a part of one") {
  for (const char* name : {"cross_entropy_loss", "CrossEntropyLoss", "binary cross entropy loss"}) {
    INFO(name);
    CHECK(judge_name(name).plain);
    CHECK(judge_name(name).weight > 9);
  }
  CHECK_FALSE(judge_name("entropy_loss").plain);
}

TEST_CASE("a side's whole loss says more than its parts; a rec may be a reconstruction's") {
  CHECK(judge_name("g_loss").weight > judge_name("g_B_cyc_loss").weight);
  CHECK(judge_name("Rec").better == Better::unknown);
}

}  // namespace flowcon::ctrl::metrics
