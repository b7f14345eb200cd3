// SPDX-License-Identifier: Apache-2.0
// The words. A plain loss weighs 10. A reward weighs more, because the losses of reinforcement
// learning say little about how well the agent does; accuracies and the like weigh less than a
// loss, because they are printed more rarely and saturate.
#include "ctrl/metrics/words.h"

#include <array>
#include <unordered_map>

namespace flowcon::ctrl::metrics {
namespace {

struct Group {
  Meaning meaning;
  double weight;
  std::string_view words;  ///< separated by one blank
};

// In other languages than English only what people print most.
constexpr std::array kGroups{
    Group{Meaning::lower, 10,
          "损失 损失值 損失 손실 потери Потери лосс Лосс pérdida pérdidas perda perdita strata "
          "förlust kayıp"},
    Group{Meaning::lower, 9, "误差 誤差 오차 ошибка Ошибка erreur fehler errore błąd fout hata"},
    Group{Meaning::higher, 13, "奖励 回报 報酬 보상 награда Награда récompense recompensa"},
    Group{Meaning::higher, 8,
          "准确率 准确度 精度 正确率 準確率 正解率 정확도 точность Точность précision precisión "
          "exactitud acurácia accuratezza dokładność doğruluk nauwkeurigheid"},
    Group{Meaning::decoy, 0,
          "学习率 学習率 耗时 用时 时间 時間 시간 学習時間 время Время temps tiempo tempo"},
    Group{Meaning::epoch, 0,
          "轮 轮次 周期 エポック 에폭 에포크 эпоха эпохи эпох Эпоха Эпохи époque époques Époque "
          "época épocas Época epoca epoka epoki epok"},
    Group{Meaning::step, 0,
          "批 批次 步 步数 迭代 ステップ イテレーション 스텝 반복 шаг Шаг итерация Итерация "
          "itération Itération étape Étape iteración Iteración iteração Iteração paso passo krok "
          "iteracja adım"},
    Group{Meaning::limit, 0, "总 最大"},
    Group{Meaning::train, 0, "训练 訓練 学習 훈련 обучение обучения entrenamiento treino"},
    Group{Meaning::eval, 0,
          "验证 測試 测试 検証 テスト 검증 валидация валидации validación validação"},
    Group{Meaning::best, 0, "最佳 最好 最小 最高"},
    Group{Meaning::neutral, 0, "平均 当前 средняя Средняя"},
    Group{Meaning::filler, 0, "第"},
    Group{Meaning::lower, 10, "loss losses lss verlust perte"},
    Group{Meaning::lower, 9.5, "cost xent crossentropy nll ce costs"},
    Group{Meaning::lower, 9,
          "perplexity ppl bpc bpb bpd rmse mse mae rmsle logloss mlogloss error "
          "errors wer cer ter eer fid mape smape nrmse deviance hinge huber "
          "bce mcxent kld lpips err err1 err5 serr terr epe chamfer nmse "
          "mpjpe smoothl1 l2loss rmsd msle ade fde top1err bcer bwer rmsle rmspe mase wape wmape "
          "fehler crps nmae absrel sqrel mindcf cavg hausdorff hd95 assd kid stress aic bic chisq "
          "chi2"},
    Group{Meaning::lower, 8.5, "top5err"},
    Group{Meaning::lower, 6,
          "l1 l2 divergence inertia residual distortion energy regret quantile "
          "ndei gap dist distance wasserstein mcd brier pinball "
          "discrepancy impurity suboptimality infeasibility risk"},
    Group{Meaning::lower, 4, "trl tel"},
    Group{Meaning::either, 8, "objective objf obj_val objval fitness fbest"},
    // "rec" is a recall, or what a reconstruction costs.
    Group{Meaning::either, 7,
          "elbo likelihood loglik loglikelihood loglh lnl logprob logp ll llh fval logposterior "
          "elpd rec"},
    Group{Meaning::either, 5, "f fx fun"},
    Group{Meaning::higher, 13,
          "reward rewards rew return returns ret eprewmean epret "
          "averageepret eprewardmean"},
    Group{Meaning::higher, 8.5,
          "map map50 map5095 miou mdice bleu bleu4 sacrebleu rouge rougel "
          "rouge1 rouge2 chrf comet meteor cider spice map75 nds pq "
          "mota idf1 hota maps ndcg mrr"},
    Group{Meaning::higher, 8,
          "acc accuracy accuracies genauigkeit acc1 acc5 top1 top5 auc auroc auprc roc f1 fscore "
          "fbeta dice iou psnr ssim mcc kappa pearson spearman spearmanr corr "
          "correlation las uas em r2 ap ap50 ap75 ari nmi pck pckh oks pixacc "
          "mpa score scores elo winrate f1score aucpr prauc msssim "
          "matthews silhouette ks gini hits jaccard modularity qwk accu dsc pesq stoi sdr sisdr "
          "snr sisnr "
          "lddt plddt gdt nsd"},
    Group{Meaning::higher, 7,
          "precision recall prec hit hr sensitivity specificity success win "
          "wins exact match purity ar correct"},
    Group{
        Meaning::decoy, 0,
        "lr lrs scale scaler scaling norm norms gnorm gradnorm grad gradient gradients eta speed "
        "throughput fps ips wps wpb ups tps qps time times timing elapsed remaining duration "
        "runtime sec secs second seconds ms msec minute minutes hour hours mem memory momentum "
        "mom temperature temp wd lineno patience target threshold improved improve improvement "
        "improving latency mfu flops gflops tflops tflop clipfrac std stddev stdev var variance "
        "seed port pid uptime wall walltime timestamp date datetime bandwidth overflow "
        "hysteresis util utilization usage cpumem gpumem coefficient coef coeff rss beta1 beta2 "
        "decay alpha "
        "gamma lambda epsilon eps sigma mu warmup dropout sparsity explained clip clipped version "
        "ver rank world size sizes bsz width height length len shape dim dims vocab lineno nnz "
        "nnzs bias mb gb kb mib gib bytes byte hz ghz mhz batchsize learningrate lossscale "
        "skipped oom freq frequency interval capacity compute price power watts exploration "
        "entropy_coef cuda device devices node nodes port address ip pcie bus channel channels "
        "thread threads worker workers process processes line lines weights weight percent "
        "progress completed cache chosen rejected margin margins errno errcode exitcode delta skip "
        "load timings"},
    Group{Meaning::quantity, 0,
          "rate ratio fraction samples sample examples example images image img imgs tokens token "
          "tok sequences sequence sents sent sentences sentence records record words word chars "
          "char count counts number n instances labels label features feature "
          "params param parameters parameter frames videos rows files file gpu gpus cpu cpus "
          "classes predict prediction id ids index idx data reader learner rounds_left k "
          "q beta kernel layers layer hidden heads units queue buffer s it its m g x y z w h b d "
          "i j lo hi p c e f t r v u a o l bad wait status tick days day bins leaves depth "
          "cases items item users user documents support positives negatives pos neg candidates"},
    Group{Meaning::epoch, 0, "epoch epochs epoches epoche epochen ep round rounds pass passes"},
    Group{Meaning::step, 0,
          "step steps schritt schritte iter iters iteration iterations iterate iterat batch "
          "batches minibatch "
          "minibatches generations update "
          "updates up globalstep nupdates timestep timesteps trial "
          "episode episodes tree trees generation microbatch kimg"},
    Group{Meaning::limit, 0, "max num total maximum"},
    Group{Meaning::train, 0, "train training trn tr learn trained fit"},
    Group{Meaning::eval, 0,
          "val valid validation validate dev eval evaluation evaluate test testing tst heldout "
          "holdout valset testset validating evaluating"},
    Group{Meaning::best, 0,
          "best lowest highest min max minimum maximum bestval besttest record "
          "previous prev peak early stopping bests"},
    Group{Meaning::neutral, 0,
          "avg average averaged mean total overall running current cur curr global smoothed smooth "
          "final function value val_ sum raw moving ema cumulative online last recons "
          "reconstruction recon metric metrics result results estimate generalization episodic "
          "micro macro binary classification multiclass categorical sparse weighted bbox segm "
          "segmentation root negative log entropy cross"},
    Group{Meaning::filler, 0,
          "the of in on at for per model is was are lm all set main dataset and a with by from net "
          "output rollout this to after before finished resulted"},
    Group{Meaning::part, 0,
          "kl class cycle idt aux auxiliary reg regularization regularisation regularizer penalty "
          "adv adversarial "
          "perc perceptual box cls obj rpn mask policy pg vf gen disc dis generator discriminator "
          "nsp mlm commit commitment vq style content tv center centre "
          "fake real qf actor critic surrogate dfl giou ctc att attention distill "
          "contrastive alignment pitch mel postnet stop gate load balance balancing "
          "router z ortho hint feat encoder decoder embedding embed emb mf left right "
          "bbox_reg objectness classifier dn bpr rpn_cls interp fm"},
};

using Dictionary = std::unordered_map<std::string_view, Word>;

const Dictionary& dictionary() {
  static const Dictionary words = [] {
    Dictionary all;
    for (const Group& group : kGroups) {
      std::string_view rest = group.words;
      while (!rest.empty()) {
        const std::size_t blank = rest.find(' ');
        const std::string_view word = rest.substr(0, blank);
        rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
        // The first group that names a word wins.
        if (!word.empty()) all.emplace(word, Word{group.meaning, group.weight});
      }
    }
    return all;
  }();
  return words;
}

}  // namespace

std::size_t letter_size(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) {
    const unsigned folded = lead | 0x20U;
    return (lead >= '0' && lead <= '9') || (folded >= 'a' && folded <= 'z') ? 1 : 0;
  }
  const bool is_sign = lead == 0xC3 && (byte(at + 1) & 0xDFU) == 0x97;  // multiplied, divided
  const bool is_punctuation = lead == 0xE3 && byte(at + 1) == 0x80;
  const bool is_european = (lead >= 0xC3 && lead <= 0xC9) || (lead >= 0xD0 && lead <= 0xD3);
  const bool is_eastern = lead >= 0xE3 && lead <= 0xED;
  if (is_sign || is_punctuation || !(is_european || is_eastern)) return 0;
  const std::size_t size = is_eastern ? 3 : 2;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return 0;
  }
  return size;
}

