// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/endpoint.h"

#include <boost/json/object.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::plugin {
namespace {

// Far more than docker writes there; a larger file is not docker's.
constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxContexts = 10000;

std::optional<json::object> read_object(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) return std::nullopt;
  Result<json::value> value = parse_json(text);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

std::string config_folder(const Invocation& invocation, const Environment& environment) {
  if (!invocation.config_folder.empty()) return invocation.config_folder;
  const std::string from_environment = lookup(environment, "DOCKER_CONFIG");
  return from_environment.empty() ? lookup(environment, "HOME") + "/.docker" : from_environment;
}

// docker names a context's folder by the SHA-256 of its name. Looking at each folder's own record
// of the name gives the same answer without the hash.
Result<Endpoint> find_context(const std::string& folder, const std::string& name) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder + "/contexts/meta", failed);
  for (std::size_t i = 0; !failed && entry != std::filesystem::directory_iterator(); ++i) {
    if (i == kMaxContexts) break;
    const std::optional<json::object> meta = read_object(entry->path() / "meta.json");
    if (meta && text_of(*meta, "Name") == name)
      return Endpoint{name, text_of(member(member(*meta, "Endpoints"), "docker"), "Host")};
    entry.increment(failed);
  }
  return bad_input("context \"" + printable(name) + "\": context not found in " +
                   printable(folder, 1000));
}

}  // namespace

bool Endpoint::is_remote() const {
  // "tcp://127.0.0.1:2375" may be a tunnel to anywhere, so what is not a local socket is remote.
  return !host.empty() && !host.starts_with("unix://") && !host.starts_with("fd://") &&
         !host.starts_with("/");
}

std::string Endpoint::socket() const {
  constexpr std::string_view kUnix = "unix://";
  if (host.empty()) return "/var/run/docker.sock";
  std::string path = host.starts_with(kUnix) ? host.substr(kUnix.size()) : host;
  return path.starts_with('/') ? path : "";
}

Result<Endpoint> find_endpoint(const Invocation& invocation, const Environment& environment) {
  if (invocation.hosts.size() > 1) return bad_input("specify only one -H");
  if (!invocation.hosts.empty() && !invocation.context.empty()) {
    return bad_input("conflicting options: cannot specify both --host and --context");
  }
  if (!invocation.hosts.empty()) return Endpoint{"default", invocation.hosts.front()};
  const std::string folder = config_folder(invocation, environment);
  std::string context = invocation.context;
  if (context.empty()) {
    const std::string host = lookup(environment, "DOCKER_HOST");
    if (!host.empty()) return Endpoint{"default", host};
    context = lookup(environment, "DOCKER_CONTEXT");
  }
  if (context.empty()) {
    const std::optional<json::object> config = read_object(folder + "/config.json");
    if (config) context = text_of(*config, "currentContext");
  }
  if (context.empty() || context == "default") {
    // The context "default" is whatever DOCKER_HOST says, also where it was named by hand.
    return Endpoint{"default", lookup(environment, "DOCKER_HOST")};
  }
  return find_context(folder, context);
}

std::string remote_hint(const Endpoint& endpoint, const std::string& command) {
  const std::string host = printable(endpoint.host);
  std::string where = endpoint.context == "default"
                          ? "docker talks to " + host
                          : "context \"" + printable(endpoint.context) + "\" is " + host;
  std::string how;
  if (endpoint.host.starts_with("ssh://")) {
    // Without the path; ssh takes the rest of such an address as it is.
    const std::string address = host.substr(0, host.find('/', 6));
    how = "ssh " + address + " docker flowcon " + command;
  } else {
    how = "docker flowcon " + command + " (after logging in there)";
  }
  return where +
         ", and this command asks flowcond on this host only. Ask the flowcond there: " + how +
         ". To ask the one on this host, add --socket PATH";
}

}  // namespace flowcon::plugin
