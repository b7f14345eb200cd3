// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/bulk.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

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

class SshPayload : public PayloadConnection, public std::enable_shared_from_this<SshPayload> {
 public:
  SshPayload(boost::asio::io_context& io, std::vector<std::string> words, std::string peer)
      : io_(io), words_(std::move(words)), peer_(std::move(peer)) {
    (void)start();  // put() says why it fails
  }
  Async<Result<Answer>> put(std::string target, Pull body, double idle_seconds) override;
  Async<void> close() override;

 private:
  // What one request goes over; after a failure nothing more does.
  struct Line {
    std::shared_ptr<ctrl::Child> child;
    std::shared_ptr<ctrl::Http> http;
  };
  Result<void> start();

  boost::asio::io_context& io_;
  std::vector<std::string> words_;
  std::string peer_;
  std::optional<Line> line_;  // while no request is under way
};

Result<void> SshPayload::start() {
  const Result<std::shared_ptr<ctrl::Child>> child =
      ctrl::Child::start(io_.get_executor(), bridge(words_));
  if (!child) return child.error();
  line_ = Line{*child, std::make_shared<ctrl::Http>((*child)->stream())};
  return {};
}

Async<Result<Answer>> SshPayload::put(std::string target, Pull body, double idle_seconds) {
  const auto self = shared_from_this();
  if (!line_) {
    if (Result<void> started = start(); !started) co_return started.error();
  }
  // The child goes with whoever waits for it, however that ends.
  const Line line = *std::exchange(line_, std::nullopt);
  auto failure = std::make_shared<std::optional<Error>>();
  ctrl::HttpRequest request;
  request.method = "PUT";
  request.target = target;
  request.content_type = "application/octet-stream";
  request.pieces = [body = std::move(body), failure] { return watched(body, failure); };
  request.doing = target;
  request.keep_alive = true;
  const double longer = std::min(kAnswerTimes * idle_seconds, kMostAnswer);
  const ctrl::Patience patience{0, idle_seconds, std::max(idle_seconds, longer)};
  Result<Answer> answer = co_await line.http->ask(std::move(request), patience, kMaxBulkAnswer);
  if (answer && answer->status == 200 && !*failure) {
    line_ = line;
    co_return answer;
  }
  const std::string said = co_await line.child->close();
  if (*failure) co_return **failure;
  if (!answer) co_return explained(answer.error(), said, peer_);
  co_return answer;
}

Async<void> SshPayload::close() {
  const auto self = shared_from_this();
  if (!line_) co_return;
  const Line line = *std::exchange(line_, std::nullopt);
  (void)co_await line.child->close();
}

}  // namespace

std::shared_ptr<PayloadConnection> connect_for_payload(boost::asio::io_context& io,
                                                       std::vector<std::string> words,
                                                       std::string peer) {
  return std::make_shared<SshPayload>(io, std::move(words), std::move(peer));
}

}  // namespace flowcon::cluster::peers
