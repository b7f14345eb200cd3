// SPDX-License-Identifier: Apache-2.0
#include "ctrl/wire/http.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "base/seconds.h"
#include "ctrl/await.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kPiece = 64U << 10;
// Who has closed the connection has answered before, or never will.
constexpr std::chrono::seconds kLastWords{2};

template <class Body>
http::request<Body> head_of(const HttpRequest& from) {
  http::request<Body> head;
  head.method_string(from.method);
  head.target(from.target);
  head.version(11);
  head.set(http::field::host, from.host);
  head.set(http::field::user_agent, from.agent);
  if (from.pieces || !from.body.empty()) head.set(http::field::content_type, from.content_type);
  head.keep_alive(from.keep_alive);
  return head;
}

}  // namespace

bool is_timeout(const boost::system::error_code& code) { return code == beast::error::timeout; }

Error stream_error(const boost::system::error_code& code, const std::string& doing) {
  if (is_timeout(code)) return errno_error(ETIMEDOUT, doing);
  return Error{code, doing};
}

bool is_end(const boost::system::error_code& code) {
  return code == asio::error::eof || code == http::error::end_of_stream ||
         code == http::error::partial_message || code == asio::error::operation_aborted ||
         code == boost::system::errc::bad_file_descriptor ||
         code == boost::system::errc::broken_pipe || code == boost::system::errc::connection_reset;
}

struct Http::Exchange {
  std::shared_ptr<Http> connection;
  std::string doing;
  std::chrono::nanoseconds piece{};
  boost::system::error_code cut;  ///< why no more can be sent
  http::response_parser<http::buffer_body> parser;

  [[nodiscard]] LocalStream& stream() const { return *connection->stream_; }
  void begin_step() const {
    if (cut) {
      stream().expires_after(kLastWords);
    } else if (piece.count() > 0) {
      stream().expires_after(piece);
    }
  }
  // The last of the connection: Asio waits for ever for more behind an end that it has told of.
  [[nodiscard]] Error failure(const boost::system::error_code& code) const {
    const auto why = cut && is_timeout(code) ? cut : code;
    connection->failed_ = why;
    return stream_error(why, doing);
  }
};

Async<Result<std::shared_ptr<Http>>> Http::connect(std::string socket, double seconds) {
  auto stream = std::make_shared<LocalStream>(co_await asio::this_coro::executor);
  stream->expires_after(nanoseconds(seconds));
  const asio::local::stream_protocol::endpoint endpoint(socket);
  auto [code] = co_await stream->async_connect(endpoint, kAwait);
  if (code) co_return Error{code, "connecting to " + socket};
  co_return std::make_shared<Http>(std::move(stream));
}

// Has it been answered while it is still sent? An answer that says that all is well is no reason to
// stop.
Async<bool> Http::is_refused(ExchangePtr exchange) {
  boost::system::error_code ignored;
  auto& parser = exchange->parser;
  if (parser.is_header_done() || exchange->stream().socket().available(ignored) == 0) {
    co_return false;
  }
  exchange->begin_step();
  auto [code, count] = co_await http::async_read_header(
      exchange->stream(), exchange->connection->buffer_, parser, kAwait);
  // What is no answer is found to be none when the answer is read.
  co_return code || parser.get().result_int() >= 300;
}

// Errors: those of the pieces, and that it took too long.
Async<Result<void>> Http::send_pieces(ExchangePtr exchange, HttpRequest request) {
  auto head = head_of<http::empty_body>(request);
  head.chunked(true);
  http::request_serializer<http::empty_body> serializer(head);
  exchange->begin_step();
  auto [code, count] = co_await http::async_write_header(exchange->stream(), serializer, kAwait);
  if (code) co_return exchange->failure(code);
  for (bool is_last = false; !is_last;) {
    Result<std::string> piece = co_await request.pieces();
    if (!piece) {
      // At once: whoever holds the connection may keep it, and the other side waits for the rest.
      exchange->stream().close();
      co_return piece.error();
    }
    if (co_await is_refused(exchange)) break;
    is_last = piece->empty();
    exchange->begin_step();
    boost::system::error_code failed;
    if (is_last) {
      auto [last_code, sent] =
          co_await asio::async_write(exchange->stream(), http::make_chunk_last(), kAwait);
      failed = last_code;
    } else {
      auto [piece_code, sent] = co_await asio::async_write(
          exchange->stream(), http::make_chunk(asio::buffer(*piece)), kAwait);
      failed = piece_code;
    }
    if (is_timeout(failed)) co_return exchange->failure(failed);
    exchange->cut = failed;
    if (failed) break;
  }
  co_return Result<void>();
}

