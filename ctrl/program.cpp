// SPDX-License-Identifier: Apache-2.0
#include "ctrl/program.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "ctrl/launch.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// A file in memory, as stdin: a program that does not read it keeps nobody waiting.
Result<int> file_of(const std::string& input) {
  const int file = ::memfd_create("flowcon-hook", MFD_CLOEXEC);
  if (file < 0) return errno_error(errno, "making a program's input");
  for (std::size_t done = 0; done < input.size();) {
    const ssize_t wrote = ::write(file, input.data() + done, input.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int why = errno;
      ::close(file);
      return errno_error(why, "writing a program's input");
    }
    done += static_cast<std::size_t>(wrote);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Async<Result<int>> run_program(asio::io_context* io, std::vector<std::string> words,
                               std::string input, double seconds) {
  if (words.empty()) co_return bad_input("there is no program to start");
  const Result<int> file = file_of(input);
  if (!file) co_return file.error();
  const Result<pid_t> started = launch(words, {*file, -1, -1});
  ::close(*file);
  if (!started) co_return started.error();
  const pid_t pid = *started;
  const auto watched = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (watched < 0) {
    const int why = errno;
    ::kill(-pid, SIGKILL);
    reap(pid);
    co_return errno_error(why, "watching " + words.front());
  }
  asio::posix::stream_descriptor watch(*io, watched);
  asio::steady_timer timer(*io);
  timer.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(
      std::chrono::duration<double>(seconds)));
  // Until it is reaped the number is its own; after that it may be anybody's.
  const auto is_over = std::make_shared<bool>(false);
  timer.async_wait([pid, is_over](const boost::system::error_code& code) {
    if (!code && !*is_over) ::kill(-pid, SIGKILL);
  });
  const auto [code] = co_await watch.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
  *is_over = true;
  timer.cancel();
  if (code) ::kill(-pid, SIGKILL);
  co_return reap(pid);
}

}  // namespace flowcon::ctrl
