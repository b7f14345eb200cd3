// SPDX-License-Identifier: Apache-2.0
// What peers ask of the mover (docs/peers.md) and what people ask (docs/api.md).
#include <sys/statvfs.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/run/mover_state.h"
#include "ctrl/codec/field_reader.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using ctrl::Async;
using ctrl::Pull;
using ctrl::api::failure;
using ctrl::api::Request;
using ctrl::api::Response;

constexpr const char* kMoves = "/v1/peer/moves";
constexpr double kHeardTime = 10;                  // seconds in which a word counts as fresh
constexpr std::uint64_t kMaxImage = 256ULL << 30;  // bytes
constexpr std::size_t kMaxTrees = 384U << 20;      // bytes of memory for what one peer sends
constexpr std::uint64_t kLookEach = 16U << 20;     // bytes until the disk is looked at again
constexpr double kDiskTime = 10;                   // seconds for an answer of it

Response answer_with(const json::object& body, unsigned status = 200) {
  Response response;
  response.status = status;
  response.body = render_json(body);
  return response;
}

bool is_absent(const Error& error) {
  return error.code == boost::system::errc::no_such_file_or_directory;
}

Response refuse(const std::vector<std::string>& reasons) {
  json::object body;
  std::string all;
  json::array list;
  for (const std::string& one : reasons) {
    all += (all.empty() ? "" : "; ") + one;
    list.emplace_back(one);
  }
  body["error"] = all;
  body["reasons"] = std::move(list);
  return answer_with(body, 409);
}

// "/v1/peer/moves/ID/PART" → ID, PART.
std::pair<std::string, std::string> split(const std::string& target) {
  const std::string rest = target.substr(std::min(target.size(), std::string(kMoves).size() + 1));
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return {rest, ""};
  return {rest.substr(0, slash), rest.substr(slash + 1)};
}

Async<Result<std::string>> read_all(Pull body, std::size_t most) {
  std::string text;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return text;
    text += *piece;
    if (text.size() > most) co_return errno_error(EFBIG, "it is too long");
  }
}

std::optional<Disk> measure_disk(const std::string& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  const std::uint64_t unit = found.f_frsize;
  return Disk{unit * found.f_blocks, unit * found.f_bavail, found.f_files, found.f_favail};
}

bool is_beyond(const Error& error) {
  return error.code == boost::system::errc::no_space_on_device ||
         error.code == boost::system::errc::file_too_large;
}

using Look = std::function<Async<Result<void>>()>;

// Asks `look` at the first byte, and again each so many bytes.
struct Looks {
  Look look;
  std::uint64_t left = 0;

  static Async<Result<void>> next(std::shared_ptr<Looks> self, std::uint64_t bytes) {
    if (bytes <= self->left) {
      self->left -= bytes;
      co_return Result<void>();
    }
    self->left = kLookEach;
    co_return co_await self->look();
  }
};

Room each_so_often(Look look) {
  auto looks = std::make_shared<Looks>();
  looks->look = std::move(look);
  return [looks](std::uint64_t bytes) { return Looks::next(looks, bytes); };
}

Async<Result<void>> take_bytes(MovePtr move, std::string part, Room disk, std::uint64_t bytes) {
  Result<void> taken = move->budget.take(part, bytes);
  if (taken) taken = co_await disk(bytes);
  co_return taken;
}

}  // namespace

// -------------------------------------------------------------------------------- peers

bool Movers::has_long_body(const Request& request) const {
  if (request.method == "POST") {
    return request.target == kMoves || request.target == std::string(kMoves) + "/check";
  }
  return request.method == "PUT" && request.target.starts_with(std::string(kMoves) + "/");
}

Async<Response> Movers::answer_peer(Request request, std::string speaker) {
  const auto [id, part] = split(request.target);
  if (request.method != "POST" || id.empty() || !part.empty()) {
    co_return failure(404, "there is no such verb for moves; docs/peers.md lists what there is");
  }
  if (const std::string why = why_unread(); !why.empty()) co_return failure(503, why);
  std::string wanted = id;
  co_return co_await take_report(std::move(wanted), std::move(request.body), std::move(speaker));
}

