// SPDX-License-Identifier: Apache-2.0
#include "cluster/live_log.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster {
namespace {

using ctrl::api::Call;
using ctrl::api::failure;
using ctrl::api::Response;

constexpr std::size_t kMostBytes = 256U << 10;  // of a page
constexpr std::int64_t kMostLines = 100'000;
// Lines that are asked for at first of what came after a moment: an engine reads all that it is
// asked for, whatever the moment.
constexpr std::int64_t kFewLines = 2000;
constexpr double kIdle = 10;  // seconds in which an engine says something
constexpr std::int64_t kMicro = 1'000'000;

// As the engine reads a moment: "1795626242.000250".
std::string moment(std::int64_t microseconds) {
  const std::string fraction = std::to_string(microseconds % kMicro);
  return std::to_string(microseconds / kMicro) + "." + std::string(6 - fraction.size(), '0') +
         fraction;
}

}  // namespace

void LogPage::take(const migration::LogRecord& record) {
  const std::int64_t time = record.time_ns / 1000;
  ++records_;
  if (!oldest_) oldest_ = time;
  if (time == *oldest_) ++of_oldest_;
  if (is_full_ || time < from_.after) return;
  if (time == from_.after && given_ < from_.skip) {
    ++given_;
    if (is_within_moment() && from_.skip == LogCursor::kAll) ++next_.skip;
    return;
  }
  const std::string line = migration::render_record(record);
  const bool is_later = time > next_.after;
  const bool is_too_long = !lines_.empty() && lines_.size() + line.size() > most_ + most_ / 2;
  is_full_ = (is_later && lines_.size() >= most_) || is_too_long;
  if (is_full_) return;
  lines_ += line;
  if (is_later) next_ = {time, 0};
  // One that was printed before the last one comes late, of the other stream.
  if (time == next_.after) ++next_.skip;
}

Result<void> LogPage::feed(std::string_view bytes) {
  return frames_.feed(bytes, [this](const migration::LogRecord& record) { take(record); });
}

// Of the last `lines` of a log. Where it `counts`, it reads on behind a full page to know whether
// as many came, but not behind one that is full of a single moment: that may be much. Nor behind
// one that begins later than it should: more lines are asked for then anyway.
Async<Result<LogPage>> LiveLog::read(Wanted wanted, std::optional<std::int64_t> lines,
                                     bool counts) {
  std::string path = std::move(wanted.path);
  if (wanted.from.after > 0) path += "&since=" + moment(wanted.from.after);
  path += "&tail=" + (lines ? std::to_string(*lines) : "all");
  Result<ctrl::Pull> body = co_await engine_.download(std::move(path), kIdle);
  if (!body) co_return body.error();
  LogPage page(wanted.has_terminal, wanted.from, kMostBytes);
  const auto is_counting = [&] {
    return counts && page.oldest() == wanted.from.after && !page.is_within_moment() &&
           page.records() < *lines;
  };
  while (!page.is_full() || is_counting()) {
    const Result<std::string> piece = co_await (*body)();
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    const Result<void> fed = page.feed(*piece);
    if (!fed) co_return fed.error();
  }
  co_return page;
}

// Where all of the last lines are of one moment, others of it may be before them. Those of the
// moment are counted before the lines that are given are read: what is printed meanwhile, or is of
// a later moment behind a full page, may be given twice, but is never left out.
Async<Result<LogPage>> LiveLog::read_last(Wanted wanted) {
  Result<LogPage> page = co_await read(wanted, wanted.tail, false);
  if (!page || page->oldest() != page->next().after) co_return page;
  Wanted earlier = wanted;
  earlier.from = LogCursor{page->next().after};
  const Result<LogPage> all = co_await read_next(std::move(earlier));
  if (!all || all->oldest() != page->oldest()) co_return page;
  const std::int64_t tail = *wanted.tail;
  page = co_await read(std::move(wanted), tail, false);
  if (!page || page->oldest() != all->oldest() || page->oldest() != page->next().after) {
    co_return page;
  }
  const std::int64_t last = page->is_full() ? tail : page->of_oldest();
  page->skip(std::max<std::int64_t>(0, all->of_oldest() - last));
  co_return page;
}

// Of the last lines as many as reach back to where the page begins. The engine counts those that
// are older, too, before it leaves them out, and a long line's pieces have an old moment: fewer
// than it is asked for are all where they begin there, or where twice as many are no more.
Async<Result<LogPage>> LiveLog::read_next(Wanted wanted) {
  const std::int64_t after = wanted.from.after;
  std::int64_t fewer = -1;  // came of half as many
  for (std::int64_t lines = kFewLines; after > 0 && lines <= kMostLines; lines *= 2) {
    Result<LogPage> page = co_await read(wanted, lines, true);
    if (!page || page->oldest() < after) co_return page;
    if (page->is_full() && page->is_within_moment()) break;
    const bool is_all = page->oldest() == after ? page->records() < lines
                                                : !page->is_full() && page->records() == fewer;
    if (is_all) co_return page;
    fewer = page->records();
  }
  co_return co_await read(std::move(wanted), std::nullopt, false);
}

Async<Response> LiveLog::answer(Call call) {
  const std::string container = "/containers/" + percent_encoded(call.name);
  std::string path = container + "/json";
  const Result<ctrl::Reply> reply =
      co_await engine_.call("GET", std::move(path), "", ctrl::engine::kAnswerTime);
  if (!reply) co_return failure(502, reply.error());
  if (reply->status == 404) {
    co_return failure(404, "No such container: " + printable(call.name, 80));
  }
  const Result<json::value> seen = parse_json(reply->body);
  if (reply->status != 200 || !seen) co_return failure(502, "the engine describes no container");
  Wanted wanted;
  wanted.path = container + "/logs?stdout=1&stderr=1&timestamps=1";
  wanted.has_terminal = is_true(member(*seen, "Config"), "Tty");
  wanted.from.after = call.number<std::int64_t>("after", 0);
  wanted.from.skip = call.number("skip", wanted.from.skip);
  if (call.query.contains("tail")) wanted.tail = call.number<std::int64_t>("tail", 0);
  Async<Result<LogPage>> reading =
      wanted.tail ? read_last(std::move(wanted)) : read_next(std::move(wanted));
  const Result<LogPage> page = co_await std::move(reading);
  if (!page) co_return failure(502, page.error());
  json::object out{
      {"id", text_of(*seen, "Id")},  {"lines", page->lines()},
      {"after", page->next().after}, {"skip", page->next().skip},
      {"more", page->is_full()},     {"running", is_true(member(*seen, "State"), "Running")}};
  co_return ctrl::api::answer_with(out);
}

ctrl::api::Routes LiveLog::routes() {
  return {ctrl::api::get("/v1/containers/NAME/log", "Output of a container.",
                         [this](Call call) { return answer(std::move(call)); },
                         {{"tail", true, 0, kMostLines}, {"after"}, {"skip"}})};
}

}  // namespace flowcon::cluster
