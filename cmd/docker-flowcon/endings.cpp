// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/endings.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace flowcon::plugin {
namespace {

constexpr int kSignalBase = 128;
constexpr const char* kSocketOfDocker = "DOCKER_CLI_PLUGIN_SOCKET";

// Set before the handlers are.
volatile sig_atomic_t begins_new_line = 0;

constexpr long kPatienceSeconds = 2;

// Set by pass_endings_to(). A handler may only touch atomics without locks.
static_assert(std::atomic<long>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
std::atomic<int> endings_file{-1};
std::atomic<long> first_ending{0};  // on the monotonic clock, in seconds; 0 = none came
termios modes{};
std::atomic<bool> has_modes{false};
struct sigaction quit_before {};

std::mutex docker_end_mutex;                      // held while it is acted upon
const std::function<void()>* watching = nullptr;  // what a DockerWatch has

// False if the process is to end now. Calls only functions that POSIX allows in a handler.
bool pass_ending(int number) {
  const int file = endings_file.load();
  if (file < 0) return false;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  long none = 0;
  const bool is_first = first_ending.compare_exchange_strong(none, now.tv_sec + 1);
  const char byte = static_cast<char>(number);
  const bool is_written = write(file, &byte, 1) == 1;
  if (is_written && (is_first || now.tv_sec + 1 - none <= kPatienceSeconds)) return true;
  if (has_modes) tcsetattr(STDIN_FILENO, TCSANOW, &modes);
  return false;
}

// Calls only functions that POSIX allows in a handler.
void end_by_signal(int number) {
  const int before = errno;
  if (pass_ending(number)) {
    errno = before;
    return;
  }
  // The terminal shows "^C" where the cursor is; the shell's prompt belongs below it.
  if (number == SIGINT && begins_new_line != 0 && write(STDOUT_FILENO, "\n", 1) < 0) _exit(1);
  _exit(kSignalBase + number);
}

// "@name" is an abstract socket: a leading NUL, and a length instead of a terminator.
int connect_to(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, name.data(), name.size());
  std::size_t length = offsetof(sockaddr_un, sun_path) + name.size();
  if (name[0] == '@') {
    address.sun_path[0] = '\0';
  } else {
    ++length;
  }
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length)) ==
      0) {
    return file;
  }
  close(file);
  return -1;
}

// Returns once the other side has closed it.
void await_close(int file) {
  char byte = 0;
  ssize_t got = 0;
  do got = read(file, &byte, 1);
  while (got > 0 || (got < 0 && errno == EINTR));
}

void end_after(int file) {
  await_close(file);
  const std::lock_guard lock(docker_end_mutex);
  if (watching != nullptr) {
    (*watching)();
  } else if (!pass_ending(SIGINT)) {
    _exit(kSignalBase + SIGINT);
  }
}

// One that is ignored stays so.
void end_on(int number) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = end_by_signal;
  sigaction(number, &action, nullptr);
}

}  // namespace

void end_on_signals(bool is_interactive) {
  begins_new_line = is_interactive ? 1 : 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) end_on(number);
}

void end_with_docker(const Environment& environment) {
  const int file = connect_to(lookup(environment, kSocketOfDocker));
  if (file < 0) return;
  // Handlers run in the main thread alone, which relies on it (run_child()).
  sigset_t all{}, before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(end_after, file).detach();
  } catch (const std::system_error&) {
    close(file);  // then the end of docker ends nothing
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DockerWatch::DockerWatch(std::function<void()> ended) : ended_(std::move(ended)) {
  const std::lock_guard lock(docker_end_mutex);
  watching = &ended_;
}

DockerWatch::~DockerWatch() {
  const std::lock_guard lock(docker_end_mutex);
  watching = nullptr;
}

void pass_endings_to(int file) {
  if (file >= 0) {
    first_ending = 0;
    has_modes = tcgetattr(STDIN_FILENO, &modes) == 0;
    sigaction(SIGQUIT, nullptr, &quit_before);
    end_on(SIGQUIT);
  } else {
    sigaction(SIGQUIT, &quit_before, nullptr);
  }
  endings_file = file;
}

int finish_output(Terminal& terminal, int status) {
  errno = 0;
  terminal.out.flush();
  if (terminal.out.good()) return status;
  const int number = errno;  // none if an earlier flush has failed
  const Error why = number != 0 ? errno_error(number, "writing to stdout")
                                : bad_input("cannot write all of the output");
  terminal.err << why.message() << "\n";
  return status != kDone ? status : kFailed;
}

}  // namespace flowcon::plugin
