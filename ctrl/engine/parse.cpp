// SPDX-License-Identifier: Apache-2.0
// The engine's JSON, read without trust: a missing member is an error that names it.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "base/digits.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "ctrl/engine/client.h"

namespace flowcon::ctrl::engine {
namespace {

const json::value& find(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* at = &value;
  for (const std::string_view key : path) at = &member(*at, key);
  return *at;
}

std::string text_at(const json::value& value, std::initializer_list<std::string_view> path) {
  return text_of(find(value, path));
}

std::int64_t integer_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value& at = find(value, path);
  if (at.is_uint64()) return static_cast<std::int64_t>(at.get_uint64());
  return at.is_int64() ? at.get_int64() : 0;
}

// "2026-11-21T02:12:40.123456789Z"; the engine writes UTC only. 0 where it is something else.
double parse_utc(const std::string& text) {
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return 0;
  double fraction = 0;
  if (*rest == '.') std::from_chars(rest, text.c_str() + text.size(), fraction);
  return static_cast<double>(timegm(&parts)) + fraction;
}

// What has no place on both sides (a tmpfs) is left out.
std::vector<Mount> mounts_of(const json::value& value) {
  std::vector<Mount> mounts;
  for (const json::value& entry : list_of(value, "Mounts")) {
    Mount mount{text_of(entry, "Destination"), text_of(entry, "Source")};
    const auto is_path = [](const std::string& path) {
      return path.size() <= 4096 && path.starts_with("/");
    };
    if (is_path(mount.destination) && is_path(mount.source)) mounts.push_back(std::move(mount));
    if (mounts.size() == kMaxMounts) break;
  }
  return mounts;
}

constexpr std::size_t kLongest = 4096;  // bytes of a command, and of an environment

std::string command_of(const json::value& value) {
  std::string command = text_at(value, {"Path"});
  for (const json::value& argument : list_of(value, "Args")) {
    if (!argument.is_string()) break;
    command += " " + text_of(argument);
  }
  return shortened(std::move(command), kLongest);
}

std::vector<std::pair<std::string, std::string>> environment_of(const json::value& value) {
  std::vector<std::pair<std::string, std::string>> environment;
  std::size_t bytes = 0;
  for (const json::value& variable : list_of(find(value, {"Config"}), "Env")) {
    if (!variable.is_string()) continue;
    const std::string_view text = variable.get_string();
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || bytes + text.size() > kLongest) continue;
    bytes += text.size();
    environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::map<std::string, std::string> labels_of(const json::value& value) {
  std::map<std::string, std::string> all;
  for (const auto& [key, label] : object_of(value, "Labels")) {
    if (label.is_string()) all.emplace(key, label.get_string());
  }
  return all;
}

Listed listed_of(const json::value& entry) {
  Listed one{text_of(entry, "Id"),
             text_of(entry, "State"),
             labels_of(entry),
             text_of(entry, "ImageID"),
             {},
             text_at(entry, {"HostConfig", "NetworkMode"})};
  for (const json::value& mount : list_of(entry, "Mounts")) {
    if (text_of(mount, "Type") == "volume") one.volumes.push_back(text_of(mount, "Name"));
  }
  return one;
}

}  // namespace

Result<Container> parse_container(std::string_view body) {
  const Result<json::value> parsed = parse_json(body);
  if (!parsed) return wrap(parsed.error(), "the engine's answer on a container");
  return read_container(*parsed);
}

Result<Container> read_container(const json::value& value) {
  Container c;
  c.id = text_at(value, {"Id"});
  if (!is_container_id(c.id)) return bad_input("the engine's answer has no container id");
  c.name = text_at(value, {"Name"});
  if (!c.name.empty() && c.name.front() == '/') c.name.erase(0, 1);
  c.image = text_at(value, {"Config", "Image"});
  c.image_id = text_at(value, {"Image"});
  c.command = command_of(value);
  c.environment = environment_of(value);
  c.running = is_true(find(value, {"State", "Running"}));
  c.is_frozen = is_true(find(value, {"State", "Paused"}));
  c.pid = integer_at(value, {"State", "Pid"});
  c.started = parse_utc(text_at(value, {"State", "StartedAt"}));
  // "0001-01-01T00:00:00Z" of one that never ended.
  c.has_ended_before = parse_utc(text_at(value, {"State", "FinishedAt"})) > 0;
  c.log_driver = text_at(value, {"HostConfig", "LogConfig", "Type"});
  c.log_path = text_at(value, {"LogPath"});
  c.is_log_cache_disabled =
      text_at(value, {"HostConfig", "LogConfig", "Config", "cache-disabled"}) == "true";
  // The engine names its folder nowhere, but the files in it.
  const std::string hostname = text_at(value, {"HostnamePath"});
  if (hostname.ends_with("/hostname")) c.folder = hostname.substr(0, hostname.rfind('/'));
  c.mounts = mounts_of(value);
  c.cpu_shares = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, integer_at(value, {"HostConfig", "CpuShares"})));
  c.cpu_quota_us = integer_at(value, {"HostConfig", "CpuQuota"});
  c.cpu_period_us = integer_at(value, {"HostConfig", "CpuPeriod"});
  c.nano_cpus = integer_at(value, {"HostConfig", "NanoCpus"});
  c.gpus = gpus_in(find(value, {"HostConfig"}));
  c.labels = labels_of(member(value, "Config"));
  return c;
}

