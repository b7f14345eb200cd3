// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/sending.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>
#include <variant>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/targets.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
using boost::asio::experimental::awaitable_operators::operator||;

constexpr double kAnswerTime = 20;  // seconds for one answer of a peer
constexpr double kIdleTime = 60;    // seconds without a byte until a transfer is given up
constexpr double kLook = 0.1;       // seconds between two looks whether it is sent no more
constexpr int kTries = 3;           // of one part, where the connection broke
constexpr int kAsks = 60;           // for one that may have come, until the target is heard
constexpr double kTryAgain = 2;     // seconds
constexpr double kUnused = 30;      // seconds; the peer closes a connection after 60

// Of all that may be answered with 404 only this says that no journal holds the move.
bool says_unknown(const std::string& text) {
  const Result<json::value> body = parse_json(text);
  return body && is_true(*body, "no_such_move");
}

// Data that the target has need not be sent; what else it says it has it cannot have.
void leave_out(Move& move, const json::value& said) {
  std::set<std::string> there;
  for (const json::value& part : list_of(said, "received")) {
    if (part.is_string()) there.emplace(part.get_string());
  }
  for (const auto& [name, part] : wanted_data(move.plan)) {
    if (there.contains(part)) move.travel.sent.insert(part);
  }
}

// The other side's word, and no failure of the connection.
bool is_refusal(const Error& error) { return error.code == boost::system::errc::invalid_argument; }

// All of `text`, then nothing.
Pull pull_of(std::string text) {
  auto left = std::make_shared<std::string>(std::move(text));
  return [left]() -> Async<Result<std::string>> {
    constexpr std::size_t kPiece = 65536;
    std::string piece = left->substr(0, kPiece);
    left->erase(0, kPiece);
    co_return piece;
  };
}

}  // namespace

// Ends when nothing more is to be sent, whatever the connection does.
Async<void> Sender::sends_no_more(MovePtr move) {
  // A target that takes a little now and then keeps a job down no longer than its seat would last,
  // for all parts and tries together.
  const double until = move->began + kReservationAge;
  const auto is_over = [&] {
    return world_.is_ended || !move->give_up.empty() || move->peer.undoes() ||
           world_.clock.steady() > until;
  };
  while (!is_over()) co_await world_.clock.pause(kLook);
}

// -------------------------------------------------------------------------------- words

std::string Sender::message_of(const Move& move) const {
  json::object body{{"entry", to_json(move.written)}};
  if (!move.is_source() && move.copy.running_since) {
    body["running_for"] = world_.clock.steady() - *move.copy.running_since;
  }
  if (move.is_source() && move.entry.step == Step::reserve) {
    json::object plan = to_json(move.plan);
    plan.erase("checkpoint");
    body["plan"] = std::move(plan);
  }
  return render_json(body);
}

Async<bool> Sender::report(MovePtr move) {
  if (!may_tell(move->written, move->copy.seen)) co_return false;
  const bool asks = move->is_source() && move->entry.step == Step::reserve;
  const Word word = move->peer.word;
  const Step peer = move->peer.step;
  std::string method = "POST", target = "/v1/peer/moves";
  if (!asks) target += "/" + move->entry.id;
  // One that it knows already it has looked at.
  const double seconds = asks && word == Word::none ? kJudgeTime : kAnswerTime;
  Result<Answer> answer = co_await world_.network.ask(
      move->other(), std::move(method), std::move(target), message_of(*move), seconds);
  if (!answer) {
    move->complain(answer.error());
    co_return false;
  }
  if (answer->status == 404 && !asks && says_unknown(answer->body)) {
    move->peer.word = Word::knows_nothing;
    move->peer.heard = world_.clock.steady();
    co_return word != Word::knows_nothing;
  }
  const std::string name = name_of_peer(world_.network, move->other());
  // It has not read its journal yet, or cannot: that is no word about the move.
  if (answer->status == 503) {
    move->complain(bad_input(name + " does not say: " + refusal_of(*answer)));
    co_return false;
  }
  if (answer->status != 200) {
    const std::string why = name + " refuses: " + refusal_of(*answer);
    move->trouble = why;
    if (asks) move->give_up = why;
    co_return asks;
  }
  const Result<json::value> said = parse_json(answer->body);
  if (!said) co_return false;
  move->hear(read_entry(member(*said, "entry")));
  move->hear_running(running_for(*said));
  if (asks && !has_compared(move->plan, *said)) {
    move->give_up = name + " refuses: " + kOtherUsers;
    co_return true;
  }
  if (asks) leave_out(*move, *said);
  if (asks && is_true(*said, "needs_image")) {
    const json::value& there = member(*said, "layers_there");
    move->travel.layers_there = there.is_int64() ? static_cast<std::size_t>(there.get_int64()) : 0;
    // Where another move brings it there it is asked for again in a moment.
    const std::string way = move->other() + " " + move->plan.image.id;
    if (!images_.insert(way).second) co_return false;
    const Result<void> sent = co_await send_image_of(move);
    images_.erase(way);
    if (sent) co_return true;
    move->complain(sent.error());
    const bool is_over = world_.is_ended || !move->give_up.empty() || move->peer.undoes();
    if (!is_over && !is_refusal(sent.error()) && ++move->travel.image_tries < kTries) {
      co_return false;
    }
    move->give_up = "its image: " + sent.error().message();
    co_return true;
  }
  co_return move->peer.word != word || move->peer.step != peer;
}

