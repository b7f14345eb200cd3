// SPDX-License-Identifier: Apache-2.0
// Files as a container sees them. The container is a child process with a root of its own; making
// one needs root, and without it these tests say so and pass.
#include "ctrl/logs/tail_container.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "ctrl/logs/tail.h"
#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using std::chrono_literals::operator""ms;

namespace {

/// A process whose root is `folder`; ends with this.
class Contained {
 public:
  explicit Contained(const std::string& folder) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const bool is_in = ::chroot(folder.c_str()) == 0 && ::chdir("/") == 0;
      static_cast<void>(::write(ready[1], is_in ? "y" : "n", 1) == 1);
      while (is_in) ::pause();
      ::_exit(0);
    }
    char answer = 'n';
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    is_in_ = answer == 'y';
  }
  Contained(const Contained&) = delete;
  Contained& operator=(const Contained&) = delete;
  ~Contained() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_in() const { return is_in_; }

 private:
  pid_t pid_ = -1;
  bool is_in_ = false;
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

int error_of(const ContainerView& view, const std::string& path) {
  const auto file = view.open_file(path);
  return file ? 0 : file.error().code.value();
}

std::string text_of(const ContainerView& view, const std::string& path) {
  const auto file = view.open_file(path);
  if (!file) return "error: " + file.error().message();
  std::string text(100, '\0');
  const auto got = file->read(text.data(), text.size(), 0);
  text.resize(got ? *got : 0);
  return text;
}

}  // namespace

TEST_CASE("links of a container stay inside it, and nothing but a regular file is opened") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  for (const char* folder : {"/out", "/etc", "/proc"}) {
    std::filesystem::create_directories(root + folder);
  }
  write(outside.folder() + "/secret", "of the host\n");
  write(root + "/out/log", "inside\n");
  write(root + "/etc/passwd", "its own\n");
  std::filesystem::create_symlink("/etc/passwd", root + "/out/passwd");
  std::filesystem::create_symlink("../../../../../secret", root + "/out/up");
  std::filesystem::create_symlink("/out/loop", root + "/out/loop");
  std::filesystem::create_symlink("/out", root + "/latest");
  std::filesystem::create_symlink(outside.folder() + "/secret", root + "/out/absolute");
  REQUIRE(::mkfifo((root + "/out/fifo").c_str(), 0600) == 0);
  const bool has_device = ::mknod((root + "/out/null").c_str(), S_IFCHR | 0600, 0x103) == 0;

  const Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  const auto view = ContainerView::open(container.pid(), {});
  REQUIRE(view.has_value());
  CHECK(text_of(**view, "/out/log") == "inside\n");
  CHECK(text_of(**view, "/latest/log") == "inside\n");
  CHECK(text_of(**view, "/out/passwd") == "its own\n");
  CHECK(error_of(**view, "/out/up") == ENOENT);
  CHECK(error_of(**view, "/out/absolute") == ENOENT);
  CHECK(error_of(**view, "/out/loop") == ELOOP);
  CHECK(error_of(**view, "/out/fifo") == EINVAL);
  CHECK(error_of(**view, "/out") == EINVAL);
  if (has_device) CHECK(error_of(**view, "/out/null") == EINVAL);
}

TEST_CASE("the kernel's own files and links are no logs") {
  const auto view = ContainerView::open(::getpid(), {});
  REQUIRE(view.has_value());
  CHECK(error_of(**view, "/proc/self/fd/0") == ELOOP);
  CHECK(error_of(**view, "/proc/self/root/etc/passwd") == ELOOP);
  CHECK(error_of(**view, "/proc/version") == EINVAL);
  CHECK(error_of(**view, "/dev/null") == EINVAL);
}

TEST_CASE("a volume is read to its end when its container has gone, and only if it was its own") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  const std::string volume = outside.folder() + "/volume";
  std::filesystem::create_directories(root + "/out");
  std::filesystem::create_directories(volume);
  write(volume + "/log", "of the volume\n");
  Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  // Without a mount the engine's word alone is not enough.
  const auto wrong = ContainerView::open(container.pid(), {{"/out", volume}});
  REQUIRE(wrong.has_value());
  CHECK(error_of(**wrong, "/out/log") == ENOENT);
  // The folder itself in both roles, as a bind shows it.
  const auto right = ContainerView::open(container.pid(), {{"/out", root + "/out"}});
  REQUIRE(right.has_value());
  write(root + "/out/log", "late\n");
  container.end();
  CHECK(text_of(**right, "/out/log") == "late\n");
}

TEST_CASE("a file that a container names is followed before it or its folder is there") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  std::filesystem::create_directories(root);
  const Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  const auto view = ContainerView::open(container.pid(), {});
  REQUIRE(view.has_value());
  boost::asio::io_context io{1};
  TailSet set(io, 0ms, 5ms);
  std::vector<std::string> lines;
  const Source source{Format::text, "/out/run/log", *view};
  const auto sink = [&lines](const Line& line) { lines.emplace_back(line.text); };
  REQUIRE(set.start("a", source, {}, sink).has_value());
  io.poll();
  CHECK(set.stats("a").problem == "the log file /out/run/log does not exist yet");
  std::filesystem::create_directories(root + "/out/run");
  write(root + "/out/run/log", "one\n");
  while (lines.empty()) io.run_one();
  write(root + "/out/run/log", "two\n");
  while (lines.size() < 2) io.run_one();
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(set.stats("a").problem.empty());
}

}  // namespace flowcon::ctrl::logs
