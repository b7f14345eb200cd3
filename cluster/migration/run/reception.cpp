// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/reception.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <utility>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/names.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/targets.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
using ctrl::api::answer_with;
using ctrl::api::failure;
using ctrl::api::Response;

constexpr double kReachTime = 3;    // seconds until a host that has just come back is reached
constexpr double kReachLook = 0.1;  // seconds

// Of a move that its source asks for again: it may not have heard the reason.
std::string why_ended(const ctrl::store::Migration& row, const std::string& speaker) {
  const Result<Entry> entry = parse_entry(row.entry);
  const bool is_theirs = entry && entry->source == speaker && !entry->reason.empty();
  return is_theirs ? entry->reason : "that migration has ended here";
}

// All reasons, as a list and as one sentence.
Response refuse(const std::vector<std::string>& reasons) {
  return answer_with({{"error", joined(reasons, "; ")}, {"reasons", texts(reasons)}}, 409);
}

}  // namespace

ctrl::api::Routes Reception::peer_routes() {
  using ctrl::api::Call, ctrl::api::post, ctrl::api::with_long_body;
  const auto plan = [this](TakesPlan take) {
    return [this, take](Call call, Pull body) {
      return take_plan(take, std::move(body), std::move(call.peer));
    };
  };
  return {with_long_body("POST", "/v1/peer/moves/check", "Why the target would refuse a plan.",
                         plan(&Reception::check)),
          with_long_body("POST", "/v1/peer/moves", "Reserves on the target.",
                         plan(&Reception::reserve)),
          post("/v1/peer/moves/NAME", "The other side of a migration reports a step.",
               [this](Call call) {
                 return hear(std::move(call.name), std::move(call.body), std::move(call.peer));
               }),
          // NAME is ID/PART.
          with_long_body("PUT", "/v1/peer/moves/NAME", "A payload of a migration.",
                         [this](Call call, Pull body) {
                           return take_part(std::move(call.name), std::move(body),
                                            std::move(call.peer));
                         })};
}

Async<Response> Reception::hear(std::string id, std::string body, std::string speaker) {
  if (id.find('/') != std::string::npos) {
    co_return failure(404, "there is no such verb for migrations; docs/peers.md lists them");
  }
  if (const std::string why = records_.why_unread(); !why.empty()) co_return failure(503, why);
  co_return co_await take_report(std::move(id), std::move(body), std::move(speaker));
}

Async<Response> Reception::take_part(std::string path, Pull body, std::string speaker) {
  if (const std::string why = records_.why_unread(); !why.empty()) co_return failure(503, why);
  const std::size_t slash = std::min(path.find('/'), path.size());
  const MovePtr move = open_.find(path.substr(0, slash));
  if (!move) co_return answer_unknown();
  if (move->is_source() || speaker.empty() || speaker != move->entry.source) {
    co_return failure(403, "it is not yours to send");
  }
  std::string part = slash == path.size() ? "" : path.substr(slash + 1);
  co_return co_await intake_.take(move, std::move(part), std::move(body));
}

Async<Response> Reception::take_plan(TakesPlan take, Pull body, std::string speaker) {
  if (const std::string why = records_.why_unread(); !why.empty()) co_return failure(503, why);
  if (planning_.count(speaker) >= kMostPlans) {
    co_return failure(503, "too many plans of that host are being checked");
  }
  const std::string whose = speaker;
  planning_.insert(whose);
  Response answer = co_await read_plan(take, std::move(body), std::move(speaker));
  planning_.erase(planning_.find(whose));
  co_return answer;
}

Async<Response> Reception::read_plan(TakesPlan take, Pull body, std::string speaker) {
  Result<std::string> text = co_await read_all(std::move(body), kMaxOfferBytes);
  if (!text && text.error().code == boost::system::errc::file_too_large) {
    co_return failure(413, "a plan of more than 1 MiB is not accepted");
  }
  if (!text) co_return failure(400, text.error().message());
  co_return co_await (this->*take)(std::move(*text), std::move(speaker));
}

// -------------------------------------------------------------------------------- would it go

// One that has just come back may have asked before this host has reached it.
Async<void> Reception::wait_for(std::string id) {
  const double until = world_.clock.steady() + kReachTime;
  while (!why_unreachable(id, world_.network.neighbours()).empty() &&
         world_.clock.steady() < until) {
    co_await world_.clock.pause(kReachLook);
  }
}

