// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/estimates.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/sha256.h"
#include "base/text.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/effects.h"
#include "ctrl/estimate/check.h"
#include "ctrl/exposition.h"
#include "ctrl/log.h"
#include "ctrl/profile_rows.h"
#include "ctrl/spawn.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::queue {
namespace {

namespace estimate = ctrl::estimate;
using ctrl::api::Call;
using ctrl::api::failure;
using ctrl::api::Response;
using ctrl::store::ProfilePage;
using estimate::EndedProfile;

constexpr double kQuantile = 0.9;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kPageBytes = 256U << 10;  // what one step on the effects thread reads
constexpr std::size_t kLongestCommand = 4096;   // bytes; of a container the engine's client keeps
constexpr std::size_t kMostVariables = 1000;
constexpr std::size_t kFewRuns = 3;      // of a command or a family: as many as make an estimate
constexpr std::size_t kMostJudged = 50;  // runs; each takes up to a millisecond
// Seconds. A training takes longest; a check begins no new one after kCheckTime.
constexpr double kLongestTraining = 600;
constexpr double kCheckTime = 60;

// What one step on the effects thread reads.
struct Page {
  std::vector<EndedProfile> runs;
  std::int64_t after = 0;  // the last row of it
  bool has_more = false;
};

// What is damaged is left out.
Result<Page> page_of(ctrl::store::Store& store, std::int64_t after) {
  const Result<ProfilePage> read = store.profiles(0, after, kPageBytes);
  if (!read) return read.error();
  Page page{{}, read->after, read->has_more};
  for (const ctrl::store::ProfileRow& row : read->profiles) {
    Result<EndedProfile> run = ctrl::read_profile(row);
    if (run) page.runs.push_back(std::move(*run));
  }
  return page;
}

std::vector<estimate::Profile> profiles_of(const std::vector<EndedProfile>& runs, double now) {
  std::vector<estimate::Profile> profiles;
  for (const EndedProfile& run : runs) profiles.push_back(estimate::profile_at(run, now));
  return profiles;
}

void sort_by_end(std::vector<EndedProfile>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const EndedProfile& a, const EndedProfile& b) { return a.ended < b.ended; });
}

// So many of other hosts count beside these.
std::size_t room_beside(const std::vector<EndedProfile>& own) {
  return ctrl::store::kMostProfiles - std::min(own.size(), ctrl::store::kMostProfiles / 2);
}

// By their ends; of this host's own the newest, where there are too many. What has run here often
// enough is told by that alone. `others`: at most room_beside(own).
std::vector<EndedProfile> with_others(std::vector<EndedProfile> own,
                                      std::vector<EndedProfile> others) {
  sort_by_end(own);
  const std::size_t rest = ctrl::store::kMostProfiles - others.size();
  if (own.size() > rest) own.erase(own.begin(), own.end() - static_cast<std::ptrdiff_t>(rest));
  std::map<std::string, std::size_t> runs;
  for (const EndedProfile& row : own) ++runs[row.key];
  for (EndedProfile& row : others) {
    const auto here = runs.find(row.key);
    if (here == runs.end() || here->second < kFewRuns) own.push_back(std::move(row));
  }
  sort_by_end(own);
  return own;
}

// What this host's own runs say of a job at least, whatever other hosts tell: those of its command
// the most that one needed, else those of its family the least.
class OwnRuns {
 public:
  explicit OwnRuns(const std::vector<estimate::Profile>& own) {
    for (const estimate::Profile& run : own) {
      for (const auto& [label, value] : run.labels) {
        double& most = of_key_[{label, run.key}];
        most = std::max(most, value);
        of_family_[{label, run.family}].push_back(value);
      }
    }
  }

  [[nodiscard]] double least(const std::string& label, const estimate::EstimateJob& job) const {
    const auto same = of_key_.find({label, job.key});
    if (same != of_key_.end()) return same->second;
    const auto alike = of_family_.find({label, job.family});
    if (alike == of_family_.end() || alike->second.size() < kFewRuns) return 0;
    return *std::min_element(alike->second.begin(), alike->second.end());
  }

 private:
  // By label.
  std::map<std::pair<std::string, std::string>, double> of_key_;
  std::map<std::pair<std::string, std::string>, std::vector<double>> of_family_;
};

// A job that was not there before.
struct Asked {
  std::string image;
  std::string command;
  std::vector<std::pair<std::string, std::string>> environment;
};

Result<Asked> parse_asked(const std::string& body) {
  const Result<json::value> parsed = parse_json(body);
  if (!parsed) return parsed.error();
  FieldReader reader(*parsed, "");
  Asked asked{reader.text("image"), reader.text("command"), {}};
  if (reader.failed()) return reader.error();
  if (asked.image.empty()) return bad_input("image: it is empty; name an image");
  const json::value& environment = member(*parsed, "environment");
  if (!environment.is_null() && !environment.is_array()) {
    return bad_input("environment: it must be a list of [\"NAME\",\"VALUE\"]");
  }
  for (const json::value& one : list_of(environment)) {
    const json::array& pair = list_of(one);
    if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      return bad_input("environment: it must be a list of [\"NAME\",\"VALUE\"]");
    }
    if (asked.environment.size() == kMostVariables) {
      return bad_input("environment: there are more than 1000 variables");
    }
    asked.environment.emplace_back(text_of(pair[0]), text_of(pair[1]));
  }
  return asked;
}

