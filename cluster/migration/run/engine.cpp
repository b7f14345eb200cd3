// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/engine.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json/array.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <map>
#include <sstream>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cluster/migration/plan/architecture.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/plan/log_lines.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/host_files.h"
#include "cluster/migration/run/labels.h"
#include "cluster/migration/run/processes.h"
#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::engine::engine_error;
using ctrl::engine::Reply;

constexpr double kListTime = 60;  // seconds, for the list of all containers
constexpr double kGrace = 10;     // from SIGTERM to SIGKILL
constexpr double kLogTime = 30;   // to read a few lines of a log
constexpr std::size_t kLastBytes = 200;
constexpr std::array kMadeFor{kMoveLabel, kGroupLabel, kLeaderLabel};

std::string path_of(const std::string& container, const std::string& verb) {
  return "/containers/" + percent_encoded(container) + verb;
}

std::string label_filter(const std::string& id) {
  return filter_of("label", std::string(kMoveLabel) + "=" + id);
}

std::string network_of(const Plan& plan) {
  return text_of(member(json::value(plan.body), "HostConfig"), "NetworkMode");
}

// Is the volume that the engine describes the same copy of data, and of the same host?
bool is_same_data(const PlannedVolume& planned, const json::value& found) {
  return is_data_volume(planned.name) && object_of(found, "Options").empty() &&
         text_of(member(found, "Labels"), kDataLabel) ==
             text_of(json::value(planned.labels), kDataLabel);
}

std::int64_t integer_of(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  return found.is_int64() ? found.get_int64() : 0;
}

// Seconds between two times as the engine writes them on one day or another; 0 where one is none.
double life_of(const json::value& state) {
  const auto seconds = [](const std::string& text) -> double {
    std::tm moment{};
    const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &moment);
    return rest == nullptr ? 0 : static_cast<double>(::timegm(&moment));
  };
  return seconds(text_of(state, "FinishedAt")) - seconds(text_of(state, "StartedAt"));
}

// "2026-11-21T10:00:00.25Z" as "1795255200.25"; empty where it is no time, or the engine's for
// none.
std::string since_epoch(const std::string& text) {
  std::tm moment{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &moment);
  if (rest == nullptr || ::timegm(&moment) <= 0) return "";
  const std::string_view fraction = std::string_view(rest).substr(0, 10);
  const std::size_t end = fraction.find_first_not_of("0123456789", 1);
  const bool has_fraction = fraction.starts_with('.') && end != 1;
  return std::to_string(::timegm(&moment)) +
         (has_fraction ? std::string(fraction.substr(0, end)) : "");
}

// 137 and 143: killed by its engine's stop or a person; 255: its engine or host died.
bool was_stopped(const Seen& seen) {
  return !seen.was_killed_for_memory &&
         (seen.exit_code == 137 || seen.exit_code == 143 || seen.exit_code == 255);
}

constexpr double kSignOfLife = 5;  // seconds; who fails sooner has not come to life

Copy copy_of(const json::value& state, const Seen& seen) {
  const std::string status = text_of(state, "Status");
  if (status == "created") return Copy::created;
  if (is_true(state, "Running") || status == "restarting") return Copy::running;
  if (seen.exit_code == 0) return Copy::finished;
  if (was_stopped(seen)) return Copy::stopped;
  return life_of(state) < kSignOfLife ? Copy::failed : Copy::finished;
}

bool can_listen(int port, const std::string& protocol) {
  const int type = protocol == "udp" ? SOCK_DGRAM : SOCK_STREAM;
  const int file = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  if (file < 0) return true;
  const int on = 1;
  ::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool is_free =
      ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != EADDRINUSE;
  ::close(file);
  return is_free;
}

