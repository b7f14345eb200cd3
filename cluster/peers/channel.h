// SPDX-License-Identifier: Apache-2.0
// A child process whose stdin and stdout carry HTTP: ssh to a peer. One request at a time; knows
// nothing of what is asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/reply.h"

namespace flowcon::ctrl {
struct Command;
}

namespace flowcon::cluster::peers {

using ctrl::Reply;

class Channel {
 public:
  /// The longest answer that is read, in bytes.
  static constexpr std::size_t kMaxAnswer = 1U << 20;

  /// Starts `words` without a shell; the first is looked for on the PATH. Errors: it cannot be
  /// started.
  [[nodiscard]] static Result<std::shared_ptr<Channel>> open(boost::asio::io_context& io,
                                                             const std::vector<std::string>& words);
  /// Kills what close() has not ended.
  ~Channel();

  /// Sends a request and waits for its answer, at most `seconds` in all. After an error no more may
  /// be asked. Errors: asio's eof the child ended; ETIMEDOUT; a longer answer; no HTTP.
  Async<Result<Reply>> ask(std::string method, std::string target, std::string body,
                           double seconds);
  /// Ends the child, within a second and a half. Returns the last it wrote to stderr, at most 4
  /// KiB, as it came.
  Async<std::string> close();

 private:
  struct Impl;
  explicit Channel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// The command of an ssh that bridges to a peer's socket, with no rights but its files'.
[[nodiscard]] ctrl::Command bridge(std::vector<std::string> argv);

}  // namespace flowcon::cluster::peers
