// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

class FileFixture {
 public:
  void has(const std::string& text) const { std::ofstream(path) << text; }
  [[nodiscard]] static std::string content(const std::string& of) {
    const Result<std::string> text = read_file(of, 1 << 20);
    return text ? *text : text.error().message();
  }
  [[nodiscard]] unsigned mode() const {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777U;
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
  }

  const test::TempFolder folder;
  const std::string path = folder.path() + "/file";
  const std::string link = folder.path() + "/link";
};

TEST_CASE_METHOD(FileFixture, "a file is replaced whole, with the mode it is given") {
  has("old\n");
  REQUIRE(replace_file(path, "new\n", 0666).has_value());
  CHECK(content(path) == "new\n");
  CHECK(mode() == 0666U);
  CHECK(files() == 1);
  CHECK(read_file(path, 3).has_error());
}

TEST_CASE_METHOD(FileFixture, "a link is replaced, too, and what it leads to stays") {
  has("another's\n");
  std::filesystem::create_symlink(path, link);
  REQUIRE(replace_file(link, "ours\n", 0600).has_value());
  CHECK_FALSE(std::filesystem::is_symlink(link));
  CHECK(content(link) == "ours\n");
  CHECK(content(path) == "another's\n");
}

TEST_CASE_METHOD(FileFixture, "a link that a user names stays one, and its file gets the text") {
  has("older and longer\n");
  std::filesystem::create_symlink(path, link);
  REQUIRE(write_file(link, "new\n").has_value());
  CHECK(std::filesystem::is_symlink(link));
  CHECK(content(path) == "new\n");
  std::filesystem::remove(path);
  REQUIRE(write_file(link, "again\n").has_value());
  CHECK(std::filesystem::is_symlink(link));
  CHECK(content(path) == "again\n");
  CHECK(files() == 2);
}

TEST_CASE_METHOD(FileFixture, "a file that a user names keeps its mode") {
  has("old\n");
  REQUIRE(::chmod(path.c_str(), 0606) == 0);
  REQUIRE(write_file(path, "new\n").has_value());
  CHECK(content(path) == "new\n");
  CHECK(mode() == 0606U);
}

TEST_CASE_METHOD(FileFixture, "the mode of another user's file is not kept") {
  if (::geteuid() != 0) {
    WARN("not tested: root alone gives files away");
    return;
  }
  has("old\n");
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  const mode_t before = ::umask(077);
  const bool is_written = write_file(path, "new\n").has_value();
  ::umask(before);
  REQUIRE(is_written);
  CHECK(content(path) == "new\n");
  CHECK(mode() == 0600U);
}

TEST_CASE_METHOD(FileFixture, "what cannot be written whole is told, and the older file stays") {
  has("old\n");
  const pid_t child = ::fork();
  if (child == 0) {
    // What a full disk does: the first bytes are written, the others not.
    const rlimit most{10, 10};
    if (::signal(SIGXFSZ, SIG_IGN) == SIG_ERR || ::setrlimit(RLIMIT_FSIZE, &most) != 0) ::_exit(1);
    const std::string text(20, 'x');
    for (const Result<void>& done : {replace_file(path, text, 0600), write_file(path, text)}) {
      if (done || done.error().code.value() != EFBIG) ::_exit(2);
    }
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(content(path) == "old\n");
  CHECK(files() == 1);
}

TEST_CASE_METHOD(FileFixture, "stdout is known by what it goes to") {
  CHECK(is_stdout("/dev/stdout"));
  has("");
  CHECK_FALSE(is_stdout(path));
  CHECK_FALSE(is_stdout(link));
}

}  // namespace
}  // namespace flowcon::plugin
