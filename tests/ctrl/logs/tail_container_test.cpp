// SPDX-License-Identifier: Apache-2.0
// Files as a container sees them. The container is a child process with a root of its own; making
// one needs root, and without it these tests say so and pass.
#include "ctrl/logs/tail_container.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ctrl/logs/tail.h"
#include "ctrl/logs/tail_helper.h"
#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using std::chrono_literals::operator""ms;

namespace {

/// A process whose root is `folder`; ends with this.
class Contained {
 public:
  /// `prepare` says whether it could, in the process and before its root changes.
  explicit Contained(const std::string& folder, const std::function<bool()>& prepare = nullptr) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const bool is_in =
          (!prepare || prepare()) && ::chroot(folder.c_str()) == 0 && ::chdir("/") == 0;
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

/// Mounts that this process makes are its own, and `root` is one.
bool own_mounts(const std::string& root) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

bool bind_folder(const std::string& from, const std::string& to) {
  return ::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0;
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
  const auto view = ContainerView::open(container.pid());
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
  const auto view = ContainerView::open(::getpid());
  REQUIRE(view.has_value());
  CHECK(error_of(**view, "/proc/self/fd/0") == ELOOP);
  CHECK(error_of(**view, "/proc/self/root/etc/passwd") == ELOOP);
  CHECK(error_of(**view, "/proc/version") == EINVAL);
  CHECK(error_of(**view, "/dev/null") == EINVAL);
}

TEST_CASE("a volume is read to its end when its container has gone, as the container saw it") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  const std::string volume = outside.folder() + "/volume";
  std::filesystem::create_directories(root + "/out");
  std::filesystem::create_directories(root + "/tmp");
  std::filesystem::create_directories(volume);
  write(root + "/out/log", "below the volume\n");
  write(volume + "/log", "of the volume\n");
  std::filesystem::create_symlink("../out", root + "/tmp/link");
  Contained container(root, [&] {
    return own_mounts(root) && bind_folder(volume, root + "/out") &&
           bind_folder(root + "/tmp", root + "/tmp");
  });
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  const auto view = ContainerView::open(container.pid());
  REQUIRE(view.has_value());
  CHECK(text_of(**view, "/out/../tmp/../out/log") == "of the volume\n");
  CHECK(text_of(**view, "/tmp/link/log") == "of the volume\n");
  const auto folder = (*view)->open_folder("/tmp", true);
  REQUIRE(folder.has_value());
  ::close(*folder);
  write(volume + "/log", "late\n");
  container.end();
  CHECK(text_of(**view, "/tmp/link/log") == "of the volume\nlate\n");
  CHECK(text_of(**view, "/out/log") == "of the volume\nlate\n");
}

TEST_CASE("a process that is not the container's is refused with a sentence") {
  const auto view = ContainerView::open(::getpid(), std::string(64, 'a'));
  REQUIRE_FALSE(view.has_value());
  CHECK(view.error().message().find("is not the container's") != std::string::npos);
  CHECK(ContainerView::open(1 << 30).error().code.value() == ENOENT);
}

namespace {

/// A FUSE file system that never answers, seen by one container at /slow.
class Silent {
 public:
  Silent() : fd_(::open("/dev/fuse", O_RDWR)) {}
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;
  ~Silent() { end(); }
  [[nodiscard]] bool mount_at(const std::string& folder) const {
    const std::string options =
        "fd=" + std::to_string(fd_) + ",rootmode=40000,user_id=0,group_id=0";
    return fd_ >= 0 && ::mount("silent", folder.c_str(), "fuse", 0, options.c_str()) == 0;
  }
  /// Whoever waits for it is let go of.
  void end() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

}  // namespace

TEST_CASE("a file system that does not answer keeps nobody waiting but its own thread") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  for (const char* folder : {"/out", "/slow"}) std::filesystem::create_directories(root + folder);
  std::filesystem::create_symlink("/slow/log", root + "/out/link");
  write(root + "/out/log", "one\n");
  Silent silent;
  Contained container(root, [&] { return own_mounts(root) && silent.mount_at(root + "/slow"); });
  if (!container.is_in()) {
    WARN("needs root and /dev/fuse");
    return;
  }
  const auto look = ContainerView::open(container.pid());
  REQUIRE(look.has_value());
  for (const char* path : {"/slow/log", "/slow", "/out/link", "/out/../slow/run/log"}) {
    INFO(path);
    CHECK(error_of(**look, path) == ContainerView::kMayWait);
    CHECK((*look)->slow_mount().shown == "fuse at /slow");
    CHECK((*look)->open_folder(path, true).error().code.value() == ContainerView::kMayWait);
  }
  CHECK(text_of(**look, "/out/log") == "one\n");