namespace {

// Of data that need not travel.
std::uint64_t bytes_of(const Plan& plan, const std::set<std::string>& parts) {
  std::uint64_t bytes = 0;
  const std::map<std::string, std::string> wanted = wanted_data(plan);
  for (const PlannedVolume& volume : plan.volumes) {
    const auto found = wanted.find(volume.name);
    if (found != wanted.end() && parts.contains(found->second)) bytes += volume.bytes;
  }
  return bytes;
}

}  // namespace

// Why this host would not take the copy. Neither the engine nor a file system is asked while there
// is a reason already: what a peer may not have it learns nothing of.
Async<Result<std::vector<std::string>>> Reception::judge(std::string name, Plan plan,
                                                         std::string speaker, bool is_taken) {
  AcceptPolicy policy{world_.host.config().accept};
  std::vector<std::string> reasons = refusals(plan, policy);
  // Else the move would never end here: what the source did is asked of it.
  std::string source = speaker;
  if (reasons.empty()) co_await wait_for(std::move(source));
  if (const std::string why = why_unreachable(speaker, world_.network.neighbours()); !why.empty()) {
    reasons.push_back(why);
  }
  if (plan.is_birth && !plan.is_early && world_.why_no_room) {
    if (std::string why = world_.why_no_room(plan.request); !why.empty()) {
      reasons.push_back(std::move(why));
    }
  }
  if (world_.network.is_draining()) reasons.emplace_back(kDraining);
  if (const std::string why = records_.why_unread(); !why.empty()) reasons.push_back(why);
  if (open_.find_by_container(name)) {
    reasons.emplace_back(kUnfinished);
  }
  if (!reasons.empty()) co_return reasons;
  json::object body = plan.body;
  std::uint64_t bytes = plan.bytes;
  Coming coming{Cache::kept_for(plan), plan.image, 0};
  Plan copy = plan;
  const Result<std::set<std::string>> there = co_await cache_.parts_there(std::move(copy));
  if (!there) co_return there.error();
  bytes -= std::min(bytes, bytes_of(plan, *there));
  Result<Conflicts> conflicts = co_await world_.engine.conflicts(std::move(name), std::move(plan));
  if (!conflicts) co_return conflicts.error();
  reasons = std::move(conflicts->reasons);
  if (std::string why = refused_default(body, conflicts->runtime, policy); !why.empty()) {
    reasons.push_back(std::move(why));
  }
  std::string root = conflicts->root;
  coming.bytes = bytes;
  const bool may_remove = is_taken && reasons.empty();
  Result<std::string> room = co_await make_room(std::move(root), std::move(coming), may_remove);
  if (!room) room = "its disk cannot be measured: " + room.error().what;
  if (!room->empty()) reasons.push_back(std::move(*room));
  const std::vector<std::string> unfit =
      co_await world_.files.unfit_paths(std::move(body), std::move(policy));
  reasons.insert(reasons.end(), unfit.begin(), unfit.end());
  co_return reasons;
}

// Why there is no room for it even if what is kept for jobs to come gives way; "" = there is. An
// image that lacks some layers only needs less than it says: no reason to refuse.
Async<Result<std::string>> Reception::make_room(std::string root, Coming coming, bool may_remove) {
  std::string id = coming.image.id;
  std::uint64_t most = coming.bytes;
  if (!id.empty()) {
    const Result<ImageInfo> there = co_await world_.goods.image_info(std::move(id));
    if (!there) most += coming.image.bytes;
  }
  std::string folder = root;
  Result<std::string> lacks = co_await world_.files.why_no_room(std::move(folder), most);
  if (!lacks || lacks->empty()) co_return lacks;
  std::set<std::string> kept = coming.kept;
  const std::uint64_t removable = co_await cache_.removable(std::move(kept));
  const std::uint64_t rest = coming.bytes - std::min(coming.bytes, removable);
  folder = root;
  lacks = co_await world_.files.why_no_room(std::move(folder), rest);
  if (!lacks || !lacks->empty() || !may_remove) co_return lacks;
  co_await cache_.clear(std::move(coming.kept));
  co_return co_await world_.files.why_no_room(std::move(root), coming.bytes);
}

