// SPDX-License-Identifier: Apache-2.0
#include "ctrl/wire/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/seconds.h"
#include "base/text.h"
#include "ctrl/await.h"
#include "ctrl/pause.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kPiece = 64U << 10;
constexpr double kReapLook = 0.05;  // seconds
constexpr double kGoodbye = 1;      // seconds from SIGTERM to SIGKILL
constexpr double kDeath = 2;        // seconds from SIGKILL on; one that waits for a disk has none
// After its end, for what a child of its own may hold open.
constexpr std::chrono::milliseconds kLastWords{300};

std::vector<pid_t> unreaped;  // killed; of the loop's thread alone

// A file in memory, as stdin: a program that does not read it keeps nobody waiting.
Result<int> file_of(const std::string& input) {
  const int file = ::memfd_create("flowcon-input", MFD_CLOEXEC);
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

}  // namespace

struct Child::Files {
  int input = -1;
  int ours = -1;
  int theirs = -1;
  int errors = -1;
  int errors_theirs = -1;

  void close_theirs() {
    for (int* file : {&input, &theirs, &errors_theirs}) {
      if (*file >= 0) ::close(std::exchange(*file, -1));
    }
  }
  void close_all() {
    close_theirs();
    for (const int file : {ours, errors}) {
      if (file >= 0) ::close(file);
    }
  }
};

// Its stderr, which may be read longer than the child is held.
struct Child::Errors {
  Errors(const asio::any_io_executor& executor, std::size_t most_bytes)
      : file(executor), heard(executor), most(most_bytes) {}

  static Async<void> listen(std::shared_ptr<Errors> self) {
    std::string piece(4096, '\0');
    for (;;) {
      auto [code, count] = co_await self->file.async_read_some(asio::buffer(piece), kAwait);
      self->said.append(piece, 0, count);
      if (self->said.size() > self->most) self->said.erase(0, self->said.size() - self->most);
      if (code) break;
    }
    self->is_heard = true;
    self->heard.cancel();
  }

  static Async<void> await_last_words(std::shared_ptr<Errors> self) {
    if (self->is_heard) co_return;
    self->heard.expires_after(kLastWords);
    (void)co_await self->heard.async_wait(kAwait);
  }

  asio::posix::stream_descriptor file;
  asio::steady_timer heard;  ///< cancelled at the end
  std::string said;
  std::size_t most;
  bool is_heard = false;
};

Result<Child::Files> Child::open_files(const Command& command) {
  Files files;
  const auto failed = [&files](const Error& error) {
    files.close_all();
    return error;
  };
  if (command.input) {
    const Result<int> input = file_of(*command.input);
    if (!input) return input.error();
    files.input = *input;
  }
  int pair[2];
  if (command.joined != Joined::none) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
      return failed(errno_error(errno, "making a socket for " + command.argv.front()));
    }
    files.ours = pair[0];
    files.theirs = pair[1];
  }
  if (!command.passes_errors && !command.joins_errors) {
    if (::pipe2(pair, O_CLOEXEC) != 0) {
      return failed(errno_error(errno, "making a pipe for " + command.argv.front()));
    }
    files.errors = pair[0];
    files.errors_theirs = pair[1];
  }
  return files;
}

Child::Child(const asio::any_io_executor& executor, const Files& files, pid_t pid,
             const Command& command)
    : executor_(executor),
      stream_(std::make_shared<LocalStream>(executor)),
      errors_(std::make_shared<Errors>(executor, command.most_errors)),
      pid_(pid),
      killed_(command.is_ours ? pid : -pid),
      goes_on_(command.goes_on),
      name_(command.argv.front()) {
  if (files.ours >= 0) stream_->socket().assign(asio::local::stream_protocol(), files.ours);
  errors_->is_heard = files.errors < 0;
  if (errors_->is_heard) return;
  errors_->file.assign(files.errors);
  // It throws nothing but what ends the program anyway: no memory.
  asio::co_spawn(executor, Errors::listen(errors_), [](std::exception_ptr failure) {
    if (failure) std::abort();
  });
}

Result<std::shared_ptr<Child>> Child::start(asio::any_io_executor executor,
                                            const Command& command) {
  if (command.argv.empty()) return bad_input("there is no program to start");
  Result<Files> files = open_files(command);
  if (!files) return files.error();
  const bool takes = command.joined == Joined::in || command.joined == Joined::both;
  const bool gives = command.joined == Joined::out || command.joined == Joined::both;
  const int out = gives ? files->theirs : -1;
  const int errors = command.joins_errors ? out : files->errors_theirs;
  const Result<pid_t> pid = launch(
      command.argv,
      {takes ? files->theirs : files->input, out, command.passes_errors ? STDERR_FILENO : errors},
      command.environment, command.rights, !command.is_ours);
  if (!pid) {
    files->close_all();
    return pid.error();
  }
  files->close_theirs();
  return std::shared_ptr<Child>(new Child(executor, *files, *pid, command));
}

Child::~Child() {
  if (!goes_on_) abandon();
}

const std::string& Child::said() const { return errors_->said; }

void Child::kill(int signal) const {
  if (pid_ >= 0) ::kill(killed_, signal);
}

