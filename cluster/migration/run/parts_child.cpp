// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/parts_child.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ctrl/launch.h"
#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kPiece = 64U << 10;
constexpr double kReapLook = 0.05;  // seconds
constexpr std::size_t kMostWords = 2048;
constexpr auto kPatience = 5min;
constexpr auto kLastWords = 300ms;  // after its end, for what a child of its own may hold open

struct Pipes {
  int data = -1;  // ours
  int data_theirs = -1;
  int words = -1;
  int words_theirs = -1;
};

void close_all(const Pipes& pipes) {
  for (const int file : {pipes.data, pipes.data_theirs, pipes.words, pipes.words_theirs}) {
    if (file >= 0) ::close(file);
  }
}

Result<Pipes> open_pipes(Child::Flow flow) {
  Pipes pipes;
  int words[2], data[2];
  if (::pipe2(words, O_CLOEXEC) != 0) return errno_error(errno, "making a pipe");
  pipes.words = words[0];
  pipes.words_theirs = words[1];
  if (flow == Child::Flow::neither) return pipes;
  if (::pipe2(data, O_CLOEXEC) != 0) {
    const int why = errno;
    close_all(pipes);
    return errno_error(why, "making a pipe");
  }
  const bool gives = flow == Child::Flow::gives;
  pipes.data = data[gives ? 0 : 1];
  pipes.data_theirs = data[gives ? 1 : 0];
  return pipes;
}

std::vector<pid_t> unreaped;  // killed; of the loop's thread alone

