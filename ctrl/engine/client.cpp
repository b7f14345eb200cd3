// SPDX-License-Identifier: Apache-2.0
#include "ctrl/engine/client.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/log.h"

namespace flowcon::ctrl::engine {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using Stream = beast::basic_stream<asio::local::stream_protocol, asio::any_io_executor>;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr auto kAnswerTime = 30s;              // a loaded engine answers an inspect in under 1 s
constexpr std::uint64_t kMaxBody = 64U << 20;  // a list of 1,000 containers has about 2 MiB
constexpr std::size_t kMaxEvent = 1U << 20;

Error connect_error(const boost::system::error_code& code, const std::string& socket) {
  if (code == boost::system::errc::permission_denied) {
    return {code, "no right to use the engine's socket " + socket +
                      " (run flowcond as root or in the group docker)"};
  }
  return {code, "no Docker engine answers at " + socket +
                    " (is it running? systemctl start docker; another socket: --engine)"};
}

http::request<http::empty_body> request_for(const std::string& target) {
  http::request<http::empty_body> request(http::verb::get, target, 11);
  request.set(http::field::host, "docker");
  request.set(http::field::user_agent, "flowcond/" FLOWCON_VERSION);
  return request;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      out += c;
    } else {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02X", byte);
      out += hex;
    }
  }
  return out;
}

// The engine's own sentence in an error answer, else its status.
std::string refusal(unsigned status, const std::string& body) {
  if (Result<boost::json::value> parsed = parse_json(body); parsed && parsed->is_object()) {
    if (const auto* message = parsed->get_object().if_contains("message");
        message != nullptr && message->is_string()) {
      return printable(std::string(message->get_string()));
    }
  }
  return "status " + std::to_string(status);
}

}  // namespace

Client::Client(asio::io_context& io, std::string socket) : io_(io), socket_(std::move(socket)) {}

std::string Client::versioned(const std::string& path) const {
  return api_.empty() ? path : "/v" + api_ + path;
}

Async<Result<Client::Reply>> Client::get(std::string target) {
  Stream stream(co_await asio::this_coro::executor);
  stream.expires_after(kAnswerTime);
  auto [connect_code] =
      co_await stream.async_connect(asio::local::stream_protocol::endpoint(socket_), kAwait);
  if (connect_code) co_return connect_error(connect_code, socket_);

  http::request<http::empty_body> request = request_for(target);
  request.keep_alive(false);
  auto [write_code, written] = co_await http::async_write(stream, request, kAwait);
  if (write_code) co_return Error{write_code, "asking the engine"};

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxBody);
  auto [read_code, read] = co_await http::async_read(stream, buffer, parser, kAwait);
  if (read_code) co_return Error{read_code, "reading the engine's answer"};

  Reply reply;
  reply.status = parser.get().result_int();
  reply.api_version = std::string(parser.get()["Api-Version"]);
  reply.server = std::string(parser.get()[http::field::server]);
  reply.body = std::move(parser.get().body());
  co_return reply;
}

Async<Result<Version>> Client::ping() {
  Result<Reply> reply = co_await get("/_ping");
  if (!reply) co_return reply.error();
  if (reply->status != 200) {
    co_return bad_input("the engine is not well: " + refusal(reply->status, reply->body));
  }
  Result<std::string> api = negotiate(reply->api_version);
  if (!api) co_return api.error();
  api_ = *api;
  Version version;
  version.api = api_;
  // "Docker/20.10.24 (linux)"; absent behind some socket proxies.
  const std::string& server = reply->server;
  if (const auto slash = server.find('/'); slash != std::string::npos) {
    version.engine = printable(server.substr(slash + 1, server.find(' ') - slash - 1), 40);
  }
  co_return version;
}

Async<Result<std::vector<std::string>>> Client::running() {
  Result<Reply> reply = co_await get(versioned("/containers/json"));
  if (!reply) co_return reply.error();
  if (reply->status != 200) {
    co_return bad_input("listing containers: " + refusal(reply->status, reply->body));
  }
  Result<boost::json::value> parsed = parse_json(reply->body);
  if (!parsed || !parsed->is_array()) co_return bad_input("listing containers: not a JSON list");
  std::vector<std::string> ids;
  for (const auto& entry : parsed->get_array()) {
    const auto* object = entry.if_object();
    const auto* id = object != nullptr ? object->if_contains("Id") : nullptr;
    if (id != nullptr && id->is_string()) ids.emplace_back(id->get_string());
  }
  // The engine lists the newest first.
  co_return std::vector<std::string>(ids.rbegin(), ids.rend());
}

Async<Result<Container>> Client::inspect(std::string name) {
  Result<Reply> reply = co_await get(versioned("/containers/" + percent_encoded(name) + "/json"));
  if (!reply) co_return reply.error();
  if (reply->status == 404) {
    co_return errno_error(ENOENT, "no container is called " + printable(name, 80));
  }
  if (reply->status != 200) {
    co_return bad_input("looking at container " + printable(name, 80) + ": " +
                        refusal(reply->status, reply->body));
  }
  co_return parse_container(reply->body);
}

Async<Error> Client::events(std::int64_t since_ns, std::function<void()> connected,
                            std::function<void(Event)> sink) {
  Stream stream(co_await asio::this_coro::executor);
  stream.expires_after(kAnswerTime);
  auto [connect_code] =
      co_await stream.async_connect(asio::local::stream_protocol::endpoint(socket_), kAwait);
  if (connect_code) co_return connect_error(connect_code, socket_);

  std::string target = versioned("/events") + "?filters=" +
                       percent_encoded(R"({"type":["container"],"event":["start","die","update",)"
                                       R"("rename"]})");
  if (since_ns > 0) {
    char since[40];
    std::snprintf(since, sizeof since, "&since=%lld.%09lld",
                  static_cast<long long>(since_ns / 1000000000),
                  static_cast<long long>(since_ns % 1000000000));
    target += since;
  }
  http::request<http::empty_body> request = request_for(target);
  auto [write_code, written] = co_await http::async_write(stream, request, kAwait);
  if (write_code) co_return Error{write_code, "asking the engine for events"};

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  auto [header_code, header] = co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (header_code) co_return Error{header_code, "asking the engine for events"};
  if (parser.get().result() != http::status::ok) {
    co_return bad_input("the engine refuses its events: status " +
                        std::to_string(parser.get().result_int()));
  }
  connected();
  stream.expires_never();  // a quiet engine is a healthy one

  std::string pending;
  while (!parser.is_done()) {
    auto [code, count] = co_await http::async_read_some(stream, buffer, parser, kAwait);
    pending += parser.get().body();
    parser.get().body().clear();
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      if (Result<Event> event = parse_event(std::string_view(pending).substr(0, end))) {
        sink(std::move(*event));
      } else {
        log::debug(event.error().message());
      }
      pending.erase(0, end + 1);
    }
    if (pending.size() > kMaxEvent) co_return bad_input("the engine sent an endless event");
    if (code) co_return Error{code, "the engine's event stream ended"};
  }
  co_return bad_input("the engine's event stream ended");
}

}  // namespace flowcon::ctrl::engine
