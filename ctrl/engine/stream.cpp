// SPDX-License-Identifier: Apache-2.0
// The bytes of archives and images, from the engine and to it, without ever holding more than a
// piece of them.
#include "base/text.h"
#include "ctrl/engine/client.h"
#include "ctrl/engine/connection.h"

namespace flowcon::ctrl::engine {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kPiece = 64U << 10;
constexpr std::size_t kMaxRefusal = 64U << 10;
constexpr std::size_t kMaxTargetShown = 120;

struct Download {
  std::shared_ptr<Stream> stream;
  beast::flat_buffer buffer;
  http::response_parser<http::buffer_body> parser;
  std::chrono::nanoseconds idle{};
  std::string doing;
};

Async<Result<std::string>> next_piece(std::shared_ptr<Download> download) {
  std::string piece;
  while (piece.empty() && !download->parser.is_done()) {
    piece.resize(kPiece);
    auto& body = download->parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    download->stream->expires_after(download->idle);
    auto [code, count] = co_await http::async_read_some(*download->stream, download->buffer,
                                                        download->parser, kAwait);
    if (code && code != http::error::need_buffer) co_return stream_error(code, download->doing);
    piece.resize(piece.size() - body.size);
  }
  co_return piece;
}

Async<Result<std::string>> whole_refusal(std::shared_ptr<Download> download) {
  std::string all;
  while (all.size() < kMaxRefusal) {
    Result<std::string> piece = co_await next_piece(download);
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    all += *piece;
  }
  co_return all;
}

}  // namespace

Async<Result<Pull>> Client::download(std::string path, double idle_seconds) {
  auto download = std::make_shared<Download>();
  download->idle = nanoseconds(idle_seconds);
  download->doing = "reading " + printable(path, kMaxTargetShown) + " from the engine";
  const std::string target = versioned(path);
  Result<std::shared_ptr<Stream>> stream = co_await connect(socket_, download->idle);
  if (!stream) co_return stream.error();
  download->stream = *stream;
  auto request = request_for<http::empty_body>("GET", target);
  auto [write_code, written] = co_await http::async_write(**stream, request, kAwait);
  if (write_code) co_return stream_error(write_code, download->doing);

  download->parser.body_limit(boost::none);
  // As much is read at a time as it has room for, and 512 bytes if it has none.
  download->buffer.reserve(kPiece);
  download->stream->expires_after(download->idle);
  auto [code, count] = co_await http::async_read_header(*download->stream, download->buffer,
                                                        download->parser, kAwait);
  if (code) co_return stream_error(code, download->doing);
  if (const unsigned status = download->parser.get().result_int(); status != 200) {
    Result<std::string> said = co_await whole_refusal(download);
    if (!said) co_return said.error();
    const Reply reply{status, *said};
    co_return engine_error(reply, download->doing);
  }
  co_return Pull([download] { return next_piece(download); });
}

Async<Result<Reply>> Client::upload(std::string method, std::string path, std::string content_type,
                                    Pull body, double idle_seconds) {
  Upload upload;
  upload.host = "docker";
  upload.method = std::move(method);
  upload.target = versioned(path);
  upload.content_type = std::move(content_type);
  upload.body = std::move(body);
  upload.idle = nanoseconds(idle_seconds);
  upload.max_answer = kMaxBody;
  upload.doing = "sending " + printable(path, kMaxTargetShown) + " to the engine";
  Result<std::shared_ptr<Stream>> stream = co_await connect(socket_, upload.idle);
  if (!stream) co_return stream.error();
  Result<Uploaded> uploaded = co_await send_upload(*stream, std::move(upload));
  if (!uploaded) co_return uploaded.error();
  Reply reply;
  reply.status = uploaded->status;
  reply.body = std::move(uploaded->answer);
  co_return reply;
}

}  // namespace flowcon::ctrl::engine
