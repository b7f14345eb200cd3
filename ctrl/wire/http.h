// SPDX-License-Identifier: Apache-2.0
// Asking over HTTP on a stream that is there: the engine, flowcond, a peer behind ssh. Knows
// nothing of what is asked. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"
#include "ctrl/reply.h"
#include "ctrl/wire/stream.h"
#include "ctrl/wire/stream_buffer.h"

namespace flowcon::ctrl {

struct HttpRequest {
  std::string method;
  std::string target;
  std::string doing;  ///< for the sentences of errors
  std::string host = "flowcon";
  std::string agent = "flowcond/" FLOWCON_VERSION;
  std::string content_type = "application/json";
  std::string body;
  Pull pieces;  ///< instead of `body`, of any length
  bool keep_alive = false;
};

/// How long may be waited, in seconds: for all of it, or for each piece that is sent or comes, and
/// for the head of the answer (0: as for a piece).
struct Patience {
  double whole = 0;
  double piece = 0;
  double answer = 0;
};

/// An answer whose body has not been read yet.
struct Incoming {
  unsigned status = 0;
  boost::beast::http::fields fields;
  Pull body;  ///< pieces of at most 64 KiB; dropping it ends nothing but the reading
};

class Http : public std::enable_shared_from_this<Http> {
 public:
  explicit Http(std::shared_ptr<LocalStream> stream) : stream_(std::move(stream)) {}
  /// Connects to a unix socket. Errors: the kernel's; beast's timeout.
  static Async<Result<std::shared_ptr<Http>>> connect(std::string socket, double seconds);

  /// Sends a request and reads the head of its answer. Where the other side answers before it has
  /// all pieces, with an error, no more is pulled. Errors: ETIMEDOUT; the connection's; no HTTP;
  /// those of the pieces, after which the other side sees a request that is cut, not one that ends.
  Async<Result<Incoming>> open(HttpRequest request, Patience patience);
  /// The same, with the answer's body, of at most `most` bytes. Errors: also a longer one.
  Async<Result<Reply>> ask(HttpRequest request, Patience patience, std::size_t most);

  /// No limit on time from now on.
  void wait_for_ever() { stream_->expires_never(); }
  /// Ends what waits for it.
  void cancel() { stream_->cancel(); }

 private:
  struct Exchange;
  using ExchangePtr = std::shared_ptr<Exchange>;
  static Async<Result<void>> send(ExchangePtr exchange, HttpRequest request);
  static Async<Result<void>> send_pieces(ExchangePtr exchange, HttpRequest request);
  static Async<bool> is_refused(ExchangePtr exchange);
  static Async<Result<std::string>> next_piece(ExchangePtr exchange);

  std::shared_ptr<LocalStream> stream_;
  boost::system::error_code failed_;  ///< after which no more is asked
  StreamBuffer buffer_;               ///< of the stream: more than one answer may be in it
};

/// All of a body. Errors: those of the body; more than `most` bytes.
Async<Result<std::string>> all_of(Pull body, std::size_t most);

}  // namespace flowcon::ctrl