bool is_installed(const std::string& program) {
  for (const char* folder :
       {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// One event a line. A container's labels are written over what an event says, and a removal has no
// signal of its own.
std::vector<Removal> removals_in(const std::string& text) {
  std::vector<Removal> all;
  std::map<std::string, double> killed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Result<json::value> event = parse_json(line);
    if (!event) continue;
    const json::value& actor = member(*event, "Actor");
    const json::value& said = member(actor, "Attributes");
    const std::string id = text_of(actor, "ID"), signal = text_of(said, "signal");
    const double time = static_cast<double>(integer_of(*event, "timeNano")) / 1e9;
    const std::string action = text_of(*event, "Action");
    if (action == "destroy") {
      Removal& removal = all.emplace_back(Removal{text_of(said, kMoveLabel), id, {}});
      const auto found = killed.find(id);
      // Of a clock that was set back nobody knows how long it took.
      const bool is_known = found != killed.end() && found->second <= time;
      if (is_known && signal.empty()) removal.killed = time - found->second;
    } else if (action == "start") {
      killed.erase(id);
    } else if (signal == std::to_string(SIGKILL)) {
      killed[id] = time;
    }
  }
  return all;
}

// A worker of a Docker Swarm knows the swarm's networks only while it has containers in them; the
// start asks a manager.
bool may_join_networks(const json::value& info) {
  const json::value& swarm = member(info, "Swarm");
  return text_of(swarm, "LocalNodeState") == "active" && !is_true(swarm, "ControlAvailable");
}

// The last lines of a container as one.
Async<std::string> words_since(ctrl::engine::Client& client, std::string id, std::string since,
                               bool has_terminal) {
  std::string path = path_of(id, "/logs?stdout=1&stderr=1&timestamps=1&tail=3&since=" + since);
  const Result<Reply> reply = co_await client.call("GET", std::move(path), "", kLogTime);
  if (!reply || reply->status != 200) co_return "";
  std::string words;
  const LogSink sink = [&words](const LogRecord& record) {
    std::string_view line = record.text;
    line = line.substr(0, line.find_last_not_of("\r\n ") + 1);
    if (!line.empty()) words += (words.empty() ? "" : " / ") + printable(line, kLastBytes);
  };
  LogFrames frames(has_terminal);
  if (!frames.feed(reply->body, sink) || !frames.finish(sink)) co_return "";
  co_return words.size() <= kLastBytes ? words
                                       : valid_utf8(words.substr(words.size() - kLastBytes));
}

}  // namespace

std::string filter_of(const std::string& key, const std::string& value) {
  return "filters=" + percent_encoded(render_json(json::object{{key, json::array{value}}}));
}

bool restarts(const json::object& policy) {
  const std::string name = text_of(policy, "Name");
  return !name.empty() && name != "no";
}

bool restarts_after(const json::object& policy, std::int64_t exit_code) {
  return restarts(policy) && (exit_code != 0 || text_of(policy, "Name") != "on-failure");
}

bool is_same_policy(const json::object& a, const json::object& b) {
  if (!restarts(a) || !restarts(b)) return restarts(a) == restarts(b);
  return text_of(a, "Name") == text_of(b, "Name") &&
         integer_of(a, "MaximumRetryCount") == integer_of(b, "MaximumRetryCount");
}

Result<Seen> parse_seen(std::string_view text) {
  Result<json::value> parsed = parse_json(text);
  if (!parsed) return wrap(parsed.error(), "the engine's answer on a container");
  const json::value& state = member(*parsed, "State");
  if (!state.is_object()) return bad_input("the engine's answer on a container has no State");
  Seen seen;
  seen.id = text_of(*parsed, "Id");
  seen.image = text_of(*parsed, "Image");
  seen.name = text_of(*parsed, "Name");
  if (seen.name.starts_with('/')) seen.name.erase(0, 1);
  seen.pid = integer_of(state, "Pid");
  seen.exit_code = integer_of(state, "ExitCode");
  seen.is_paused = is_true(state, "Paused");
  seen.was_killed_for_memory = is_true(state, "OOMKilled");
  seen.error = text_of(state, "Error");
  seen.lived = std::max(0.0, life_of(state));
  seen.started = since_epoch(text_of(state, "StartedAt"));
  seen.restart_policy = object_of(member(*parsed, "HostConfig"), "RestartPolicy");
  for (const auto& [key, value] : object_of(member(*parsed, "Config"), "Labels")) {
    if (value.is_string()) seen.labels[std::string(key)] = std::string(value.get_string());
  }
  seen.copy = copy_of(state, seen);
  seen.inspect = std::move(*parsed);
  return seen;
}

// -------------------------------------------------------------------------------- asking

Async<Result<json::value>> DockerEngine::info() {
  co_return co_await client_.get_json("/info", "asking the engine about itself", kQuick);
}

Async<Result<void>> DockerEngine::expect(std::string method, std::string path, std::string body,
                                         double seconds, std::string doing, unsigned fine) {
  Result<Reply> reply =
      co_await client_.call(std::move(method), std::move(path), std::move(body), seconds);
  if (!reply) co_return wrap(reply.error(), doing);
  // 304: it is so already.
  const bool is_gone = fine != 0 && (reply->status == 404 || reply->status == fine);
  if (reply->status >= 400 && !is_gone) co_return engine_error(*reply, doing);
  co_return Result<void>();
}

Async<Result<Seen>> DockerEngine::look(std::string name) {
  Result<Reply> reply = co_await client_.call("GET", path_of(name, "/json"), "", kQuick);
  if (!reply) co_return reply.error();
  if (reply->status == 404) {
    co_return errno_error(ENOENT, "No such container: " + printable(name, 80));
  }
  if (reply->status != 200) {
    co_return engine_error(*reply, "inspecting container " + printable(name, 80));
  }
  Result<Seen> seen = parse_seen(reply->body);
  const auto is_made_for = [](const auto& label) {
    return std::find(kMadeFor.begin(), kMadeFor.end(), label.first) != kMadeFor.end();
  };
  if (!seen || std::none_of(seen->labels.begin(), seen->labels.end(), is_made_for)) co_return seen;
  const Result<ctrl::Labels> image = co_await client_.image_labels(seen->image);
  const bool is_unheard = !image && image.error().code && !is_absent(image);
  if (is_unheard) co_return image.error();
  std::erase_if(seen->labels, [&](const auto& label) {
    const bool has_it = image && image->contains(label.first);
    return is_made_for(label) && has_it && image->at(label.first) == label.second;
  });
  co_return seen;
}

Async<Result<Seen>> DockerEngine::look_made(std::string id) {
  std::string path = "/containers/json?all=1&" + label_filter(id);
  Result<json::value> all =
      co_await client_.get_json(std::move(path), "looking for the copy", kQuick);
  if (!all) co_return all.error();
  Seen none;
  none.copy = Copy::absent;
  for (const json::value& one : list_of(*all)) {
    Result<Seen> seen = co_await look(text_of(one, "Id"));
    const bool is_it = !is_absent(seen) && (!seen || seen->labels.contains(kMoveLabel));
    if (is_it) co_return seen;
  }
  co_return none;
}

Async<Result<std::string>> DockerEngine::root() {
  const Result<json::value> about = co_await info();
  if (!about) co_return about.error();
  co_return text_of(*about, "DockerRootDir");
}

Async<Result<Conflicts>> DockerEngine::conflicts(std::string name, Plan plan) {
  Conflicts found_here;
  std::vector<std::string>& reasons = found_here.reasons;
  const json::value body(plan.body);
  const json::value& host_config = member(body, "HostConfig");
  const Result<Seen> other = co_await look(name);
  // The engine also takes the beginning of an id for a name.
  if (other && other->name == name) {
    reasons.push_back("a container is called " + printable(name, 80) + " there already");
  } else if (!other && !is_absent(other)) {
    co_return other.error();
  }
  for (const PlannedVolume& volume : plan.volumes) {
    const Result<json::value> found = co_await client_.get_json(
        "/volumes/" + percent_encoded(volume.name), "inspecting volumes", kQuick);
    if (found) {
      if (is_same_data(volume, *found)) continue;
      reasons.push_back("a volume is called " + printable(volume.name, 80) + " there already");
    } else if (!is_absent(found)) {
      co_return found.error();
    }
  }
  const Result<json::value> about = co_await info();
  if (!about) co_return about.error();
  const std::string network = network_of(plan);
  if (is_group_network(network)) {
    // It is made with the container.
  } else if (network != "host" && network != "none" && !network.empty() && network != "default") {
    const Result<json::value> found = co_await client_.get_json(
        "/networks/" + percent_encoded(network), "inspecting networks", kQuick);
    if (!found && !is_absent(found)) co_return found.error();
    const bool is_there = found && text_of(*found, "Name") == network;
    if (!is_there && !may_join_networks(*about))
      reasons.push_back("there is no network " + printable(network, 80) + " there");
  }
  for (const auto& [port, protocol] : fixed_ports(plan)) {
    if (!can_listen(port, protocol)) {
      reasons.push_back("port " + std::to_string(port) + "/" + protocol + " is in use there");
    }
  }
  found_here.root = text_of(*about, "DockerRootDir");
  found_here.runtime = text_of(*about, "DefaultRuntime");
  const std::string host = architecture_of(text_of(*about, "Architecture"));
  if (!runs_on(host, plan.image.architecture)) {
    reasons.push_back(image_is_for(plan.image.architecture) + ", that host is " + host);
  }
  if (!is_same_mapping(user_mapping(*about), plan.user_mapping)) {
    reasons.emplace_back(kOtherUsers);
  }
  if (needs_criu(plan)) {
    Result<std::string> why = co_await why_no_criu();
    if (!why) co_return why.error();
    if (!why->empty()) reasons.push_back(*why);
  }
  const std::int64_t wanted = integer_of(host_config, "Memory");
  const std::int64_t memory = integer_of(*about, "MemTotal");
  if (memory > 0 && wanted > memory) {
    reasons.push_back("its memory limit, " + mebibytes(static_cast<double>(wanted)) +
                      ", is more than that host has");
  }
  co_return found_here;
}

Async<Result<std::string>> DockerEngine::why_no_criu() {
  const Result<json::value> about = co_await info();
  if (!about) co_return about.error();
  if (!is_true(*about, "ExperimentalBuild")) {
    co_return std::string(
        "its engine does not save by CRIU: put \"experimental\": true into "
        "/etc/docker/daemon.json and restart it");
  }
  co_return is_installed("criu") ? std::string() : std::string("CRIU is not installed");
}

Async<Result<std::string>> DockerEngine::containers_folder() {
  const Result<json::value> about = co_await info();
  if (!about) co_return about.error();
  const std::string root = text_of(*about, "DockerRootDir");
  if (!root.starts_with('/')) co_return bad_input("the engine does not say where its files are");
  struct stat status {};
  const std::string folder = root + "/containers";
  co_return ::stat(folder.c_str(), &status) == 0 ? folder : root;
}

// -------------------------------------------------------------------------------- doing

Async<Result<std::string>> DockerEngine::make(std::string name, Plan plan, std::string id,
                                              std::string image) {
  const Result<Seen> made = co_await look_made(id);
  if (!made) co_return made.error();
  if (made->copy != Copy::absent) co_return made->id;
  for (const PlannedVolume& volume : plan.volumes) {
    json::object labels = volume.labels;
    // Data is no move's own: it stays when this one is undone.
    const bool is_data = is_data_volume(volume.name);
    if (!is_data) labels[kMoveLabel] = id;
    std::string body = render_json(
        json::object{{"Name", volume.name}, {"Driver", "local"}, {"Labels", std::move(labels)}});
    std::string method = "POST", path = "/volumes/create";
    std::string doing = "making the volume '" + printable(volume.name, 80) + "'";
    Result<Reply> reply =
        co_await client_.call(std::move(method), std::move(path), std::move(body), kQuick);
    if (!reply) co_return wrap(reply.error(), doing);
    if (reply->status != 201) co_return engine_error(*reply, doing);
    // The engine hands out one that was there, too: what is in that is somebody else's.
    const Result<json::value> created = parse_json(reply->body);
    const bool is_own =
        created && (is_data ? is_same_data(volume, *created)
                            : text_of(member(*created, "Labels"), kMoveLabel) == id);
    if (!is_own) {
      co_return bad_input("there is a volume '" + printable(volume.name, 80) + "' there by now");
    }
  }
  json::object body = create_body(plan, id, image);
  Result<std::string> container = co_await create(std::move(name), std::move(body), plan.image.id);
  const std::string network = network_of(plan);
  if (!container || !is_group_network(network)) co_return container;
  const Result<void> kept = co_await keep_network(network);
  if (!kept) co_return kept.error();
  co_return container;
}

Async<Result<void>> DockerEngine::set_policy(std::string container, json::object policy) {
  if (policy.empty()) policy = {{"Name", "no"}};
  std::string body = render_json(json::object{{"RestartPolicy", std::move(policy)}});
  co_return co_await expect("POST", path_of(container, "/update"), std::move(body), kQuick,
                            "setting its restart policy");
}

Async<Result<void>> DockerEngine::set_memory(std::string container, double bytes, double swap) {
  const auto memory = static_cast<std::int64_t>(bytes);
  const json::object limits{
      {"Memory", memory}, {"MemorySwap", swap < 0 ? -1 : memory + static_cast<std::int64_t>(swap)}};
  co_return co_await expect("POST", path_of(container, "/update"), render_json(limits), kQuick,
                            "setting its memory limit");
}

Async<Result<void>> DockerEngine::start(std::string container, std::string checkpoint) {
  std::string method = "POST", path = path_of(container, "/start"), body;
  std::string doing = checkpoint.empty() ? "starting it" : "starting it from CRIU's checkpoint";
  if (!checkpoint.empty()) path += "?checkpoint=" + percent_encoded(checkpoint);
  co_return co_await expect(std::move(method), std::move(path), std::move(body), kStarting,
                            std::move(doing));
}

Async<Result<void>> DockerEngine::stop(std::string container) {
  std::string path = path_of(container, "/stop?t=" + render_number(kGrace));
  co_return co_await expect("POST", std::move(path), "", kGrace + kQuick, "stopping it");
}

Async<Result<void>> DockerEngine::stop_at_once(std::string container) {
  std::string path = path_of(container, "/stop?t=0");
  co_return co_await expect("POST", std::move(path), "", kQuick, "stopping it");
}

Async<Result<void>> DockerEngine::kill(std::string container, int signal) {
  std::string path = path_of(container, "/kill?signal=" + std::to_string(signal));
  co_return co_await expect("POST", std::move(path), "", kQuick,
                            "sending it " + ctrl::signal_name(signal));
}

Async<bool> DockerEngine::has_printed(Seen seen) {
  if (seen.started.empty()) co_return false;
  std::string path = path_of(seen.id, "/logs?stdout=1&stderr=1&tail=1&since=" + seen.started);
  const Result<Reply> reply = co_await client_.call("GET", std::move(path), "", kQuick);
  co_return reply && reply->status == 200 && !reply->body.empty();
}

Async<std::string> DockerEngine::last_words(Seen seen) {
  if (seen.started.empty()) co_return "";
  const bool has_terminal = is_true(member(seen.inspect, "Config"), "Tty");
  std::string words = co_await words_since(client_, seen.id, seen.started, has_terminal);
  if (!words.empty()) co_return words;
  // The engine notes the start when the container runs already, and may have written a line.
  std::int64_t second = 0;
  (void)std::from_chars(seen.started.data(), seen.started.data() + seen.started.size(), second);
  std::string before = std::to_string(second - 1);
  co_return co_await words_since(client_, seen.id, std::move(before), has_terminal);
}

Async<Result<std::string>> DockerEngine::changes(std::string container) {
  std::string text;
  Result<ctrl::Pull> list = co_await client_.download(path_of(container, "/changes"), kStarting);
  if (!list) co_return wrap(list.error(), "listing its changed files");
  while (text.size() <= kMaxChangesBytes) {
    const Result<std::string> piece = co_await (*list)();
    if (!piece) co_return wrap(piece.error(), "listing its changed files");
    if (piece->empty()) break;
    text += *piece;
  }
  co_return text;
}

Async<Result<std::int64_t>> DockerEngine::execute(std::string container,
                                                  std::vector<std::string> words, double seconds) {
  json::array command;
  for (const std::string& word : words) command.emplace_back(word);
  std::string body = render_json(json::object{{"Cmd", std::move(command)}});
  Result<Reply> made =
      co_await client_.call("POST", path_of(container, "/exec"), std::move(body), kQuick);
  if (!made) co_return made.error();
  if (made->status != 201) co_return engine_error(*made, "running its checkpoint command");
  const Result<json::value> answer = parse_json(made->body);
  const std::string exec = answer ? text_of(*answer, "Id") : "";
  if (exec.empty()) co_return bad_input("the engine gives the checkpoint command no id");
  std::string start_body = R"({"Detach":true})";
  Result<void> started =
      co_await expect("POST", "/exec/" + percent_encoded(exec) + "/start", std::move(start_body),
                      kQuick, "running its checkpoint command");
  if (!started) co_return started.error();
  const double until = steady_seconds() + seconds;
  for (;;) {
    const Result<json::value> state = co_await client_.get_json(
        "/exec/" + percent_encoded(exec) + "/json", "inspecting its checkpoint command", kQuick);
    if (state && !is_true(*state, "Running") && member(*state, "ExitCode").is_int64()) {
      co_return member(*state, "ExitCode").get_int64();
    }
    // Who has forgotten it never says how it ended.
    if (is_absent(state)) co_return state.error();
    if (steady_seconds() >= until) {
      if (!state) co_return state.error();
      end_processes(integer_of(*state, "Pid"), container);
      co_return errno_error(
          ETIMEDOUT, "its checkpoint command took longer than " + render_number(seconds) + " s");
    }
    co_await ctrl::pause(0.1);
  }
}

Async<Result<void>> DockerEngine::make_checkpoint(std::string container, std::string checkpoint,
                                                  double seconds) {
  std::string body = render_json(json::object{{"CheckpointID", checkpoint}, {"Exit", true}});
  co_return co_await expect("POST", path_of(container, "/checkpoints"), std::move(body), seconds,
                            "saving it by CRIU");
}

Async<Result<void>> DockerEngine::remove_checkpoint(std::string container, std::string checkpoint) {
  co_return co_await expect("DELETE",
                            path_of(container, "/checkpoints/" + percent_encoded(checkpoint)), "",
                            kQuick, "removing CRIU's checkpoint");
}

Async<Result<void>> DockerEngine::remove_volume(std::string name) {
  co_return co_await expect("DELETE", "/volumes/" + percent_encoded(name), "", kStarting,
                            "removing the volume '" + printable(name, 80) + "'", 409);
}

// -------------------------------------------------------------------------------- the engine

Async<Result<ctrl::engine::Version>> DockerEngine::ping() { return client_.ping(); }

Async<Result<std::vector<ctrl::engine::Listed>>> DockerEngine::list() {
  return client_.list(kListTime);
}

Async<Result<std::vector<std::string>>> DockerEngine::images() {
  const Result<json::value> all =
      co_await client_.get_json("/images/json", "listing the images", kListTime);
  if (!all) co_return all.error();
  std::vector<std::string> ids;
  for (const json::value& one : list_of(*all)) ids.push_back(text_of(one, "Id"));
  co_return ids;
}

Async<Error> DockerEngine::events(std::int64_t since_ns, std::function<void()> connected,
                                  std::function<void(ctrl::engine::EngineEvent)> sink,
                                  std::string actions) {
  auto accepted = [connected = std::move(connected)](const std::function<void()>&) { connected(); };
  co_return co_await client_.events(since_ns, std::move(accepted), std::move(sink),
                                    std::move(actions));
}

Async<Result<std::vector<Removal>>> DockerEngine::removals(double now) {
  char until[40];
  std::snprintf(until, sizeof until, "%.6f", now);
  const std::string wanted =
      R"({"type":["container"],"event":["start","kill","destroy"],"label":[")" +
      std::string(kMoveLabel) + R"("]})";
  std::string path =
      "/events?since=0&until=" + std::string(until) + "&filters=" + percent_encoded(wanted);
  const Result<std::string> told =
      co_await client_.get(std::move(path), "asking which containers were removed", kQuick);
  if (!told) co_return told.error();
  co_return removals_in(*told);
}

Async<Result<Seen>> DockerEngine::with_own_labels(bool image_labels, Seen seen) {
  return migration::with_own_labels(client_, image_labels, std::move(seen));
}

}  // namespace flowcon::cluster::migration
