// SPDX-License-Identifier: Apache-2.0
// What a move asks the file systems: links of a host's folders, what a job has written.
#include "cluster/migration/run/host_files.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/json.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

namespace files = std::filesystem;

struct Folder {
  Folder() {
    std::string name = (files::temp_directory_path() / "flowcon-begin-XXXXXX").string();
    path = files::canonical(::mkdtemp(name.data()));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { files::remove_all(path); }
  files::path path;
};

boost::json::object mounting(const files::path& source) {
  return parse_json(R"({"HostConfig": {"Mounts": [{"Type": "bind", "Target": "/a", "Source": ")" +
                    source.string() + "\"}]}}")
      ->as_object();
}

}  // namespace

TEST_CASE("a folder that is not there or that links lead out of what is accepted is not mounted") {
  const Folder folder;
  files::create_directories(folder.path / "sets" / "a");
  files::create_directories(folder.path / "secret");
  files::create_symlink(folder.path / "secret", folder.path / "sets" / "out");
  files::create_symlink(folder.path / "sets" / "a", folder.path / "sets" / "in");
  files::create_symlink(folder.path / "sets", folder.path / "link");
  AcceptPolicy policy;
  policy.mounts = {(folder.path / "sets").string()};
  CHECK(unfit_paths(mounting(folder.path / "sets" / "a"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "sets" / "in"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "sets" / "missing"), policy).size() == 1);
  CHECK(unfit_paths(mounting(folder.path / "sets" / "out"), policy).size() == 1);
  CHECK(unfit_paths(mounting(folder.path / "sets" / "out" / "."), policy).size() == 1);
  // The folder that an administrator names may be a link itself.
  policy.mounts = {(folder.path / "link").string()};
  CHECK(unfit_paths(mounting(folder.path / "link" / "a"), policy).empty());
  CHECK(unfit_paths(mounting(folder.path / "link" / "out"), policy).size() == 1);
}

TEST_CASE("nobody learns by a mount whether a path of this host is there") {
  const Folder folder;
  files::create_directories(folder.path / "sets");
  files::create_directories(folder.path / "secret");
  files::create_symlink(folder.path / "secret", folder.path / "sets" / "out");
  files::create_symlink(folder.path / "nowhere", folder.path / "sets" / "lost");
  AcceptPolicy policy;
  policy.mounts = {(folder.path / "sets").string()};
  const auto said = [&](const files::path& path) {
    const std::vector<std::string> reasons = unfit_paths(mounting(path), policy);
    REQUIRE(reasons.size() == 1);
    std::string text = reasons.front();
    const std::size_t at = text.find(path.string());
    REQUIRE(at != std::string::npos);
    return text.replace(at, path.string().size(), "PATH");
  };
  const std::string missing = said(folder.path / "sets" / "missing");
  CHECK(said(folder.path / "sets" / "out") == missing);
  CHECK(said(folder.path / "sets" / "lost") == missing);
  CHECK(said(folder.path / "secret") == missing);
  CHECK(said(folder.path / "nowhere") == missing);
  CHECK(missing.find("secret") == std::string::npos);
}

TEST_CASE("a device is looked at only where it is accepted") {
  const auto asking = [](const std::string& path) {
    return parse_json(R"({"HostConfig": {"Devices": [{"PathOnHost": ")" + path + "\"}]}}")
        ->as_object();
  };
  AcceptPolicy policy;
  policy.devices = {"/dev/null", "/dev/flowcon-none", "gpu"};
  CHECK(unfit_paths(asking("/dev/null"), policy).empty());
  CHECK(unfit_paths(asking("/dev/flowcon-none"), policy) ==
        std::vector<std::string>{"there is no /dev/flowcon-none there"});
  CHECK(unfit_paths(asking("/dev/zero"), policy) ==
        std::vector<std::string>{"there is no /dev/zero there"});
}

TEST_CASE("a checkpoint is as new as the newest file in it, or as one that was moved there") {
  const Folder folder;
  const auto write = [&](const char* name) { std::ofstream(folder.path / name) << "x"; };
  files::create_directories(folder.path / "a");
  write("a/old");
  timespec later{};
  // The clock of files moves by ticks.
  do {
    ::clock_gettime(CLOCK_REALTIME_COARSE, &later);
  } while (is_written_since({folder.path.string()}, later));
  CHECK_FALSE(is_written_since({folder.path.string(), (folder.path / "none").string()}, later));
  CHECK_FALSE(is_written_since({}, later));
  // What cannot be looked at may be it.
  CHECK(is_written_since({std::string(5000, 'x')}, later));
  files::rename(folder.path / "a" / "old", folder.path / "a" / "new");
  CHECK(is_written_since({folder.path.string()}, later));
  CHECK(is_written_since({(folder.path / "a" / "new").string()}, later));
  // A folder that was made says nothing.
  ::clock_gettime(CLOCK_REALTIME, &later);
  later.tv_sec += 3600;
  CHECK_FALSE(is_written_since({folder.path.string()}, later));
}

