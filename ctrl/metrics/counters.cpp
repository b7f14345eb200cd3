// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/counters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxTitle = 120;
constexpr std::size_t kMaxWord = 24;

std::size_t skip(std::string_view text, std::size_t at, std::string_view set) {
  return std::min(text.find_first_not_of(set, at), text.size());
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && !is_digit(text[end])) {
    const std::size_t size = text[end] == '_' ? 1 : letter_size(text, end);
    if (size == 0) break;
    end += size;
  }
  return text.substr(at, end - at);
}

/// The word behind the number that ends at `end`, one blank or more away; Chinese has none there.
std::string_view word_behind(std::string_view text, std::size_t end) {
  const std::size_t at = skip(text, end, " ");
  const bool is_glued = at == end && end < text.size() && is_beyond_ascii(text[end]);
  return at > end || is_glued ? word_at(text, at) : std::string_view{};
}

/// Where a word in the text ends.
std::size_t end_of(std::string_view text, std::string_view word) {
  return static_cast<std::size_t>(word.data() - text.data()) + word.size();
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  std::size_t end = skip(text, at, "0123456789,.");
  while (end > at && !is_digit(text[end - 1])) --end;
  return end;
}

/// "Fold 1/5 Epoch 3": the word is the name of the next number.
bool names_another(std::string_view text, std::string_view word) {
  const std::size_t behind = end_of(text, word);
  const std::size_t next = skip(text, behind, " ");
  return next < text.size() && (is_digit(text[next]) || std::string_view(":=[#").find(text[next]) !=
                                                            std::string_view::npos);
}

std::string_view without_end(std::string_view text, std::string_view set) {
  return text.substr(0, text.find_last_not_of(set) + 1);
}

Meaning meaning_of(std::string_view word) {
  return word.size() > kMaxWord ? Meaning::none : look_up(lower(word)).meaning;
}

/// What stands before "[10%]:", "[ 10%]," or the "[10%]" that ends the line; "" where the field is
/// no such share.
std::string_view before_share(std::string_view text, const Field& field) {
  if (!field.percent || field.has_total || !(field.value <= 100)) return {};
  const std::string_view before = without_end(text.substr(0, field.at), " ");
  const std::string_view rest = text.substr(skip(text, field.at, "0123456789.%"));
  const bool is_closed = rest.starts_with("]:") || rest.starts_with("],") ||
                         (rest.starts_with(']') && skip(rest, 1, " \t") == rest.size());
  if (!is_closed || !before.ends_with('[')) return {};
  return without_end(before.substr(0, before.size() - 1), " ");
}

/// "Fold 2, ", "[rank0] ": what is counted behind it is a part of the job.
bool names_part(std::string_view text) {
  constexpr std::array<std::string_view, 10> parts{
      "batch", "minibatch", "epoch", "trial", "fold", "chain", "run", "rank", "client", "worker"};
  const std::vector<std::string> words = name_words(text);
  return std::any_of(words.begin(), words.end(), [&parts](std::string_view word) {
    return std::any_of(parts.begin(), parts.end(), [word](std::string_view part) {
      // "batches", "rank0".
      return word.starts_with(part) &&
             word.find_first_not_of("es0123456789", part.size()) == std::string_view::npos;
    });
  });
}

/// What stands before a ratio, without the percentage and the bar.
std::string_view title_of(std::string_view text, const Field& ratio) {
  const std::string_view before = text.substr(0, ratio.at);
  const std::string_view title = before.substr(0, percent_of_bar(text));
  return title.substr(title.size() - std::min(title.size(), kMaxTitle));
}

/// A number that belongs to no other word: not the one of "cuda:0".
bool has_free_number(std::string_view text) {
  if (!text.empty() && is_digit(text.front())) return true;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool is_glued =
        is_letter(text[i - 1]) || (i > 1 && text[i - 1] == ':' && is_letter(text[i - 2]));
    if (is_digit(text[i]) && !is_digit(text[i - 1]) && !is_glued) return true;
  }
  return false;
}

