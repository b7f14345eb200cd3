// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/child.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <csignal>

#include "ctrl/launch.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::peers {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace std::chrono_literals;
using Local = asio::local::stream_protocol;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kMostWords = 4096;
constexpr auto kLastWords = 300ms;  // after the end of stdout, for those of stderr
constexpr auto kGoodbye = 1s;       // from SIGTERM to SIGKILL

}  // namespace

struct Child::Files {
  int ours = -1;
  int theirs = -1;
  int words = -1;
  int words_theirs = -1;
};

Result<Child::Files> Child::open_files() {
  Files files;
  int pair[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return errno_error(errno, "making a socket for ssh");
  }
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    const int why = errno;
    ::close(pair[0]);
    ::close(pair[1]);
    return errno_error(why, "making a pipe for ssh");
  }
  files.ours = pair[0];
  files.theirs = pair[1];
  files.words = pipe[0];
  files.words_theirs = pipe[1];
  return files;
}

bool is_end(const boost::system::error_code& code) {
  return code == asio::error::eof || code == http::error::end_of_stream ||
         code == http::error::partial_message || code == asio::error::operation_aborted ||
         code == boost::system::errc::bad_file_descriptor ||
         code == boost::system::errc::broken_pipe || code == boost::system::errc::connection_reset;
}

Child::Child(asio::io_context& io, const Files& files, pid_t pid)
    : io_(io),
      stream_(std::make_shared<ctrl::LocalStream>(Local::socket(io, Local(), files.ours))),
      words_(io, files.words),
      heard_(io),
      pid_(pid) {
  heard_.expires_at(asio::steady_timer::time_point::max());
}

Result<std::shared_ptr<Child>> Child::start(asio::io_context& io,
                                            const std::vector<std::string>& words) {
  Result<Files> files = open_files();
  if (!files) return files.error();
  // It speaks with whoever answers at a peer's address: all that it needs of root are its files.
  const Result<pid_t> pid = ctrl::launch(words, {files->theirs, files->theirs, files->words_theirs},
                                         {}, ctrl::Rights::none);
  ::close(files->theirs);
  ::close(files->words_theirs);
  if (!pid) {
    ::close(files->ours);
    ::close(files->words);
    return pid.error();
  }
  std::shared_ptr<Child> child(new Child(io, *files, *pid));
  ctrl::spawn(io, "words of ssh", child->listen());
  return child;
}

void Child::abandon() {
  boost::system::error_code ignored;
  stream_->close();
  words_.close(ignored);
  reap();
}

// Keeps the last of what the child says.
ctrl::Async<void> Child::listen() {
  auto self = shared_from_this();
  std::string piece(1024, '\0');
  for (;;) {
    auto [code, count] = co_await words_.async_read_some(asio::buffer(piece), kAwait);
    said_.append(piece, 0, count);
    if (said_.size() > kMostWords) said_.erase(0, said_.size() - kMostWords);
    if (code) break;
  }
  has_said_all_ = true;
  heard_.cancel();
}

ctrl::Async<void> Child::await_exit() {
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (file < 0) co_return;
  // Shared with the handler, which may be queued already when the child has ended.
  auto end = std::make_shared<asio::posix::stream_descriptor>(io_, file);
  asio::steady_timer limit(io_, kGoodbye);
  const auto give_up = [end](const boost::system::error_code& code) {
    boost::system::error_code ignored;
    if (!code) end->cancel(ignored);
  };
  limit.async_wait(give_up);
  (void)co_await end->async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
  limit.cancel();
}

void Child::reap() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

ctrl::Async<std::string> Child::close() {
  const auto self = shared_from_this();
  stream_->close();
  if (!has_said_all_) {
    heard_.expires_after(kLastWords);
    (void)co_await heard_.async_wait(kAwait);
  }
  if (pid_ >= 0) {
    ::kill(pid_, SIGTERM);
    co_await await_exit();
  }
  reap();
  boost::system::error_code ignored;
  words_.close(ignored);
  co_return said_;
}

}  // namespace flowcon::cluster::peers
