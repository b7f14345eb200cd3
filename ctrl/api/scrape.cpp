// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/scrape.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>

#include "ctrl/api/loopback.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using asio::ip::tcp;
using Stream = beast::basic_stream<tcp, asio::any_io_executor>;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr auto kPatience = 10s;
constexpr std::size_t kMostConnections = 16;
constexpr std::uint32_t kLongestHead = 8192;

}  // namespace

struct Scrape::Impl : std::enable_shared_from_this<Scrape::Impl> {
  Impl(asio::io_context& context, std::function<std::string()> text)
      : io(context), acceptor(context), render(std::move(text)) {}

  Async<void> accept_all();
  Async<void> serve_one(std::shared_ptr<Stream> stream);

  asio::io_context& io;
  tcp::acceptor acceptor;
  std::function<std::string()> render;
  std::list<std::weak_ptr<Stream>> open;
};

Async<void> Scrape::Impl::accept_all() {
  auto self = shared_from_this();  // close() may drop it while this waits
  for (;;) {
    auto [code, socket] = co_await acceptor.async_accept(kAwait);
    if (code == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    open.remove_if([](const std::weak_ptr<Stream>& s) { return s.expired(); });
    if (code || open.size() >= kMostConnections) {
      asio::steady_timer pause(io, 50ms);
      co_await pause.async_wait(kAwait);
      continue;
    }
    auto stream = std::make_shared<Stream>(std::move(socket));
    open.push_back(stream);
    spawn(io, "metrics connection", serve_one(stream));
  }
}

Async<void> Scrape::Impl::serve_one(std::shared_ptr<Stream> stream) {
  auto self = shared_from_this();
  beast::flat_buffer buffer;
  for (;;) {
    stream->expires_after(kPatience);
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kLongestHead);
    auto [read_code, read] = co_await http::async_read(*stream, buffer, parser, kAwait);
    if (read_code) co_return;
    const auto& request = parser.get();
    const bool is_head = request.method() == http::verb::head;
    const bool is_get = request.method() == http::verb::get || is_head;
    const std::string target(request.target());
    const bool is_there = is_get && target.substr(0, target.find('?')) == "/metrics";
    http::response<http::string_body> response(
        is_there ? http::status::ok : http::status::not_found, 11);
    response.set(http::field::content_type, is_there ? kMetricsType : "text/plain");
    response.set(http::field::server, "flowcond/" FLOWCON_VERSION);
    response.keep_alive(request.keep_alive());
    response.body() =
        is_there ? render() + "\n" : std::string("there is /metrics and nothing else\n");
    response.prepare_payload();
    if (is_head) response.body().clear();
    auto [write_code, written] = co_await http::async_write(*stream, response, kAwait);
    if (write_code || !response.keep_alive()) co_return;
  }
}

Result<std::unique_ptr<Scrape>> Scrape::listen(asio::io_context& io, const std::string& where,
                                               std::function<std::string()> render) {
  const Result<Loopback> loopback = parse_loopback(where);
  if (!loopback) return loopback.error();
  auto impl = std::make_shared<Impl>(io, std::move(render));
  const tcp::endpoint endpoint(asio::ip::make_address(loopback->address), loopback->port);
  boost::system::error_code code;
  impl->acceptor.open(endpoint.protocol(), code);
  if (!code) impl->acceptor.set_option(tcp::acceptor::reuse_address(true), code);
  if (!code) impl->acceptor.bind(endpoint, code);
  if (!code) impl->acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code == boost::system::errc::address_family_not_supported) {
    return Error{code, "listening at " + where +
                           " for metrics: the service may not use the network "
                           "(man flowcon.conf, metrics-listen, says how it may)"};
  }
  if (code) return Error{code, "listening at " + where + " for metrics"};
  spawn(io, "metrics", impl->accept_all());
  return std::unique_ptr<Scrape>(new Scrape(std::move(impl)));
}

Scrape::Scrape(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scrape::~Scrape() { close(); }

std::uint16_t Scrape::port() const {
  boost::system::error_code ignored;
  return impl_->acceptor.local_endpoint(ignored).port();
}

void Scrape::close() {
  if (!impl_->acceptor.is_open()) return;
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
  for (const auto& weak : impl_->open) {
    if (auto stream = weak.lock()) stream->close();
  }
}

}  // namespace flowcon::ctrl::api
