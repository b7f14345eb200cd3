// SPDX-License-Identifier: Apache-2.0
// Names to roles. The order of the rules matters: a word that can never be part of a metric's name
// decides first ("loss scale", "batch_cost"), then the words of metrics, then those of counters.
#include "ctrl/metrics/names.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// Chinese and Japanese write "mean validation loss" without blanks. Nothing where the dictionary
/// does not know every part.
std::vector<std::string> split_by_dictionary(std::string_view run) {
  constexpr std::size_t kLongest = 24;  // bytes of a word
  std::vector<std::string> words;
  while (!run.empty()) {
    std::size_t known = 0;
    for (std::size_t end = 0; end < std::min(run.size(), kLongest);) {
      end += std::max<std::size_t>(letter_size(run, end), 1);
      if (look_up(run.substr(0, end)).meaning != Meaning::none) known = end;
    }
    if (known == 0) return {};
    words.emplace_back(run.substr(0, known));
    run.remove_prefix(known);
  }
  return words;
}

/// Adds one run of letters and digits, split at changes of case unless the dictionary knows it.
void add_words(std::string_view run, std::vector<std::string>& words) {
  std::string whole = lower(run);
  if (look_up(whole).meaning != Meaning::none) {
    words.push_back(std::move(whole));
    return;
  }
  if (static_cast<unsigned char>(run[0]) >= 0xE3) {
    if (std::vector<std::string> parts = split_by_dictionary(run); !parts.empty()) {
      words.insert(words.end(), parts.begin(), parts.end());
      return;
    }
  }
  std::size_t from = 0;
  for (std::size_t i = 1; i <= run.size(); ++i) {
    const bool boundary =
        i == run.size() || (is_upper(run[i]) && is_lower(run[i - 1])) ||
        (i + 1 < run.size() && is_upper(run[i]) && is_upper(run[i - 1]) && is_lower(run[i + 1]));
    if (!boundary) continue;
    words.push_back(lower(run.substr(from, i - from)));
    from = i;
  }
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_pair(const std::vector<std::string>& words, std::string_view a, std::string_view b) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == a && words[i + 1] == b) return true;
  }
  return false;
}

Word meaning_of(const std::string& word) {
  Word known = look_up(word);
  if (known.meaning != Meaning::none) return known;
  const std::size_t letters = word.find_last_not_of("0123456789") + 1;
  if (letters == 0) return {Meaning::neutral, 0};  // a number alone says nothing
  if (letters < word.size() && letters > 1) {
    known = look_up(word.substr(0, letters));
    if (known.meaning != Meaning::none) return known;
  }
  return look_inside(word.substr(0, letters));
}

/// What the words of one name add up to.
struct Tally {
  bool decoy = false;
  bool epoch = false;
  bool step = false;
  bool best = false;
  int metrics = 0;
  int quantities = 0;
  int parts = 0;
  int neutrals = 0;
  int fillers = 0;
  int unknowns = 0;
  Phase phase = Phase::none;
  Word metric;
};

bool is_reward(const Word& word) { return word.weight >= kRewardWeight; }

void count_word(const std::string& word, Tally& tally) {
  const Word known = meaning_of(word);
  switch (known.meaning) {
    case Meaning::lower:
    case Meaning::higher:
    case Meaning::either:
      ++tally.metrics;
      if ((word == "score" || word == "scores") && is_reward(tally.metric)) {
        break;  // "average reward score"
      }
      if (is_reward(known) != is_reward(tally.metric) && tally.metrics > 1) {
        // "rewards/accuracies": an accuracy among the rewards, not a reward.
        if (is_reward(tally.metric)) tally.metric = known;
      } else if (known.weight > tally.metric.weight) {
        tally.metric = known;
      }
      break;
    case Meaning::decoy:
      tally.decoy = true;
      break;
    case Meaning::quantity:
      tally.quantities += word.size() > 2;
      break;
    case Meaning::epoch:
      tally.epoch = true;
      break;
    case Meaning::step:
      tally.step = true;
      break;
    case Meaning::limit:
      break;
    case Meaning::train:
      if (tally.phase == Phase::none) tally.phase = Phase::train;
      break;
    case Meaning::eval:
      if (tally.phase == Phase::none) tally.phase = Phase::eval;
      break;
    case Meaning::best:
      tally.best = true;
      break;
    case Meaning::neutral:
      ++tally.neutrals;
      break;
    case Meaning::filler:
      ++tally.fillers;
      break;
    case Meaning::part:
      ++tally.parts;
      break;
    case Meaning::none:
      tally.unknowns += word.size() > 1;
      break;
  }
}