Async<Response> Reception::check(std::string body, std::string speaker) {
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  Result<Plan> plan = parse_offer(member(*said, "plan"));
  std::string name = text_of(*said, "name");
  if (!plan) co_return failure(422, plan.error().message());
  if (!is_container_name(name)) co_return failure(422, "the name is none");
  ImageInfo image = plan->image;
  Result<std::vector<std::string>> reasons =
      co_await judge(std::move(name), std::move(*plan), std::move(speaker), false);
  if (!reasons) co_return failure(502, reasons.error().message());
  json::object out{{"reasons", json::array(reasons->begin(), reasons->end())},
                   {kComparesUsers, true}};
  const Result<ImageInfo> there = co_await world_.goods.image_info(image.id);
  Result<std::size_t> layers = image.layers.size();
  if (!there) layers = co_await world_.goods.layers_there(std::move(image));
  if (layers) out["layers_there"] = *layers;
  co_return answer_with(out);
}

// -------------------------------------------------------------------------------- take it

std::string Reception::why_no_seat_for(const std::string& peer) const {
  std::size_t of_peer = 0, open = 0, ready = 0, all = reserving_.size();
  for (const auto& [id, asking] : reserving_) of_peer += asking == peer ? 1 : 0;
  for (const auto& [id, move] : open_.all()) {
    if (move->is_source()) continue;
    const bool is_theirs = move->entry.source == peer;
    const bool is_on_its_way = move->entry.step <= Step::start;
    // All of it is here, and its partners are not yet.
    const bool is_ready =
        is_on_its_way && move->entry.method == Method::birth && move->travel.is_received;
    ready += is_theirs && is_ready ? 1 : 0;
    if (is_ready) continue;
    open += is_theirs ? 1 : 0;
    of_peer += is_theirs && is_on_its_way ? 1 : 0;
    all += is_on_its_way && move->entry.method != Method::home ? 1 : 0;
  }
  return why_no_seat(of_peer, open, all, ready);
}

Async<Response> Reception::reserve(std::string body, std::string speaker) {
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  Result<Entry> theirs = read_entry(member(*said, "entry"));
  if (!theirs) co_return failure(422, theirs.error().message());
  const bool is_for_us = theirs->side == Side::source && theirs->target == world_.network.own_id();
  if (!is_for_us || speaker.empty() || theirs->source != speaker) {
    co_return failure(403, "the migration is not from the asking host to this one");
  }
  if (const MovePtr move = open_.find(theirs->id)) {
    if (move->entry.source != speaker) co_return failure(403, "it is not your migration");
    move->hear(*theirs);
    co_return answer_of(*move);
  }
  // Ended already, or asked for twice while the first one is looked at.
  std::string id = theirs->id;
  const Result<ctrl::store::Migration> before = co_await world_.rows.find(std::move(id));
  if (before) co_return refuse({why_ended(*before, speaker)});
  if (!is_absent(before.error())) co_return failure(503, before.error().message());
  if (theirs->step != Step::reserve) co_return answer_unknown();
  if (world_.is_stopping) co_return refuse({kStopping});
  if (reserving_.contains(theirs->id)) co_return failure(503, "it is being checked");
  Result<Plan> plan = parse_offer(member(*said, "plan"));
  if (!plan) co_return failure(422, plan.error().message());
  if ((theirs->method == Method::birth) != plan->is_birth ||
      (theirs->method == Method::home) != !plan->birth.empty()) {
    co_return failure(422, "its plan is of another kind");
  }
  if (theirs->method == Method::home) {
    const std::string own = theirs->id;
    reserving_[own] = speaker;
    Response answer = co_await reserve_return(std::move(*theirs), std::move(*plan));
    reserving_.erase(own);
    co_return answer;
  }
  if (!is_container_name(theirs->name)) co_return failure(422, "the name is none");
  if (theirs->method == Method::criu && !needs_criu(*plan)) {
    co_return failure(422, "a migration by CRIU brings a CRIU image");
  }
  if (const std::string why = why_no_seat_for(speaker); !why.empty()) co_return refuse({why});
  plan->has_brought_image = false;
  // Whose data it is, is not the peer's to say.
  for (PlannedVolume& volume : plan->volumes) {
    if (is_data_volume(volume.name)) volume.labels = {{kDataLabel, speaker}};
  }
  co_return co_await reserve_new(std::move(*theirs), std::move(*plan), std::move(speaker));
}

