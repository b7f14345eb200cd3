// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_inflate.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

namespace flowcon::ctrl::logs {
namespace {

constexpr unsigned kBufferBytes = 64 * 1024;

gzFile as_gz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

Result<std::unique_ptr<Inflater>> Inflater::open(int fd) {
  // zlib closes what it was given, and its reading moves the descriptor's own offset: another open
  // file description of the same file.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int own = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (own < 0) return errno_error(errno, "open a compressed log");
  gzFile file = ::gzdopen(own, "rb");
  if (file == nullptr) {
    ::close(own);
    return errno_error(ENOMEM, "open a compressed log");
  }
  ::gzbuffer(file, kBufferBytes);
  return std::unique_ptr<Inflater>(new Inflater(file));
}

Inflater::~Inflater() { ::gzclose(as_gz(file_)); }

Result<std::size_t> Inflater::read(char* to, std::size_t count, std::uint64_t offset) {
  if (offset != at_ && ::gzseek(as_gz(file_), static_cast<z_off_t>(offset), SEEK_SET) < 0) {
    return errno_error(EIO, "read a compressed log");
  }
  at_ = offset;
  const auto wanted = static_cast<unsigned>(std::min<std::size_t>(count, 1U << 30));
  const int got = ::gzread(as_gz(file_), to, wanted);
  int code = Z_OK;
  ::gzerror(as_gz(file_), &code);
  // A file that ends in the middle gives what it has, then nothing, and says so beside it.
  if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END)) {
    return errno_error(EIO, "read a compressed log");
  }
  at_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

}  // namespace flowcon::ctrl::logs
