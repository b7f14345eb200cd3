// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/move.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kOrphanTime = 30;  // seconds in which an engine ends what was not answered

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
  return "migration " + entry.id.substr(0, 8) + " of container " + printable(entry.name, 80);
}

void Move::complain(const Error& error) {
  trouble = is_timeout(error) ? error.what : error.message();
  if (!troubles.count()) return;
  ctrl::log::event(ctrl::log::MessageId::move_trouble, label() + ": " + printable(trouble, 400),
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

void Move::hear(const Result<Entry>& theirs) {
  if (!theirs || !is_other_side(entry, *theirs)) return;
  peer.heard = clock.steady();
  const bool is_news = peer.word != Word::step || peer.step != theirs->step;
  peer.word = Word::step;
  peer.step = theirs->step;
  peer.reason = theirs->reason;
  if (is_news) wake();
}

void Move::hear_running(std::optional<double> seconds) {
  if (!seconds || !saving.stopped_at || account.stopped_seconds) return;
  account.stopped_seconds = clock.steady() - *saving.stopped_at - std::max(0.0, *seconds);
}

bool Move::is_on_its_way_back() const {
  return is_source() && (entry.step <= Step::transfer || entry.step == Step::undo);
}

MoveView view_of(const Move& move, const Entry& entry, const std::string& here_name) {
  const double now = move.clock.steady();
  const Account& account = move.account;
  const double sending =
      account.sending_seconds + (account.sending_since ? now - *account.sending_since : 0);
  MoveView view;
  view.id = entry.id;
  view.container = entry.container;
  view.name = entry.name;
  view.side = entry.side;
  view.source = entry.source;
  view.target = entry.target;
  view.source_name = move.is_source() ? here_name : account.peer_name;
  view.target_name = move.is_source() ? account.peer_name : here_name;
  view.method = entry.method;
  view.cause = move.plan.cause;
  view.step = entry.step;
  view.error = entry.reason.empty() ? printable(move.trouble, 500) : entry.reason;
  view.bytes = account.bytes + (account.passing ? account.passing->bytes() : 0);
  if (move.plan.bytes > 0) view.bytes_total = move.plan.bytes;
  view.rate = sending > 0 ? static_cast<double>(view.bytes) / sending : 0;
  view.seconds = now - move.began;
  view.steps = account.steps;
  view.stopped_seconds = account.stopped_seconds;
  view.has_ended = is_closed(entry);
  return view;
}

}  // namespace flowcon::cluster::migration
