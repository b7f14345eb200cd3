// SPDX-License-Identifier: Apache-2.0
#include "ctrl/engine/connection.h"

#include <boost/asio/this_coro.hpp>
#include <cstdio>

#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/engine/client.h"

namespace flowcon::ctrl::engine {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

Error connect_error(const boost::system::error_code& code, const std::string& socket) {
  if (code == boost::system::errc::permission_denied) {
    return {code, "no right to use the engine's socket " + socket +
                      " (run flowcond as root or in the group docker)"};
  }
  // An engine that ends may take its socket away. That is not the answer that something is not
  // there.
  const bool is_gone = code == boost::system::errc::no_such_file_or_directory;
  const boost::system::error_code told =
      is_gone ? boost::system::errc::make_error_code(boost::system::errc::connection_refused)
              : code;
  return {told, "no Docker engine answers at " + socket +
                    " (is it running? systemctl start docker; another socket: --engine)"};
}

// The engine's own sentence in an error answer, else its status.
std::string refusal(const Reply& reply) {
  const std::string sentence = text_in(reply.body, "message");
  if (!sentence.empty()) return printable(sentence);
  return "status " + std::to_string(reply.status);
}

}  // namespace

Error engine_error(const Reply& reply, const std::string& doing) {
  const std::string sentence = doing + ": " + refusal(reply);
  return reply.status == 404 ? errno_error(ENOENT, sentence) : bad_input(sentence);
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

Async<Result<std::shared_ptr<Stream>>> connect(std::string socket, std::chrono::nanoseconds limit) {
  auto stream = std::make_shared<Stream>(co_await asio::this_coro::executor);
  stream->expires_after(limit);
  const asio::local::stream_protocol::endpoint endpoint(socket);
  auto [code] = co_await stream->async_connect(endpoint, kAwait);
  if (code) co_return connect_error(code, socket);
  co_return stream;
}

Async<Result<http::response<http::string_body>>> exchange(std::string socket, std::string method,
                                                          std::string target, std::string body,
                                                          double seconds) {
  Result<std::shared_ptr<Stream>> stream = co_await connect(socket, nanoseconds(seconds));
  if (!stream) co_return stream.error();
  auto request = request_for<http::string_body>(method, target);
  const bool has_body = !body.empty() || method == "POST" || method == "PUT";
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(body);
  }
  if (has_body) request.prepare_payload();
  auto [write_code, written] = co_await http::async_write(**stream, request, kAwait);
  if (write_code) co_return stream_error(write_code, "asking the engine");

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxBody);
  if (method == "HEAD") parser.skip(true);
  auto [read_code, read] = co_await http::async_read(**stream, buffer, parser, kAwait);
  if (read_code) co_return stream_error(read_code, "reading the engine's answer");
  co_return parser.release();
}

}  // namespace flowcon::ctrl::engine
