// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/move.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;

constexpr double kOrphanTime = 30;  // seconds in which an engine ends what was not answered

// Of these the sentence says it already.
bool is_timeout(const Error& error) { return error.code == boost::system::errc::timed_out; }

}  // namespace

bool Arrival::is_current(const std::string& part, unsigned number) const {
  const auto found = taking.find(part);
  return found != taking.end() && found->second == number;
}

Move::Move(Clock& the_clock, Entry the_entry, Plan the_plan)
    : clock(the_clock),
      entry(std::move(the_entry)),
      written(entry),
      plan(std::move(the_plan)),
      arrival(plan.bytes),
      alarm(clock.make_alarm()) {}

void Move::stay_quiet(double seconds) {
  quiet_from = std::max(quiet_from, clock.steady() + seconds);
}

void Move::wake() {
  is_woken = true;
  alarm->ring();
}

std::string Move::label() const {
  return "move " + entry.id.substr(0, 8) + " of container " + printable(entry.name, 80);
}

void Move::complain(const Error& error) {
  trouble = is_timeout(error) ? error.what : error.message();
  if (!troubles.count()) return;
  ctrl::log::event(ctrl::log::Event::move_trouble, label() + ": " + printable(trouble, 400),
                   entry.container);
}

bool Move::took(const Result<void>& result) {
  if (result) return true;
  complain(result.error());
  if (is_timeout(result.error())) stay_quiet(kOrphanTime);
  return false;
}

void Move::turn_back(const std::string& why) {
  if (give_up.empty()) give_up = why;
}

void Move::keep_written() {
  writing.is_unwritten = writing.is_start_doubtful = false;
  if (std::exchange(writing.is_troubled, false)) trouble.clear();
}

void Move::hear(const std::string& text) {
  const Result<Entry> theirs = parse_entry(text);
  if (!theirs || !is_other_side(entry, *theirs)) return;
  peer.heard = clock.steady();
  const bool is_news = peer.word != Word::step || peer.step != theirs->step;
  peer.word = Word::step;
  peer.step = theirs->step;
  if (theirs->step == Step::undo && trouble.empty()) trouble = theirs->reason;
  if (is_news) wake();
}

void Move::hear_running(const json::value& said) {
  const json::value& running = member(said, "running_for");
  if (!running.is_number() || !saving.stopped_at || account.stopped_seconds) return;
  account.stopped_seconds =
      clock.steady() - *saving.stopped_at - std::max(0.0, running.to_number<double>());
}

bool Move::is_on_its_way_back() const {
  return is_source() && (entry.step <= Step::transfer || entry.step == Step::undo);
}

json::object describe_move(const Move& move, const Entry& entry, const std::string& here_name) {
  const double now = move.clock.steady();
  const std::uint64_t bytes =
      move.account.bytes + (move.account.passing ? move.account.passing->bytes() : 0);
  const double sending = move.account.sending_seconds +
                         (move.account.sending_since ? now - *move.account.sending_since : 0);
  json::object out;
  out["id"] = entry.id;
  out["container"] = entry.container;
  out["name"] = entry.name;
  out["side"] = name(entry.side);
  out["source"] = entry.source;
  out["target"] = entry.target;
  out["source_name"] = move.is_source() ? here_name : move.account.peer_name;
  out["target_name"] = move.is_source() ? move.account.peer_name : here_name;
  out["method"] = name(entry.method);
  out["cause"] = cluster::name(move.plan.cause);
  out["step"] = name(entry.step);
  out["error"] = entry.reason.empty() ? printable(move.trouble, 500) : entry.reason;
  out["bytes"] = bytes;
  out["bytes_total"] = move.plan.bytes > 0 ? json::value(move.plan.bytes) : json::value(nullptr);
  out["rate"] = sending > 0 ? static_cast<double>(bytes) / sending : 0;
  out["seconds"] = now - move.began;
  json::object steps;
  for (const auto& [step, at] : move.account.steps) steps[step] = at;
  out["steps"] = std::move(steps);
  out["stopped_seconds"] = number_or_null(move.account.stopped_seconds);
  out["ended"] = is_closed(entry);
  return out;
}

}  // namespace flowcon::cluster::migration
