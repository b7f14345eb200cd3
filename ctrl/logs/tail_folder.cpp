// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

class HostFolder : public Folder {
 public:
  explicit HostFolder(std::string path) : path_(std::move(path)) {}

  Result<LogFile> open(const std::string& name) const override {
    return open_log_file(path_of(name));
  }
  Result<FileId> look_up(const std::string& name) const override {
    return logs::look_up(path_of(name));
  }
  Result<std::vector<std::string>> list() const override {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno_error(errno, "open " + path_);
    return list_names(fd);
  }
  Result<int> watch(int inotify, std::uint32_t mask) const override {
    const int watch = ::inotify_add_watch(inotify, path_.c_str(), mask);
    if (watch < 0) return errno_error(errno, "watch " + path_);
    return watch;
  }
  std::string path_of(const std::string& name) const override {
    return path_ == "." ? name : path_ + (path_ == "/" ? "" : "/") + name;
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<Folder> host_folder(std::string path) {
  return std::make_unique<HostFolder>(std::move(path));
}

Result<std::vector<std::string>> list_names(int fd, std::size_t most) {
  DIR* folder = ::fdopendir(fd);
  if (folder == nullptr) {
    const int number = errno;
    ::close(fd);
    return errno_error(number, "list a folder");
  }
  std::vector<std::string> names;
  while (names.size() < most) {
    const dirent* entry = ::readdir(folder);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(folder);
  return names;
}

}  // namespace flowcon::ctrl::logs