// -------------------------------------------------------------------------------- bytes

Async<Result<void>> Sender::send_image_of(MovePtr move) {
  if (move->travel.layers_there > move->plan.image.layers.size()) {
    co_return bad_input("the target says that it has more layers than there are");
  }
  ImageInfo image = move->plan.image;
  Result<Pull> body = co_await world_.goods.send_image(std::move(image), move->travel.layers_there);
  if (!body) co_return body.error();
  co_return co_await send_one(move, "image", std::move(*body), kImageIdle);
}

Result<void> Sender::connect(Move& move) const {
  Travel& travel = move.travel;
  const double now = world_.clock.steady();
  if (travel.connection && now - travel.connected_at <= kUnused) return {};
  Result<std::vector<std::string>> words = world_.network.dial(move.other());
  if (!words) return words.error();
  travel.connection = world_.goods.connect(std::move(*words));
  travel.connected_at = now;
  return {};
}

// The other side has to have got the same bytes.
Async<Result<void>> Sender::send_one(MovePtr move, std::string part, Pull body, double idle) {
  if (Result<void> connected = connect(*move); !connected) co_return connected.error();
  std::shared_ptr<PayloadConnection> connection = std::exchange(move->travel.connection, nullptr);
  Metered metered;
  Pull counted = metered.wrap(std::move(body));
  // Nothing more is sent once the move is to be undone.
  Pull watched = [this, move, counted]() -> Async<Result<std::string>> {
    if (world_.is_ended) co_return bad_input("flowcond stops");
    if (!move->give_up.empty()) co_return bad_input(move->give_up);
    if (move->peer.undoes()) co_return bad_input("the target turned it down");
    Result<std::string> piece = co_await counted();
    co_return piece;
  };
  move->account.passing = metered;
  move->account.sending_since = world_.clock.steady();
  std::string target = "/v1/peer/moves/" + move->entry.id + "/" + part;
  Async<Result<Answer>> sending = connection->put(std::move(target), std::move(watched), idle);
  Async<void> waiting = sends_no_more(move);
  auto first = std::move(sending) || std::move(waiting);
  std::variant<Result<Answer>, std::monostate> ended = co_await std::move(first);
  Result<Answer> answer = bad_input("it is sent no more");
  if (ended.index() == 0) answer = std::move(std::get<0>(ended));
  move->account.bytes += metered.bytes();
  move->account.sending_seconds += world_.clock.steady() - *move->account.sending_since;
  move->account.passing.reset();
  move->account.sending_since.reset();
  if (!answer) co_return answer.error();
  if (answer->status == 503) co_return errno_error(EAGAIN, refusal_of(*answer));
  if (answer->status != 200) {
    co_return Error{boost::system::errc::make_error_code(boost::system::errc::invalid_argument),
                    refusal_of(*answer)};
  }
  const Result<json::value> sum = parse_json(answer->body);
  const bool is_same = sum && metered.is_whole() && text_of(*sum, "sha256") == metered.sha256();
  if (!is_same) co_return bad_input("other bytes arrived than were sent");
  move->travel.connection = std::move(connection);
  move->travel.connected_at = world_.clock.steady();
  move->travel.sent.insert(part);
  move->peer.heard = world_.clock.steady();
  co_return Result<void>();
}