// As a container that was made of it would be described.
estimate::Command command_of(Asked asked, const ImageFacts& image) {
  std::string words = image.entrypoint;
  const std::string& rest = asked.command.empty() ? image.command : asked.command;
  if (!words.empty() && !rest.empty()) words += " ";
  words += rest;
  estimate::Command command{std::move(asked.image), image.digest,
                            shortened(std::move(words), kLongestCommand),
                            std::move(asked.environment)};
  const std::size_t own = command.environment.size();
  for (const auto& variable : image.environment) {
    const auto begin = command.environment.begin();
    const bool is_set =
        std::any_of(begin, begin + static_cast<std::ptrdiff_t>(own),
                    [&variable](const auto& set) { return set.first == variable.first; });
    if (!is_set) command.environment.push_back(variable);
  }
  return command;
}

json::object to_json(const estimate::EstimateCheck& check) {
  json::object labels;
  for (const estimate::LabelCheck& one : check.labels) {
    labels.emplace(
        one.label,
        json::object{{"runs", one.runs}, {"r2", number_or_null(one.r2)}, {"above", one.above}});
  }
  return {{"runs", check.runs}, {"labels", std::move(labels)}};
}

}  // namespace

// The estimator refers to the history.
struct Estimates::Learnt {
  Learnt(const Rows& rows, const Rows& own, double now)
      : history(profiles_of(rows, now)),
        estimator(history, kQuantile, kSeed),
        own_runs(profiles_of(own, now)) {
    estimator.train();
  }
  const std::vector<estimate::Profile> history;
  estimate::Estimator estimator;
  const OwnRuns own_runs;  ///< none where nobody else tells
};

Estimates::Estimates(ctrl::LocalHost& host, Network& network, AskImage ask_image,
                     std::function<double()> wall)
    : host_(host),
      ask_image_(std::move(ask_image)),
      wall_(std::move(wall)),
      others_(network, wall_) {}

Async<void> Estimates::begin() {
  is_begun_ = true;
  co_return;
}

void Estimates::look(double now) {
  if (!is_begun_ || is_ended_ || is_working_ || now < next_) return;
  if (!is_due_ && now < latest_) return;
  next_ = now + kSoonest;
  latest_ = now + kLatest;
  is_due_ = false;
  is_working_ = true;
  ctrl::spawn(host_.io(), "estimates", refresh());
}

Async<Result<Estimates::Rows>> Estimates::read() {
  Rows rows;
  std::int64_t after = 0;
  for (bool has_more = true; has_more && rows.size() < ctrl::store::kMostProfiles;) {
    if (is_ended_) co_return bad_input("flowcond stops");
    auto read_page = [&store = host_.store(), after] { return page_of(store, after); };
    Result<Page> page = co_await host_.effects().run(std::move(read_page));
    if (!page) co_return page.error();
    has_more = page->has_more;
    after = page->after;
    for (EndedProfile& run : page->runs) rows.push_back(std::move(run));
  }
  co_return rows;
}

Async<void> Estimates::refresh() {
  Result<Rows> rows = co_await read();
  if (is_ended_) co_return;
  if (!rows) {
    ctrl::log::warning("no estimates for jobs: " + rows.error().message());
  } else {
    judge(*rows);
    co_await learn_from(*rows);
    if (is_ended_) co_return;
    is_ready_ = true;  // the others may be silent for a while
    co_await others_.read();
    if (is_ended_) co_return;
    co_await learn_from(std::move(*rows));
    if (is_ended_) co_return;
  }
  is_ready_ = true;
  is_working_ = false;
}

// What would have been said of runs that have ended since, before they are learnt from.
void Estimates::judge(const Rows& own) {
  std::vector<const EndedProfile*> fresh;
  for (const EndedProfile& row : own) {
    if (row.ended > judged_) fresh.push_back(&row);
  }
  std::stable_sort(fresh.begin(), fresh.end(), [](const EndedProfile* a, const EndedProfile* b) {
    return a->ended < b->ended;
  });
  if (fresh.empty()) return;
  judged_ = fresh.back()->ended;
  if (!learnt_) return;
  const std::size_t first = fresh.size() - std::min(fresh.size(), kMostJudged);
  for (std::size_t i = first; i < fresh.size(); ++i) {
    const EndedProfile& run = *fresh[i];
    const std::map<std::string, double> needed(run.labels.begin(), run.labels.end());
    const estimate::EstimateJob job{"", run.family, run.key, run.features};
    for (const estimate::LabelEstimate& one : learnt_->estimator.estimate(job)) {
      const auto found = needed.find(one.label);
      if (!one.expected || found == needed.end()) continue;
      std::deque<double>& errors = errors_[one.label];
      errors.push_back(std::abs(*one.expected - found->second) / found->second);
      if (errors.size() > kMostJudged) errors.pop_front();
    }
  }
}