/// Pairs that mean something else than their words. `is_joined`: no blanks part them.
void judge_pairs(const std::vector<std::string>& words, bool is_joined, Tally& tally) {
  if (has_pair(words, "error", "count") || has_pair(words, "errors", "count")) tally.decoy = true;
  if (has_pair(words, "learning", "rate") || has_pair(words, "sampling", "rate"))
    tally.decoy = true;
  // Of a sampler: how many of its proposals it takes.
  if (has_pair(words, "acc", "prob") || has(words, "acceptance")) tally.decoy = true;
  // "batch_cost" is time; "Batch cost" is what a batch costs.
  const bool is_of_time = has(words, "reader") || has(words, "data") ||
                          (is_joined && (has(words, "batch") || has(words, "step")));
  if (has(words, "cost") && is_of_time) tally.decoy = true;
  // "D_loss" and "G_loss" of two that play against each other; "value_loss" of an agent's critic.
  const bool is_side =
      words.size() <= 4 && has(words, "loss") && (has(words, "d") || has(words, "g"));
  const bool is_of_entropy = !has(words, "cross") && (has_pair(words, "entropy", "loss") ||
                                                      has_pair(words, "loss", "entropy"));
  const bool is_of_agent = has_pair(words, "value", "loss") || is_of_entropy;
  if (is_side || is_of_agent) ++tally.parts;
  if (tally.metrics == 0 && (has_pair(words, "edit", "distance") ||
                             has_pair(words, "normed", "ed") || has(words, "levenshtein"))) {
    tally.metric = {Meaning::lower, 8};
    tally.metrics = 1;
    tally.unknowns = 0;
  }
  // How long an agent holds out.
  if ((words.size() == 2 && has_pair(words, "average", "length")) ||
      (words.size() == 3 && words.front() == "mean" && has_pair(words, "episode", "length"))) {
    tally.metric = {Meaning::higher, 6};
    tally.metrics = 1;
    tally.decoy = false;
  }
  if (has_pair(words, "cross", "entropy") && tally.metric.weight < 9.5) {
    tally.metric = {Meaning::lower, 9.5};
    ++tally.metrics;
  }
  // Of a topic model; below 0, as a likelihood is.
  if (tally.metrics == 0 && has_pair(words, "word", "bound")) {
    tally.metric = {Meaning::higher, 7};
    tally.metrics = 1;
    tally.unknowns = tally.quantities = 0;
  }
  // "objective function for 'output-xent'": of a loss among its words it says neither sign nor
  // worth.
  if (has_pair(words, "objective", "function")) {
    tally.parts += tally.metrics > 1;
    tally.metric = {Meaning::either, 8};
  }
  if (tally.metrics == 0 && has(words, "log") &&
      (has_pair(words, "log", "prob") || has_pair(words, "log", "joint") ||
       has_pair(words, "log", "posterior") || has_pair(words, "log", "density"))) {
    tally.metric = {Meaning::either, 7};
    tally.metrics = 1;
    tally.unknowns = 0;
  }
}

/// "epochs", "max_epochs", "num_train_steps": how far a counter will go. "total_timesteps" and
/// "num_updates" are counters in the programs that print them.
bool is_total(const std::vector<std::string>& words) {
  // "epochs to train", "# of epochs".
  const bool is_planned = has_pair(words, "to", "train") || has_pair(words, "to", "run");
  bool limit = is_planned || (!words.empty() && words.front() == "of");
  bool counter = false;
  for (const std::string& word : words) {
    if (word == "timesteps" || word == "updates" || word == "batches") return false;
    const Meaning meaning = look_up(word).meaning;
    if (meaning == Meaning::epoch || meaning == Meaning::step) {
      counter = true;
    } else if ((word == "of" && limit) || (is_planned && (word == "to" || word == "run"))) {
      continue;
    } else if (meaning == Meaning::limit || word == "n" || word == "nb" || word == "number") {
      if (counter && !limit) return false;  // "epoch_num", not "total epoch num"
      limit = true;
    } else if (word == "scheduled") {
      limit = true;
    } else if (meaning != Meaning::train && word != "optimization" && word != "opt" &&
               word != "after" && word != "boost") {
      return false;
    }
  }
  const bool are_passes = words.size() == 1 && words.front() == "passes";
  return counter && (limit || are_passes || has(words, "epochs"));
}

