// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"

namespace flowcon::plugin {
namespace {

// Returns the errno of what failed, 0 if all is written.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(file, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

// Where it `is_exact` the umask takes no bits of `mode` away.
Result<void> put_in_place(const std::string& path, const std::string& text, mode_t mode,
                          bool is_exact) {
  const std::string doing = "writing " + printable(path, 400);
  const std::string beside = path + ".new-" + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (file < 0) return errno_error(errno, doing);
  int failed = write_all(file, text);
  if (failed == 0 && is_exact && fchmod(file, mode) != 0) failed = errno;
  if (failed == 0 && fsync(file) != 0) failed = errno;
  if (close(file) != 0 && failed == 0) failed = errno;
  if (failed == 0 && rename(beside.c_str(), path.c_str()) != 0) failed = errno;
  if (failed == 0) return {};
  unlink(beside.c_str());
  return errno_error(failed, doing);
}

Result<void> write_through(const std::string& path, const std::string& text, int flags) {
  const std::string doing = "writing " + printable(path, 400);
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC | flags, 0666);
  if (file < 0) return errno_error(errno, doing);
  int failed = write_all(file, text);
  if (close(file) != 0 && failed == 0) failed = errno;
  if (failed != 0) return errno_error(failed, doing);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const std::string shown = printable(path, 400);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno_error(errno, "reading " + shown);
  std::string text;
  std::array<char, 65536> block{};
  int failed = 0;
  while (failed == 0 && text.size() <= most_bytes) {
    const ssize_t got = read(file, block.data(), block.size());
    if (got == 0) break;
    if (got < 0 && errno != EINTR) failed = errno;
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
  }
  close(file);
  if (failed != 0) return errno_error(failed, "reading " + shown);
  if (text.size() > most_bytes) {
    return bad_input(shown + " is longer than " + std::to_string(most_bytes >> 20U) + " MiB");
  }
  return text;
}

Result<void> replace_file(const std::string& path, const std::string& text, mode_t mode) {
  return put_in_place(path, text, mode, true);
}

Result<void> write_file(const std::string& path, const std::string& text) {
  struct stat before {};
  if (lstat(path.c_str(), &before) != 0) return put_in_place(path, text, 0666, false);
  // /dev/stderr is a link; a dangling one gets its file.
  if (S_ISLNK(before.st_mode)) return write_through(path, text, O_CREAT);
  if (!S_ISREG(before.st_mode)) return write_through(path, text, 0);
  const bool is_ours = before.st_uid == geteuid();
  return put_in_place(path, text, is_ours ? before.st_mode & 0777U : 0666U, is_ours);
}

bool is_stdout(const std::string& path) {
  struct stat named {};
  struct stat out {};
  return stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
         named.st_dev == out.st_dev && named.st_ino == out.st_ino;
}

}  // namespace flowcon::plugin
