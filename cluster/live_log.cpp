// SPDX-License-Identifier: Apache-2.0
#include "cluster/live_log.h"

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
  if (!oldest_) oldest_ = time;
  if (is_full_ || time <= after_) return;
  if (lines_.size() >= most_ && time != last_) {
    is_full_ = true;
    return;
  }
  lines_ += migration::render_record(record);
  last_ = time;
}

Result<void> LogPage::feed(std::string_view bytes) {
  if (is_full_) return {};
  return frames_.feed(bytes, [this](const migration::LogRecord& record) { take(record); });
}

Async<Result<LogPage>> LiveLog::read(std::string path, LogPage page) {
  Result<ctrl::Pull> body = co_await engine_.download(std::move(path), kIdle);
  if (!body) co_return body.error();
  while (!page.is_full()) {
    const Result<std::string> piece = co_await (*body)();
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    const Result<void> fed = page.feed(*piece);
    if (!fed) co_return fed.error();
  }
  co_return page;
}

// Where the oldest of some lines was printed after that moment, there may be others before it.
Async<Result<LogPage>> LiveLog::read_asked(Call call, std::string logs, LogPage empty) {
  const auto after = call.number<std::int64_t>("after", 0);
  if (after > 0) logs += "&since=" + moment(after);
  logs += "&tail=";
  if (call.query.contains("tail")) {
    logs += std::to_string(call.number<std::int64_t>("tail", 0));
    co_return co_await read(std::move(logs), std::move(empty));
  }
  std::optional<std::int64_t> before;
  for (std::int64_t lines = kFewLines; after > 0 && lines <= kMostLines; lines *= 2) {
    std::string path = logs + std::to_string(lines);
    Result<LogPage> page = co_await read(std::move(path), empty);
    if (!page) co_return page;
    const std::optional<std::int64_t> oldest = page->oldest();
    if (!oldest || *oldest <= after || oldest == before) co_return page;
    before = oldest;
  }
  logs += "all";
  co_return co_await read(std::move(logs), std::move(empty));
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
  const auto after = call.number<std::int64_t>("after", 0);
  path = container + "/logs?stdout=1&stderr=1&timestamps=1";
  LogPage empty(is_true(member(*seen, "Config"), "Tty"), after, kMostBytes);
  Result<LogPage> page = co_await read_asked(std::move(call), std::move(path), std::move(empty));
  if (!page) co_return failure(502, page.error());
  json::object out{{"id", text_of(*seen, "Id")},
                   {"lines", page->lines()},
                   {"after", page->after()},
                   {"more", page->is_full()},
                   {"running", is_true(member(*seen, "State"), "Running")}};
  co_return ctrl::api::answer_with(out);
}

ctrl::api::Routes LiveLog::routes() {
  return {ctrl::api::get("/v1/containers/NAME/log", "What a container prints.",
                         [this](Call call) { return answer(std::move(call)); },
                         {{"tail", true, 0, kMostLines}, {"after"}})};
}

}  // namespace flowcon::cluster