/// "start_epoch", "lr_turn_epoch": a place that a setting names, and no counter.
bool is_setting(const std::vector<std::string>& words) {
  // "hold_epochs: 26"; one that counts what is behind it says so.
  constexpr std::array<std::string_view, 9> past{"trained",   "finished", "done",
                                                 "completed", "elapsed",  "seen",
                                                 "current",   "global",   "cumulative"};
  if (words.size() > 1 && words.back() == "epochs") {
    return std::find(past.begin(), past.end(), words.front()) == past.end();
  }
  constexpr std::array<std::string_view, 11> places{"start",  "restart", "resume", "turn",
                                                    "save",   "first",   "stop",   "switch",
                                                    "freeze", "swa",     "best"};
  return words.size() > 1 && std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return std::find(places.begin(), places.end(), word) != places.end();
         });
}

/// "Use the mode with number of iterations": what is counted stands behind "number".
std::vector<std::string> behind_number(std::vector<std::string> words) {
  const auto number = std::find(words.rbegin(), words.rend(), "number");
  if (number != words.rend()) words.erase(words.begin(), number.base() - 1);
  return words;
}

/// "finished in 0.5", "epoch took 12.3": when or how long.
bool ends_in_preposition(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 8> last{"in", "at",  "after", "from",
                                                 "by", "for", "with",  "took"};
  return std::find(last.begin(), last.end(), words.back()) != last.end();
}

NameInfo metric_info(const Tally& tally, const std::vector<std::string>& words) {
  NameInfo info;
  info.role = Role::metric;
  info.phase = tally.phase;
  info.better = tally.metric.meaning == Meaning::lower    ? Better::lower
                : tally.metric.meaning == Meaning::higher ? Better::higher
                                                          : Better::unknown;
  info.is_best = tally.best || has(words, "max") || has(words, "maximum");
  info.negated = has(words, "negative") || has(words, "neg");
  if (info.negated) info.better = Better::lower;
  info.vague = has(words, "score") || has(words, "acc") || has(words, "accuracy");
  // "loss_0", "ppl1"; "top1" is a word of its own.
  const bool indexed =
      is_digit(words.back().back()) && look_up(words.back()).meaning == Meaning::none;
  info.plain = tally.metrics == 1 && tally.parts == 0 && tally.unknowns == 0 && !indexed;
  info.weight = tally.metric.weight - std::min(3.5, 2.0 * tally.parts) -
                std::min(2.0, 1.0 * tally.unknowns) -
                0.05 * (tally.neutrals + tally.fillers + tally.quantities);
  if (tally.phase == Phase::eval) info.weight += info.better == Better::higher ? 0.3 : -1.2;
  if (info.is_best) info.weight -= 5;
  info.weight = std::max(info.weight, 0.5);
  return info;
}

}  // namespace

std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (const std::size_t size = letter_size(name, end)) end += size;
    if (end == i) {
      ++i;
      continue;
    }
    add_words(name.substr(i, end - i), words);
    i = end;
  }
  return words;
}

bool is_of_epochs(std::string_view name) {
  const std::vector<std::string> words = behind_number(name_words(name));
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return look_up(word).meaning == Meaning::epoch;
  });
}

Phase phase_of_word(std::string_view word) {
  const Meaning meaning = look_up(word).meaning;
  return meaning == Meaning::train  ? Phase::train
         : meaning == Meaning::eval ? Phase::eval
                                    : Phase::none;
}

namespace {

/// SageMaker's algorithms mark the series they report: "train roc_auc <loss>" is no loss.
constexpr std::string_view kMark = " <loss>";

/// "L_out=0.049 L_reg=0.033": the letter that papers give a loss, and no part of it.
bool is_whole_loss(std::string_view name) {
  constexpr std::array<std::string_view, 4> wholes{"L_out", "L_total", "L_tot", "L_all"};
  return std::any_of(wholes.begin(), wholes.end(), [name](std::string_view whole) {
    if (!name.ends_with(whole)) return false;
    return name.size() == whole.size() || !is_letter(name[name.size() - whole.size() - 1]);
  });
}

}  // namespace

