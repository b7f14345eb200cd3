// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/bulk.h"

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "cluster/peers/child.h"
#include "cluster/peers/ssh.h"

namespace flowcon::cluster::peers {
namespace {

using ctrl::Async;
using ctrl::Pull;

// Of a body: what it failed with, to be told from what the connection failed with.
using Failure = std::shared_ptr<std::optional<Error>>;

Async<Result<std::string>> watched(Pull body, Failure failure) {
  Result<std::string> piece = co_await body();
  if (!piece) *failure = piece.error();
  co_return piece;
}

// The child goes with whoever waits for it, however that ends.
struct Held {
  std::shared_ptr<Child> child;
  ~Held() { child->abandon(); }
};

Error explained(const Error& error, const std::string& said, const std::string& peer) {
  const bool is_silent = error.code == boost::system::errc::timed_out;
  if (is_silent && said.empty()) return errno_error(ETIMEDOUT, "sending to " + peer);
  if (!is_silent && !is_end(error.code)) return wrap(error, "sending to " + peer);
  return bad_input(explain_ssh(said, peer));
}

}  // namespace

Async<Result<Answer>> send_body(boost::asio::io_context& io, std::vector<std::string> words,
                                std::string method, std::string target, Pull body,
                                double idle_seconds, std::string peer) {
  Result<std::shared_ptr<Child>> child = Child::start(io, words);
  if (!child) co_return child.error();
  const Held held{*child};
  auto failure = std::make_shared<std::optional<Error>>();
  ctrl::Upload upload;
  upload.host = "flowcon";
  upload.method = std::move(method);
  upload.target = target;
  upload.content_type = "application/octet-stream";
  upload.body = [body = std::move(body), failure] { return watched(body, failure); };
  upload.idle = ctrl::nanoseconds(idle_seconds);
  upload.max_answer = kMaxBulkAnswer;
  upload.doing = target;
  Result<ctrl::Uploaded> uploaded =
      co_await ctrl::send_upload(held.child->stream(), std::move(upload));
  const std::string said = co_await held.child->close();
  if (*failure) co_return **failure;
  if (!uploaded) co_return explained(uploaded.error(), said, peer);
  Answer answer;
  answer.status = uploaded->status;
  answer.body = std::move(uploaded->answer);
  co_return answer;
}

}  // namespace flowcon::cluster::peers