// Its words are shown and its patterns are plain, whatever the daemon's own surroundings.
Result<pid_t> launch(const std::vector<std::string>& words, const Pipes& pipes, Child::Flow flow) {
  const int in = flow == Child::Flow::takes ? pipes.data_theirs : -1;
  const int out = flow == Child::Flow::gives ? pipes.data_theirs : -1;
  return ctrl::launch(
      words, {in, out, pipes.words_theirs},
      {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"});
}

}  // namespace

struct Child::Impl : std::enable_shared_from_this<Child::Impl> {
  Impl(const asio::any_io_executor& executor, const Pipes& pipes, pid_t child, std::string program)
      : data(executor),
        words(executor, pipes.words),
        heard(executor),
        limit(executor),
        pid(child),
        name(std::move(program)) {
    if (pipes.data >= 0) data.assign(pipes.data);
    heard.expires_at(asio::steady_timer::time_point::max());
  }
  ~Impl() { reap(); }

  ctrl::Async<void> listen();
  ctrl::Async<void> await_exit();
  void begin_patience();
  [[nodiscard]] Error failure(const boost::system::error_code& code, const char* doing) const;
  void reap();

  asio::posix::stream_descriptor data;
  asio::posix::stream_descriptor words;  ///< stderr
  asio::steady_timer heard;              ///< cancelled at the end of stderr
  asio::steady_timer limit;
  pid_t pid;
  int status = 0;
  std::string name;
  std::string said;
  bool has_said_all = false;
  bool is_late = false;
};

ctrl::Async<void> Child::Impl::listen() {
  auto self = shared_from_this();
  std::string piece(1024, '\0');
  for (;;) {
    auto [code, count] = co_await words.async_read_some(asio::buffer(piece), kAwait);
    said.append(piece, 0, count);
    if (said.size() > kMostWords) said.erase(0, said.size() - kMostWords);
    if (code) break;
  }
  has_said_all = true;
  heard.cancel();
}

void Child::Impl::begin_patience() {
  limit.expires_after(kPatience);
  const auto give_up = [weak = weak_from_this()](const boost::system::error_code& code) {
    const auto self = weak.lock();
    if (code || !self || self->pid < 0) return;
    self->is_late = true;
    ::kill(self->pid, SIGKILL);
  };
  limit.async_wait(give_up);
}

Error Child::Impl::failure(const boost::system::error_code& code, const char* doing) const {
  if (is_late) return errno_error(ETIMEDOUT, name + " did nothing for five minutes");
  return {code, std::string(doing) + " " + name};
}

ctrl::Async<void> Child::Impl::await_exit() {
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (file < 0) co_return;
  asio::posix::stream_descriptor end(co_await asio::this_coro::executor, file);
  (void)co_await end.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
}

void Child::Impl::reap() {
  if (pid < 0) return;
  ::kill(pid, SIGKILL);
  unreaped.push_back(std::exchange(pid, -1));
  // One that waits for a disk ends when that answers, and is not waited for.
  std::erase_if(unreaped, [](pid_t one) {
    int ignored = 0;
    return ::waitpid(one, &ignored, WNOHANG) != 0;
  });
}

ctrl::Async<Result<std::shared_ptr<Child>>> Child::start(std::vector<std::string> words,
                                                         Flow flow) {
  Result<Pipes> pipes = open_pipes(flow);
  if (!pipes) co_return pipes.error();
  const Result<pid_t> pid = launch(words, *pipes, flow);
  for (int* file : {&pipes->data_theirs, &pipes->words_theirs}) {
    if (*file >= 0) ::close(*file);
    *file = -1;
  }
  if (!pid) {
    close_all(*pipes);
    co_return pid.error();
  }
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto impl = std::make_shared<Impl>(executor, *pipes, *pid, words.front());
  // It throws nothing but what ends the daemon anyway: no memory.
  asio::co_spawn(executor, impl->listen(), [](std::exception_ptr failure) {
    if (failure) std::abort();
  });
  co_return std::shared_ptr<Child>(new Child(std::move(impl)));
}

Child::Child(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Child::~Child() {
  boost::system::error_code ignored;
  impl_->data.close(ignored);
  impl_->words.close(ignored);
  impl_->limit.cancel();
  impl_->reap();
}

ctrl::Async<Result<std::string>> Child::read() {
  const auto impl = impl_;
  std::string piece(kPiece, '\0');
  impl->begin_patience();
  // Pipes give 4 KiB at a time where their writer is slow; larger pieces are worth the wait.
  auto [code, count] = co_await asio::async_read(impl->data, asio::buffer(piece), kAwait);
  impl->limit.cancel();
  piece.resize(count);
  if (code && (code != asio::error::eof || impl->is_late)) {
    co_return impl->failure(code, "reading what comes from");
  }
  co_return piece;
}

ctrl::Async<Result<void>> Child::write(std::string bytes) {
  const auto impl = impl_;
  impl->begin_patience();
  auto [code, count] = co_await asio::async_write(impl->data, asio::buffer(bytes), kAwait);
  impl->limit.cancel();
  if (code) co_return impl->failure(code, "writing to");
  co_return Result<void>();
}

ctrl::Async<Result<void>> Child::finish() {
  const auto impl = impl_;
  boost::system::error_code ignored;
  impl->data.close(ignored);
  impl->begin_patience();
  if (impl->pid >= 0) {
    co_await impl->await_exit();
    // Ended by itself, or late and killed: the status tells which.
    pid_t ended = 0;
    while ((ended = ::waitpid(impl->pid, &impl->status, WNOHANG)) == 0 ||
           (ended < 0 && errno == EINTR)) {
      co_await ctrl::pause(kReapLook);
    }
    impl->pid = -1;
  }
  impl->limit.cancel();
  if (!impl->has_said_all) {
    impl->heard.expires_after(kLastWords);
    (void)co_await impl->heard.async_wait(kAwait);
  }
  if (WIFEXITED(impl->status) && WEXITSTATUS(impl->status) == 0) co_return Result<void>();
  if (impl->is_late) co_return impl->failure({}, "");
  std::string said = impl->said;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  co_return bad_input(impl->name + " failed" + (said.empty() ? "" : ": " + printable(said, 400)));
}

ctrl::Async<Result<void>> run_child(std::vector<std::string> words) {
  auto child = co_await Child::start(std::move(words), Child::Flow::neither);
  if (!child) co_return child.error();
  co_return co_await (*child)->finish();
}

}  // namespace flowcon::cluster::migration