Async<Response> Movers::answer_long(Request head, Pull body, std::string speaker) {
  if (const std::string why = why_unread(); !why.empty()) co_return failure(503, why);
  if (head.method == "PUT") {
    const auto [id, part] = split(head.target);
    const auto found = moves_.find(id);
    if (found == moves_.end()) co_return answer_unknown();
    const MovePtr move = found->second;
    if (move->is_source() || speaker.empty() || speaker != move->entry.source) {
      co_return failure(403, "it is not yours to send");
    }
    std::string name = part;
    co_return co_await take_body(move, std::move(name), std::move(body));
  }
  if (planning_.count(speaker) >= kMostPlans) {
    co_return failure(503, "too many plans of that host are being looked at");
  }
  const std::string whose = speaker;
  planning_.insert(whose);
  Response answer = co_await take_plan(std::move(head), std::move(body), std::move(speaker));
  planning_.erase(planning_.find(whose));
  co_return answer;
}

Async<Response> Movers::take_plan(Request head, Pull body, std::string speaker) {
  Result<std::string> text = co_await read_all(std::move(body), kMaxOfferBytes);
  if (!text && text.error().code == boost::system::errc::file_too_large) {
    co_return failure(413, "a plan of more than 1 MiB is not accepted");
  }
  if (!text) co_return failure(400, text.error().message());
  if (head.target == kMoves) {
    co_return co_await reserve(std::move(*text), std::move(speaker));
  }
  co_return co_await check(std::move(*text), std::move(speaker));
}

std::string Movers::why_no_seat_for(const std::string& peer) const {
  const auto is_theirs = [&](const auto& one) {
    const Move& move = *one.second;
    return !move.is_source() && move.entry.step <= Step::start && move.entry.source == peer;
  };
  const auto is_asking = [&](const auto& one) { return one.second == peer; };
  const auto of_peer = std::count_if(moves_.begin(), moves_.end(), is_theirs) +
                       std::count_if(reserving_.begin(), reserving_.end(), is_asking);
  const auto open = std::count_if(moves_.begin(), moves_.end(), [&](const auto& one) {
    return !one.second->is_source() && one.second->entry.source == peer;
  });
  return why_no_seat(static_cast<std::size_t>(of_peer), static_cast<std::size_t>(open),
                     static_cast<std::size_t>(reserved()) + reserving_.size());
}

// What closes the other side's journal: only where all of this one was read.
Response Movers::answer_unknown() const {
  if (!is_whole_) return failure(503, "a part of the journal of moves cannot be read");
  const char* what = "nothing is known here of that move";
  return answer_with({{"error", what}, {"no_such_move", true}}, 404);
}

Response Movers::answer_of(const Move& move) const {
  if (!may_tell(move.written, move.seen)) {
    return failure(503, "the copy here has to be looked at first");
  }
  json::object body;
  body["entry"] = *parse_json(render(move.written));
  if (!move.is_source()) {
    body["needs_image"] = move.needs_image;
    body["layers_there"] = static_cast<std::int64_t>(move.layers_there);
    if (move.running_since) body["running_for"] = steady_now() - *move.running_since;
  }
  return answer_with(body);
}

Async<Response> Movers::check(std::string body, std::string speaker) {
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  Result<Plan> plan = parse_offer(member(*said, "plan"));
  std::string name = text_of(*said, "name");
  if (!plan) co_return failure(422, plan.error().message());
  if (!is_object_name(name)) co_return failure(422, "the name is none");
  Result<std::vector<std::string>> reasons =
      co_await judge(std::move(name), std::move(*plan), std::move(speaker));
  if (!reasons) co_return failure(502, reasons.error().message());
  json::array list;
  for (const std::string& one : *reasons) list.emplace_back(one);
  co_return answer_with({{"reasons", std::move(list)}});
}

