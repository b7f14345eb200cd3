// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/steering.h"

#include <array>
#include <ostream>
#include <utility>

#include "base/json.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/values.h"

namespace flowcon::plugin {
namespace {

int run_on_all(const Session& session, const std::string& action) {
  const Result<DaemonClient> daemon = find_daemon(session, action);
  if (!daemon) return report(session.terminal, daemon.error());
  const auto answer = daemon->with_timeout(kControlTimeout).post("/v1/" + action, "");
  return answer ? kDone : report(session.terminal, answer.error());
}

}  // namespace

int run_on_each(const Session& session, const std::vector<std::string>& containers,
                const std::string& action, const std::string& body) {
  const Result<DaemonClient> daemon = find_daemon(session, action);
  if (!daemon) return report(session.terminal, daemon.error());
  const DaemonClient patient = daemon->with_timeout(kControlTimeout);
  int status = kDone;
  bool was_heard = false;
  for (const std::string& container : containers) {
    const Result<std::string> target = container_target(container, action);
    bool is_missing = false;
    const Result<boost::json::value> answer =
        target ? patient.post(*target, body, &is_missing) : target.error();
    was_heard = was_heard || answer || is_missing;
    if (answer) {
      session.terminal.out << container << "\n";
    } else {
      const Error& error = answer.error();
      status = report(session.terminal, is_missing ? or_job(patient, container, error) : error);
    }
  }
  if (was_heard) warn_of_containers_elsewhere(session, *daemon);
  return status;
}

void declare_pause(CLI::App& app, PauseOptions& options) {
  options.action = app.get_name();
  app.add_option("CONTAINER", options.containers);
  app.add_flag("-a,--all", options.all,
               options.action == "pause" ? "Pause control of all containers, including later ones"
                                         : "Resume control of all containers");
}

std::string check_pause(const PauseOptions& options) {
  if (options.all && !options.containers.empty()) return "--all takes no containers";
  return options.all || !options.containers.empty() ? "" : "name a container, or all with --all";
}

int run_pause(const Session& session, const PauseOptions& options) {
  return options.all ? run_on_all(session, options.action)
                     : run_on_each(session, options.containers, options.action, "");
}

void declare_pin(CLI::App& app, PinOptions& options) {
  app.add_option("CONTAINER", options.containers)->required();
  app.add_option("--cpu", options.cpu,
                 "Share of the host, above 0 and at most 1, such as 0.5 or 50%")
      ->type_name("share")
      ->check(check_share);
  app.add_option("--for", options.duration,
                 "Time after which the pin ends, such as 90s, 30m, 2h or 1h30m (default: until "
                 "unpin)")
      ->type_name("duration")
      ->check(check_duration);
}

std::string check_pin(const PinOptions& options) {
  return options.cpu.empty() ? "required flag(s) \"cpu\" not set" : "";
}

boost::json::object pin_body(const PinOptions& options) {
  boost::json::object body{{"cpu", share_word(options.cpu)}};
  const std::optional<double> seconds = parse_duration(options.duration);
  if (seconds) body["for"] = render_number(*seconds);
  return body;
}

int run_pin(const Session& session, const PinOptions& options) {
  return run_on_each(session, options.containers, "pin", render_json(pin_body(options)));
}

void declare_containers(CLI::App& app, ContainersOptions& options) {
  options.action = app.get_name();
  app.add_option("CONTAINER", options.containers)->required();
}

int run_containers(const Session& session, const ContainersOptions& options) {
  return run_on_each(session, options.containers, options.action, "");
}

void declare_set(CLI::App& app, SetOptions& options) {
  app.add_option("CONTAINER", options.containers)->required();
  app.add_option("--weight", options.weight,
                 "Weight relative to the other jobs, 0.001 to 10, or none to undo it")
      ->type_name("number")
      ->check(check_weight_or_none);
  app.add_option("--floor", options.floor,
                 "Least share of the host for the job, above 0 and at most 1, or none to undo it")
      ->type_name("share")
      ->check(check_share_or_none);
  app.add_option(
         "--ceiling", options.ceiling,
         "Greatest share of the host for the job, above 0 and at most 1, or none to undo it")
      ->type_name("share")
      ->check(check_share_or_none);
  app.add_flag("--only-grow", options.only_grow,
               "Raise the job's limits, never lower them; =false undoes it")
      ->check(check_bool);
}

std::string check_set(const SetOptions& options) {
  if (set_body(options).empty()) {
    return "you must provide one or more flags when using this command";
  }
  return check_range(options.floor, options.ceiling);
}

boost::json::object set_body(const SetOptions& options) {
  const std::array<std::pair<const char*, std::string>, 4> words{
      {{"weight", options.weight},
       {"floor", share_word(options.floor)},
       {"ceiling", share_word(options.ceiling)},
       {"only-grow", options.only_grow}}};
  boost::json::object body;
  for (const auto& [name, value] : words) {
    if (!value.empty()) body[name] = value;
  }
  return body;
}

int run_set(const Session& session, const SetOptions& options) {
  return run_on_each(session, options.containers, "set", render_json(set_body(options)));
}

}  // namespace flowcon::plugin