TEST_CASE("files are counted as far as it takes to know that there are too many") {
  const Folder folder;
  files::create_directories(folder.path / "few");
  files::create_directories(folder.path / "many");
  for (int i = 0; i < 3; ++i) std::ofstream(folder.path / "few" / std::to_string(i)) << "x";
  for (int i = 0; i < 20; ++i) std::ofstream(folder.path / "many" / std::to_string(i)) << "x";
  const std::vector<Tree> seen =
      measure({(folder.path / "few").string(), (folder.path / "many").string(), "/none"}, 10);
  REQUIRE(seen.size() == 3);
  CHECK((seen[0].entries == 3 && seen[1].entries == 11 && seen[2].entries == 0));
  CHECK(seen[0].bytes > 0);
  CHECK_FALSE(seen[0].content.empty());
  CHECK((seen[1].content.empty() && seen[2].content.empty()));
}

TEST_CASE("what is in a folder has another sum once anything in it was changed") {
  const Folder folder;
  const auto content = [&] { return measure({folder.path.string()}, 1000).front().content; };
  const std::string empty = content();
  CHECK_FALSE(empty.empty());
  files::create_directories(folder.path / "a" / "b");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path / name) << text;
  };
  write("a/one", "1");
  write("a/b/two", "2");
  std::set<std::string> seen{empty};
  const auto is_new = [&] { return seen.insert(content()).second; };
  CHECK(is_new());
  CHECK(content() == content());
  // Of the same size, and with the old time of its content.
  const auto written = files::last_write_time(folder.path / "a" / "one");
  write("a/one", "3");
  files::last_write_time(folder.path / "a" / "one", written);
  CHECK(is_new());
  files::rename(folder.path / "a" / "one", folder.path / "a" / "b" / "one");
  CHECK(is_new());
  files::permissions(folder.path / "a" / "b" / "two", files::perms::owner_read);
  CHECK(is_new());
  files::create_symlink("/etc/passwd", folder.path / "link");
  CHECK(is_new());
  files::remove(folder.path / "link");
  CHECK_FALSE(is_new());
}

TEST_CASE("a volume is whole once that was written beside it") {
  const Folder folder;
  const std::string data = (folder.path / "_data").string();
  files::create_directories(data);
  std::ofstream(data + "/x") << std::string(100'000, 'x');
  CHECK_FALSE(mark_of(data));
  REQUIRE(mark_whole(data).has_value());
  const std::optional<DataMark> mark = mark_of(data);
  REQUIRE(mark);
  CHECK((mark->bytes >= 100'000 && mark->bytes < 200'000 && mark->used > 1e9));
  // One that was cut off is none.
  std::ofstream(folder.path / "flowcon-whole", std::ios::trunc) << "";
  CHECK_FALSE(mark_of(data));
  CHECK_FALSE(mark_whole("/none/_data").has_value());
}

TEST_CASE("a file with holes counts as long as it is, for holes travel") {
  const Folder folder;
  std::ofstream(folder.path / "holes").close();
  files::resize_file(folder.path / "holes", 1 << 30);
  CHECK(measure({folder.path.string()}, 10).front().bytes == 1 << 30);
}

TEST_CASE("of a layer with more changes than are looked at it is said") {
  boost::asio::io_context io{1};
  LocalFiles local;
  const auto is_cut = [&](int changes) {
    std::string list = "[";
    for (int i = 0; i < changes; ++i) {
      list += R"({"Path":"/)" + std::to_string(i) + R"(","Kind":1},)";
    }
    list.back() = ']';
    std::optional<LeftBehind> left;
    const auto life = [&]() -> Async<void> {
      std::string whole = list;
      left = co_await local.left_behind(std::move(whole), "", boost::json::object(), std::nullopt);
    };
    ctrl::spawn(io, "test", life);
    io.restart();
    io.run();
    REQUIRE(left);
    return left->is_cut;
  };
  CHECK_FALSE(is_cut(1000));
  CHECK(is_cut(200'001));  // fewer than 8 MiB
  CHECK(is_cut(400'000));
}

TEST_CASE("of more volumes than there are threads all are measured") {
  const Folder folder;
  std::ofstream(folder.path / "one") << "x";
  boost::asio::io_context io{1};
  LocalFiles local;
  std::size_t measured = 0;
  const auto ask = [&]() -> Async<void> {
    std::vector<std::string> folders{folder.path.string()};
    const auto trees = co_await local.measure(std::move(folders), 10);
    measured += trees && trees->front().entries == 1 ? 1 : 0;
  };
  for (int i = 0; i < 40; ++i) ctrl::spawn(io, "measure", ask);
  io.run();
  CHECK(measured == 40);
}

}  // namespace flowcon::cluster::migration
