// SPDX-License-Identifier: Apache-2.0
// HTTP on a unix socket: takes requests, asks the handler, sends its answers. Knows nothing of
// what is asked. docs/api.md is the contract.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::ctrl::api {

struct Request {
  std::string method;
  std::string target;
  std::string body;
  unsigned user = 0;  ///< who asks
};

struct Response {
  unsigned status = 200;
  std::string body;  ///< JSON
};

/// {"error":"…"} with a status.
[[nodiscard]] Response failure(unsigned status, const std::string& sentence);

using Handler = std::function<Async<Response>(Request)>;

class Server {
 public:
  /// Listens at `path` with mode 0660 and the group `group` (left alone, with a note in `notice`,
  /// where there is no such group). A missing folder is made; a socket that nobody listens at any
  /// more is replaced.
  /// Errors: somebody listens there already; the folder cannot be made or written.
  [[nodiscard]] static Result<std::unique_ptr<Server>> listen(boost::asio::io_context& io,
                                                              const std::string& path,
                                                              const std::string& group,
                                                              std::string* notice);
  ~Server();
  /// Answers requests until close(); a caller that may not use the socket gets a 403.
  void serve(Handler handler);
  /// Stops listening, ends open connections, removes the socket.
  void close();

 private:
  struct Impl;
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::api
