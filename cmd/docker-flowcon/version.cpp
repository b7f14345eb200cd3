// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/version.h"

#include <boost/json/object.hpp>
#include <optional>
#include <ostream>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/format.h"

namespace flowcon::plugin {
namespace {

// The version of docs/api.md that this program speaks.
constexpr std::int64_t kApiVersion = 1;

constexpr std::string_view kDefault =
    "Client: docker-flowcon\n Version:      {{.Client.Version}}\n"
    " API version:  {{.Client.ApiVersion}}{{if .Server}}\n\n"
    "Server: flowcond\n Version:      {{.Server.Version}}\n"
    " API version:  {{.Server.ApiVersion}}{{end}}";

json::value server_object(const json::value& answer) {
  json::object server{{"Version", nullptr}, {"ApiVersion", nullptr}};
  const json::value& version = member(answer, "version");
  if (version.is_string()) server["Version"] = printable(text_of(version));
  if (member(answer, "api").is_number()) server["ApiVersion"] = member(answer, "api");
  return server;
}

}  // namespace

void declare_version(CLI::App& app, VersionOptions& options) {
  app.add_option("--format", options.format,
                 "Format output using a custom template:\n"
                 "'json':             Print in JSON format\n"
                 "'TEMPLATE':         Print output using the given Go template.")
      ->type_name("string")
      ->check([](const std::string& text) {
        return text == "table" || text.starts_with("table ")
                   ? "has to be json or a template: versions are no table"
                   : std::string();
      });
}

int run_version(const Session& session, const VersionOptions& options) {
  const Result<Format> format =
      Format::parse(options.format.empty() ? kDefault : options.format, "");
  if (!format) return report(session.terminal, format.error());
  json::object versions{{"Client", {{"Version", FLOWCON_VERSION}, {"ApiVersion", kApiVersion}}},
                        {"Server", nullptr}};
  std::optional<Error> absence;
  const Result<DaemonClient> daemon = find_daemon(session, "version");
  if (daemon) {
    const Result<json::value> answer = daemon->get("/v1/version");
    if (answer) {
      versions["Server"] = server_object(*answer);
    } else {
      absence = answer.error();
    }
  } else {
    absence = daemon.error();
  }
  const Result<std::string> text = format->render({versions}, {});
  if (!text) return report(session.terminal, text.error());
  session.terminal.out << *text;
  session.terminal.out.flush();
  return absence ? report(session.terminal, *absence) : kDone;
}

}  // namespace flowcon::plugin