Word look_up(std::string_view word) {
  const auto found = dictionary().find(word);
  return found == dictionary().end() ? Word{} : found->second;
}

Word look_inside(std::string_view word) {
  constexpr std::array<std::string_view, 12> inner{"loss",  "accuracy", "reward", "perplex",
                                                   "error", "entropy",  "rmse",   "bleu",
                                                   "rouge", "iou",      "epret",  "auc"};
  const auto is_known = [](std::string_view text) {
    return text.empty() || look_up(text).meaning != Meaning::none;
  };
  for (std::string_view part : inner) {
    const std::size_t at = word.find(part);
    if (at == std::string_view::npos) continue;
    // "valloss", "lossfn", "trainlossavg"; not "glossary", and not "various" or "auction".
    const std::string_view before = word.substr(0, at);
    const std::string_view after = word.substr(at + part.size());
    const bool is_short = part.size() <= 3;
    const bool is_edge = after.empty() || (before.empty() && (!is_short || is_known(after)));
    if (!is_edge && (is_short || !is_known(after))) continue;
    Word known = look_up(part == "perplex" ? "perplexity" : part == "epret" ? "return" : part);
    if (part == "entropy") known = {Meaning::lower, 9};
    known.weight -= 0.3;
    return known;
  }
  return {};
}

}  // namespace flowcon::ctrl::metrics
