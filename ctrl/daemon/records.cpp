// SPDX-License-Identifier: Apache-2.0
// What was recorded of all containers: the requests of docs/api.md that a report is made from.
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

// The states of a thousand containers are a megabyte in ten rounds, and control waits while they
// are read and explained.
constexpr std::size_t kPageBytes = 256U << 10;

}  // namespace

const policy::Algorithm* Daemon::find_algorithm(const std::string& name) const {
  return companion_ ? companion_->find_algorithm(name)
                    : policy::find_algorithm(policy::host_algorithms(), name);
}

policy::About Daemon::asked_of(const std::string& id) const {
  policy::About about;
  about.id = id;
  if (companion_) {
    about.host_name = [this](const std::string& host) { return companion_->host_name(host); };
  }
  return about;
}

void Daemon::show_changes(const store::Round& round, json::array& all) const {
  const policy::Algorithm* algorithm = find_algorithm(round.algorithm);
  const Result<json::value> state = parse_json(round.state);
  const Result<json::value> decision = parse_json(round.decision);
  if (algorithm == nullptr || !state || !decision) return;
  const std::vector<policy::PlaceChange> changes = algorithm->changes(*state, *decision);
  if (changes.empty()) return;
  // Once for all of them: to decide again may take the square of their number.
  const Result<policy::Explain> explained = algorithm->explain(*state);
  for (const policy::PlaceChange& change : changes) {
    json::object one;
    one["time"] = round.time;
    one["algorithm"] = round.algorithm;
    one["resource"] = round.resource;
    one["container"] = change.id;
    one["from"] = change.from;
    one["to"] = change.to;
    one["from_limit"] = number_or_null(change.from_limit);
    one["limit"] = number_or_null(change.limit);
    one["growth"] = number_or_null(change.growth);
    Result<std::string> sentence = bad_input("the recorded state is damaged");
    if (explained) sentence = (*explained)(asked_of(change.id));
    one["sentence"] = valid_utf8(sentence ? *sentence : sentence.error().message());
    all.push_back(std::move(one));
  }
}

Async<api::Response> Daemon::runs(std::optional<double> since) {
  const double from = since.value_or(-std::numeric_limits<double>::infinity());
  auto read = [this, from] { return world_.store->runs(from); };
  Result<std::vector<store::Run>> found = co_await effects_.run(std::move(read));
  if (!found) co_return api::failure(500, found.error().message());
  json::array all;
  for (const store::Run& run : *found) {
    json::object one;
    one["id"] = run.id;
    one["name"] = valid_utf8(run.name);
    one["image"] = valid_utf8(run.image);
    one["metric"] = run.metric.empty() ? json::value(nullptr) : json::value(valid_utf8(run.metric));
    one["goal"] = flowcon::ctrl::name(run.goal);
    one["started"] = run.started;
    one["finished"] = number_or_null(run.finished);
    one["training"] = run.training;
    one["counter"] = run.has_counter;
    one["moved"] = run.has_moved;
    all.push_back(std::move(one));
  }
  json::object body;
  body["runs"] = std::move(all);
  co_return api::Response{200, render_json(body)};
}

Async<api::Response> Daemon::changes(std::optional<double> since, std::int64_t after) {
  const double from = since.value_or(0);
  auto read = [this, from, after] { return world_.store->rounds(from, after, kPageBytes); };
  Result<store::RoundPage> page = co_await effects_.run(std::move(read));
  if (!page) co_return api::failure(500, page.error().message());
  json::array all;
  for (const store::Round& round : page->rounds) show_changes(round, all);
  json::object body;
  body["changes"] = std::move(all);
  json::value next;
  if (page->has_more) {
    next = "since=" + render_number(page->rounds.back().time) +
           "&after=" + std::to_string(page->after);
  }
  body["next"] = std::move(next);
  co_return api::Response{200, render_json(body)};
}

}  // namespace flowcon::ctrl
