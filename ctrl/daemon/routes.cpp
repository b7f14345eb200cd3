// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/routes.h"

#include <utility>

#include "base/text.h"
#include "ctrl/api/scrape.h"

namespace flowcon::ctrl {
namespace {

using api::Call;
using api::Response;

constexpr double kDriverTime = 5;  // seconds that a GPU's driver has

// Of a snapshot, without waiting.
api::Answer read(See see, Response (*read)(const Snapshot&, const Call&)) {
  return [see = std::move(see), read](const Call& call) { return api::at_once(read(see(), call)); };
}

Response version(const Snapshot&, const Call&) {
  return api::answer_with({{"version", FLOWCON_VERSION}, {"api", kApiVersion}});
}

Response status(const Snapshot& seen, const Call& call) {
  return {200, status_of(seen, call.number<std::size_t>("recent", 0))};
}

Response exposition(const Snapshot& seen, const Call&) {
  return {200, metrics_of(seen), api::kMetricsType};
}

// The group above this engine's containers; "" where there is none.
std::string parent_of(const Roster& roster) {
  for (const auto& [id, job] : roster.jobs) {
    std::string parent = cgroups::parent_of(job.group.cpu);
    if (!parent.empty()) return parent;
  }
  return "";
}

Async<Response> doctor(See see, Effects* effects, std::shared_ptr<HelperThreads> driver) {
  cgroups::ProbePlaces places;
  places.parent = parent_of(see().roster);
  auto probe = [&fs = see().fs, places] { return cgroups::probe_abilities(fs, places); };
  std::vector<cgroups::Ability> abilities = co_await effects->run(std::move(probe));
  auto probe_gpu = [places] { return cgroups::probe_gpu(places); };
  Result<cgroups::Ability> gpu = co_await driver->ask(std::move(probe_gpu), kDriverTime);
  abilities.push_back(gpu ? std::move(*gpu)
                          : cgroups::Ability{"gpu", false, "its driver does not answer",
                                             "ask it: nvidia-smi; a hung one needs a reboot",
                                             false});
  abilities.push_back(engine_ability(see().containers.engine(), see().config.engine));
  co_return abilities_of(abilities);
}

Result<void> suspend(Control& control, const std::string&, double) {
  control.is_paused = true;
  return {};
}

Result<void> resume(Control& control, const std::string&, double) {
  control.is_paused = false;
  return {};
}

Result<void> pin(Control& control, const std::string& body, double now) {
  const Result<Pin> pin = parse_pin(body, now);
  if (!pin) return pin.error();
  control.pin = *pin;
  return {};
}

Result<void> unpin(Control& control, const std::string&, double) {
  control.pin.reset();
  return {};
}

Result<void> set(Control& control, const std::string& body, double) {
  return merge_values(control, body);
}

}  // namespace

cgroups::Ability engine_ability(const EngineStatus& engine, const std::string& path) {
  const std::string name = "engine";
  if (engine.is_reachable) return {name, true, engine.version.engine + " at " + path, ""};
  if (engine.error.empty()) {
    return {name, false, "flowcond has just started and has not reached it yet", "try again soon",
            false};
  }
  return {name, false, engine.error, "start Docker: systemctl start docker"};
}

api::Response abilities_of(const std::vector<cgroups::Ability>& abilities) {
  json::array all;
  for (const cgroups::Ability& ability : abilities) {
    all.push_back(json::object{
        {"name", ability.name},
        {"found", ability.is_checked ? json::value(ability.is_there) : json::value(nullptr)},
        {"detail", valid_utf8(ability.detail)},
        {"advice", valid_utf8(ability.advice)}});
  }
  return api::answer_with({{"abilities", std::move(all)}});
}

api::Routes host_routes(const Answering& from) {
  using api::by, api::get, api::moment, api::post, api::since;
  const See& see = from.see;
  Commands& commands = from.commands;
  RecordReader& records = from.records;
  const auto change = [&commands](Commands::Change how) {
    return [&commands, how](Call call) { return commands.change(std::move(call), how); };
  };
  const auto pause_all = [&commands](bool is_paused) {
    return [&commands, is_paused](Call call) {
      return commands.pause_all(std::move(call), is_paused);
    };
  };
  const auto probe = [see, effects = &from.effects, driver = std::make_shared<HelperThreads>(1)](
                         const Call&) { return doctor(see, effects, driver); };
  const auto past_log = [&from_log = from.carry_over, engine = &from.containers](Call call) {
    return from_log.log_of(engine, std::move(call));
  };
  const std::string one = "/v1/containers/NAME/";
  return {
      get("/v1/version", "Version of flowcond and of this API.", read(see, version)),
      get("/v1/status", "The host and all containers that flowcond knows.", read(see, status),
          {{"recent", true, 0, 200}}),
      get("/metrics", "Metrics in Prometheus' text format.", read(see, exposition)),
      get("/v1/doctor", "Abilities of this host.", probe),
      get("/v1/runs", "All containers with records.", by(records, &RecordReader::runs),
          {since(), moment("started"), {"after"}}),
      get("/v1/changes", "Changes by decisions.", by(records, &RecordReader::changes),
          {since(), {"after"}}),
      get("/v1/profiles", "Resource use of runs that ended with status 0.",
          by(records, &RecordReader::profiles), {since(), {"after"}}),
      get(one + "history", "Records of a container.", by(records, &RecordReader::history),
          {since()}),
      get(one + "explain", "The last decisions about a container, and why.",
          by(records, &RecordReader::explain), {{"last", true, 1, 1000}, since()}),
      get(one + "past-log", "Output of a container on earlier hosts.", past_log, {{"from"}}),
      post(one + "adopt", "Puts a running container under control.",
           by(commands, &Commands::adopt)),
      post(one + "release", "Ends control of a container.", by(commands, &Commands::release)),
      post(one + "pause", "Suspends control of a container.", change(suspend)),
      post(one + "resume", "Resumes control of a container.", change(resume)),
      post(one + "pin", "Fixes the CPU limit of a container.", change(pin)),
      post(one + "unpin", "Removes the pin of a container.", change(unpin)),
      post(one + "set", "Overrides label values of a container.", change(set)),
      post("/v1/pause", "Suspends control of all containers.", pause_all(true)),
      post("/v1/resume", "Resumes control of all containers.", pause_all(false)),
  };
}

}  // namespace flowcon::ctrl