Async<Response> Movers::reserve(std::string body, std::string speaker) {
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  Result<Entry> theirs = parse_entry(render_json(member(*said, "entry")));
  if (!theirs) co_return failure(422, theirs.error().message());
  const std::string id = theirs->id;
  const bool is_for_us = theirs->side == Side::source && theirs->target == network_.own_id();
  if (!is_for_us || speaker.empty() || theirs->source != speaker) {
    co_return failure(403, "the move is not one from the host that asks to this one");
  }
  if (const auto found = moves_.find(id); found != moves_.end()) {
    hear(*found->second, render(*theirs));
    co_return answer_of(*found->second);
  }
  // Ended already, or asked for twice while the first one is looked at.
  auto read = [&store = host_.store(), id] { return store.migration(id); };
  const Result<ctrl::store::Migration> before = co_await host_.effects().run(std::move(read));
  if (before) co_return refuse({"that move has ended here"});
  if (!is_absent(before.error())) co_return failure(503, before.error().message());
  if (theirs->step != Step::reserve) co_return answer_unknown();
  if (is_stopping_) co_return refuse({"flowcond is being stopped there"});
  if (reserving_.contains(id)) co_return failure(503, "it is being looked at");
  Result<Plan> plan = parse_offer(member(*said, "plan"));
  if (!plan) co_return failure(422, plan.error().message());
  if (theirs->method == Method::criu && !needs_criu(*plan)) {
    co_return failure(422, "a move by CRIU brings what CRIU saved");
  }
  if (const std::string why = why_no_seat_for(speaker); !why.empty()) co_return refuse({why});
  reserving_[id] = speaker;
  plan->has_brought_image = false;
  std::string name = theirs->name, image = plan->image.id;
  Plan copy = *plan;
  std::string from = speaker;
  Result<std::vector<std::string>> reasons =
      co_await judge(std::move(name), std::move(copy), std::move(from));
  const bool is_welcome = reasons && reasons->empty();
  Result<Seen> made = Seen();
  made->copy = Copy::absent;
  std::string made_for = id;
  if (is_welcome) made = co_await engine_.look_made(std::move(made_for));
  Result<ImageInfo> there = bad_input("not asked for");
  Result<std::size_t> layers = std::size_t{0};
  if (is_welcome) there = co_await image_info(client_, std::move(image));
  if (is_welcome && !there) {
    ImageInfo wanted = plan->image;
    layers = co_await layers_there(client_, std::move(wanted));
  }
  reserving_.erase(id);
  if (!reasons) co_return failure(502, reasons.error().message());
  if (!made) co_return failure(502, made.error().message());
  if (made->copy != Copy::absent) {
    reasons->push_back("a copy of that move is here, and the journal knows nothing of it");
  }
  if (!reasons->empty()) co_return refuse(*reasons);
  if (!layers) co_return refuse({layers.error().message()});
  if (find_by_container(theirs->name)) co_return refuse({"another move of that name has begun"});
  Entry entry = *theirs;
  entry.side = Side::target;
  entry.container.clear();
  entry.reason.clear();
  entry.attempt = 0;
  auto move = std::make_shared<Move>(host_.io(), std::move(entry), std::move(*plan));
  move->needs_image = !there;
  move->plan.has_brought_image = !there;
  move->layers_there = *layers;
  move->started = wall_now();
  move->began = steady_now();
  move->account.peer_name = peer_name(speaker);
  move->account.steps[migration::name(Step::reserve)] = 0;
  move->seen = Copy::absent;
  hear(*move, render(*theirs));
  moves_[id] = move;
  Entry first = move->entry;
  const Result<void> saved = co_await save(move, std::move(first));
  if (!saved) {
    moves_.erase(id);
    co_return refuse({saved.error().message()});
  }
  ctrl::log::info("move " + id.substr(0, 8) + " of container " + printable(move->entry.name, 80) +
                  " from " + move->account.peer_name + " begins");
  launch(move);
  network_.tell();
  co_return answer_of(*move);
}

