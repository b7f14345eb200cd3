// SPDX-License-Identifier: Apache-2.0
// Files below a directory, in a folder of the test's own.
#include "cgroups/beneath.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "flowcon-beneath-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(path_ + "/root/group");
    put("root/group/file", "5\n");
    put("outside", "secret\n");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a file below the directory is read and written") {
  const Folder folder;
  CHECK(read_beneath(folder / "root", "group/file").value() == "5");
  REQUIRE(write_beneath(folder / "root", "group/file", "7").has_value());
  CHECK(read_beneath(folder / "root", "group/file").value().front() == '7');
}

TEST_CASE("a link below the directory is not followed, whatever it leads to") {
  const Folder folder;
  std::filesystem::create_symlink(folder / "outside", folder / "root/group/link");
  std::filesystem::create_directory_symlink(folder / "root/group", folder / "root/alias");
  CHECK(read_beneath(folder / "root", "group/link").error().code.value() == ELOOP);
  CHECK(read_beneath(folder / "root", "alias/file").error().code.value() == ELOOP);
  CHECK_FALSE(write_beneath(folder / "root", "group/link", "x").has_value());
  CHECK_FALSE(find_directory_beneath(folder / "root", "alias").has_value());
}

TEST_CASE("a path cannot climb out of the directory") {
  const Folder folder;
  CHECK(read_beneath(folder / "root", "../outside").error().code.value() == EXDEV);
  CHECK(read_beneath(folder / "root", folder / "outside").error().code.value() == EXDEV);
  CHECK_FALSE(find_directory_beneath(folder / "root", "..").has_value());
}

TEST_CASE("a missing file is ENOENT for reading, writing and trying") {
  const Folder folder;
  CHECK(read_beneath(folder / "root", "group/none").error().code.value() == ENOENT);
  CHECK(write_beneath(folder / "root", "group/none", "x").error().code.value() == ENOENT);
  CHECK(try_open_beneath(folder / "root", "group/none").error().code.value() == ENOENT);
  CHECK(try_open_beneath(folder / "root", "group/file").has_value());
  CHECK_FALSE(std::filesystem::exists(folder / "root/group/none"));
}

TEST_CASE("a directory is told from a file and from nothing") {
  const Folder folder;
  CHECK(find_directory_beneath(folder / "root", "").has_value());
  CHECK(find_directory_beneath(folder / "root", "group").has_value());
  CHECK(find_directory_beneath(folder / "root", "group/file").error().code.value() == ENOTDIR);
  CHECK(find_directory_beneath(folder / "root", "none").error().code.value() == ENOENT);
}

TEST_CASE("at most about 1 MiB of a file is read") {
  const Folder folder;
  folder.put("root/big", std::string(3 * 1024 * 1024, 'x'));
  CHECK(read_beneath(folder / "root", "big").value().size() == 1024 * 1024);
}

}  // namespace flowcon::cgroups
