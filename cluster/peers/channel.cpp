// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/channel.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include "ctrl/wire/child.h"
#include "ctrl/wire/http.h"

namespace flowcon::cluster::peers {

struct Channel::Impl {
  std::shared_ptr<ctrl::Child> child;
  std::shared_ptr<ctrl::Http> http;
};

ctrl::Command bridge(std::vector<std::string> argv) {
  ctrl::Command command;
  command.argv = std::move(argv);
  command.joined = ctrl::Joined::both;
  // It speaks with whoever answers at a peer's address: all that it needs of root are its files.
  command.rights = ctrl::Rights::none;
  return command;
}

Result<std::shared_ptr<Channel>> Channel::open(boost::asio::io_context& io,
                                               const std::vector<std::string>& words) {
  Result<std::shared_ptr<ctrl::Child>> child = ctrl::Child::start(io.get_executor(), bridge(words));
  if (!child) return child.error();
  auto impl = std::make_shared<Impl>();
  impl->child = std::move(*child);
  impl->http = std::make_shared<ctrl::Http>(impl->child->stream());
  return std::shared_ptr<Channel>(new Channel(std::move(impl)));
}

Channel::Channel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Channel::~Channel() { impl_->child->abandon(); }

Async<Result<Reply>> Channel::ask(std::string method, std::string target, std::string body,
                                  double seconds) {
  const auto impl = impl_;
  ctrl::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  request.doing = "asking over ssh";
  request.keep_alive = true;
  Result<Reply> reply = co_await impl->http->ask(std::move(request), {seconds, 0}, kMaxAnswer);
  // Also of the request before.
  if (!reply && ctrl::is_end(reply.error().code)) {
    co_return Error{boost::asio::error::eof, reply.error().what};
  }
  co_return reply;
}

Async<std::string> Channel::close() {
  const auto impl = impl_;
  co_return co_await impl->child->close();
}

}  // namespace flowcon::cluster::peers