Async<Response> Movers::take_report(std::string id, std::string body, std::string speaker) {
  if (const std::string why = why_unread(); !why.empty()) co_return failure(503, why);
  const Result<json::value> said = parse_json(body);
  if (!said) co_return failure(422, said.error().message());
  const auto found = moves_.find(id);
  if (found != moves_.end()) {
    const MovePtr move = found->second;
    if (speaker.empty() || speaker != move->other()) co_return failure(403, "it is not your move");
    hear(*move, render_json(member(*said, "entry")));
    hear_running(*move, *said);
    co_return answer_of(*move);
  }
  auto read = [&store = host_.store(), id] { return store.migration(id); };
  const Result<ctrl::store::Migration> row = co_await host_.effects().run(std::move(read));
  if (!row && is_absent(row.error())) co_return answer_unknown();
  if (!row) co_return failure(503, row.error().message());
  const Result<Entry> entry = parse_entry(row->entry);
  if (!entry || !is_closed(*entry)) {
    co_return failure(503, "the journal does not say how that move has ended");
  }
  const bool is_theirs = entry && (entry->source == speaker || entry->target == speaker);
  if (!is_theirs) co_return failure(403, "it is not your move");
  co_return answer_with({{"entry", *parse_json(row->entry)}});
}

Async<Response> Movers::take_body(MovePtr move, std::string name, Pull body) {
  if (move->bodies >= kMostBodies) {
    co_return failure(503, "too many parts of that move are coming already");
  }
  ++move->bodies;
  Response answer = co_await take_part_of(move, std::move(name), std::move(body));
  --move->bodies;
  co_return answer;
}

Async<Response> Movers::take_part_of(MovePtr move, std::string name, Pull body) {
  Metered metered;
  const unsigned mine = ++move->tries;
  move->taking[name] = mine;
  move->passing = metered;
  move->sending_since = steady_now();
  const auto is_current = [move, name, mine] {
    const auto found = move->taking.find(name);
    return found != move->taking.end() && found->second == mine;
  };
  Pull watched = [is_current, move,
                  counted = metered.wrap(std::move(body))]() -> Async<Result<std::string>> {
    Result<std::string> piece = co_await counted();
    if (!is_current()) piece = bad_input("it is taken no more");
    if (!move->give_up.empty()) piece = bad_input(move->give_up);
    if (move->entry.step >= Step::undo) piece = bad_input("the move is undone");
    co_return piece;
  };
  std::string wanted = name;
  Result<void> taken = co_await take_one(move, std::move(wanted), std::move(watched));
  if (taken && !metered.is_whole()) taken = bad_input("it did not come whole");
  move->account.bytes += metered.bytes();
  if (!is_current()) co_return failure(409, "it is taken no more");
  if (move->sending_since) move->account.sending_seconds += steady_now() - *move->sending_since;
  move->passing.reset();
  move->sending_since.reset();
  if (taken) {
    move->received.insert(name);
    if (name == "image") move->needs_image = false;
    if (name != "image") taken = co_await believe_received(move);
  }
  if (is_current()) move->taking.erase(name);
  move->heard = steady_now();
  wake(*move);
  if (!taken) {
    complain(*move, taken.error());
    // What has come so far goes with the copy, and does not wait for its source to say so.
    if (is_beyond(taken.error()) && move->give_up.empty()) move->give_up = taken.error().message();
    const bool is_full = taken.error().code == boost::system::errc::no_space_on_device;
    co_return failure(is_full ? 507 : 422, taken.error().message());
  }
  co_return answer_with({{"bytes", metered.bytes()}, {"sha256", metered.sha256()}});
}

