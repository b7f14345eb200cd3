// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/calls.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/random_id.h"
#include "base/text.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/targets.h"
#include "cluster/migration/run/view_json.h"
#include "cluster/policy/report.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::api::answer_with;
using ctrl::api::failure;
using ctrl::api::Response;

constexpr double kHeardTime = 10;  // seconds in which a word counts as fresh
constexpr std::size_t kMovesLookedAt = 256;
constexpr std::size_t kMovesMeasured = 9;        // the last ones
constexpr std::uint64_t kLeastSent = 1'000'000;  // bytes: less says nothing of a link

// How long the job stood still, in the median of the last migrations by that method.
std::optional<double> usual_stop(const std::vector<MoveView>& moves, Method method) {
  std::vector<double> stops;
  for (const MoveView& move : moves) {
    const bool is_such = move.stopped_seconds && move.method == method;
    if (is_such && stops.size() < kMovesMeasured) stops.push_back(*move.stopped_seconds);
  }
  return policy::median(std::move(stops));
}

// Bytes a second of the last transfer from here to that host.
std::optional<double> last_rate(const std::vector<MoveView>& moves, const std::string& target) {
  for (const MoveView& move : moves) {
    const bool is_such = move.side == Side::source && move.target == target;
    if (is_such && move.bytes >= kLeastSent && move.rate > 0) return move.rate;
  }
  return std::nullopt;
}

// {"host":"h2","method":"criu","dry_run":true}, each may be missing.
struct Wish {
  MoveOrder order;
  bool is_dry = false;
};

Result<Wish> parse_wish(const std::string& container, const std::string& body) {
  Wish wish;
  wish.order.container = container;
  if (body.empty()) return wish;
  return read_fields(body, [&wish](FieldReader& reader) {
    if (reader.find("host") != nullptr) wish.order.target = reader.text("host");
    if (reader.find("method") != nullptr) {
      wish.order.method =
          reader.one_of("method", {Method::app, Method::criu}, "must be app or criu");
    }
    wish.is_dry = reader.optional_bool("dry_run");
    return wish;
  });
}

unsigned status_of(const Error& error) {
  if (is_absent(error)) return 404;
  return error.code == boost::system::errc::operation_not_permitted ? 409 : 502;
}

}  // namespace

Async<Result<Freight>> Calls::weigh(std::string container) {
  MoveOrder order;
  order.container = std::move(container);
  order.method = Method::birth;
  const Result<Proposal> proposal = co_await proposer_.propose(std::move(order));
  if (!proposal) co_return proposal.error();
  const Plan& plan = proposal->plan;
  Freight freight{plan.image.id, plan.image.bytes, plan.bytes, {}, plan.image.architecture};
  freight.bound = joined(proposal->obstacles, "; ");
  for (const PlannedVolume& volume : plan.volumes) {
    if (is_data_volume(volume.name)) freight.shared[volume.name] = volume.bytes;
  }
  co_return freight;
}

// -------------------------------------------------------------------------------- a move begins

MovePtr Calls::opened(Proposal proposal, const Neighbour& target, std::string id) const {
  Entry entry;
  entry.id = id.empty() ? random_id() : std::move(id);
  entry.container = proposal.container;
  entry.name = proposal.name;
  entry.source = world_.network.own_id();
  entry.target = target.id;
  entry.method = proposal.method;
  auto move = std::make_shared<Move>(world_.clock, std::move(entry), std::move(proposal.plan));
  if (move->entry.method == Method::criu) {
    move->plan.parts.push_back({"checkpoint", PartKind::checkpoint, move->checkpoint_name()});
  }
  move->started = world_.clock.wall();
  move->began = move->peer.heard = world_.clock.steady();
  move->account.peer_name = target.name;
  move->account.steps[name(Step::reserve)] = 0;
  move->copy.seen = Copy::running;
  if (move->is_of_task()) move->saving.saved_life = proposal.life;
  return move;
}

Async<Result<std::string>> Calls::begin(MoveOrder order) {
  if (const std::string why = records_.why_unread(); !why.empty()) co_return bad_input(why);
  if (world_.is_stopping) co_return bad_input(kStopping);
  const Result<Neighbour> target = find_neighbour(world_.network, order.target);
  if (!target) co_return target.error();
  const std::string id = order.id;
  if (!id.empty()) {
    const Result<ctrl::store::Migration> before = co_await world_.rows.find(id);
    if (before || open_.find(id)) co_return errno_error(EEXIST, "that migration has begun");
    if (!is_absent(before.error())) co_return before.error();
  }
  Result<Proposal> proposal = co_await proposer_.propose(std::move(order));
  if (!proposal) co_return proposal.error();
  if (!proposal->obstacles.empty()) co_return errno_error(EPERM, joined(proposal->obstacles, "; "));
  // Measuring took its time.
  if (world_.is_stopping) co_return bad_input(kStopping);
  const std::vector<std::string> notes = proposal->notes;
  const MovePtr move = opened(std::move(*proposal), *target, id);
  // Nobody else may begin one while the journal is written.
  if (open_.is_moving(move->entry.container)) {
    co_return errno_error(EPERM, kUnderWay);
  }
  open_.add(move);
  Entry first = move->entry;
  const Result<void> saved = co_await records_.save(move, std::move(first));
  if (!saved) {
    open_.drop(move->entry.id);
    co_return saved.error();
  }
  ctrl::log::info(move->label() + " to " + target->name + " begins (" + move->plan.cause + ", " +
                  name(move->entry.method) + ")");
  for (const std::string& note : notes) {
    ctrl::log::info("migration " + move->entry.id.substr(0, 8) + ": " + note);
  }
  driver_.launch(move);
  co_return move->entry.id;
}

