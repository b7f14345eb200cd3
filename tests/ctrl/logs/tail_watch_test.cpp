// SPDX-License-Identifier: Apache-2.0
// Logs where inotify gives out. Less of it than all others have is to be had in a user namespace of
// one's own only, so each case is a process.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <map>
#include <string>

#include "ctrl/logs/tail.h"
#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using std::chrono_literals::operator""ms;

TEST_CASE("logs that inotify has no watch left for, or no instance, are read all the same") {
  LogFolder first;
  LogFolder second;
  for (LogFolder* log : {&first, &second}) log->create();
  const auto user = std::to_string(::getuid());
  for (const char* limit : {"max_inotify_watches", "max_inotify_instances"}) {
    INFO(limit);
    // In a user namespace of its own, which is the only way to less than all others have.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto put = [](const std::string& path, const std::string& text) {
        std::ofstream file(path);
        file << text << std::flush;
        return file.good();
      };
      const bool is_few = ::unshare(CLONE_NEWUSER) == 0 &&
                          put("/proc/self/uid_map", "0 " + user + " 1") &&
                          put(std::string("/proc/sys/user/") + limit, "0");
      if (!is_few) ::_exit(77);
      boost::asio::io_context io{1};
      TailSet set(io, 0ms, 5ms);
      std::map<std::string, int> lines;
      for (const LogFolder* log : {&first, &second}) {
        const std::string id = log->folder();
        const auto sink = [&lines, id](const Line&) { ++lines[id]; };
        if (!set.start(id, {Format::json_file, log->path(), nullptr}, {}, sink)) ::_exit(1);
      }
      const std::string told = set.stats(first.folder()).problem;
      const bool is_told = told.find("sysctl fs.inotify.max_user_") != std::string::npos;
      for (LogFolder* log : {&first, &second}) log->line("one");
      while (lines.size() < 2) io.run_one();
      for (LogFolder* log : {&first, &second}) log->line("two");
      while (lines[first.folder()] < 2 || lines[second.folder()] < 2) io.run_one();
      ::_exit(is_told ? 0 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 77) {
      WARN("needs a user namespace");
    } else {
      CHECK(code == 0);
    }
    for (LogFolder* log : {&first, &second}) log->truncate();
  }
}

}  // namespace flowcon::ctrl::logs
