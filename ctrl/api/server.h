// SPDX-License-Identifier: Apache-2.0
// HTTP on a unix socket: takes requests, asks the handler, sends its answers. Knows nothing of
// what is asked. docs/api.md is the contract.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace flowcon::ctrl::api {

/// The longest body that a request may have, in bytes.
inline constexpr std::uint64_t kMaxBody = 64U << 10;

struct Request {
  std::string method;
  std::string target;
  std::string body;
  unsigned user = 0;  ///< who asks
  std::string from;   ///< the peer whose bytes they are (base/caller.h); "" = not said
};

struct Response {
  unsigned status = 200;
  std::string body;  ///< JSON, or what `type` says; without its last line end
  std::string type = "application/json";
};

[[nodiscard]] Response answer_with(const boost::json::object& body, unsigned status = 200);

/// {"error":"…"} with a status.
[[nodiscard]] Response failure(unsigned status, const std::string& sentence);
/// 404 for ENOENT, else `status`.
[[nodiscard]] Response failure(unsigned status, const Error& error);

using Handler = std::function<Async<Response>(Request)>;

/// A request whose body comes in pieces of at most 64 KiB while it is answered, and only then;
/// Request::body is empty. Errors of `body`: ETIMEDOUT nothing came for five minutes; the
/// connection ended. The handler may answer before it has pulled the end; then the rest is not
/// kept, and the connection ends.
using BodyHandler = std::function<Async<Response>(Request, Pull body)>;

class Server {
 public:
  /// Listens at `path` with mode 0660 and the group `group` (left alone, with a note in `notice`,
  /// where there is no such group). A missing folder is made; a socket that nobody listens at any
  /// more is replaced. A socket that systemd has passed on for this path is taken instead, with the
  /// mode and owner it has; it stays when the server closes.
  /// Errors: somebody listens there already; the folder cannot be made or written.
  [[nodiscard]] static Result<std::unique_ptr<Server>> listen(boost::asio::io_context& io,
                                                              const std::string& path,
                                                              const std::string& group,
                                                              std::string* notice);
  /// The second half of it: `socket` listens at `path` already.
  [[nodiscard]] static Result<std::unique_ptr<Server>> take_over(boost::asio::io_context& io,
                                                                 const std::string& path,
                                                                 int socket,
                                                                 const std::string& group,
                                                                 std::string* notice);
  ~Server();
  /// Answers requests until close(); a caller that may not use the socket gets a 403.
  void serve(Handler handler);
  /// Requests that `wants` says yes to, by method and target, go to `handler`; their bodies may be
  /// of any length. To be said before serve().
  void serve_bodies(std::function<bool(const Request&)> wants, BodyHandler handler);
  /// From now on connections may begin with an announcement (base/caller.h), which becomes
  /// Request::from of all that comes on them.
  void expect_callers();
  /// Gives the socket to `group` where it did not have it yet, as it may have come to be since
  /// listen(). Errors: there is no such group; the kernel's.
  [[nodiscard]] Result<void> give_to(const std::string& group);
  /// Ends the open connections of `caller`, or of all where callers are not told apart; they may
  /// come again.
  void drop_connections(const std::string& caller);
  /// Stops listening, ends open connections, removes the socket.
  void close();

 private:
  struct Impl;
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::api
