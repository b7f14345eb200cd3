// SPDX-License-Identifier: Apache-2.0
// The load of all hosts: Algorithm 5 or steer, where this host is the one that asks the others. A
// host that does not answer has containers that nobody knows of, so nothing is decided without it.
#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/balancer.h"
#include "cluster/codec/decision_json.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster {

using ctrl::Async;

namespace {

namespace json = boost::json;
constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

constexpr double kReportTime = 5;  // seconds that a host has for its report
constexpr double kOrderTime = 20;  // … and to begin a move
// A peer takes messages of 64 KiB; beyond that it is asked without the reasons.
constexpr std::size_t kMostReasons = 56U << 10;
constexpr std::size_t kMovesLookedAt = 256;
constexpr std::size_t kMovesMeasured = 9;  // the last ones

std::string sentence_of(const Answer& answer) {
  const std::string sentence = text_in(answer.body, "error");
  if (!sentence.empty()) return printable(sentence, 300);
  return "it answers with status " + std::to_string(answer.status);
}

}  // namespace

std::vector<balance::Member> Balancer::members() const {
  std::vector<balance::Member> all{{network_.own_name(), network_.own_id()}};
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (neighbour.is_reachable && neighbour.state) {
      all.push_back({neighbour.state->name, neighbour.id});
    }
  }
  return all;
}

balance::Member Balancer::coordinator() const {
  const auto leaders = network_.leaders();
  if (!leaders) return balance::coordinator_of(members());
  for (const balance::Member& member : members()) {
    if (!leaders->empty() && member.id == leaders->front()) return member;
  }
  return {"the swarm's leader, which is not reached,", ""};
}

// May this host give orders here? A worker of a swarm knows its managers, and not which one leads.
bool Balancer::follows(const std::string& id) const {
  const auto leaders = network_.leaders();
  if (!leaders) return coordinator().id == id;
  return std::find(leaders->begin(), leaders->end(), id) != leaders->end();
}

balance::HostReport Balancer::own_report() const {
  const double now = clock_().steady;
  const auto age = [now](const std::optional<double>& time) {
    return time ? std::optional(std::max(now - *time, 0.0)) : std::nullopt;
  };
  balance::HostReport report;
  report.id = network_.own_id();
  report.name = network_.own_name();
  report.draining = network_.is_draining();
  std::vector<double> stopped;
  for (const MoveView& move : moves_.list(kMovesLookedAt)) {
    if (!move.has_ended) ++report.moves;
    if (move.stopped_seconds && stopped.size() < kMovesMeasured) {
      stopped.push_back(std::max(*move.stopped_seconds, 0.0));
    }
  }
  report.move_seconds = balance::median(std::move(stopped));
  const ctrl::HostView view = host_.view();
  report.cores = view.cores;
  for (const std::string& id : view.jobs) {
    const balance::Mark mark = marks_.find(id) != nullptr ? *marks_.find(id) : balance::Mark();
    balance::JobReport job{id,
                           host_.name_of(id),
                           mark.category,
                           host_.value_of(id),
                           age(mark.converged),
                           age(mark.migrated),
                           mark.rebalanced,
                           moves_.is_movable(id),
                           {},
                           {},
                           mark.moves};
    if (const auto forecast = host_.forecast(id)) {
      // A counter may say what it likes.
      job.left = std::min(forecast->left, balance::kMostWork);
      job.width = forecast->width;
      job.beginning = !forecast->is_under_way;
    }
    report.containers.push_back(std::move(job));
  }
  return report;
}

