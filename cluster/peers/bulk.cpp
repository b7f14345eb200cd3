// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/bulk.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "cluster/peers/channel.h"
#include "cluster/peers/ssh.h"
#include "ctrl/wire/child.h"
#include "ctrl/wire/http.h"

namespace flowcon::cluster::peers {
namespace {

using ctrl::Pull;

// For the answer to all of it, so many times as long as for a piece, but no more than a quarter of
// an hour for that: first it is written to the disk there, to the last byte. A connection that is
// dead ends before, by ssh's own questions.
constexpr double kAnswerTimes = 15;
constexpr double kMostAnswer = 900;

// Of a body: what it failed with, to be told from what the connection failed with.
using Failure = std::shared_ptr<std::optional<Error>>;

Async<Result<std::string>> watched(Pull body, Failure failure) {
  Result<std::string> piece = co_await body();
  if (!piece) *failure = piece.error();
  co_return piece;
}

Error explained(const Error& error, const std::string& said, const std::string& peer) {
  const bool is_silent = is_timeout(error);
  if (is_silent && said.empty()) return errno_error(ETIMEDOUT, "sending to " + peer);
  if (!is_silent && !ctrl::is_end(error.code)) return wrap(error, "sending to " + peer);
  return bad_input(explain_ssh(said, peer));
}

}  // namespace

Async<Result<Answer>> send_body(boost::asio::io_context& io, std::vector<std::string> words,
                                std::string method, std::string target, Pull body,
                                double idle_seconds, std::string peer) {
  // The child goes with whoever waits for it, however that ends.
  const Result<std::shared_ptr<ctrl::Child>> child =
      ctrl::Child::start(io.get_executor(), bridge(std::move(words)));
  if (!child) co_return child.error();
  auto failure = std::make_shared<std::optional<Error>>();
  ctrl::HttpRequest request;
  request.method = std::move(method);
  request.target = target;
  request.content_type = "application/octet-stream";
  request.pieces = [body = std::move(body), failure] { return watched(body, failure); };
  request.doing = target;
  const auto http = std::make_shared<ctrl::Http>((*child)->stream());
  const double longer = std::min(kAnswerTimes * idle_seconds, kMostAnswer);
  const ctrl::Patience patience{0, idle_seconds, std::max(idle_seconds, longer)};
  Result<Answer> answer = co_await http->ask(std::move(request), patience, kMaxBulkAnswer);
  const std::string said = co_await (*child)->close();
  if (*failure) co_return **failure;
  if (!answer) co_return explained(answer.error(), said, peer);
  co_return answer;
}

}  // namespace flowcon::cluster::peers
