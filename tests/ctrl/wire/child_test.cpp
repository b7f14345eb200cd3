// SPDX-License-Identifier: Apache-2.0
#include "ctrl/wire/child.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "ctrl/await.h"
#include "ctrl/pause.h"
#include "ctrl/wire/run_alone.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

constexpr double kLong = 20;

Command shell(const std::string& script, Joined joined = Joined::out) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.joined = joined;
  return command;
}

Result<Ran> run_here(const Command& command, double seconds = kLong) {
  return run_alone([&] { return run(command, seconds); });
}

Async<Result<std::string>> read_twice(Command command, double seconds) {
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  Result<std::string> first = co_await (*child)->read(seconds);
  if (!first) co_return first;
  const Result<std::string> second = co_await (*child)->read(seconds);
  if (second) *first += *second;
  const Result<void> ended = co_await (*child)->succeed(seconds);
  if (!ended) co_return ended.error();
  co_return first;
}

// Asio has heard of all these files when the first one wakes this, which closes the others.
Async<Result<Ran>> run_amid_news(Command command) {
  using File = boost::asio::posix::stream_descriptor;
  const auto executor = co_await boost::asio::this_coro::executor;
  std::vector<File> files;
  for (int i = 0; i < 20; ++i) files.emplace_back(executor, ::eventfd(1, EFD_CLOEXEC));
  for (std::size_t i = 1; i < files.size(); ++i) {
    files[i].async_wait(File::wait_read, [](const boost::system::error_code&) {});
  }
  co_await files.front().async_wait(File::wait_read, kAwait);
  files.clear();
  co_return co_await run(std::move(command), kLong);
}

// Writes "x" until it is taken no more, then asks why.
Async<Result<void>> write_all(Command command) {
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  for (;;) {
    std::string piece(65536, 'x');
    const Result<void> written = co_await (*child)->write(std::move(piece), kLong);
    if (!written) break;
  }
  co_return co_await (*child)->succeed(kLong);
}

// No file can be opened while it lives, as in a process that has too many open.
class NoFiles {
 public:
  NoFiles() {
    ::getrlimit(RLIMIT_NOFILE, &usual_);
    const rlimit none{0, usual_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoFiles() { ::setrlimit(RLIMIT_NOFILE, &usual_); }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;

 private:
  rlimit usual_{};
};

Async<Result<int>> status_without_files(Command command, double seconds) {
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  const NoFiles no_files;
  co_return co_await (*child)->finish(seconds);
}

// Ends a program, and gives what it said first.
Async<Result<std::string>> close_without_files(Command command) {
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  Result<std::string> said = co_await (*child)->read(kLong);
  const NoFiles no_files;
  (void)co_await (*child)->close();
  co_return said;
}

// Files that are open.
std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

// How many more files are open behind a program's end than before it.
Async<Result<std::ptrdiff_t>> files_left_by(Command command) {
  co_await pause(0);
  const std::ptrdiff_t before = open_files();
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  (void)co_await (*child)->finish(kLong);
  co_await pause(0.01);
  co_return open_files() - before;
}

// Its status, after what it said.
Async<Result<int>> status_of(Command command, double seconds, std::string* said) {
  const auto child = Child::start(co_await boost::asio::this_coro::executor, command);
  if (!child) co_return child.error();
  const Result<std::string> first = co_await (*child)->read(kLong);
  if (!first) co_return first.error();
  *said = *first;
  co_return co_await (*child)->finish(seconds);
}

}  // namespace

TEST_CASE("a program gets its input and its words as they are, and its status comes back") {
  Command command = shell("cat; for w; do printf '<%s>' \"$w\"; done; echo bad >&2; exit 7");
  command.argv.insert(command.argv.end(), {"sh", "a b", "$(c)"});
  command.input = "line\n";
  const auto ran = run_here(command);
  REQUIRE(ran.has_value());
  CHECK(ran->status == 7);
  CHECK(ran->out == "line\n<a b><$(c)>");
  CHECK(ran->err == "bad\n");
}

TEST_CASE("a program that is not there, or none, is an error") {
  Command command;
  CHECK_FALSE(run_here(command).has_value());
  command.argv = {"/nowhere/program"};
  const auto ran = run_here(command);
  REQUIRE_FALSE(ran.has_value());
  CHECK(ran.error().code == boost::system::errc::no_such_file_or_directory);
}

TEST_CASE("a program that takes too long is killed with all that it started") {
  const auto ran = run_here(shell("sleep 600 & sleep 600", Joined::none), 0.2);
  REQUIRE(ran.has_value());
  CHECK(ran->status == 128 + SIGKILL);
}

TEST_CASE("a program has its time where too many files are open to be told of its end") {
  const auto status = [](const std::string& script, double seconds) {
    return *run_alone([&] { return status_without_files(shell(script, Joined::none), seconds); });
  };
  CHECK(status("sleep 0.1; exit 7", kLong) == 7);
  CHECK(status("exec sleep 600", 0.1) == 128 + SIGKILL);
}

TEST_CASE("a program is ended with all that it started where too many files are open, too") {
  // What it started outlives SIGTERM, says its own pid, and is ours when its parent has ended.
  const std::string started = "trap \"\" TERM; echo $$; exec sleep 20 >/dev/null 2>&1";
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1UL) == 0);
  const auto said = run_alone(
      [&] { return close_without_files(shell("sh -c '" + started + "' & exec >&-; wait")); });
  REQUIRE((said.has_value() && !said->empty()));
  const pid_t pid = std::stoi(*said);
  int status = 0;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0UL);
}