Async<Result<void>> Movers::take_one(MovePtr move, std::string name, Pull body) {
  const Step step = move->entry.step;
  if (name == "image") {
    if (step != Step::reserve || !move->needs_image) co_return bad_input("no image is awaited");
    ImageInfo image = move->plan.image;
    Result<std::string> root = co_await engine_.root();
    if (!root) co_return root.error();
    auto look = [this, folder = std::move(*root)] { return look_for_room(folder); };
    Pull roomy = with_room(std::move(body), each_so_often(std::move(look)));
    co_return co_await take_image(client_, std::move(image), move->layers_there, std::move(roomy),
                                  kMaxImage);
  }
  if (step != Step::transfer || move->entry.container.empty()) {
    co_return bad_input("no data is awaited at step " + std::string(migration::name(step)));
  }
  std::string id = move->entry.container;
  if (name == "life") {
    Result<std::string> life = co_await read_all(std::move(body), kMaxLifeBytes);
    if (!life) co_return life.error();
    co_return co_await lives_.import_life(std::move(id), std::move(*life), move->plan.cause);
  }
  for (const Part& part : move->plan.parts) {
    if (part.name != name) continue;
    std::string state = host_.config().state_dir;
    Result<CopyPlace> place = co_await find_place(client_, std::move(id), std::move(state));
    if (!place) co_return place.error();
    Part wanted = part;
    PartLimits limits;
    move->budget.begin(name);
    limits.bytes = move->budget.left();
    limits.room = room_for(move, name, place->folder);
    limits.memory = memory_of(move->entry.source);
    co_return co_await take_part(client_, std::move(*place), std::move(wanted), std::move(body),
                                 limits);
  }
  co_return bad_input("no such part is awaited");
}

Async<Result<void>> Movers::look_for_room(std::string folder) {
  auto look = [folder] { return measure_disk(folder); };
  const Result<std::optional<Disk>> found = co_await helpers_.ask(std::move(look), kDiskTime);
  if (!found) co_return found.error();
  if (!*found) co_return bad_input("the disk of " + folder + " cannot be looked at");
  if (is_full(**found)) co_return errno_error(ENOSPC, "moves leave the rest of the disk free");
  co_return Result<void>();
}

Room Movers::room_for(MovePtr move, std::string name, std::string folder) {
  auto look = [this, folder = std::move(folder)] { return look_for_room(folder); };
  const Room disk = each_so_often(std::move(look));
  return [move, name, disk](std::uint64_t bytes) { return take_bytes(move, name, disk, bytes); };
}

std::shared_ptr<TreeBudget> Movers::memory_of(const std::string& peer) {
  std::erase_if(memory_, [](const auto& one) { return one.second.expired(); });
  std::shared_ptr<TreeBudget> memory = memory_[peer].lock();
  if (!memory) {
    memory = std::make_shared<TreeBudget>(TreeBudget{kMaxTrees});
    memory_[peer] = memory;
  }
  return memory;
}

// When all is there, and on the disk, it counts as received.
Async<Result<void>> Movers::believe_received(MovePtr move) {
  const bool has_all =
      move->received.contains("life") &&
      std::all_of(move->plan.parts.begin(), move->plan.parts.end(),
                  [&](const Part& one) { return move->received.contains(one.name); });
  if (!has_all) co_return Result<void>();
  std::string id = move->entry.container, state = host_.config().state_dir;
  Result<CopyPlace> place = co_await find_place(client_, std::move(id), std::move(state));
  if (!place) co_return place.error();
  std::string folder = place->folder;
  const Result<void> done = co_await sync_disk(std::move(folder));
  if (done) move->is_received = true;
  co_return done;
}

// -------------------------------------------------------------------------------- people

bool Movers::answers(const ctrl::api::Call& call) const {
  if (call.peer) return false;
  if (!call.container) return call.verb == "GET moves";
  return call.verb == "POST migrate" || call.verb == "POST cancel-move" ||
         call.verb == "POST take-back" || call.verb == "POST keep";
}

Async<Response> Movers::answer(ctrl::api::Call call, Request request) {
  // What is missing would be taken for a move that is over.
  const bool is_lost = !host_.store().is_journal_whole();
  if (const std::string why = why_unread(); !why.empty() && !is_lost) co_return failure(503, why);
  if (call.verb == "GET moves") {
    json::object all{{"moves", list(1000)}};
    if (is_lost || !is_whole_) all["whole"] = false;
    co_return answer_with(all);
  }
  std::string name = *call.container;
  if (call.verb == "POST migrate") {
    co_return co_await migrate(std::move(name), std::move(request.body));
  }
  co_return co_await steer(std::move(name), std::move(call.verb));
}

