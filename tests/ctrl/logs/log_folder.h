// SPDX-License-Identifier: Apache-2.0
// A folder with one container's log, written and rotated as Docker's json-file driver does it.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::test {

/// One record of Docker's json-file format for one whole line of output.
inline std::string record(const std::string& line) {
  return "{\"log\":\"" + line +
         "\\n\",\"stream\":\"stdout\",\"time\":\"2025-01-02T03:04:05.5Z\"}\n";
}

class LogFolder {
 public:
  /// `in_memory`: on tmpfs where there is one, for tests that make thousands of logs.
  explicit LogFolder(bool in_memory = false) {
    const bool has_shm = in_memory && ::access("/dev/shm", W_OK) == 0;
    const std::string base = has_shm ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    std::string pattern = base + "/flowcon-tail-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  ~LogFolder() {
    close();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path() const { return folder_ + "/x-json.log"; }
  [[nodiscard]] std::string path(int number) const {
    return number == 0 ? path() : path() + "." + std::to_string(number);
  }

  void create() {
    close();
    fd_ = ::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    REQUIRE(fd_ >= 0);
  }
  /// Raw bytes, to the file that was made last, whatever it is called now.
  void append(const std::string& bytes) {
    REQUIRE(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  void line(const std::string& text) { append(record(text)); }
  void truncate() { REQUIRE(::ftruncate(fd_, 0) == 0); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void move(int from, int to) const {
    static_cast<void>(::rename(path(from).c_str(), path(to).c_str()));
  }
  void remove(int number = 0) const { static_cast<void>(::unlink(path(number).c_str())); }
  /// As loggerutils.LogFile: close, remove the oldest, shift, make a new one.
  void rotate(int max_files) {
    close();
    remove(max_files - 1);
    for (int i = max_files - 1; i >= 1; --i) move(i - 1, i);
    create();
  }
  /// As the driver local, and json-file with compress=true: older ones are compressed already.
  void rotate_compressed(int max_files) {
    close();
    static_cast<void>(::unlink((path(max_files - 1) + ".gz").c_str()));
    for (int i = max_files - 1; i > 1; --i) {
      static_cast<void>(::rename((path(i - 1) + ".gz").c_str(), (path(i) + ".gz").c_str()));
    }
    move(0, 1);
    create();
  }
  /// What the engine does behind a rotation; `half`: as it stands in the middle of that.
  void compress(bool half = false) const {
    std::ifstream from(path(1), std::ios::binary);
    if (!from) return;
    const std::string bytes{std::istreambuf_iterator<char>(from), {}};
    const std::string to = path(1) + ".gz";
    gzFile file = ::gzopen(to.c_str(), "wb");
    REQUIRE(file != nullptr);
    ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    ::gzclose(file);
    if (half) {
      std::filesystem::resize_file(to, std::filesystem::file_size(to) / 2);
    } else {
      remove(1);
    }
  }
  [[nodiscard]] std::uint64_t inode(int number = 0) const {
    struct stat info {};
    return ::stat(path(number).c_str(), &info) == 0 ? info.st_ino : 0;
  }

 private:
  std::string folder_;
  int fd_ = -1;
};

}  // namespace flowcon::test
