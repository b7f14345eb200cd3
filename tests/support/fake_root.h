// SPDX-License-Identifier: Apache-2.0
// A root directory of the test's own: /proc, /sys and mounts as the test wants them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"

namespace flowcon::test {

/// A fresh directory below the system's temporary one, removed at the end.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = std::filesystem::temp_directory_path() / "flowcon-root-XXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    REQUIRE(made != nullptr);
    path_ = made;
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// A file with this text; `name` is absolute in this root.
  void put(const std::string& name, const std::string& text) const {
    make_folder_of(name);
    std::ofstream(path_ + name) << text;
  }
  /// A symbolic link that says `target`, as /proc/PID/ns/ has them.
  void link(const std::string& name, const std::string& target) const {
    make_folder_of(name);
    std::filesystem::create_symlink(target, path_ + name);
  }
  void make_folder(const std::string& name) const {
    std::filesystem::create_directories(path_ + name);
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path_ + name); }

 private:
  void make_folder_of(const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + name).parent_path());
  }

  std::string path_;
};

}  // namespace flowcon::test