// {"host":"h2","method":"criu","dry_run":true}, each may be missing.
Async<Response> Movers::migrate(std::string name, std::string body) {
  MoveOrder order;
  order.container = std::move(name);
  bool is_dry = false;
  if (!body.empty()) {
    const Result<json::value> said = parse_json(body);
    if (!said) co_return failure(422, said.error().message());
    ctrl::codec::FieldReader reader(*said, "");
    if (reader.find("host") != nullptr) order.target = reader.text("host");
    if (reader.find("method") != nullptr) {
      const std::string method = reader.text("method");
      if (method != "app" && method != "criu") {
        co_return failure(422, "the method is neither app nor criu");
      }
      order.method = method == "app" ? Method::app : Method::criu;
    }
    is_dry = reader.optional_bool("dry_run");
    if (reader.failed()) co_return failure(422, reader.error().message());
  }
  const Result<Neighbour> target =
      order.target.empty() ? best_neighbour() : neighbour(order.target);
  if (!target) co_return failure(404, target.error().message());
  order.target = target->id;
  const auto status_of = [](const Error& error) -> unsigned {
    if (error.code == boost::system::errc::no_such_file_or_directory) return 404;
    return error.code == boost::system::errc::operation_not_permitted ? 409 : 502;
  };
  json::object out;
  out["host"] = target->name;
  if (is_dry) {
    Result<Proposal> proposal = co_await rehearse(std::move(order));
    if (!proposal) co_return failure(status_of(proposal.error()), proposal.error().what);
    out["obstacles"] = json::array(proposal->obstacles.begin(), proposal->obstacles.end());
    out["notes"] = json::array(proposal->notes.begin(), proposal->notes.end());
    co_return answer_with(out);
  }
  Result<std::string> id = co_await begin(std::move(order));
  if (!id) co_return failure(status_of(id.error()), id.error().what);
  out["id"] = *id;
  const auto move = moves_.find(*id);
  out["name"] = move != moves_.end() ? move->second->entry.name : "";
  co_return answer_with(out, 202);
}

// Reachable, or it spoke of this move a moment ago, though this host cannot reach it.
bool Movers::is_heard(const Move& move) const {
  const std::vector<Neighbour> all = network_.neighbours();
  const bool is_reachable = std::any_of(all.begin(), all.end(), [&](const Neighbour& one) {
    return one.is_reachable && one.id == move.other();
  });
  return is_reachable ||
         (!move.is_source() && move.heard > 0 && steady_now() - move.heard < kHeardTime);
}

Async<Response> Movers::steer(std::string name, std::string verb) {
  const bool keeps = verb == "POST keep";
  const MovePtr move = find_by_container(name);
  if (!move || move->is_source() == keeps) {
    co_return failure(404, "no move of container " + printable(name, 80) +
                               (keeps ? " to here" : " from here") + " is under way");
  }
  if (keeps) {
    const std::string why = why_not_kept(move->entry, is_heard(*move));
    if (!why.empty()) co_return failure(409, why);
    move->is_kept = true;
  } else if (verb == "POST take-back") {
    const std::string why = why_not_taken_back(move->entry, move->word, is_heard(*move));
    if (!why.empty()) co_return failure(409, why);
    move->is_taken_back = true;
    move->word = Word::none;  // or it would count for ever as a copy that may run
  } else {
    if (move->entry.step > Step::transfer) {
      co_return failure(409, "it was handed over already and cannot be cancelled");
    }
    if (move->writing == Step::start) {
      co_return failure(409, "it is being handed over and cannot be cancelled");
    }
    move->give_up = "a person cancelled it";
  }
  wake(*move);
  co_return answer_with({{"id", move->entry.id}, {"name", move->entry.name}});
}

}  // namespace flowcon::cluster::migration
