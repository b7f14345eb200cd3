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

// What a path is before it is written.
struct Before {
  bool is_special = false;  // there and no regular file: it stays, and is written through
  bool is_regular = false;
  mode_t mode = 0;  // of a regular file
  int flags = O_CREAT | O_EXCL;
};

// A link is written through, since /dev/stdout is one; a dangling one gets its file.
Before look_at(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (S_ISREG(status.st_mode)) return {false, true, status.st_mode & 0777U};
  return {true, false, 0, O_TRUNC | (S_ISLNK(status.st_mode) ? O_CREAT : 0)};
}

// Returns the errno of what failed, 0 if all is written.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(file, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
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

Result<void> write_file(const std::string& path, const std::string& text,
                        std::optional<mode_t> mode) {
  const std::string doing = "writing " + printable(path, 400);
  const Before before = look_at(path);
  const bool is_special = before.is_special;
  const std::string beside = is_special ? path : path + ".new-" + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CLOEXEC | before.flags, 0666);
  if (file < 0) return errno_error(errno, doing);
  if (!mode && before.is_regular) mode = before.mode;
  int failed = write_all(file, text);
  if (!is_special && failed == 0 && mode && fchmod(file, *mode) != 0) failed = errno;
  if (!is_special && failed == 0 && fsync(file) != 0) failed = errno;
  if (close(file) != 0 && failed == 0) failed = errno;
  if (is_special) return failed == 0 ? Result<void>() : errno_error(failed, doing);
  if (failed == 0 && rename(beside.c_str(), path.c_str()) != 0) failed = errno;
  if (failed == 0) return {};
  unlink(beside.c_str());
  return errno_error(failed, doing);
}

}  // namespace flowcon::plugin
