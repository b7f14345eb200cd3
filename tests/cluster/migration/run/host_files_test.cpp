// SPDX-License-Identifier: Apache-2.0
// What a move asks the file systems: links of a host's folders, what a job has written.
#include "cluster/migration/run/host_files.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/json.h"
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
  const Measured seen =
      measure({(folder.path / "few").string(), (folder.path / "many").string(), "/none"}, 10);
  CHECK(seen.entries == std::vector<std::uint64_t>{3, 11, 0});
  CHECK(seen.bytes > 0);
}

}  // namespace flowcon::cluster::migration
