// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/files.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace flowcon::ctrl::store {

void CloseDatabase::operator()(sqlite3* db) const { sqlite3_close(db); }

Handle open_file(const std::string& path, int flags) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  return Handle(db);
}

void keep_log(sqlite3* db, bool is_kept) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept ? 1 : 0, nullptr);
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool has_bytes(const std::string& path) {
  struct stat seen {};
  return ::stat(path.c_str(), &seen) == 0 && seen.st_size > 0;
}

Result<std::string> put_aside(const std::string& path, const std::string& why) {
  std::string aside;
  for (int n = 1; aside.empty() || is_there(aside) || is_there(aside + "-wal"); ++n) {
    aside = path + "." + why + "-" + std::to_string(n);
  }
  for (const char* suffix : {"-wal", "-shm", ""}) {
    if (std::rename((path + suffix).c_str(), (aside + suffix).c_str()) != 0 && errno != ENOENT) {
      return errno_error(errno, "moving the file " + path + suffix + " aside");
    }
  }
  return aside;
}

void remove_files(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", ""}) std::remove((path + suffix).c_str());
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_error(errno, "opening the folder " + folder);
  const int code = ::fsync(fd);
  const int why = errno;
  ::close(fd);
  // Not every file system has that.
  if (code != 0 && why != EINVAL) return errno_error(why, "writing the folder " + folder);
  return {};
}

Result<void> write_whole(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno_error(errno, "making " + fresh);
  const bool is_written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  if (!is_written) return errno_error(why, "writing " + fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return errno_error(errno, "writing " + path);
  return sync_folder(path);
}

}  // namespace flowcon::ctrl::store
