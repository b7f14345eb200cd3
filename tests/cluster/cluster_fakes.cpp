// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/cluster_fakes.h"

namespace flowcon::cluster::test {

FakeHost::~FakeHost() { effects_.finish(); }

boost::asio::io_context& FakeHost::io() { return io_; }

ctrl::Effects& FakeHost::effects() { return effects_; }

ctrl::store::Store& FakeHost::store() { return *store_; }

const ctrl::Config& FakeHost::config() const { return config_; }

ctrl::HostSnapshot FakeHost::view() const { return view_; }

std::optional<double> FakeHost::value_of(const std::string& id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ctrl::JobForecast> FakeHost::forecast(const std::string& id) const {
  const auto found = lefts_.find(id);
  if (found == lefts_.end()) return std::nullopt;
  ctrl::JobForecast forecast{found->second, std::nullopt};
  if (dones_.contains(id)) forecast.done = dones_.at(id);
  return forecast;
}

std::optional<ctrl::Settings> FakeHost::settings_of(const std::string&) const {
  return std::nullopt;
}

std::string FakeHost::name_of(const std::string& id) const { return "name-" + id; }

std::string FakeHost::find(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? "" : found->second;
}

Async<ctrl::api::Response> FakeHost::answer(ctrl::api::Request request) {
  calls_.push_back(request.method + " " + request.target + " " + request.body);
  co_return answer_;
}

void FakeHost::warn(const std::string& sentence) { warnings_.push_back(sentence); }

Async<Result<std::string>> FakeHost::export_history(std::string) { co_return std::string("{}"); }

Async<Result<void>> FakeHost::import_history(std::string, std::string, std::string) {
  co_return Result<void>();
}

Async<Result<void>> FakeHost::forget_history(std::string) { co_return Result<void>(); }

const std::string& FakeNetwork::own_id() const { return own_id_; }

std::string FakeNetwork::own_name() const { return own_name_; }

bool FakeNetwork::is_draining() const { return is_draining_; }

std::optional<std::vector<std::string>> FakeNetwork::leaders() const { return leaders_; }

std::vector<Neighbour> FakeNetwork::neighbours() const { return neighbours_; }

Async<Result<Answer>> FakeNetwork::ask(std::string id, std::string method, std::string target,
                                       std::string body, double) {
  asked_.push_back({id, method + " " + target, body});
  const auto found = answers_.find(id + " " + method + " " + target);
  if (found == answers_.end()) co_return bad_input("no answer from " + id.substr(0, 1));
  co_return found->second;
}

Result<std::vector<std::string>> FakeNetwork::dial(const std::string&) const {
  return bad_input("not in this test");
}

void FakeNetwork::tell() { ++told_; }

Neighbour& FakeNetwork::add(const std::string& name, char digit, policy::Counts counts,
                            double usage) {
  Neighbour one;
  one.id = host_id(digit);
  one.name = name;
  one.is_reachable = true;
  peers::State state;
  state.id = one.id;
  state.name = name;
  state.counts = counts;
  state.usage = usage;
  state.containers = counts.pc + counts.wc + counts.cc;
  one.state = state;
  neighbours_.push_back(one);
  return neighbours_.back();
}

void FakeNetwork::report(char digit, const policy::HostReport& report) {
  answers_[host_id(digit) + " GET /v1/peer/jobs"] = {200, policy::render_report(report)};
}

std::vector<std::string> FakeNetwork::orders() const {
  std::vector<std::string> bodies;
  for (const Asked& asked : asked_) {
    if (asked.verb == "POST /v1/peer/move") bodies.push_back(asked.id.substr(0, 1) + asked.body);
  }
  return bodies;
}

Async<Result<std::string>> FakeMoves::begin(MoveOrder order) {
  orders_.push_back(order.container + ">" + order.target.substr(0, 1) + " " + order.cause);
  if (!refusal_.empty()) co_return bad_input(refusal_);
  const std::string id = "m" + std::to_string(orders_.size());
  moves_.push_back({id, order.container, order.cause, migration::Step::transfer, false, {}});
  co_return id;
}

Async<Result<Freight>> FakeMoves::weigh(std::string) { co_return freight_; }

Async<Result<std::set<std::string>>> FakeMoves::shared_volumes() { co_return shared_; }

bool FakeMoves::is_movable(const std::string& id) const { return fixed_.count(id) == 0; }

bool FakeMoves::is_moving(const std::string& id) const {
  for (const Move& move : moves_) {
    if (move.container == id && !move.ended) return true;
  }
  return false;
}

bool FakeMoves::is_saving(const std::string&) const { return false; }

std::int64_t FakeMoves::reserved() const { return reserved_; }

std::vector<MoveView> FakeMoves::list(std::size_t) const {
  std::vector<MoveView> all;
  for (const Move& move : moves_) {
    MoveView view;
    view.id = move.id;
    view.container = move.container;
    view.cause = move.cause;
    view.step = move.step;
    view.method = move.method;
    view.source = move.source;
    view.target = move.target;
    view.error = "the disk is full";
    view.stopped_seconds = move.stopped;
    view.has_ended = move.ended;
    all.push_back(std::move(view));
  }
  return all;
}

std::vector<Way> FakeMoves::ways() const {
  std::vector<Way> all;
  for (const MoveView& view : list(1000)) {
    const bool is_over = view.has_ended && view.step != migration::Step::done;
    if (is_over) continue;
    all.push_back({view.container, view.name, view.source, view.target, !view.has_ended});
  }
  return all;
}

void FakeMoves::release(const std::string& id) { released_.insert(id); }

void FakeMoves::turn_back(const std::string& id, const std::string&) { turned_back_.insert(id); }

void FakeMoves::take_back(const std::string& id) { taken_back_.insert(id); }

void FakeMoves::expect(const std::string& id, const std::string& birth) { expected_[id] = birth; }

Async<Result<std::optional<Passage>>> FakeMoves::passage(std::string id) {
  const auto found = passages_.find(id);
  if (found == passages_.end()) co_return std::optional<Passage>();
  co_return found->second;
}

std::vector<Passage> FakeMoves::expected_births() const { return births_; }

void FakeMoves::end(const std::string& step) {
  moves_.back().step = *migration::parse_step(migration::Side::source, step);
  moves_.back().ended = true;
}

}  // namespace flowcon::cluster::test