  boost::asio::io_context io{1};
  auto set = std::make_unique<TailSet>(io, 0ms, 5ms, 20ms);
  std::vector<std::string> lines;
  const auto sink = [&lines](const Line& line) { lines.emplace_back(line.text); };
  for (const char* path : {"/slow/log", "/out/link", "/out/log"}) {
    const auto view = ContainerView::open(container.pid());
    REQUIRE(view.has_value());
    REQUIRE(set->start(path, {Format::text, path, *view}, {}, sink).has_value());
  }
  CHECK(living_helpers() == 1);
  const std::string silence = "the log does not answer (fuse at /slow)";
  while (set->stats("/slow/log").problem != silence || set->stats("/out/link").problem != silence ||
         lines.empty()) {
    io.run_one();
  }
  write(root + "/out/log", "two\n");
  while (lines.size() < 2) io.run_one();
  CHECK(set->position("/slow/log").is_empty());
  // Its container ends: what it has not said is not waited for.
  bool is_drained = false;
  CHECK(set->drain("/slow/log", [&is_drained](const Position&) { is_drained = true; }));
  CHECK_FALSE(set->drain("/out/log", [](const Position&) {}));
  while (!is_drained) io.run_one();
  CHECK(set->stop("/out/link", true).is_empty());
  set.reset();
  CHECK(living_helpers() == 1);
  container.end();
  silent.end();
  while (living_helpers() > 0) std::this_thread::yield();
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
  const auto view = ContainerView::open(container.pid());
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

namespace {

/// As a job's own rotation leaves it.
void pack(const std::string& path, const std::string& packed) {
  std::ifstream from(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(from), {}};
  gzFile file = ::gzopen(packed.c_str(), "wb");
  REQUIRE(file != nullptr);
  ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  ::gzclose(file);
  std::filesystem::remove(path);
}

/// Follows a container's /out/log.
struct Following {
  Following(const Contained& container, const Position& from) {
    const auto view = ContainerView::open(container.pid());
    REQUIRE(view.has_value());
    const Source source{Format::text, "/out/log", *view};
    const auto sink = [this](const Line& line) {
      if (!line.is_known) lines.emplace_back(line.text);
    };
    REQUIRE(set->start("a", source, from, sink).has_value());
  }
  void run_until(const std::string& last) {
    while (lines.empty() || lines.back() != last) io.run_one();
  }
  boost::asio::io_context io{1};
  std::unique_ptr<TailSet> set = std::make_unique<TailSet>(io, 0ms, 5ms);
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("what a job has packed of its log is read: while it is followed, and after a restart") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  const std::string log = root + "/out/log";
  std::filesystem::create_directories(root + "/out");
  write(log, "one\n");
  const Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  Position position;
  {
    Following following(container, {});
    following.run_until("one");
    position = following.set->stop("a", false);
  }
  write(log, "two\n");
  pack(log, log + ".1.gz");
  write(log, "three\n");
  {
    Following following(container, position);
    following.run_until("three");
    CHECK(following.lines == std::vector<std::string>{"two", "three"});
  }
  {
    Following following(container, {});
    following.run_until("three");
    pack(log, log + ".3.gz");
    write(log, "four\n");
    pack(log, log + ".2.gz");
    std::filesystem::rename(log + ".2.gz", log + ".1.gz");
    std::filesystem::rename(log + ".3.gz", log + ".2.gz");
    write(log, "five\n");
    following.run_until("five");
    CHECK(following.lines == std::vector<std::string>{"three", "four", "five"});
  }
  while (living_helpers() > 0) std::this_thread::yield();
}

TEST_CASE("what a job has packed and written right before its end is read to its last line") {
  LogFolder outside;
  const std::string root = outside.folder() + "/root";
  const std::string log = root + "/out/log";
  std::filesystem::create_directories(root + "/out");
  // More has been read before than is read behind the end of a job.
  for (int i = 0; i < 17; ++i) write(log, std::string(1U << 20, 'x') + "\n");
  write(log, "one\n");
  const Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  {
    Following following(container, {});
    following.run_until("one");
    write(log, "two\n");
    pack(log, log + ".1.gz");
    write(log, "three\nfour");
    Position end;
    REQUIRE(following.set->drain("a", [&end](const Position& position) { end = position; }));
    while (end.is_empty()) following.io.run_one();
    following.lines.erase(following.lines.begin(), following.lines.begin() + 17);
    CHECK(following.lines == std::vector<std::string>{"one", "two", "three", "four"});
    CHECK(following.set->position("a").is_empty());
  }
  while (living_helpers() > 0) std::this_thread::yield();
}

TEST_CASE("a log that waits for nothing is read up to its half line, which stop() hands on") {
  LogFolder log;
  write(log.path(), "one\n");
  boost::asio::io_context io{1};
  TailSet set(io, 0ms, 5ms);
  std::vector<std::string> lines;
  const auto sink = [&lines](const Line& line) { lines.emplace_back(line.text); };
  REQUIRE(set.start("a", {Format::text, log.path(), nullptr}, {}, sink).has_value());
  write(log.path(), "two\nthree");
  CHECK_FALSE(set.drain("a", [](const Position&) {}));
  CHECK(lines == std::vector<std::string>{"one", "two"});
  set.stop("a", true);
  CHECK(lines == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("a folder of very many files is listed beside the loop, and its newest log is followed") {
  LogFolder outside(true);
  const std::string root = outside.folder() + "/root";
  std::filesystem::create_directories(root + "/tb");
  for (std::size_t i = 0; i < Folder::kManyNames; ++i) {
    write(root + "/tb/junk" + std::to_string(i), "");
  }
  const Contained container(root);
  if (!container.is_in()) {
    WARN("needs root");
    return;
  }
  const auto view = ContainerView::open(container.pid());
  REQUIRE(view.has_value());
  CHECK((*view)->list_folder("/tb").error().code.value() == ContainerView::kMayWait);
  (*view)->allow_waiting();
  CHECK((*view)->list_folder("/tb")->size() == Folder::kManyNames);
}

}  // namespace flowcon::ctrl::logs