/// "episodes=4000", "episodes = 4000" and nothing else: as settings are listed.
bool is_listed(std::string_view text, const Field& field) {
  constexpr std::array<std::string_view, 6> names{"episodes", "iterations", "iters",
                                                  "steps",    "trials",     "generations"};
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = without_end(text.substr(begin, equals - begin), " ");
  return std::find(names.begin(), names.end(), name) != names.end() &&
         field.at == skip(text, equals + 1, " ") && end_of_number(text, field.at) == text.size();
}

/// The slash of "2.1it/s", "1.2s/it", and `within` a bar's brackets of "<?, ?epoch/s".
bool is_of_rate(std::string_view line, std::size_t slash, bool within) {
  if (line.substr(0, slash + 2).ends_with("it/s") || line.substr(0, slash + 3).ends_with("s/it")) {
    return true;
  }
  return within && is_letter(line[slash - 1]) &&
         (line.substr(slash + 1).starts_with("s]") || line.substr(slash + 1).starts_with("s,"));
}

bool counts_batches(std::string_view text, const Field& ratio) {
  constexpr std::array<std::string_view, 6> units{"batch",       "batches",    "minibatch",
                                                  "minibatches", "mini-batch", "mini-batches"};
  const auto is_unit = [&units](std::string_view word) {
    return std::find(units.begin(), units.end(), lower(word)) != units.end();
  };
  const std::size_t end = end_of_number(text, std::max(ratio.total_at, ratio.at));
  const std::string_view behind = word_behind(text, end);
  constexpr std::array<std::string_view, 3> data{"samples", "examples", "sequences"};
  if (is_unit(behind) || std::find(data.begin(), data.end(), behind) != data.end()) return true;
  const std::string_view rest = text.substr(end);
  if (rest.find("batch/s") != rest.npos || rest.find("s/batch") != rest.npos) return true;
  const std::string_view key = without_end(ratio.key, " #:");
  const std::size_t blank = key.rfind(' ');
  if (!is_unit(key.substr(blank == key.npos ? 0 : blank + 1))) return false;
  const std::string before = blank == key.npos ? std::string() : lower(key.substr(0, blank));
  return !before.ends_with("total") && !before.ends_with("global");
}

/// Of Lightning's bars.
bool ends_at_total(std::string_view text) {
  return text.find("\xE2\x94\x81") != text.npos && text.find(" \xE2\x80\xA2 ") != text.npos;
}

/// "12% complete", "12% Done".
bool is_of_completion(std::string_view word) {
  constexpr std::array<std::string_view, 3> words{"complete", "completed", "done"};
  return word.size() <= kMaxWord &&
         std::find(words.begin(), words.end(), lower(word)) != words.end();
}

}  // namespace

std::size_t percent_of_bar(std::string_view line) {
  for (std::size_t mark = line.find('%'); mark != std::string_view::npos;
       mark = line.find('%', mark + 1)) {
    std::size_t from = mark;
    while (from > 0 && is_digit(line[from - 1])) --from;
    if (from == mark) continue;
    const std::string_view behind = line.substr(mark + 1);
    if (behind.starts_with('|') || behind.starts_with(" \xE2\x94") ||
        behind.starts_with(" \xE2\x95")) {
      return from;
    }
    const std::size_t counter = skip(behind, 0, " ");
    const std::size_t end = skip(behind, counter, "0123456789");
    if (counter > 0 && end > counter && behind.substr(end, 1) == "/" &&
        behind.substr(skip(behind, end + 1, "0123456789")).starts_with(" [")) {
      return from;
    }
  }
  return std::string_view::npos;
}

bool counts_data(std::string_view key) {
  const std::string words = lower(key);
  constexpr std::array<std::string_view, 12> data{"sample",    "example",  "image",    "token",
                                                  "sent",      "record",   "frame",    "file",
                                                  "processed", "document", "progress", "completed"};
  return std::any_of(data.begin(), data.end(),
                     [&](std::string_view word) { return words.find(word) != std::string::npos; });
}

