// SPDX-License-Identifier: Apache-2.0
// The Docker Engine's HTTP API over its unix socket. What the daemon needs of it all the time has a
// function here (GET /_ping, /containers/json, /containers/ID/json, /events); for all else there
// are one call, one download and one upload.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/gpus.h"
#include "ctrl/pull.h"
#include "ctrl/reply.h"

namespace flowcon::ctrl::engine {

/// The API versions we speak: Engine 20.10 has 1.41; the newest we have read about is 1.55.
inline constexpr int kOldestMinor = 40;
inline constexpr int kNewestMinor = 55;

struct Version {
  std::string engine;  ///< "20.10.24"
  std::string api;     ///< the negotiated one: "1.41"
};

/// A volume or a bind: `source` on the host is `destination` in the container.
struct Mount {
  std::string destination;
  std::string source;
};

/// A container as the engine describes it.
/// Units: started in seconds since the epoch; quota and period in microseconds, 0 = not given.
struct Container {
  std::string id;
  std::string name;
  std::string image;
  std::string image_id;  ///< "sha256:…"; "" = not said
  /// What it runs, its arguments with blanks between; shortened() to 4,096 bytes.
  std::string command;
  /// Name and value, its image's too; at most 4,096 bytes in all. May hold secrets: never shown.
  std::vector<std::pair<std::string, std::string>> environment;
  std::int64_t pid = 0;
  bool running = false;
  bool is_frozen = false;  ///< docker pause
  double started = 0;
  bool has_ended_before = false;  ///< it was started again
  std::map<std::string, std::string> labels;
  /// Labels for us that came from its image and were taken out of `labels`, see own_labels().
  std::map<std::string, std::string> image_labels;
  std::string label_problem;  ///< why it is not known which came from its image; "" = it is
  std::string log_driver;
  std::string log_path;
  bool is_log_cache_disabled = false;  ///< of a driver that does not keep its log on the host
  std::string folder;                  ///< where the engine keeps what belongs to it; "" = not said
  std::vector<Mount> mounts;           ///< at most kMaxMounts
  std::uint64_t cpu_shares = 0;
  std::int64_t cpu_quota_us = 0;
  std::int64_t cpu_period_us = 0;
  std::int64_t nano_cpus = 0;
  GpuDevices gpus;
};

inline constexpr std::size_t kMaxMounts = 256;

/// A container of the engine's list.
struct Listed {
  std::string id;                             ///< 64 hexadecimal digits
  std::string state;                          ///< "created", "running", "paused", "exited", …
  std::map<std::string, std::string> labels;  ///< its image's too
  std::string image_id;                       ///< "sha256:…"; "" = not said
  std::vector<std::string> volumes;           ///< names of those that are mounted in it
  std::string network;                        ///< its network mode; "" = not said

  /// docker pause
  [[nodiscard]] bool is_frozen() const { return state == "paused"; }
};

/// Something that happened to a container. Units: time in nanoseconds since the epoch.
struct EngineEvent {
  std::string action;
  std::string id;
  std::int64_t time_ns = 0;
  std::optional<int> exit_status;  ///< of a container that died
  std::optional<int> signal;       ///< that one was sent
  std::string name = {};           ///< of the container, after it
};

/// Pure: the engine's JSON to the types above. Errors name the member that is missing.
[[nodiscard]] Result<Container> parse_container(std::string_view json);
[[nodiscard]] Result<Container> read_container(const boost::json::value& value);
[[nodiscard]] Result<EngineEvent> parse_event(std::string_view json);
/// In the engine's order, newest first. Entries without an id that is one are left out. Errors: not
/// a JSON list.
[[nodiscard]] Result<std::vector<Listed>> parse_list(std::string_view json);
/// The labels that an image gives to its containers. Errors: not JSON.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_image_labels(std::string_view json);
/// The version to use with an engine that says "1.43". Errors: none in common.
[[nodiscard]] Result<std::string> negotiate(std::string_view engine_api);

/// What the engine answers: JSON, mostly.
using ctrl::Reply;

/// The engine's own sentence of a refusal, after what we were doing; its status where it says none.
/// The code is ENOENT for a 404.
[[nodiscard]] Error engine_error(const Reply& reply, const std::string& doing);

/// Seconds; a loaded engine answers an inspect in under 1 s.
inline constexpr double kAnswerTime = 30;
/// Seconds in which an engine that lives answers a ping, which asks nothing of it.
inline constexpr double kPingTime = 9;
/// What changes the pool of containers.
inline constexpr const char* kPoolActions =
    R"(["start","die","update","rename","pause","unpause"])";

/// One connection a request; the engine may come and go between them.
class Client {
 public:
  /// `socket` is the path of the engine's unix socket.
  Client(boost::asio::io_context& io, std::string socket);
  [[nodiscard]] boost::asio::io_context& io() const { return io_; }

