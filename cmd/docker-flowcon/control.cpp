// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/control.h"

#include <algorithm>
#include <ostream>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::plugin {
namespace {

Result<boost::json::value> ask(const DaemonClient& daemon, const std::string& container,
                               const std::string& action, const std::string& body) {
  if (!is_container_name(container)) {
    return bad_input("No such container: \"" + printable(container) + "\" cannot be a name");
  }
  return daemon.post("/v1/containers/" + container + "/" + action, body);
}

// The engine may take its time, and release answers only when the limits are back.
constexpr std::chrono::seconds kTimeout{30};

}  // namespace

bool is_container_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 255 && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || c == '_' || c == '.' || c == '-'; });
}

void declare_adopt(CLI::App& app, AdoptOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  declare_job_options(app, options.job);
}

int run_adopt(const Session& session, const AdoptOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "adopt");
  if (!daemon) return report(session.terminal, daemon.error());
  const DaemonClient patient(daemon->path(), kTimeout);
  const auto answer = ask(patient, options.container, "adopt", render_json(job_body(options.job)));
  if (!answer) return report(session.terminal, answer.error());
  session.terminal.out << options.container << "\n";
  return kDone;
}

void declare_release(CLI::App& app, ReleaseOptions& options) {
  app.add_option("CONTAINER", options.containers)->required();
}

int run_release(const Session& session, const ReleaseOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "release");
  if (!daemon) return report(session.terminal, daemon.error());
  const DaemonClient patient(daemon->path(), kTimeout);
  int status = kDone;
  for (const std::string& container : options.containers) {
    const auto answer = ask(patient, container, "release", "");
    if (answer) {
      session.terminal.out << container << "\n";
    } else {
      status = report(session.terminal, answer.error());
    }
  }
  return status;
}

}  // namespace flowcon::plugin