bool stands_outside(const std::vector<Field>& fields, std::size_t index, std::string_view text) {
  if (index + 1 >= fields.size() || !fields[index].integer) return false;
  const Field& field = fields[index];
  const Field& next = fields[index + 1];
  if (!next.has_total || !next.bracketed || next.at <= field.at) return false;
  std::string_view between = text.substr(field.at, next.at - field.at);
  while (!between.empty() && is_blank(between.back())) between.remove_suffix(1);
  // "Train: 1/3 ( 33%) [ 149/323 ( 46%)]".
  const bool is_ratio = field.has_total && between.ends_with(") [") &&
                        (field.key.empty() || phase_of_word(lower(field.key)) != Phase::none);
  return is_ratio || between.find("][") != std::string::npos;
}

bool is_counter_of_steps(std::string_view key) {
  const std::string words = lower(key);
  return words.find("epoch") == std::string::npos && words.find("batches") == std::string::npos;
}

bool is_at_rest(const std::vector<Field>& fields, std::size_t index) {
  return fields[index].key == "epoch" && index + 1 < fields.size() &&
         fields[index + 1].key == "micro_step";
}

bool may_be_total(std::string_view text, const Field& field) {
  constexpr std::size_t reach = 256;
  const std::size_t from = field.at - std::min(field.at, reach);
  const std::string_view before = text.substr(from, field.at - from);
  const std::string_view settings = before.substr(std::min(before.rfind('{'), before.size()));
  const bool is_off = settings.find("'enabled': False") != settings.npos ||
                      settings.find("\"enabled\": false") != settings.npos;
  return field.value == std::floor(field.value) && !is_off;
}

bool is_many_steps(std::string_view key) {
  constexpr std::array<std::string_view, 9> names{
      "iters",       "steps",          "iterations",          "train_steps", "train_iters",
      "train steps", "training steps", "training iterations", "train iters"};
  constexpr std::size_t longest = 20;
  return key.size() <= longest && std::find(names.begin(), names.end(), lower(key)) != names.end();
}

std::size_t end_of_bar(std::string_view line) {
  std::size_t slash = line.find('/');
  if (slash == line.npos) return line.size();
  const std::size_t open = line.find('<');  // once: a line may be of nothing but slashes
  while (slash != line.npos && !is_of_rate(line, slash, open < slash)) {
    slash = line.find('/', slash + 1);
  }
  const std::size_t close = slash == line.npos ? slash : line.find(']', slash);
  if (close == line.npos || close + 1 == line.size()) return line.size();
  const char next = line[close + 1];
  const bool is_glued = is_digit(next) || is_letter(next) || next == '[' || next == '\t';
  return is_glued ? close + 1 : line.size();
}

bool is_index(std::string_view text, const Field& field) {
  std::string_view rest = text.substr(end_of_number(text, field.at));
  if (field.at > 0 && text[field.at - 1] == '(' && rest.starts_with(')')) return true;
  // Two cells of words.
  for (int cells = 0; cells < 2; ++cells) {
    rest.remove_prefix(skip(rest, 0, " "));
    if (!rest.starts_with('|')) return false;
    rest.remove_prefix(skip(rest, 1, " "));
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view cell = rest.substr(0, end);
    const bool is_word = !cell.empty() && is_letter(cell.front()) &&
                         cell.find_first_of("=:") == cell.npos && !has_free_number(cell);
    if (!is_word) return false;
    rest.remove_prefix(end);
  }
  return true;
}

std::string_view counter_behind(std::string_view rest) {
  constexpr std::size_t longest = 24;  // bytes
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  std::string_view word;
  for (std::size_t end = 0; end < longest;) {
    const std::size_t size = letter_size(rest, end);
    if (size != 3) break;
    end += size;
    const Meaning meaning = look_up(rest.substr(0, end)).meaning;
    if (meaning == Meaning::epoch || meaning == Meaning::step) word = rest.substr(0, end);
  }
  return word;
}

