// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/channel.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "cluster/peers/child.h"

namespace flowcon::cluster::peers {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct Channel::Impl {
  std::shared_ptr<Child> child;
  beast::flat_buffer buffer;
};

Result<std::shared_ptr<Channel>> Channel::open(asio::io_context& io,
                                               const std::vector<std::string>& words) {
  Result<std::shared_ptr<Child>> child = Child::start(io, words);
  if (!child) return child.error();
  auto impl = std::make_shared<Impl>();
  impl->child = std::move(*child);
  return std::shared_ptr<Channel>(new Channel(std::move(impl)));
}

Channel::Channel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Channel::~Channel() { impl_->child->abandon(); }

ctrl::Async<Result<Reply>> Channel::ask(std::string method, std::string target, std::string body,
                                        double seconds) {
  const auto impl = impl_;
  const std::shared_ptr<ctrl::LocalStream> stream = impl->child->stream();
  http::request<http::string_body> request(http::string_to_verb(method), target, 11);
  request.set(http::field::host, "flowcon");
  request.set(http::field::user_agent, "flowcond/" FLOWCON_VERSION);
  request.keep_alive(true);
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(body);
    request.prepare_payload();
  }
  stream->expires_after(ctrl::nanoseconds(seconds));
  auto [write_code, written] = co_await http::async_write(*stream, request, kAwait);
  boost::system::error_code failed = write_code;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswer);
  if (!failed) {
    auto [read_code, read] = co_await http::async_read(*stream, impl->buffer, parser, kAwait);
    failed = read_code;
  }
  if (failed == beast::error::timeout) co_return errno_error(ETIMEDOUT, "no answer");
  // Also of the request before.
  if (is_end(failed)) failed = asio::error::eof;
  if (failed) co_return Error{failed, "reading the answer"};
  Reply reply;
  reply.status = parser.get().result_int();
  reply.body = std::move(parser.get().body());
  co_return reply;
}

ctrl::Async<std::string> Channel::close() { return impl_->child->close(); }

}  // namespace flowcon::cluster::peers