void Estimates::add_metrics(ctrl::Exposition& out) const {
  for (const auto& [label, errors] : errors_) {
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    out.add("flowcon_estimate_error_ratio", {{"label", label}},
            sum / static_cast<double>(errors.size()));
  }
}

// With what the other hosts have told.
Async<void> Estimates::learn_from(Rows own) {
  Rows others = others_.rows(room_beside(own));
  const bool are_own = others.empty();
  Rows rows = with_others(own, std::move(others));
  const auto is_fresh = [this](const EndedProfile& row) {
    return !known_.contains({row.key, row.ended});
  };
  const auto fresh = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_fresh));
  if (are_own) own.clear();
  // What a peer told that is none any more counts no longer.
  const bool is_less = forgotten_ != others_.forgotten();
  if (is_less || estimate::is_worth_training(fresh, rows.size())) {
    co_await learn(std::move(rows), std::move(own));
  }
}

Async<void> Estimates::learn(Rows rows, Rows own) {
  std::set<std::pair<std::string, double>> known;
  const std::uint64_t forgotten = others_.forgotten();
  for (const EndedProfile& row : rows) known.emplace(row.key, row.ended);
  auto work = [rows = std::move(rows), own = std::move(own), now = wall_()] {
    return std::make_shared<Learnt>(rows, own, now);
  };
  Result<std::shared_ptr<Learnt>> learnt = co_await threads_.ask(std::move(work), kLongestTraining);
  if (is_ended_) co_return;
  if (!learnt) {
    ctrl::log::warning(
        "the estimator was not trained again: it took too long, or no thread could start");
    co_return;
  }
  learnt_ = std::move(*learnt);
  ++learnings_;
  known_ = std::move(known);
  forgotten_ = forgotten;
}

std::vector<estimate::LabelEstimate> Estimates::estimate(const estimate::Command& command) const {
  if (!learnt_) return {};
  const ctrl::HostSnapshot host = host_.view();
  const estimate::Command cleaned = estimate::cleaned(command);
  const estimate::EstimateJob job{
      "", estimate::family_of(cleaned), estimate::key_of(cleaned),
      estimate::features_of(cleaned,
                            estimate::known_features(host.cores, host.memory, host.gpu_model))};
  std::vector<estimate::LabelEstimate> all = learnt_->estimator.estimate(job);
  for (estimate::LabelEstimate& one : all) {
    const bool is_asked_for = one.label == "cpu" || one.label == "mem";
    if (!is_asked_for || !one.upper) continue;
    one.upper = std::max(*one.upper, learnt_->own_runs.least(one.label, job));
  }
  return all;
}

ctrl::api::Routes Estimates::routes() {
  using ctrl::api::by;
  return {
      ctrl::api::post("/v1/estimate", "Estimated resources of a job.",
                      by(*this, &Estimates::answer_estimate)),
      ctrl::api::get("/v1/estimate/check", "Accuracy of estimates on earlier runs.",
                     by(*this, &Estimates::answer_check)),
  };
}

Async<Response> Estimates::answer_estimate(Call call) {
  Result<Asked> asked = parse_asked(call.body);
  if (!asked) co_return failure(422, asked.error().message());
  // An image that is not here yet, or an engine that does not answer: no run of it can be a repeat.
  ImageFacts image;
  if (Result<ImageFacts> found = co_await ask_image_(asked->image); found) {
    image = std::move(*found);
  }
  json::object body;
  body["labels"] = estimate::to_json(estimate(command_of(std::move(*asked), image)));
  body["runs"] = learnt_ ? learnt_->history.size() : 0;
  body["image"] = valid_utf8(image.digest);
  co_return ctrl::api::answer_with(body);
}

Async<Response> Estimates::answer_check(Call) {
  if (is_checking_) co_return failure(409, "a check is under way: ask again in a minute");
  is_checking_ = true;
  Result<Rows> own = co_await read();
  if (!own) {
    is_checking_ = false;
    co_return failure(500, own.error().message());
  }
  Rows others = others_.rows(room_beside(*own));
  auto work = [rows = with_others(std::move(*own), std::move(others)), now = wall_()] {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + nanoseconds(kCheckTime);
    return estimate::check_estimates(profiles_of(rows, now), kQuantile, kSeed,
                                     [until] { return Clock::now() < until; });
  };
  const Result<estimate::EstimateCheck> check =
      co_await threads_.ask(std::move(work), kLongestTraining);
  is_checking_ = false;
  if (!check) co_return failure(503, "the check took too long, or there can be no more threads");
  co_return ctrl::api::answer_with(to_json(*check));
}

}  // namespace flowcon::cluster::queue