Async<Result<void>> Http::send(ExchangePtr exchange, HttpRequest request) {
  auto message = head_of<http::string_body>(request);
  message.body() = std::move(request.body);
  const bool has_body =
      !message.body().empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) message.prepare_payload();
  exchange->begin_step();
  auto [code, count] = co_await http::async_write(exchange->stream(), message, kAwait);
  if (is_timeout(code)) co_return exchange->failure(code);
  // Who refuses a request may say so before all of it has come.
  exchange->cut = code;
  co_return Result<void>();
}

Async<Result<Incoming>> Http::open(HttpRequest request, Patience patience) {
  if (failed_) co_return stream_error(failed_, request.doing);
  auto exchange = std::make_shared<Exchange>();
  exchange->connection = shared_from_this();
  exchange->doing = request.doing;
  exchange->piece = nanoseconds(patience.piece);
  if (patience.whole > 0) stream_->expires_after(nanoseconds(patience.whole));
  auto& parser = exchange->parser;
  parser.body_limit(boost::none);
  if (request.method == "HEAD") parser.skip(true);
  const bool has_pieces = request.pieces != nullptr;
  Result<void> sent;
  if (has_pieces) {
    sent = co_await send_pieces(exchange, std::move(request));
  } else {
    sent = co_await send(exchange, std::move(request));
  }
  if (!sent) co_return sent.error();
  // As much is read at a time as it has room for, and 512 bytes if it has none.
  buffer_.reserve(kPiece);
  if (!parser.is_header_done()) {
    exchange->begin_step();
    if (!exchange->cut && patience.answer > 0) stream_->expires_after(nanoseconds(patience.answer));
    auto [code, count] =
        co_await http::async_read_header(exchange->stream(), buffer_, parser, kAwait);
    if (code) co_return exchange->failure(code);
  }
  Incoming incoming;
  incoming.status = parser.get().result_int();
  incoming.fields = parser.get();
  incoming.body = [exchange] { return next_piece(exchange); };
  co_return incoming;
}

Async<Result<std::string>> Http::next_piece(ExchangePtr exchange) {
  std::string piece;
  while (piece.empty() && !exchange->parser.is_done()) {
    piece.resize(kPiece);
    auto& body = exchange->parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    exchange->begin_step();
    auto [code, count] = co_await http::async_read_some(
        exchange->stream(), exchange->connection->buffer_, exchange->parser, kAwait);
    if (code && code != http::error::need_buffer) co_return exchange->failure(code);
    piece.resize(piece.size() - body.size);
  }
  co_return piece;
}

Async<Result<Reply>> Http::ask(HttpRequest request, Patience patience, std::size_t most) {
  const std::string doing = request.doing;
  Result<Incoming> incoming = co_await open(std::move(request), patience);
  if (!incoming) co_return incoming.error();
  Result<std::string> body = co_await all_of(std::move(incoming->body), most);
  // The rest of what is too long comes yet.
  if (!body && !failed_) failed_ = http::error::body_limit;
  if (!body) co_return body.error();
  Reply reply;
  reply.status = incoming->status;
  reply.body = std::move(*body);
  co_return reply;
}

Async<Result<std::string>> all_of(Pull body, std::size_t most) {
  std::string all;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return all;
    all += *piece;
    if (all.size() > most) co_return Error{http::error::body_limit, "reading the answer"};
  }
}

}  // namespace flowcon::ctrl
