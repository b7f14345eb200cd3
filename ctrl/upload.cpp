// SPDX-License-Identifier: Apache-2.0
#include "ctrl/upload.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Who has closed the connection has answered before, or never will.
constexpr auto kLastWords = 2s;

struct State {
  std::shared_ptr<LocalStream> stream;
  Upload upload;
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
};

using StatePtr = std::shared_ptr<State>;

Async<Result<void>> send_head(StatePtr state) {
  const Upload& upload = state->upload;
  http::request<http::empty_body> request;
  request.method_string(upload.method);
  request.target(upload.target);
  request.version(11);
  request.set(http::field::host, upload.host);
  request.set(http::field::user_agent, "flowcond/" FLOWCON_VERSION);
  request.set(http::field::content_type, upload.content_type);
  request.keep_alive(false);
  request.chunked(true);
  http::request_serializer<http::empty_body> serializer(request);
  state->stream->expires_after(upload.idle);
  auto [code, count] = co_await http::async_write_header(*state->stream, serializer, kAwait);
  if (code) co_return stream_error(code, upload.doing);
  co_return Result<void>();
}

// Has it been answered while it is still sent? An answer that says that all is well is no reason to
// stop.
Async<bool> is_refused(StatePtr state) {
  boost::system::error_code ignored;
  if (state->parser.is_header_done() || state->stream->socket().available(ignored) == 0) {
    co_return false;
  }
  state->stream->expires_after(state->upload.idle);
  auto [code, count] =
      co_await http::async_read_header(*state->stream, state->buffer, state->parser, kAwait);
  // What is no answer is found to be none when the answer is read.
  co_return code || state->parser.get().result_int() >= 300;
}

enum class Sent { all, refused, cut };

// Errors: those of the body, and that it took too long.
Async<Result<Sent>> send_body(StatePtr state) {
  for (;;) {
    Result<std::string> piece = co_await state->upload.body();
    if (!piece) co_return piece.error();
    if (co_await is_refused(state)) co_return Sent::refused;
    state->stream->expires_after(state->upload.idle);
    boost::system::error_code failed;
    if (piece->empty()) {
      auto [code, count] =
          co_await asio::async_write(*state->stream, http::make_chunk_last(), kAwait);
      failed = code;
    } else {
      auto [code, count] = co_await asio::async_write(
          *state->stream, http::make_chunk(asio::buffer(*piece)), kAwait);
      failed = code;
    }
    if (failed == beast::error::timeout) co_return stream_error(failed, state->upload.doing);
    if (failed) co_return Sent::cut;
    if (piece->empty()) co_return Sent::all;
  }
}

Async<Result<Uploaded>> read_answer(StatePtr state, Sent sent) {
  while (!state->parser.is_done()) {
    const std::chrono::nanoseconds patience = sent == Sent::cut ? kLastWords : state->upload.idle;
    state->stream->expires_after(patience);
    auto [code, count] =
        co_await http::async_read_some(*state->stream, state->buffer, state->parser, kAwait);
    if (code) co_return stream_error(code, state->upload.doing);
  }
  Uploaded uploaded;
  uploaded.status = state->parser.get().result_int();
  uploaded.answer = std::move(state->parser.get().body());
  co_return uploaded;
}

}  // namespace

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

Error stream_error(const boost::system::error_code& code, const std::string& doing) {
  if (code == beast::error::timeout) return errno_error(ETIMEDOUT, doing);
  return Error{code, doing};
}

Async<Result<Uploaded>> send_upload(std::shared_ptr<LocalStream> stream, Upload upload) {
  auto state = std::make_shared<State>();
  state->stream = std::move(stream);
  state->upload = std::move(upload);
  state->parser.body_limit(state->upload.max_answer);
  Result<void> begun = co_await send_head(state);
  if (!begun) co_return begun.error();
  Result<Sent> sent = co_await send_body(state);
  if (!sent) {
    // At once: whoever holds the connection may keep it, and the other side waits for the rest.
    state->stream->close();
    co_return sent.error();
  }
  co_return co_await read_answer(state, *sent);
}

}  // namespace flowcon::ctrl