  /// Asks for the version and settles which one to speak. Errors: no engine (says how to start
  /// it), no right to its socket, no common version; ETIMEDOUT it is there and says nothing.
  Async<Result<Version>> ping();
  /// The running containers, oldest first. Errors: as get(); an answer that is no list.
  Async<Result<std::vector<Listed>>> running();
  /// All containers, newest first. The answer must be whole within `seconds`. Errors: as running().
  Async<Result<std::vector<Listed>>> list(double seconds);
  /// The answer must be whole within `seconds`. Errors: ENOENT no such container; else as ping().
  Async<Result<Container>> inspect(std::string name, double seconds = kAnswerTime);
  /// What an image gives to its containers, by the image's id. Remembered, since an id says what is
  /// in it. Errors: as inspect().
  Async<Result<std::map<std::string, std::string>>> image_labels(std::string id,
                                                                 double seconds = kAnswerTime);
  /// Follows container events from `since_ns` on (0 = from now) until the stream ends, which it
  /// does when the engine stops. `sink` gets each event in order; `connected` is called once when
  /// the engine has accepted the request, with what ends the stream early. `actions` is a list in
  /// JSON of those that are told. A quiet engine is a healthy one: whether it lives ping() tells.
  /// The error says why it ended.
  Async<Error> events(std::int64_t since_ns,
                      std::function<void(std::function<void()> end)> connected,
                      std::function<void(EngineEvent)> sink, std::string actions = kPoolActions);

  /// One request and its whole answer, whatever its status. `path` begins with "/" and has no
  /// version; `body` is JSON, or nothing. The answer must be whole within `seconds`.
  /// Errors: no engine, no right to its socket, ETIMEDOUT, an answer of more than 64 MiB.
  Async<Result<Reply>> call(std::string method, std::string path, std::string body, double seconds);

  /// What the engine answers to GET. Errors: as call(); any status but 200, as engine_error().
  Async<Result<std::string>> get(std::string path, std::string doing, double seconds);
  /// The same, as JSON. Errors: as get(); an answer that is none.
  Async<Result<json::value>> get_json(std::string path, std::string doing, double seconds);

  /// GET, and the answer as it comes, in pieces of at most 64 KiB; dropping it ends the connection.
  /// That it ended does not say that it was whole: an engine that fails on the way ends an archive
  /// early or with an error in JSON, and only who reads the archive can tell.
  /// Errors: as call(), with ETIMEDOUT if nothing comes for `idle_seconds`; any status but 200, as
  /// engine_error().
  Async<Result<Pull>> download(std::string path, double idle_seconds);

  /// Sends `body` in pieces, as it is pulled, and returns the answer, whatever its status. An
  /// engine may answer before it has all, with an error: then no more is pulled. Errors: as call(),
  /// with ETIMEDOUT if the engine takes nothing or, in the end, says nothing for `idle_seconds`;
  /// those of `body`, after which the engine sees a request that is cut, not one that ends.
  Async<Result<Reply>> upload(std::string method, std::string path, std::string content_type,
                              Pull body, double idle_seconds);

  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  [[nodiscard]] std::string versioned(const std::string& path) const;

  boost::asio::io_context& io_;
  std::string socket_;
  std::string api_;  ///< negotiated, "" before the first ping
  std::map<std::string, std::map<std::string, std::string>> image_labels_;  ///< by the image's id
};

}  // namespace flowcon::ctrl::engine
