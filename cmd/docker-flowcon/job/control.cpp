// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/control.h"

#include <ostream>

#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/other_engine.h"

namespace flowcon::plugin {

Result<std::string> container_target(const std::string& container, const std::string& action) {
  if (!is_object_name(container)) {
    return bad_input("No such container: \"" + printable(container) + "\" cannot be a name");
  }
  return "/v1/containers/" + container + "/" + action;
}

void warn_of_containers_elsewhere(const Session& session, const DaemonClient& daemon) {
  if (session.chose_socket) return;
  warn_of_other_engine(session, daemon, "it does not look for containers");
}

void declare_adopt(CLI::App& app, AdoptOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  declare_job_options(app, options.job);
}

std::string check_adopt(const AdoptOptions& options) { return check_job_options(options.job); }

int run_adopt(const Session& session, const AdoptOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "adopt");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<std::string> target = container_target(options.container, "adopt");
  if (!target) return report(session.terminal, target.error());
  bool is_missing = false;
  const auto answer = daemon->with_timeout(kControlTimeout)
                          .post(*target, render_json(job_body(options.job)), &is_missing);
  if (answer || is_missing) warn_of_containers_elsewhere(session, *daemon);
  if (!answer) return report(session.terminal, answer.error());
  session.terminal.out << options.container << "\n";
  return kDone;
}

}  // namespace flowcon::plugin
