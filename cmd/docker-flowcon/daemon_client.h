// SPDX-License-Identifier: Apache-2.0
// Asks flowcond over its unix socket. One connection a call, a limit on time and on size for each.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "ctrl/reply.h"

namespace flowcon::plugin {

/// Where flowcond listens by default.
inline constexpr const char* kDefaultSocket = "/run/flowcon/flowcon.sock";
/// Who may use it, and the engine's, by default.
inline constexpr const char* kDefaultGroup = "docker";

/// What connecting to a socket comes to.
enum class SocketState { answers, absent, unknown };

/// Checks whether someone listens at `path`, without waiting. `absent` only where the socket is
/// missing or refuses.
[[nodiscard]] SocketState probe_socket(const std::string& path);

/// The group whose members may use the socket, kDefaultGroup where nobody may see it; "" = none but
/// root. Safe for a terminal.
[[nodiscard]] std::string socket_group(const std::string& path);
/// How to become one of its members.
[[nodiscard]] std::string join_advice(const std::string& group);

class DaemonClient {
 public:
  /// `path` is a unix socket. Each call may take `timeout` in all.
  explicit DaemonClient(std::string path,
                        std::chrono::milliseconds timeout = std::chrono::seconds(10));

  /// GET or POST of `target` ("/v1/status") with `body` as JSON text ("" = none).
  /// Errors: no socket, no rights, no answer in time, an answer that is not HTTP, above 64 MiB or
  /// not JSON; each says what to do. A status of 400 or more is an error with flowcond's own
  /// sentence, made safe for a terminal. `is_missing`: is it that there is no such thing (404)?
  [[nodiscard]] Result<boost::json::value> get(const std::string& target,
                                               bool* is_missing = nullptr) const;
  [[nodiscard]] Result<boost::json::value> post(const std::string& target, const std::string& body,
                                                bool* is_missing = nullptr) const;

  /// The same; nothing where flowcond says that there is no such thing (404).
  [[nodiscard]] Result<std::optional<boost::json::value>> find(const std::string& target) const;

  /// All of a list that comes in parts (`next` in docs/api.md): the elements of the member `name`,
  /// 200,000 and one part at most. `query`: of the first part, "since=1790000000"; "" = none.
  /// Errors: as those of get().
  [[nodiscard]] Result<boost::json::array> get_parts(const std::string& path, std::string query,
                                                     const std::string& name) const;

  /// The body of such a GET byte for byte. Errors: the same, so it is a JSON object.
  [[nodiscard]] Result<std::string> get_text(const std::string& target,
                                             bool* is_missing = nullptr) const;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// The same with another limit on time.
  [[nodiscard]] DaemonClient with_timeout(std::chrono::milliseconds timeout) const {
    DaemonClient other = *this;
    other.timeout_ = timeout;
    return other;
  }
  /// `told` gets the name of the host that answered instead of this one, each time.
  void tell_forwarded(std::function<void(const std::string& host)> told) {
    told_ = std::move(told);
  }

 private:
  [[nodiscard]] Result<ctrl::Reply> exchange(const char* method, const std::string& target,
                                             const std::string& body) const;
  [[nodiscard]] Result<boost::json::value> read(const Result<ctrl::Reply>& answer,
                                                bool* is_missing = nullptr) const;

  std::string path_;
  std::chrono::milliseconds timeout_;
  std::function<void(const std::string&)> told_;
};

}  // namespace flowcon::plugin