Async<Response> Reception::reserve_new(Entry theirs, Plan plan, std::string speaker) {
  const std::string id = theirs.id;
  reserving_[id] = std::move(speaker);
  Entry entry = theirs;
  Plan copy = plan;
  Result<Judgement> judged = co_await judge_reservation(std::move(entry), std::move(copy));
  reserving_.erase(id);
  if (!judged) co_return failure(503, judged.error().message());
  if (!judged->reasons.empty()) co_return refuse(judged->reasons);
  if (world_.is_stopping) co_return refuse({kStopping});
  if (open_.find_by_container(theirs.name)) {
    co_return refuse({kUnfinished});
  }
  if (plan.is_birth && world_.give_gpus) {
    Passage birth;
    birth.entry = theirs;
    birth.request = plan.request;
    birth.is_early = plan.is_early;
    const std::string why = world_.give_gpus(plan.body, birth);
    if (!why.empty()) co_return refuse({why});
  }
  // Its source asks again, and then finds it.
  if (cache_.is_coming(plan, judged->parts_there)) co_return failure(503, kDataComing);
  co_return co_await open_move(std::move(theirs), std::move(plan), std::move(*judged), "");
}

namespace {

// What a peer may bring home: the volumes that the ticket's task was born with, its layer and log.
std::string why_not_parts(const Plan& born, const Plan& offered) {
  for (const Part& part : offered.parts) {
    if (part.kind == PartKind::layer || part.kind == PartKind::log) continue;
    const auto is_same = [&](const Part& one) {
      return one.kind == PartKind::volume && part.kind == one.kind && one.where == part.where &&
             data_volume_at(born.body, one.where).empty() && !is_follower(born.body);
    };
    if (std::none_of(born.parts.begin(), born.parts.end(), is_same)) {
      return "the task did not take '" + printable(part.where, 200) + "' along";
    }
  }
  return "";
}

}  // namespace

// Nothing of the offer is believed but which volume is which part, and how large it all is.
Async<Response> Reception::reserve_return(Entry theirs, Plan offered) {
  const auto expected = world_.expected.find(theirs.id);
  if (expected == world_.expected.end() || expected->second != offered.birth) {
    co_return failure(403, "that return is not expected");
  }
  std::string birth = offered.birth;
  const Result<ctrl::store::Migration> row = co_await world_.rows.find(std::move(birth));
  const Result<Entry> born = row ? parse_entry(row->entry) : Result<Entry>(row.error());
  Result<Plan> plan = row ? parse_plan(row->plan) : Result<Plan>(row.error());
  const bool is_theirs = born && plan && born->side == Side::source &&
                         born->method == Method::birth && born->step == Step::done &&
                         born->target == theirs.source &&
                         (is_container_name(theirs.name) || theirs.name == born->name);
  if (!is_theirs) co_return failure(403, "no such task was born there");
  if (const std::string why = why_not_parts(*plan, offered); !why.empty()) co_return refuse({why});
  plan->parts = offered.parts;
  plan->bytes = offered.bytes;
  plan->is_birth = false;
  plan->birth = offered.birth;
  const Result<std::string> why = co_await judge_return(born->container, offered.bytes);
  if (!why) co_return failure(503, why.error().message());
  if (!why->empty()) co_return refuse({*why});
  std::string container = born->container;
  if (open_.is_moving(container)) co_return refuse({kUnfinished});
  Judgement judged;
  judged.has_image = true;
  co_return co_await open_move(std::move(theirs), std::move(*plan), std::move(judged),
                               std::move(container));
}

// Why it cannot come home now. Errors: the engine's.
Async<Result<std::string>> Reception::judge_return(std::string ticket, std::uint64_t bytes) {
  if (open_.is_moving(ticket)) co_return std::string(kUnfinished);
  const Result<Seen> seen = co_await world_.engine.look(std::move(ticket));
  if (is_absent(seen)) co_return std::string("its ticket was removed");
  if (!seen) co_return seen.error();
  if (seen->copy == Copy::running) co_return std::string("its ticket runs");
  Result<std::string> root = co_await world_.engine.root();
  if (!root) co_return root.error();
  std::string folder = std::move(*root);
  Coming coming;
  coming.bytes = bytes;
  co_return co_await make_room(std::move(folder), std::move(coming), true);
}