Result<EngineEvent> parse_event(std::string_view body) {
  Result<json::value> parsed = parse_json(body);
  if (!parsed) return wrap(parsed.error(), "an event of the engine");
  EngineEvent event;
  event.action = text_at(*parsed, {"Action"});
  event.id = text_at(*parsed, {"Actor", "ID"});
  event.name = text_at(*parsed, {"Actor", "Attributes", "name"});
  event.time_ns = integer_at(*parsed, {"timeNano"});
  event.exit_status = parse_number<int>(text_at(*parsed, {"Actor", "Attributes", "exitCode"}));
  event.signal = parse_number<int>(text_at(*parsed, {"Actor", "Attributes", "signal"}));
  if (!is_container_id(event.id)) return bad_input("an event of the engine has no container id");
  return event;
}

Result<std::vector<Listed>> parse_list(std::string_view body) {
  Result<json::value> parsed = parse_json(body);
  if (!parsed || !parsed->is_array()) return bad_input("listing containers: not a JSON list");
  std::vector<Listed> all;
  for (const json::value& entry : parsed->get_array()) {
    Listed one = listed_of(entry);
    if (is_container_id(one.id)) all.push_back(std::move(one));
  }
  return all;
}

Result<std::map<std::string, std::string>> parse_image_labels(std::string_view body) {
  Result<json::value> parsed = parse_json(body);
  if (!parsed) return wrap(parsed.error(), "the engine's answer on an image");
  return labels_of(member(*parsed, "Config"));
}

Result<std::string> negotiate(std::string_view engine_api) {
  int major = 0;
  int minor = 0;
  const char* end = engine_api.data() + engine_api.size();
  const auto dot = std::from_chars(engine_api.data(), end, major);
  if (dot.ec != std::errc() || dot.ptr == end || *dot.ptr != '.' ||
      std::from_chars(dot.ptr + 1, end, minor).ec != std::errc()) {
    return bad_input("the engine does not say which API version it speaks");
  }
  if (major != 1 || minor < kOldestMinor) {
    return bad_input("the engine speaks API " + std::string(engine_api) + "; at least 1." +
                     std::to_string(kOldestMinor) + " (Engine 20.10) is needed");
  }
  return "1." + std::to_string(std::min(minor, kNewestMinor));
}

}  // namespace flowcon::ctrl::engine