Async<Result<Pull>> Sender::open_part(MovePtr move, std::string part) {
  if (part == "life") {
    Result<std::string> life = co_await world_.lives.export_life(move->entry.container);
    if (!life) co_return life.error();
    co_return pull_of(std::move(*life));
  }
  for (const Part& one : move->plan.parts) {
    if (one.name != part) continue;
    Result<CopyPlace> place =
        co_await world_.goods.find_place(move->entry.container, world_.host.config().state_dir);
    if (!place) co_return place.error();
    Part wanted = one;
    const std::string copy = data_volume_at(move->plan.body, one.where);
    VolumePlace from;
    for (const VolumePlace& volume : place->volumes) {
      if (volume.destination == one.where) from = volume;
    }
    Result<Pull> body = co_await world_.goods.send_part(std::move(*place), std::move(wanted));
    if (!body || copy.empty() || one.kind != PartKind::volume) co_return body;
    // Whoever uses it later believes its name.
    co_return Pull(
        [this, inner = std::move(*body), from, copy] { return next_unchanged(inner, from, copy); });
  }
  co_return bad_input("there is no part " + part);
}

// The next piece of data; at its end an error where the volume has changed since it was named.
Async<Result<std::string>> Sender::next_unchanged(Pull body, VolumePlace from, std::string copy) {
  Result<std::string> piece = co_await body();
  if (!piece || !piece->empty()) co_return piece;
  std::vector<std::string> folders{from.folder};
  const auto trees = co_await world_.files.measure(std::move(folders), PartLimits().entries);
  if (!trees) co_return trees.error();
  const std::string now =
      data_volume_name(world_.network.own_id(), from.name, trees->front().content);
  if (now == copy) co_return piece;
  co_return bad_input("the volume " + printable(from.name, 80) + " has changed while it was sent");
}

Async<bool> Sender::send(MovePtr move) {
  const bool has_changed = co_await send_parts(move);
  const auto connection = std::exchange(move->travel.connection, nullptr);
  if (connection) co_await connection->close();
  co_return has_changed;
}

Async<bool> Sender::send_parts(MovePtr move) {
  std::vector<std::string> names;
  for (const Part& part : move->plan.parts) names.push_back(part.name);
  names.emplace_back("life");
  for (const std::string& part : names) {
    bool is_unheard = false;  // a try got no answer: what is refused then may have come
    for (int tried = 1; !move->travel.sent.contains(part); ++tried) {
      Result<Pull> body = co_await open_part(move, part);
      Result<void> sent = body ? Result<void>() : Result<void>(body.error());
      if (body) {
        sent = co_await send_one(move, part, std::move(*body), kIdleTime);
      }
      if (sent) break;
      if (world_.is_ended) co_return false;
      // It cannot say that it has all while its own connection to here is down.
      const double heard = move->peer.heard;
      if (move->give_up.empty()) (void)co_await report(move);
      if (world_.is_ended) co_return false;
      // It has all, whatever became of the answer.
      if (move->peer.word == Word::step && move->peer.step == Step::ready) {
        move->travel.sent.insert(part);
        break;
      }
      const bool is_refused = is_refusal(sent.error());
      const bool is_over = !move->give_up.empty() || move->peer.step >= Step::undo;
      const bool is_unknown = is_refused && is_unheard && move->peer.heard <= heard;
      const bool is_last = (is_refused && !is_unheard) || tried >= (is_unknown ? kAsks : kTries);
      is_unheard = is_unheard || !is_refused;
      if (is_over || is_last) {
        move->complain(sent.error());
        move->turn_back("sending its " + part + ": " + sent.error().message());
        co_return true;
      }
      co_await world_.clock.pause(kTryAgain);
    }
  }
  if (move->travel.sent_at == 0) move->travel.sent_at = world_.clock.steady();
  co_return co_await report(move);
}

}  // namespace flowcon::cluster::migration