// Errors: the engine's.
Async<Result<Reception::Judgement>> Reception::judge_reservation(Entry theirs, Plan plan) {
  Judgement judged;
  std::string name = theirs.name, from = theirs.source;
  Plan copy = plan;
  Result<std::vector<std::string>> reasons =
      co_await judge(std::move(name), std::move(copy), std::move(from), true);
  if (!reasons) co_return reasons.error();
  judged.reasons = std::move(*reasons);
  if (!judged.reasons.empty()) co_return judged;
  Plan wanted_there = plan;
  Result<std::set<std::string>> there_already =
      co_await cache_.parts_there(std::move(wanted_there));
  if (!there_already) co_return there_already.error();
  judged.parts_there = std::move(*there_already);
  const Result<Seen> made = co_await world_.engine.look_made(theirs.id);
  const Result<ImageInfo> there = co_await world_.goods.image_info(plan.image.id);
  judged.has_image = there.has_value();
  Result<std::size_t> layers = std::size_t{0};
  if (!there) {
    ImageInfo wanted = plan.image;
    layers = co_await world_.goods.layers_there(std::move(wanted));
  }
  if (!made) co_return made.error();
  if (made->copy != Copy::absent) {
    judged.reasons.emplace_back("a copy of that migration is here, and the journal lacks it");
  } else if (!layers) {
    judged.reasons.push_back(layers.error().message());
  } else {
    judged.layers_there = *layers;
  }
  co_return judged;
}

Async<Response> Reception::open_move(Entry theirs, Plan plan, Judgement judged,
                                     std::string container) {
  Entry entry = theirs;
  entry.side = Side::target;
  entry.container = std::move(container);
  entry.reason.clear();
  entry.attempt = 0;
  auto move = std::make_shared<Move>(world_.clock, std::move(entry), std::move(plan));
  move->travel.needs_image = move->travel.has_asked = !judged.has_image;
  move->plan.has_brought_image = !judged.has_image;
  move->travel.layers_there = judged.layers_there;
  move->travel.received = judged.parts_there;
  move->started = world_.clock.wall();
  move->began = world_.clock.steady();
  move->account.peer_name = name_of_peer(world_.network, theirs.source);
  move->account.steps[migration::name(Step::reserve)] = 0;
  move->copy.seen = move->entry.container.empty() ? Copy::absent : Copy::created;
  move->hear(theirs);
  open_.add(move);
  Entry first = move->entry;
  const Result<void> saved = co_await records_.save(move, std::move(first));
  if (!saved) {
    open_.drop(theirs.id);
    co_return refuse({saved.error().message()});
  }
  ctrl::log::info(move->label() + " from " + move->account.peer_name + " begins");
  driver_.launch(move);
  world_.network.tell();
  co_return answer_of(*move);
}

// -------------------------------------------------------------------------------- how is it

// What closes the other side's journal: only where all of this one was read.
Response Reception::answer_unknown() const {
  if (!records_.is_whole())
    return failure(503, "a part of the journal of migrations cannot be read");
  const char* what = "that migration is unknown here";
  return answer_with({{"error", what}, {"no_such_move", true}}, 404);
}

Response Reception::answer_of(const Move& move) const {
  if (!may_tell(move.written, move.copy.seen)) {
    return failure(503, "flowcond has not inspected its copy here yet");
  }
  json::object body{{"entry", to_json(move.written)}};
  if (!move.is_source()) {
    body[kComparesUsers] = true;
    body["needs_image"] = move.travel.needs_image;
    body["layers_there"] = static_cast<std::int64_t>(move.travel.layers_there);
    const std::set<std::string>& received = move.travel.received;
    body["received"] = json::array(received.begin(), received.end());
    if (move.copy.running_since)
      body["running_for"] = world_.clock.steady() - *move.copy.running_since;
  }
  return answer_with(body);
}

Async<Response> Reception::take_report(std::string id, std::string body, std::string speaker) {
  if (const std::string why = records_.why_unread(); !why.empty()) co_return failure(503, why);
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  if (const MovePtr move = open_.find(id)) {
    if (speaker.empty() || speaker != move->other())
      co_return failure(403, "it is not your migration");
    move->hear(read_entry(member(*said, "entry")));
    move->hear_running(running_for(*said));
    co_return answer_of(*move);
  }
  const Result<ctrl::store::Migration> row = co_await world_.rows.find(std::move(id));
  if (is_absent(row)) co_return answer_unknown();
  if (!row) co_return failure(503, row.error().message());
  const Result<Entry> entry = parse_entry(row->entry);
  if (!entry || !is_closed(*entry)) {
    co_return failure(503, "the journal does not say how that migration ended");
  }
  const bool is_theirs = entry && (entry->source == speaker || entry->target == speaker);
  if (!is_theirs) co_return failure(403, "it is not your migration");
  co_return answer_with({{"entry", to_json(*entry)}});
}

}  // namespace flowcon::cluster::migration
