// SPDX-License-Identifier: Apache-2.0
#include "ctrl/wire/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace flowcon::ctrl {
namespace {

// In the child, between fork and exec: nothing here may allocate or lock.
int give_up_rights() {
  // Root's programs get every capability of the bounding set back, but not where no new privileges
  // may be had. To empty the set takes a capability that a service need not have.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  for (unsigned long one = 0; one < 64; ++one) {
    if (::prctl(PR_CAPBSET_READ, one, 0, 0, 0) < 0) break;
    (void)::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  }
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

int take_files(const std::array<int, 3>& files) {
  for (int file = 0; file < 3; ++file) {
    const int from = files[static_cast<std::size_t>(file)];
    const int opened = from >= 0 ? from : ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (opened < 0 || ::dup2(opened, file) < 0) return errno;
  }
  return 0;
}

// All but the first three, once it is another program.
void close_others() {
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX);  // kernels before 5.11
  for (int file = 3; file < most; ++file) ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

// What posix_spawn has no word for. `failed` is where the child says why it cannot be started.
[[noreturn]] void become(char* const* argv, char* const* envp, const std::array<int, 3>& files,
                         bool has_own_group, int failed) {
  if (has_own_group) ::setpgid(0, 0);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int why = take_files(files);
  close_others();
  if (why == 0) why = give_up_rights();
  if (why == 0) {
    ::execvpe(argv[0], argv, envp);
    why = errno;
  }
  (void)!::write(failed, &why, sizeof why);
  ::_exit(127);
}

Result<pid_t> launch_bare(char* const* argv, char* const* envp, const std::array<int, 3>& files,
                          bool has_own_group) {
  const std::string doing = std::string("starting ") + argv[0] + " without capabilities";
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0) return errno_error(errno, doing);
  // Until it has none of our handlers any more, a signal would be heard by both.
  sigset_t all, ours;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &ours);
  const pid_t pid = ::fork();
  if (pid == 0) become(argv, envp, files, has_own_group, said[1]);
  int why = pid < 0 ? errno : 0;
  ::pthread_sigmask(SIG_SETMASK, &ours, nullptr);
  ::close(said[1]);
  if (pid > 0) {
    // Ends with exec, which closes the other side.
    while (::read(said[0], &why, sizeof why) < 0 && errno == EINTR) {
    }
  }
  ::close(said[0]);
  if (why == 0) return pid;
  while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return errno_error(why, doing);
}

}  // namespace

Result<pid_t> launch(const std::vector<std::string>& argv, const std::array<int, 3>& files,
                     std::vector<std::string> environment, Rights rights, bool has_own_group) {
  std::vector<char*> pointers, envp;
  for (const std::string& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  for (std::string& variable : environment) envp.push_back(variable.data());
  envp.push_back(nullptr);
  char* const* variables = environment.empty() ? environ : envp.data();
  if (rights == Rights::none) return launch_bare(pointers.data(), variables, files, has_own_group);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int file = 0; file < 3; ++file) {
    const int from = files[static_cast<std::size_t>(file)];
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&actions, from, file);
    } else {
      posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0);
    }
  }
  // Asio's sockets are inherited: a child that outlives us would hold the API's.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  pid_t pid = -1;
  const int code =
      ::posix_spawnp(&pid, pointers[0], &actions, &attributes, pointers.data(), variables);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return errno_error(code, "starting " + argv.front());
  return pid;
}

}  // namespace flowcon::ctrl