// -------------------------------------------------------------------------------- by the API

ctrl::api::Routes Calls::routes() {
  using ctrl::api::Call, ctrl::api::get, ctrl::api::post;
  const auto steers = [this](const char* verb) {
    return [this, verb](const Call& call) { return ctrl::api::at_once(steer(call.name, verb)); };
  };
  const std::string container = "/v1/containers/NAME/";
  ctrl::api::Routes all{
      get("/v1/moves", "Migrations of this host.",
          [this](const Call&) { return ctrl::api::at_once(list()); }),
      post(container + "migrate", "Migrates a container.",
           [this](Call call) { return migrate(std::move(call.name), std::move(call.body)); }),
      post(container + "cancel-move", "Cancels a migration.", steers("cancel-move")),
      post(container + "take-back", "Starts the container here again: the target is lost.",
           steers("take-back")),
      post(container + "keep", "Keeps the copy here: the source is lost.", steers("keep"))};
  for (ctrl::api::Route& row : all) {
    row.answer = [this, answer = std::move(row.answer)](Call call) {
      // What is missing would be taken for a move that is over.
      const std::string why = records_.why_unread();
      if (why.empty() || records_.is_lost()) return answer(std::move(call));
      return ctrl::api::at_once(failure(503, why));
    };
  }
  return all;
}

Response Calls::list() const {
  json::object all{{"moves", to_json(open_.list(1000))}};
  if (records_.is_lost() || !records_.is_whole()) all["whole"] = false;
  return answer_with(all);
}

Async<Response> Calls::rehearse(MoveOrder order, std::string host) {
  const std::string target = order.target;
  const Result<Proposal> proposal = co_await proposer_.rehearse(std::move(order));
  if (!proposal) co_return failure(status_of(proposal.error()), proposal.error().what);
  json::object out;
  out["host"] = host;
  out["obstacles"] = json::array(proposal->obstacles.begin(), proposal->obstacles.end());
  out["notes"] = json::array(proposal->notes.begin(), proposal->notes.end());
  out["bytes"] = proposal->plan.bytes;
  out["image_bytes"] = proposal->plan.image.bytes;
  out["layers"] = proposal->plan.image.layers.size();
  out["layers_there"] =
      proposal->layers_there ? json::value(*proposal->layers_there) : json::value(nullptr);
  out["missing_bytes"] =
      proposal->missing_bytes ? json::value(*proposal->missing_bytes) : json::value(nullptr);
  const std::vector<MoveView> moves = open_.list(kMovesLookedAt);
  out["stopped_seconds"] = number_or_null(usual_stop(moves, proposal->method));
  out["rate"] = number_or_null(last_rate(moves, target));
  co_return answer_with(out);
}

Async<Response> Calls::migrate(std::string name, std::string body) {
  Result<Wish> wish = parse_wish(name, body);
  if (!wish) co_return failure(422, wish.error().message());
  const std::string wanted = wish->order.target;
  const Result<Neighbour> target =
      wanted.empty() ? least_loaded(world_.network.own_id(), world_.network.neighbours())
                     : find_neighbour(world_.network, wanted);
  if (!target) co_return failure(404, target.error().message());
  wish->order.target = target->id;
  std::string host = target->name;
  if (wish->is_dry) co_return co_await rehearse(std::move(wish->order), std::move(host));
  const Result<std::string> id = co_await begin(std::move(wish->order));
  if (!id) co_return failure(status_of(id.error()), id.error().what);
  json::object out;
  out["host"] = target->name;
  out["id"] = *id;
  const MovePtr move = open_.find(*id);
  out["name"] = move ? move->entry.name : "";
  co_return answer_with(out, 202);
}

// Reachable, or it spoke of this move a moment ago, though this host cannot reach it.
bool Calls::is_heard(const Move& move) const {
  const std::vector<Neighbour> all = world_.network.neighbours();
  const bool is_reachable = std::any_of(all.begin(), all.end(), [&](const Neighbour& one) {
    return one.is_reachable && one.id == move.other();
  });
  return is_reachable || (!move.is_source() && move.peer.heard > 0 &&
                          world_.clock.steady() - move.peer.heard < kHeardTime);
}

Response Calls::steer(const std::string& name, const std::string& verb) {
  const bool keeps = verb == "keep";
  const MovePtr move = open_.find_by_container(name);
  if (!move || move->is_source() == keeps) {
    return failure(404, "no migration of container " + printable(name, 80) +
                            (keeps ? " to here" : " from here") + " is under way");
  }
  if (keeps) {
    const std::string why = why_not_kept(move->entry, is_heard(*move));
    if (!why.empty()) return failure(409, why);
    move->is_kept = true;
  } else if (verb == "take-back") {
    const std::string why = why_not_taken_back(move->entry, move->peer.word, is_heard(*move));
    if (!why.empty()) return failure(409, why);
    move->is_taken_back = true;
    move->peer.word = Word::none;  // or it would count for ever as a copy that may run
  } else {
    if (move->entry.step > Step::transfer) {
      return failure(409, "it was handed over already and cannot be cancelled");
    }
    if (move->writing.step == Step::start) {
      return failure(409, "it is being handed over and cannot be cancelled");
    }
    move->give_up = "a person cancelled it";
  }
  move->wake();
  return answer_with({{"id", move->entry.id}, {"name", move->entry.name}});
}

}  // namespace flowcon::cluster::migration
