// SPDX-License-Identifier: Apache-2.0
// Which log of a container is followed.
#include "ctrl/sources.h"

#include <string>

#include "tests/support/catch.h"

namespace flowcon::ctrl {
namespace {

engine::Container container(const std::string& driver) {
  engine::Container c;
  c.id = std::string(64, 'a');
  c.folder = "/var/lib/docker/containers/" + c.id;
  c.log_driver = driver;
  if (driver == "json-file") c.log_path = c.folder + "/" + c.id + "-json.log";
  return c;
}

std::string refusal(const engine::Container& c) {
  const auto choice = choose_log(c, {});
  REQUIRE_FALSE(choice.has_value());
  return choice.error().message();
}

}  // namespace

TEST_CASE("each log driver has its file in the container's own folder") {
  struct Row {
    const char* driver;
    const char* file;
    logs::Format format;
  };
  const std::string json = "/" + std::string(64, 'a') + "-json.log";
  for (const Row& row : {Row{"json-file", json.c_str(), logs::Format::json_file},
                         Row{"local", "/local-logs/container.log", logs::Format::local},
                         Row{"syslog", "/container-cached.log", logs::Format::local},
                         Row{"awslogs", "/container-cached.log", logs::Format::local}}) {
    const engine::Container c = container(row.driver);
    const auto choice = choose_log(c, {});
    REQUIRE(choice.has_value());
    CHECK(choice->path == c.folder + row.file);
    CHECK(choice->format == row.format);
    CHECK_FALSE(choice->is_inside);
  }
}

TEST_CASE("the driver journald is read in the journal") {
  const auto choice = choose_log(container("journald"), {});
  REQUIRE(choice.has_value());
  CHECK(choice->is_journal);
}

TEST_CASE("a driver that keeps nothing on this host is refused with what to do") {
  CHECK(refusal(container("none")).find("keeps nothing that could be read") != std::string::npos);
  CHECK(refusal(container("none")).find("flowcon.log") != std::string::npos);
  engine::Container remote = container("gelf");
  remote.is_log_cache_disabled = true;
  CHECK(refusal(remote).find("cache-disabled") != std::string::npos);
}

TEST_CASE("a file that is not in the container's own folder is never opened") {
  engine::Container c = container("json-file");
  c.log_path = "/etc/passwd";
  CHECK(refusal(c).find("no log file of its own") != std::string::npos);
  c = container("local");
  for (const char* folder : {"", "/etc", "relative/aaaa"}) {
    c.folder = folder;
    CHECK(refusal(c).find("does not say where") != std::string::npos);
  }
}

TEST_CASE("a file that the job writes is followed whatever the driver") {
  Settings settings;
  settings.log = "/out/run";
  settings.log_is_events = true;
  const auto choice = choose_log(container("none"), settings);
  REQUIRE(choice.has_value());
  CHECK(choice->name == "tfevents:/out/run");
  CHECK(choice->format == logs::Format::tfevents);
  CHECK(choice->is_inside);
}

TEST_CASE("a process that is not the container's has no log to be opened") {
  LogChoice choice;
  choice.path = "/etc/passwd";
  choice.is_inside = true;
  engine::Container c = container("json-file");
  c.pid = 1;
  const auto source = open_log(choice, c);
  REQUIRE_FALSE(source.has_value());
}

}  // namespace flowcon::ctrl
