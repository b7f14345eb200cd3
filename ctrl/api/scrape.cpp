// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/scrape.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "ctrl/api/listener.h"
#include "ctrl/api/loopback.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"
#include "ctrl/wire/stream_buffer.h"

namespace flowcon::ctrl::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using asio::ip::tcp;
using Stream = Listener<tcp>::Stream;

constexpr auto kPatience = 10s;
constexpr auto kHeadTime = 2s;  // of a new connection
constexpr std::size_t kMostConnections = 16;
constexpr std::uint32_t kLongestHead = 8192;

}  // namespace

struct Scrape::Impl : std::enable_shared_from_this<Scrape::Impl> {
  Impl(asio::io_context& context, std::function<std::string()> text)
      : listener(context, kMostConnections), render(std::move(text)) {
    listener.makes_room = true;
  }

  Async<void> serve_one(std::shared_ptr<Stream> stream);

  Listener<tcp> listener;
  std::function<std::string()> render;
};

Async<void> Scrape::Impl::serve_one(std::shared_ptr<Stream> stream) {
  auto self = shared_from_this();
  StreamBuffer buffer;
  for (bool is_new = true;; is_new = false) {
    stream->expires_after(is_new ? kHeadTime : kPatience);
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kLongestHead);
    auto [read_code, read] = co_await http::async_read(*stream, buffer, parser, kAwait);
    if (read_code) co_return;
    stream->expires_after(kPatience);
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
  tcp::acceptor& acceptor = impl->listener.acceptor;
  boost::system::error_code code;
  acceptor.open(endpoint.protocol(), code);
  if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
  if (!code) acceptor.bind(endpoint, code);
  if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code == boost::system::errc::address_family_not_supported) {
    return Error{code, "listening at " + where +
                           " for metrics: the service may not use the network "
                           "(man flowcon.conf, metrics-listen, says how it may)"};
  }
  if (code) return Error{code, "listening at " + where + " for metrics"};
  spawn(io, "metrics", impl->listener.accept_all([impl](std::shared_ptr<Stream> stream) {
    spawn(impl->listener.io, "metrics connection", impl->serve_one(std::move(stream)));
  }));
  return std::unique_ptr<Scrape>(new Scrape(std::move(impl)));
}

Scrape::Scrape(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scrape::~Scrape() { close(); }

std::uint16_t Scrape::port() const {
  boost::system::error_code ignored;
  return impl_->listener.acceptor.local_endpoint(ignored).port();
}

void Scrape::close() { impl_->listener.close(); }

}  // namespace flowcon::ctrl::api