Async<Balancer::GatheringPtr> Balancer::gather() {
  auto gathering = std::make_shared<Gathering>(host_.io());
  gathering->reports.push_back(own_report());
  gathering->names[network_.own_id()] = network_.own_name();
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (neighbour.state) gathering->names[neighbour.id] = neighbour.state->name;
    if (!neighbour.is_reachable || neighbour.id.empty()) {
      const bool is_told = !neighbour.error.empty();
      if (gathering->silent.empty()) {
        gathering->silent =
            is_told ? neighbour.error : neighbour.name + " has not been reached yet";
      }
      continue;
    }
    ++gathering->missing;
    ctrl::spawn(host_.io(), "report", ask_for_report(gathering, neighbour));
  }
  // Each has its own limit; another request may be before it on its connection.
  gathering->done.expires_after(std::chrono::seconds(static_cast<int>(2 * kReportTime)));
  while (gathering->missing > 0) {
    auto [code] = co_await gathering->done.async_wait(kAwait);
    if (!code) break;
  }
  if (gathering->missing > 0 && gathering->silent.empty()) {
    gathering->silent = "a host takes too long to answer";
  }
  co_return gathering;
}

Async<void> Balancer::ask_for_report(GatheringPtr gathering, Neighbour neighbour) {
  std::string id = neighbour.id, method = "GET", target = "/v1/peer/jobs", body;
  const Result<Answer> answer = co_await network_.ask(
      std::move(id), std::move(method), std::move(target), std::move(body), kReportTime);
  std::string problem;
  if (!answer) {
    problem = answer.error().message();
  } else if (answer->status != 200) {
    problem = sentence_of(*answer);
  } else {
    Result<balance::HostReport> report = balance::parse_report(answer->body);
    if (!report) {
      problem = "its report makes no sense: " + report.error().message();
    } else if (report->id != neighbour.id) {
      problem = "its report is of another host";
    } else {
      gathering->reports.push_back(std::move(*report));
    }
  }
  if (!problem.empty() && gathering->silent.empty()) {
    gathering->silent = neighbour.name + ": " + problem;
  }
  --gathering->missing;
  gathering->done.cancel();
}

Result<Balancer::Plan> Balancer::plan(const std::vector<balance::HostReport>& reports,
                                      bool is_asked_for) const {
  const ctrl::Config& config = host_.config();
  const double now = clock_().steady;
  const auto is_barred = [&](const std::string& id) { return !barred_.may_try(id, now); };
  Plan plan;
  if (is_balancing()) {
    const auto most = config.balance.max_moves;
    const auto state = balance::steer_question(reports, most, is_barred);
    if (!state) return state.error();
    const policy::SteerDecision decision = policy::decide_steer(*state);
    plan = {Cause::balance, true, decision.moves, policy::to_json(*state),
            policy::to_json(decision)};
    return plan;
  }
  const auto question =
      balance::rebalance_question(reports, config.balance.rebalance_idle, is_barred);
  if (!question) return question.error();
  plan.is_due = question->is_due;
  if (!plan.is_due && !is_asked_for) return plan;
  const policy::RebalanceDecision decision = policy::decide_rebalance(question->state);
  plan.moves = decision.moves;
  plan.state = policy::to_json(question->state);
  plan.decision = policy::to_json(decision);
  return plan;
}

