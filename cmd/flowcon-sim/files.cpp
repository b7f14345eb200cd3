// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>

#include "base/text.h"
#include "cmd/flowcon-sim/simulate.h"

namespace flowcon::sim {
namespace {

constexpr std::size_t kMostBytes = 512U << 20;
constexpr unsigned kPiece = 1U << 18;

}  // namespace

Result<std::string> read_packed(const std::string& path) {
  const std::string doing = "reading " + printable(path, 200);
  gzFile file = ::gzopen(path.c_str(), "rbe");
  if (file == nullptr) return errno_error(errno != 0 ? errno : ENOMEM, doing);
  std::string bytes;
  std::string piece(kPiece, '\0');
  Result<std::string> result = std::string();
  for (;;) {
    errno = 0;
    const int got = ::gzread(file, piece.data(), kPiece);
    if (got == 0) {
      int problem = Z_OK;
      ::gzerror(file, &problem);
      // A packed file that was cut off is not an end.
      if (problem == Z_BUF_ERROR) result = bad_input(doing + ": the packed file is cut off");
      break;
    }
    if (got < 0) {
      const int number = errno;
      result = number != 0 ? errno_error(number, doing)
                           : bad_input(doing + ": the packed file is damaged");
      break;
    }
    bytes.append(piece, 0, static_cast<std::size_t>(got));
    if (bytes.size() > kMostBytes) {
      result = bad_input(doing + ": it has more than 512 MiB");
      break;
    }
  }
  ::gzclose(file);
  if (!result) return result;
  return bytes;
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const std::string doing = "writing " + printable(path, 200);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno_error(errno, doing);
  Result<void> result;
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      result = errno_error(errno, doing);
      break;
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::close(file) != 0 && result) result = errno_error(errno, doing);
  return result;
}

}  // namespace flowcon::sim
