// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/other_engine.h"

#include <sys/stat.h>

#include <chrono>
#include <ostream>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/endpoint.h"

namespace flowcon::plugin {
namespace {

// A warning keeps nobody waiting.
constexpr std::chrono::milliseconds kPatience{500};

// Certainly two files? std::filesystem::equivalent() of libstdc++ 12 takes no sockets.
bool are_two(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  if (::stat(one.c_str(), &first) != 0 || ::stat(other.c_str(), &second) != 0) return false;
  return first.st_dev != second.st_dev || first.st_ino != second.st_ino;
}

}  // namespace

std::string other_engine_text(const Session& session, const DaemonClient& daemon,
                              const std::string& consequence) {
  const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
  const std::string path = endpoint ? endpoint->socket() : "";
  if (path.empty()) return "";
  const Result<json::value> status = daemon.get("/v1/status");
  const std::string watched = status ? text_of(member(*status, "engine"), "socket") : "";
  if (watched.empty() || !are_two(path, watched)) return "";
  return "flowcond at unix://" + printable(daemon.path()) + " watches the engine at unix://" +
         printable(watched) + ", so " + consequence + " at unix://" + printable(path) +
         ". If another flowcond watches that engine, name its socket with --socket or "
         "FLOWCON_SOCKET";
}

void warn_of_other_engine(const Session& session, const DaemonClient& daemon,
                          const std::string& consequence) {
  const std::string why = other_engine_text(session, daemon.with_timeout(kPatience), consequence);
  if (!why.empty()) session.terminal.err << why << "\n";
}

}  // namespace flowcon::plugin