Async<Balancer::Rebalancing> Balancer::rebalance(bool is_asked_for, bool is_dry) {
  Rebalancing result;
  const bool is_alone = network_.neighbours().empty();
  if (is_alone) {
    result.error = "this host has no peers: nothing to rebalance";
    co_return result;
  }
  if (coordinator().id != network_.own_id()) {
    result.error = "this host does not coordinate: " + coordinator().name + " does";
    co_return result;
  }
  result.gathering = co_await gather();
  const std::string& silent = result.gathering->silent;
  if (!silent.empty()) {
    result.error = "no decision while a host is silent: " + silent;
    if (silences_.count()) ctrl::log::info(result.error);
    co_return result;
  }
  const auto& reports = result.gathering->reports;
  const bool is_moving = std::any_of(reports.begin(), reports.end(),
                                     [](const balance::HostReport& r) { return r.moves > 0; });
  if (is_moving && !is_dry) {
    result.error = "a container is migrating: rebalancing resumes when the migration finishes";
    result.is_on_the_move = true;
    co_return result;
  }
  if (is_asked_for && !is_dry) barred_.forget_all();
  Result<Plan> planned = plan(reports, is_asked_for);
  if (!planned) {
    result.error = planned.error().message();
    if (silences_.count()) ctrl::log::info(result.error);
    co_return result;
  }
  silences_.reset();
  result.plan = std::move(*planned);
  const Cause cause = result.plan.cause;
  const std::vector<policy::Move> decided = result.plan.moves;
  if (!decided.empty() && !is_dry) record(name(cause), result.plan.state, result.plan.decision);
  auto state = std::make_shared<const std::string>(render_json(result.plan.state));
  std::set<std::string> sources;
  for (const policy::Move& move : decided) {
    if (is_dry) {
      result.outcomes.push_back({move.container, move.from, move.to, "planned", ""});
      continue;
    }
    // One leaves a host at a time; the rest is decided again when it has arrived.
    if (!sources.insert(move.from).second) {
      result.outcomes.push_back({move.container, move.from, move.to, "later", ""});
      continue;
    }
    Outcome outcome = co_await order(move, cause, state);
    result.outcomes.push_back(std::move(outcome));
  }
  co_return result;
}

// Why a container of this host is not moved for `cause` now; null where it is.
const char* Balancer::obstacle(const std::string& container, Cause cause) const {
  const balance::Mark* mark = marks_.find(container);
  if (cause == Cause::rebalance) {
    if (mark == nullptr || (!mark->converged && !mark->migrated)) {
      return "the container has not converged";
    }
    if (mark->rebalanced) return "the container was rebalanced already";
  } else if (mark != nullptr && mark->moves >= host_.config().balance.max_moves) {
    return "the container has migrated as often as max-moves allows";
  }
  if (cause == Cause::balance) {
    const std::optional<ctrl::JobForecast> forecast = host_.forecast(container);
    if (forecast && !forecast->is_under_way) return "the container has just begun";
  }
  return !moves_.is_movable(container) ? "the container's label does not allow it"
         : moves_.is_moving(container) ? "the container is migrating"
         : is_busy()                   ? "another container of this host is migrating"
         : !attempts_.may_try(container, clock_().steady)
             ? "the container could not migrate a moment ago"
             : nullptr;
}

Async<Balancer::Outcome> Balancer::order(policy::Move move, Cause cause,
                                         std::shared_ptr<const std::string> state) {
  Outcome outcome{move.container, move.from, move.to, "begun", ""};
  if (move.from == network_.own_id()) {
    if (const char* why = obstacle(move.container, cause); why != nullptr) {
      outcome.error = why;
    } else {
      std::string container = move.container, target = move.to;
      const Result<std::string> begun =
          co_await send_away(std::move(container), std::move(target), cause);
      if (!begun) outcome.error = begun.error().message();
    }
  } else {
    json::object body{{"container", move.container}, {"target", move.to}, {"cause", name(cause)}};
    if (state->size() <= kMostReasons) {
      if (Result<json::value> reasons = parse_json(*state)) body["state"] = std::move(*reasons);
    }
    std::string id = move.from, method = "POST", target = "/v1/peer/move";
    std::string text = render_json(body);
    const Result<Answer> answer = co_await network_.ask(
        std::move(id), std::move(method), std::move(target), std::move(text), kOrderTime);
    if (!answer) {
      outcome.error = answer.error().message();
    } else if (answer->status != 200) {
      outcome.error = sentence_of(*answer);
    }
  }
  if (!outcome.error.empty()) {
    outcome.state = "refused";
    barred_.fail(move.container, move.to, clock_().steady,
                 2 * host_.config().balance.categorise_interval);
    ctrl::log::warning("the load is not evened out by moving " + move.container.substr(0, 12) +
                       " from " + host_name(move.from) + ": " + printable(outcome.error, 300));
  }
  co_return outcome;
}

}  // namespace flowcon::cluster