Role role_of_ratio(std::string_view text, const Field& ratio) {
  const std::size_t end = end_of_number(text, std::max(ratio.total_at, ratio.at));
  const std::string_view behind = word_behind(text, end);
  const Meaning unit = names_another(text, behind) ? Meaning::none : meaning_of(behind);
  if (unit == Meaning::epoch) return Role::epoch;
  if (unit == Meaning::step) return Role::step;
  const std::string_view title = title_of(text, ratio);
  for (std::size_t i = 0; i < title.size();) {
    const std::string_view word = word_at(title, i);
    if (word.empty()) {
      ++i;
      continue;
    }
    i += word.size();
    if (meaning_of(word) == Meaning::epoch) {
      return has_free_number(title.substr(i)) ? Role::step : Role::epoch;
    }
  }
  // "zoom, 1/8 s": in a sentence only time can show that it counts.
  const std::size_t before = text.substr(0, ratio.at).find_last_not_of(' ');
  const bool in_prose = ratio.key.empty() && before != text.npos && text[before] == ',';
  return in_prose ? Role::unknown : Role::step;
}

bool is_aside(std::string_view text, const Field& ratio) {
  // "9055/10000 correct (90%)" is an accuracy.
  const std::size_t end = end_of_number(text, std::max(ratio.total_at, ratio.at));
  if (ratio.phase == Phase::eval || text.substr(end).starts_with(" correct")) return true;
  constexpr std::array<std::string_view, 46> words{
      "load",        "loading",    "loaded",        "map",        "mapping",    "download",
      "downloading", "extract",    "extracting",    "tokenizing", "tokenize",   "filter",
      "filtering",   "reading",    "read",          "fetching",   "preparing",  "caching",
      "cache",       "indexing",   "computing",     "sanity",     "converting", "scanning",
      "casting",     "saving",     "sampling",      "inference",  "predicting", "prediction",
      "generating",  "preprocess", "preprocessing", "cv",         "batches",    "init",
      "chain",       "fold",       "folds",         "restart",    "trainable",  "parameters",
      "params",      "recovered",  "generate",      "writing"};
  // Parts of a job, or of the machine, each of which has epochs of its own.
  constexpr std::array<std::string_view, 14> parts{"run",     "model", "seed",  "client", "gpu",
                                                   "rank",    "node",  "split", "worker", "replica",
                                                   "attempt", "try",   "trial", "cv"};
  const std::string key = lower(ratio.key.substr(ratio.key.rfind(' ') + 1));
  if (std::find(parts.begin(), parts.end(), key) != parts.end()) return true;
  const std::string_view title = title_of(text, ratio);
  for (std::size_t i = 0; i < title.size();) {
    const std::string_view word = word_at(title, i);
    i += std::max<std::size_t>(word.size(), 1);
    if (word.size() < 2 || word.size() > 13) continue;
    if (std::find(words.begin(), words.end(), lower(word)) != words.end()) return true;
  }
  // A download's speed; "samples/s" and "it/s" are a training's.
  return text.find("B/s", ratio.at) != std::string_view::npos;
}

RatioKind kind_of_ratio(std::string_view text, const Field& ratio, Role role) {
  if (role == Role::epoch) return ends_at_total(text) ? RatioKind::to_last : RatioKind::plain;
  return counts_batches(text, ratio) ? RatioKind::of_epoch : RatioKind::plain;
}

bool is_share_of_epoch(std::string_view text, const Field& epoch, const Field& share) {
  if (!share.percent || !share.integer || !epoch.integer || epoch.has_total) return false;
  const std::size_t end = end_of_number(text, epoch.at);
  return end < share.at && skip(text, end, " :,|])-") == share.at;
}

bool is_class(const Field& field) {
  constexpr std::array<std::string_view, 4> names{"class", "class_id", "category", "label"};
  return field.integer && field.key.size() >= 5 && field.key.size() <= 8 &&
         std::find(names.begin(), names.end(), lower(field.key)) != names.end();
}

bool is_share(const Field& field) { return field.percent || field.key.starts_with('%'); }

bool may_be_percentage(const Field& field) {
  const std::string_view leaf = field.key.substr(field.key.rfind('.') + 1);
  if (!field.quoted || leaf.size() < 7 || leaf.size() > 10) return false;
  const std::string name = lower(leaf);
  const bool is_alone = name.size() == field.key.size();  // not "memory.percent"
  return (is_alone && (name == "percentage" || name == "percent")) ||
         (name == "progress" && !field.integer);
}