void Child::reap() {
  if (pid_ < 0) return;
  kill(SIGKILL);
  unreaped.push_back(std::exchange(pid_, -1));
  // One that waits for a disk ends when that answers, and is not waited for.
  std::erase_if(unreaped, [](pid_t one) { return ::waitpid(one, nullptr, WNOHANG) != 0; });
}

void Child::abandon() {
  boost::system::error_code ignored;
  stream_->close();
  errors_->file.close(ignored);
  reap();
}

// It is not reaped: as long as it has its pid its group can be killed.
bool Child::has_ended() const {
  if (pid_ < 0) return true;
  siginfo_t end{};
  const int looked = ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT);
  return looked == 0 ? end.si_pid != 0 : errno != EINTR;
}

Async<bool> Child::has_ended_within(double seconds) {
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  // Too many files are open, or it is a kernel before 5.3.
  if (file < 0) co_return co_await is_seen_ended_within(seconds);
  // Shared with the handler, which may be queued already when the child has ended.
  auto end = std::make_shared<asio::posix::stream_descriptor>(executor_, file);
  asio::steady_timer limit(executor_, nanoseconds(seconds));
  limit.async_wait([end](const boost::system::error_code& code) {
    boost::system::error_code ignored;
    if (!code) end->cancel(ignored);
  });
  // Asio may wake for what was heard of another file that had its number.
  boost::system::error_code why;
  while (!why && !has_ended()) {
    auto [code] = co_await end->async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
    why = code;
  }
  limit.cancel();
  co_return has_ended();
}

Error Child::failure(const boost::system::error_code& code, const char* doing) {
  if (is_timeout(code)) {
    is_late_ = true;
    kill(SIGKILL);
  }
  return stream_error(code, std::string(doing) + " " + name_);
}

Async<Result<std::string>> Child::read(double seconds) {
  const auto self = shared_from_this();
  // Asio waits for ever for more behind an end that it has told of.
  if (has_given_all_) co_return std::string();
  std::string piece(kPiece, '\0');
  stream_->expires_after(nanoseconds(seconds));
  // Small pieces come where their writer is slow; larger ones are worth the wait.
  auto [code, count] = co_await asio::async_read(*stream_, asio::buffer(piece), kAwait);
  piece.resize(count);
  has_given_all_ = code == asio::error::eof;
  if (code && !has_given_all_) co_return failure(code, "reading the output of");
  co_return piece;
}

Async<Result<void>> Child::write(std::string bytes, double seconds) {
  const auto self = shared_from_this();
  stream_->expires_after(nanoseconds(seconds));
  auto [code, count] = co_await asio::async_write(*stream_, asio::buffer(bytes), kAwait);
  if (code) co_return failure(code, "writing to");
  co_return Result<void>();
}

Async<bool> Child::is_seen_ended_within(double seconds) {
  const double until = steady_seconds() + seconds;
  while (!has_ended()) {
    if (steady_seconds() >= until) co_return false;
    co_await pause(kReapLook);
  }
  co_return true;
}

Async<void> Child::take_status() {
  const double until = steady_seconds() + kDeath;
  while (pid_ >= 0) {
    const pid_t ended = ::waitpid(pid_, &status_, WNOHANG);
    if (ended > 0 || (ended < 0 && errno != EINTR)) {
      pid_ = -1;
    } else if (steady_seconds() >= until) {
      status_ = SIGKILL;
      reap();
    } else {
      co_await pause(kReapLook);
    }
  }
}

Async<int> Child::finish(double seconds) {
  const auto self = shared_from_this();
  stream_->close();
  if (pid_ >= 0) {
    const bool is_over = co_await has_ended_within(seconds);
    if (!is_over) {
      is_late_ = true;
      kill(SIGKILL);
    }
    co_await Errors::await_last_words(errors_);
    // What it has left behind, as long as its group has its pid.
    kill(SIGKILL);
    co_await take_status();
  }
  boost::system::error_code ignored;
  errors_->file.close(ignored);
  co_return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

Async<Result<void>> Child::succeed(double seconds) {
  const auto self = shared_from_this();
  const int status = co_await finish(seconds);
  if (is_late_) co_return errno_error(ETIMEDOUT, name_ + " was idle for too long");
  if (status == 0) co_return Result<void>();
  std::string said = errors_->said;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  co_return bad_input(name_ + " failed: " +
                      (said.empty() ? "status " + std::to_string(status) : printable(said, 400)));
}

Async<std::string> Child::close() {
  const auto self = shared_from_this();
  stream_->close();
  co_await Errors::await_last_words(errors_);
  kill(SIGTERM);
  if (pid_ >= 0) (void)co_await has_ended_within(kGoodbye);
  abandon();
  co_return errors_->said;
}

Async<Result<Ran>> run(Command command, double seconds) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Result<std::shared_ptr<Child>> child = Child::start(executor, command);
  if (!child) co_return child.error();
  Ran ran;
  for (bool is_reading = command.joined == Joined::out; is_reading;) {
    Result<std::string> piece = co_await (*child)->read(seconds);
    is_reading = piece && !piece->empty();
    if (!is_reading) break;
    const std::size_t room = command.most_output - ran.out.size();
    ran.is_cut = ran.is_cut || piece->size() > room;
    ran.out.append(*piece, 0, room);
  }
  ran.status = co_await (*child)->finish(seconds);
  ran.err = (*child)->said();
  co_return ran;
}

}  // namespace flowcon::ctrl