NameInfo judge_name(std::string_view name) {
  if (name.ends_with(kMark)) {
    const NameInfo unmarked = judge_name(name.substr(0, name.size() - kMark.size()));
    if (unmarked.role == Role::metric && unmarked.weight > 5) return unmarked;
  }
  const std::vector<std::string> words = name_words(name);
  Tally tally;
  for (const std::string& word : words) count_word(word, tally);
  const bool is_joined = name.find(' ') == std::string_view::npos;
  judge_pairs(words, is_joined, tally);
  if (name.find("loss/value") != std::string_view::npos) ++tally.parts;  // of PPO's critic
  // "l_pix", "l_g_gan": BasicSR's losses.
  const bool is_loss_of = name.starts_with("l_") && tally.quantities == 0;
  if (tally.metrics == 0 && (is_loss_of || is_whole_loss(name))) {
    tally.metric = {Meaning::lower, is_loss_of ? 8.0 : 9.0};
    tally.metrics = 1;
    tally.unknowns = 0;
  }
  // "Tok/s", "samples / sec": a rate, whatever is counted.
  const bool per_second = name.find("/s") != std::string_view::npos &&
                          (name.ends_with("/s") || name.find("/sec") != std::string_view::npos);
  NameInfo info;
  info.phase = tally.phase;
  const bool is_markup = name.find("</") != std::string_view::npos;  // a text, with words in it
  // "|gradient|", "||d||": how long a vector is.
  const bool is_norm = name.size() > 2 && name.front() == '|' && name.back() == '|';
  if (tally.decoy || per_second || is_markup || is_norm) {
    info.role = Role::decoy;
    return info;
  }
  if (tally.metrics > 0) return metric_info(tally, words);
  if (tally.epoch || tally.step) {
    // Of "config.max_epochs" the last part says it.
    const std::size_t dot = name.rfind('.');
    const std::vector<std::string> last =
        dot == std::string_view::npos ? words : name_words(name.substr(dot));
    const bool limits = is_total(behind_number(last));
    // "epoch_count", "eval_per_train_epoch".
    const bool is_amount = tally.epoch && (tally.quantities > 0 || has(words, "per"));
    if (!limits && (is_amount || (is_joined && is_setting(last)))) {
      info.role = Role::decoy;
      return info;
    }
    info.role = limits ? Role::total : tally.step ? Role::step : Role::epoch;
    return info;
  }
  if (tally.best || tally.quantities > 0) {
    info.role = Role::decoy;
    info.is_best = tally.best;
    return info;
  }
  if (words.empty()) return info;
  const bool bare = tally.phase != Phase::none || tally.neutrals > 0 || tally.parts > 0;
  const bool only_fillers = tally.unknowns == 0 && tally.fillers > 0;
  if (!bare && (only_fillers || ends_in_preposition(words))) {
    info.role = Role::decoy;
    return info;
  }
  if (tally.unknowns > 0 || !bare) return info;
  info.role = Role::metric;  // "train=0.93", "avg", "box": a value without its kind
  info.weight = tally.phase != Phase::none ? kPhaseWeight : 4;
  return info;
}

std::string explain_name(std::string_view name) {
  const Role role = judge_name(name).role;
  if (role == Role::epoch) return "it counts rounds over the data";
  if (role == Role::step) return "it counts steps";
  if (role == Role::total) return "it says how far a counter goes";
  if (role != Role::decoy) return "";
  for (const Meaning wanted : {Meaning::decoy, Meaning::quantity, Meaning::best}) {
    for (const std::string& word : name_words(name)) {
      if (meaning_of(word).meaning != wanted) continue;
      return "\"" + word + "\" " +
             (wanted == Meaning::decoy      ? "is on the list of words that never name a metric"
              : wanted == Meaning::quantity ? "is an amount, not a metric"
                                            : "names a record, not the current value");
    }
  }
  return "its words together are no metric";
}

}  // namespace flowcon::ctrl::metrics