TEST_CASE("a program is not taken for ended by what was heard of files before it") {
  const Result<Ran> ran = run_alone([] { return run_amid_news(shell("sleep 1", Joined::none)); });
  REQUIRE(ran.has_value());
  CHECK(ran->status == 0);
}

TEST_CASE("what a program that has ended left behind is killed, and costs no open file") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1UL) == 0);
  const auto ran = run_here(shell("sleep 20 >/dev/null & echo $!"));
  REQUIRE((ran.has_value() && ran->status == 0));
  const pid_t pid = std::stoi(ran->out);
  int status = 0;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0UL);
  // Not of its group, it goes on.
  Command command = shell("setsid sleep 3 &", Joined::none);
  const auto left = run_alone([&] { return files_left_by(command); });
  REQUIRE(left.has_value());
  CHECK(*left == 0);
}

TEST_CASE("a program that goes on when it was killed is not waited for") {
  // As one that waits for a disk: of another group, it gets no signal.
  Command command;
  command.argv = {"python3", "-c",
                  "import os, time\n"
                  "os.setpgid(0, os.getpgid(os.getppid()))\n"
                  "print(os.getpid(), flush=True)\n"
                  "os.close(1)\n"
                  "time.sleep(20)\n"};
  command.joined = Joined::out;
  std::string said;
  const auto status = run_alone([&] { return status_of(command, 0.1, &said); });
  REQUIRE((status.has_value() && !said.empty()));
  CHECK(*status == 128 + SIGKILL);
  const pid_t pid = std::stoi(said);
  ::kill(pid, SIGKILL);
  CHECK(::waitpid(pid, nullptr, 0) == pid);
}

TEST_CASE("of long output the first is kept, and of long complaints the last") {
  const auto ran = run_here(
      shell("head -c 3000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero >&2; echo end >&2"));
  REQUIRE(ran.has_value());
  CHECK(ran->out.size() == 1U << 20);
  CHECK(ran->err.size() == 4096);
  CHECK(ran->err.substr(4092) == "end\n");
}

TEST_CASE("what a program gives is read to its end, and a failure says its last words") {
  const auto given = run_alone([] { return read_twice(shell("printf abc"), kLong); });
  REQUIRE(given.has_value());
  CHECK(*given == "abc");
  const auto failed =
      run_alone([] { return read_twice(shell("printf abc; echo no room >&2; exit 3"), kLong); });
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().message() == "/bin/sh failed: no room");
  const auto silent = run_alone([] { return read_twice(shell("exit 3"), kLong); });
  REQUIRE_FALSE(silent.has_value());
  CHECK(silent.error().message() == "/bin/sh failed: status 3");
}

TEST_CASE("a program that gives nothing is not waited for longer than told") {
  const auto given = run_alone([] { return read_twice(shell("exec sleep 600"), 0.05); });
  REQUIRE_FALSE(given.has_value());
  CHECK(given.error().code == boost::system::errc::timed_out);
}

TEST_CASE("a program that takes no more says why") {
  const auto taken = run_alone(
      [] { return write_all(shell("head -c 10 >/dev/null; echo full >&2; exit 1", Joined::in)); });
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().message() == "/bin/sh failed: full");
}
