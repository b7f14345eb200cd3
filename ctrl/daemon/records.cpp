// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/records.h"

#include <ctime>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/profile_rows.h"

namespace flowcon::ctrl {
namespace {

// The states of a thousand containers are a megabyte in ten rounds, and control waits while they
// are read and explained.
constexpr std::size_t kPageBytes = 256U << 10;

// Histories and explanations that are read at a time: each keeps what is decided waiting.
constexpr long kMostReads = 4;

constexpr double kEver = -std::numeric_limits<double>::infinity();

// "12:04:10", with the day where it is not today's.
std::string clock_text(double time, double now) {
  const auto seconds = static_cast<std::time_t>(time);
  const auto today = static_cast<std::time_t>(now);
  std::tm then{}, there{};
  if (::localtime_r(&seconds, &then) == nullptr || ::localtime_r(&today, &there) == nullptr) {
    return "";
  }
  const bool is_today = then.tm_yday == there.tm_yday && then.tm_year == there.tm_year;
  char text[40];
  return std::strftime(text, sizeof text, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then) > 0
             ? text
             : "";
}

}  // namespace

std::string RecordReader::id_of(const std::string& name) const {
  const std::string id = see_().roster.find(name);
  return id.empty() ? name : id;
}

api::Response RecordReader::no_records(const Error& error, const std::string& name) const {
  if (!is_absent(error)) return api::failure(500, error.message());
  const bool is_here = !see_().roster.find(name).empty();
  return api::failure(404, is_here ? "no records of container " + printable(name, 80) + " yet"
                                   : "No such container: " + printable(name, 80));
}

const policy::Algorithm* RecordReader::find_algorithm(const std::string& name) const {
  const Extension* extension = see_().extension;
  return extension != nullptr ? extension->find_algorithm(name)
                              : policy::find_algorithm(policy::host_algorithms(), name);
}

policy::About RecordReader::asked_of(const std::string& id) const {
  policy::About about;
  about.id = id;
  if (const Extension* extension = see_().extension; extension != nullptr) {
    about.host_name = [extension](const std::string& host) { return extension->host_name(host); };
  }
  return about;
}

void RecordReader::show_changes(const store::Round& round, json::array& all) const {
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

Async<api::Response> RecordReader::runs(api::Call call) {
  const double from = call.number("since", kEver);
  const store::RunPlace after{call.number("started", kEver), call.number<std::int64_t>("after", 0)};
  auto read = [this, from, after] { return store_.runs(from, after, kPageBytes); };
  Result<store::RunPage> page = co_await effects_.run(std::move(read));
  if (!page) co_return api::failure(500, page.error().message());
  json::array all;
  for (const store::Run& run : page->runs) {
    json::object one;
    one["id"] = run.id;
    one["name"] = valid_utf8(run.name);
    one["image"] = valid_utf8(run.image);
    one["metric"] = run.metric.empty() ? json::value(nullptr) : json::value(valid_utf8(run.metric));
    one["goal"] = flowcon::ctrl::name(run.goal);
    one["started"] = run.started;
    one["finished"] = number_or_null(run.finished);
    one["status"] = run.status ? json::value(*run.status) : json::value(nullptr);
    one["training"] = run.training;
    one["counter"] = run.has_counter;
    one["moved"] = run.has_moved;
    all.push_back(std::move(one));
  }
  json::object body;
  body["runs"] = std::move(all);
  json::value next;
  if (page->has_more) {
    next = (call.query.contains("since") ? "since=" + render_number(from) + "&" : "") +
           "started=" + render_number(page->last.started) +
           "&after=" + std::to_string(page->last.number);
  }
  body["next"] = std::move(next);
  co_return api::answer_with(body);
}

Async<api::Response> RecordReader::changes(api::Call call) {
  const double from = call.number("since", 0.0);
  const auto after = call.number<std::int64_t>("after", 0);
  auto read = [this, from, after] { return store_.rounds(from, after, kPageBytes); };
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
  co_return api::answer_with(body);
}

Async<api::Response> RecordReader::profiles(api::Call call) {
  const double from = call.number("since", 0.0);
  const auto after = call.number<std::int64_t>("after", 0);
  auto read = [this, from, after] { return store_.profiles(from, after, kPageBytes); };
  Result<store::ProfilePage> page = co_await effects_.run(std::move(read));
  if (!page) co_return api::failure(500, page.error().message());
  json::array all;
  for (const store::ProfileRow& row : page->profiles) {
    Result<estimate::EndedProfile> run = read_profile(row);
    if (run) all.push_back(estimate::to_json(estimate::profile_at(std::move(*run), wall_())));
  }
  json::object body;
  body["profiles"] = std::move(all);
  json::value position;
  if (!page->profiles.empty()) {
    position = "since=" + render_number(from) + "&after=" + std::to_string(page->after);
  }
  body["next"] = page->has_more ? position : json::value();
  body["position"] = std::move(position);
  co_return api::answer_with(body);
}

api::Response RecordReader::busy() {
  return api::failure(503, "flowcond reads the records for others: ask again");
}

Async<api::Response> RecordReader::history(api::Call call) {
  const std::shared_ptr<const char> reading = reading_;
  if (reading_.use_count() > 1 + kMostReads) co_return busy();
  auto read = [this, id = id_of(call.name), from = call.number("since", kEver)] {
    return store_.history(id, from);
  };
  Result<store::History> found = co_await effects_.run(std::move(read));
  if (!found) co_return no_records(found.error(), call.name);
  json::object body;
  body["id"] = found->run.id;
  body["name"] = valid_utf8(found->run.name);
  body["metric"] =
      found->run.metric.empty() ? json::value(nullptr) : json::value(valid_utf8(found->run.metric));
  body["goal"] = flowcon::ctrl::name(found->run.goal);
  body["started"] = found->run.started;
  body["finished"] = number_or_null(found->run.finished);
  json::array samples, usage, decisions;
  for (const Sample& s : found->samples) samples.push_back(json::array{s.time, s.value});
  for (const store::UsageRow& u : found->usage) {
    usage.push_back(
        json::array{u.time, u.cpu, u.memory, number_or_null(u.io), number_or_null(u.network)});
  }
  for (const store::DecisionRow& d : found->decisions) {
    decisions.push_back(
        json::array{d.time, flowcon::ctrl::name(d.list), d.limit, number_or_null(d.growth)});
  }
  body["samples"] = std::move(samples);
  body["usage"] = std::move(usage);
  body["decisions"] = std::move(decisions);
  json::array stays;
  for (const store::Stay& s : found->stays) {
    stays.push_back(
        json::object{{"host", valid_utf8(s.host)}, {"began", s.began}, {"ended", s.ended}});
  }
  body["stays"] = std::move(stays);
  co_return api::answer_with(body);
}

std::string RecordReader::sentence_of(const std::string& id,
                                      const store::ExplainedRound& explained) const {
  const store::Round& round = explained.round;
  const policy::Algorithm* algorithm = find_algorithm(round.algorithm);
  if (algorithm == nullptr) return "";
  policy::About about = asked_of(id);
  if (explained.since) about.since = clock_text(*explained.since, round.time);
  about.granted = explained.granted;
  return policy::sentence_about(*algorithm, round.state, about);
}

Async<api::Response> RecordReader::explain(api::Call call) {
  const std::shared_ptr<const char> reading = reading_;
  if (reading_.use_count() > 1 + kMostReads) co_return busy();
  std::optional<double> since;
  if (call.query.contains("since")) since = call.number("since", 0.0);
  auto read = [this, id = id_of(call.name), count = call.number<std::size_t>("last", 1), since] {
    return store_.explained(id, count, since);
  };
  Result<store::Explained> found = co_await effects_.run(std::move(read));
  if (!found) co_return no_records(found.error(), call.name);
  json::object head;
  head["id"] = found->run.id;
  head["name"] = valid_utf8(found->run.name);
  // State and decision go out as they are kept, byte for byte: they are to be decided again.
  std::string body = render_json(head);
  body.pop_back();
  body += ",\"decisions\":[";
  const char* separator = "";
  for (const store::ExplainedRound& explained : found->rounds) {
    const store::Round& round = explained.round;
    json::object about;
    about["time"] = round.time;
    about["algorithm"] = round.algorithm;
    about["resource"] = round.resource;
    about["sentence"] = sentence_of(found->run.id, explained);
    std::string text = render_json(about);
    text.pop_back();
    body +=
        separator + text + ",\"state\":" + round.state + ",\"decision\":" + round.decision + "}";
    separator = ",";
  }
  body += found->is_cut ? "],\"cut\":true}" : "],\"cut\":false}";
  co_return api::Response{200, std::move(body)};
}

}  // namespace flowcon::ctrl