bool is_progress(std::string_view text, const Field& field) {
  if (field.has_total || !(field.value <= 100)) return false;
  if (!field.percent) return field.value > 1 && may_be_percentage(field);
  if (percent_of_bar(text) == field.at) return true;
  constexpr std::size_t reach = 16;
  const std::string_view before = text.substr(0, field.at);
  const std::string near = lower(before.substr(before.size() - std::min(before.size(), reach)));
  if (near.find("progress") != std::string::npos || near.find("##] ") != std::string::npos ||
      near.find("..] ") != std::string::npos || near.ends_with("completed ")) {
    return true;
  }
  const std::string_view word = word_behind(text, skip(text, field.at, "0123456789.%"));
  return is_of_completion(word);
}

bool is_share_of_steps(std::string_view text, const Field& field) {
  constexpr std::array<std::string_view, 5> steps{"step", "steps", "iter", "iters", "iteration"};
  const std::string_view before = before_share(text, field);
  const std::string_view counter = without_end(before, "0123456789");
  if (counter.size() == before.size()) return false;
  const std::string_view words = without_end(counter, " :=#");
  std::size_t begin = words.size();
  while (begin > 0 && is_letter(words[begin - 1])) --begin;
  if (begin > 0 && !is_blank(words[begin - 1])) return false;
  const bool is_step =
      std::find(steps.begin(), steps.end(), lower(words.substr(begin))) != steps.end();
  return is_step && !names_part(words.substr(0, begin)) && !is_aside(text, field);
}

bool is_end_of_shares(std::string_view text, const Field& field) {
  std::string_view before = before_share(text, field);
  before.remove_prefix(skip(before, 0, " \t"));
  if (before.size() > kMaxWord || field.value != 100) return false;
  const std::string word = lower(before);
  return word == "finished" || word == "done" || word == "completed";
}

std::optional<StatedTotal> stated_total(std::string_view text, const Field& field) {
  if (!field.integer || field.has_total || !(field.value > 1)) return std::nullopt;
  if (is_listed(text, field)) return StatedTotal{false, field.value};
  if (lower(field.key).ends_with("until step")) return StatedTotal{false, field.value};
  std::string_view word = word_behind(text, end_of_number(text, field.at));
  // "125 iterations per epoch. 12500 max iterations"
  const bool is_most = word == "max" || word == "maximum" || word == "total";
  if (is_most) word = word_behind(text, end_of(text, word));
  if (word.size() < 4 || (word.back() != 's' && word != "kimg")) return std::nullopt;
  const Meaning meaning = meaning_of(word);
  if (meaning != Meaning::epoch && meaning != Meaning::step) return std::nullopt;
  if (is_most) return StatedTotal{meaning == Meaning::epoch, field.value};
  std::string_view before = text.substr(0, field.at);
  // Not "Time(200 iters)".
  const bool in_parentheses =
      before.ends_with('(') && (before.size() < 2 || !is_letter(before[before.size() - 2]));
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  const std::string words = lower(before);
  const bool is_verb = words == "running" || words == "performing" ||
                       (words.starts_with("running ") && words.ends_with(" for"));
  const bool is_begun = is_verb || words == "training" || words.ends_with(" training") ||
                        words.ends_with("training:");
  const bool is_span = before.ends_with(" for") || before.ends_with(" of") || is_begun;
  const std::size_t behind = end_of(text, word);
  const bool closes = text.substr(behind).starts_with(')');
  const bool is_over = text.substr(behind).starts_with(" over ");
  const bool trains = is_verb || words.find("train") != std::string::npos;
  if (words.find("warm") != std::string::npos || words.find("every") != std::string::npos ||
      text.substr(behind).find(" per ") != std::string_view::npos) {
    return std::nullopt;
  }
  if (!(in_parentheses && closes) && !is_over && !(is_span && trains)) return std::nullopt;
  return StatedTotal{meaning == Meaning::epoch, field.value};
}

}  // namespace flowcon::ctrl::metrics
