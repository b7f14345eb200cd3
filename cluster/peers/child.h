// SPDX-License-Identifier: Apache-2.0
// A child process whose stdin and stdout are one stream and whose last words are kept: ssh to a
// peer. For .cpp files only: it includes Asio.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/upload.h"

namespace flowcon::cluster::peers {

class Child : public std::enable_shared_from_this<Child> {
 public:
  /// Starts `words` without a shell; the first is looked for on the PATH. Errors: it cannot be
  /// started.
  [[nodiscard]] static Result<std::shared_ptr<Child>> start(boost::asio::io_context& io,
                                                            const std::vector<std::string>& words);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { reap(); }

  /// Its stdin and stdout; closed by close() and abandon().
  [[nodiscard]] std::shared_ptr<ctrl::LocalStream> stream() const { return stream_; }
  /// Ends the child, within a second and a half. Returns the last it wrote to stderr, at most 4
  /// KiB, as it came.
  ctrl::Async<std::string> close();
  /// Kills the child, if close() has not ended it.
  void abandon();

 private:
  struct Files;
  Child(boost::asio::io_context& io, const Files& files, pid_t pid);

  [[nodiscard]] static Result<Files> open_files();
  ctrl::Async<void> listen();
  ctrl::Async<void> await_exit();
  void reap();

  boost::asio::io_context& io_;
  std::shared_ptr<ctrl::LocalStream> stream_;
  boost::asio::posix::stream_descriptor words_;  ///< stderr
  std::string said_;
  bool has_said_all_ = false;
  boost::asio::steady_timer heard_;  ///< cancelled at the end of stderr
  pid_t pid_;
};

/// However a child's end shows in what comes from its stream.
[[nodiscard]] bool is_end(const boost::system::error_code& code);

}  // namespace flowcon::cluster::peers
