// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/doctor.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ostream>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kNameBytes = 64;
constexpr std::size_t kSentenceBytes = 1000;
constexpr std::size_t kMostAbilities = 1000;
constexpr const char* kEngine = "engine";
constexpr const char* kCpuLimits = "CPU limits";

/// All texts are safe for a terminal.
struct Ability {
  std::string name;
  bool is_found = false;
  std::string detail;
  std::string advice;
  bool is_checked = true;  ///< false: nobody could look
};

struct Findings {
  std::vector<Ability> abilities;
  std::string daemon_version;  ///< "" = unknown
};

std::string safe_text(const json::value& value, std::size_t bytes = kSentenceBytes) {
  return printable(text_of(value), bytes);
}

bool is_found(const Findings& findings, std::string_view name) {
  return std::any_of(findings.abilities.begin(), findings.abilities.end(),
                     [&](const Ability& a) { return a.name == name && a.is_found; });
}

std::string owner_of(const struct stat& state) {
  const passwd* user = getpwuid(state.st_uid);
  const group* members = getgrgid(state.st_gid);
  return printable(user != nullptr ? user->pw_name : std::to_string(state.st_uid)) + ":" +
         printable(members != nullptr ? members->gr_name : std::to_string(state.st_gid));
}

// What one does who may not use the socket.
std::string access_advice(const std::string& path, const std::string& units) {
  const std::string group = socket_group(path);
  const bool has_other = !group.empty() && group != kDefaultGroup;
  if (!has_other && getgrnam(kDefaultGroup) == nullptr) {
    return "this host has no group docker: sudo groupadd docker, then sudo systemctl restart " +
           units;
  }
  return group.empty() ? "use sudo: only root may use it" : join_advice(group);
}

Ability look_at_socket(const std::string& path) {
  Ability ability{"socket", false, "", ""};
  struct stat state {};
  if (stat(path.c_str(), &state) != 0) {
    ability.is_checked = errno == ENOENT || errno == ENOTDIR;
    ability.detail = printable(path) + ": " + std::strerror(errno);
    return ability;
  }
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", state.st_mode & 07777U);
  ability.detail = printable(path) + ", " + mode.data() + " " + owner_of(state);
  ability.is_found = S_ISSOCK(state.st_mode) && access(path.c_str(), R_OK | W_OK) == 0;
  if (!S_ISSOCK(state.st_mode)) {
    ability.detail += ", which is no socket";
  } else if (!ability.is_found) {
    ability.detail += ", which you may not use";
    ability.advice = access_advice(path, "flowcond.socket docker.socket");
  }
  return ability;
}

// Without flowcond: does anything listen where docker would connect?
Ability look_at_engine(const Session& session) {
  Ability ability{kEngine, false, "", ""};
  const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
  if (!endpoint) {
    ability.is_checked = false;
    ability.detail = endpoint.error().message();
    return ability;
  }
  const std::string path = endpoint->socket();
  if (path.empty()) {
    ability.is_checked = false;
    ability.detail = printable(endpoint->host) + " is not checked from here";
    return ability;
  }
  const SocketState state = probe_socket(path);
  ability.is_found = state == SocketState::answers;
  ability.is_checked = ability.is_found || state == SocketState::absent;
  ability.detail = "unix://" + printable(path) +
                   (ability.is_found               ? " answers"
                    : state == SocketState::absent ? ": nothing listens there"
                                                   : " cannot be reached by you");
  if (state == SocketState::absent) ability.advice = "systemctl start docker";
  if (state == SocketState::unknown && access(path.c_str(), R_OK | W_OK) != 0 && errno == EACCES) {
    ability.advice = access_advice(path, "docker.socket");
  }
  return ability;
}

// `here`: what look_at_engine() has found.
Ability engine_by_status(const json::value& status, const Ability& here) {
  const json::value& engine = member(status, "engine");
  Ability ability{kEngine, is_true(member(engine, "reachable")), "", ""};
  if (ability.is_found) {
    ability.detail = "Docker " + safe_text(member(engine, "version"), kNameBytes) + ", API " +
                     safe_text(member(engine, "api"), kNameBytes);
  } else {
    const std::string why = safe_text(member(engine, "error"));
    ability.detail = (here.is_found ? "it listens, but hangs: " : "") +
                     (why.empty() ? "it does not answer flowcond" : why);
    ability.advice = here.is_found ? "systemctl restart docker" : "systemctl start docker";
  }
  return ability;
}

Ability compare_versions(const std::string& daemon) {
  const bool is_same = daemon == FLOWCON_VERSION;
  return {"versions", is_same, "plugin " FLOWCON_VERSION ", flowcond " + daemon,
          is_same ? "" : "install the same version of both, then: systemctl restart flowcond"};
}

void read_abilities(const json::value& answer, Findings& findings) {
  for (const json::value& entry : list_of(member(answer, "abilities"))) {
    if (!entry.is_object() || findings.abilities.size() >= kMostAbilities) continue;
    const json::value& found = member(entry, "found");
    findings.abilities.push_back({safe_text(member(entry, "name"), kNameBytes), is_true(found),
                                  safe_text(member(entry, "detail")),
                                  safe_text(member(entry, "advice")), !found.is_null()});
  }
}

// Of a flowcond without a queue nothing is said.
void look_at_queue(const DaemonClient& daemon, Findings& findings) {
  const auto queue = daemon.find("/v1/queue");
  if (queue && !*queue) return;
  const json::value& offer = queue ? member(**queue, "offer") : json::value();
  const double cores = real_of(member(offer, "cpu")).value_or(0);
  const bool offers = cores > 0;
  Ability ability{"queue", offers, "", "", queue.has_value()};
  if (!queue) {
    ability.detail = queue.error().message();
    ability.advice = "journalctl -u flowcond";
  } else if (offers) {
    const double gpus = real_of(member(offer, "gpu")).value_or(0);
    const std::string memory = size_text(real_of(member(offer, "mem")));
    ability.detail =
        "this host gives " + number_text(cores, 4) + " cores" +
        (gpus > 0 ? ", " + memory + " and " + number_text(gpus, 4) + (gpus == 1 ? " GPU" : " GPUs")
                  : " and " + memory) +
        " to jobs";
  } else {
    ability.detail = "this host gives nothing to jobs";
    ability.advice = "offer = auto in flowcon.conf, if it should";
  }
  findings.abilities.push_back(ability);
  const json::value& groups = queue ? member(**queue, "groups") : json::value();
  const std::string network = safe_text(member(groups, "network"), kNameBytes);
  if (network.empty()) return;
  const std::string why = safe_text(member(groups, "why"));
  findings.abilities.push_back(
      {"groups", why.empty(), "group-network = " + network + (why.empty() ? "" : ": " + why),
       why.empty() ? "" : "flowcon.conf(5), group-network, if jobs should span hosts"});
}

void ask_daemon(const DaemonClient& daemon, Findings& findings) {
  const Result<json::value> version = daemon.get("/v1/version");
  if (!version) {
    const bool may_ask = probe_socket(daemon.path()) != SocketState::unknown;
    findings.abilities.push_back({"flowcond", false, version.error().message(), "", may_ask});
    return;
  }
  findings.daemon_version = safe_text(member(*version, "version"), kNameBytes);
  findings.abilities.push_back(
      {"flowcond", true, "answers at unix://" + printable(daemon.path()), ""});
  findings.abilities.push_back(compare_versions(findings.daemon_version));
  const Result<json::value> answer = daemon.get("/v1/doctor");
  if (answer) {
    read_abilities(*answer, findings);
  } else {
    findings.abilities.push_back({"abilities", false, answer.error().message(), "", false});
  }
  look_at_queue(daemon, findings);
}

Findings examine(const Session& session) {
  Findings findings;
  const Result<DaemonClient> daemon = find_daemon(session, "doctor");
  if (daemon) {
    findings.abilities.push_back(look_at_socket(daemon->path()));
    ask_daemon(*daemon, findings);
  } else {
    findings.abilities.push_back({"flowcond", false, daemon.error().message(), "", false});
  }
  const bool told = std::any_of(findings.abilities.begin(), findings.abilities.end(),
                                [](const Ability& a) { return a.name == kEngine; });
  if (told) return findings;
  const Result<json::value> status =
      daemon && !findings.daemon_version.empty() ? daemon->get("/v1/status") : bad_input("");
  const Ability here = look_at_engine(session);
  findings.abilities.push_back(status ? engine_by_status(*status, here) : here);
  return findings;
}

// Without one of these FlowCon can do nothing for anybody.
std::vector<std::string> missing_essentials(const Findings& findings) {
  std::vector<std::string> missing;
  if (!is_found(findings, "cpu") && !is_found(findings, "cpu quota")) {
    missing.emplace_back(kCpuLimits);
  }
  if (!is_found(findings, kEngine)) missing.emplace_back("the engine");
  return missing;
}

// Only flowcond can check CPU limits, and what it could not say is not missing either.
std::string summary(const std::vector<std::string>& missing, const Findings& findings) {
  if (missing.empty()) return "Nothing essential is missing.\n";
  const bool daemon_answers = !findings.daemon_version.empty();
  const auto is_unchecked = [&](std::string_view name) {
    return std::any_of(findings.abilities.begin(), findings.abilities.end(),
                       [&](const Ability& a) { return a.name == name && !a.is_checked; });
  };
  std::string unchecked, names;
  for (const std::string& name : missing) {
    const bool is_open = name == kCpuLimits ? !daemon_answers || is_unchecked("abilities") ||
                                                  is_unchecked("cpu") || is_unchecked("cpu quota")
                                            : is_unchecked(kEngine);
    std::string& list = is_open ? unchecked : names;
    list += (list.empty() ? "" : " and ") + name;
  }
  if (!unchecked.empty()) {
    unchecked = "Not checked" +
                std::string(daemon_answers ? "" : ", because flowcond does not answer") + ": " +
                unchecked + ".\n";
  }
  return unchecked + (names.empty() ? "" : "Missing, but essential: " + names + ".\n");
}

std::string found_text(const Ability& ability) {
  return !ability.is_checked ? "not checked" : ability.is_found ? "yes" : "no";
}

std::string render_table(const Findings& findings, const std::vector<std::string>& missing) {
  std::string rows = "ABILITY\tFOUND\tDETAIL\n";
  for (const Ability& ability : findings.abilities) {
    rows += ability.name + "\t" + found_text(ability) + "\t" + ability.detail + "\n";
  }
  // What to do stands below its row, where it cannot widen the table.
  const std::string aligned = align_columns(rows);
  std::string out;
  std::size_t start = 0;
  for (std::size_t row = 0; start < aligned.size(); ++row) {
    const std::size_t end = aligned.find('\n', start) + 1;
    out += aligned.substr(start, end - start);
    start = end;
    if (row == 0 || findings.abilities[row - 1].advice.empty()) continue;
    out += "  to do: " + findings.abilities[row - 1].advice + "\n";
  }
  return out + "\n" + summary(missing, findings);
}

std::string render_findings(const Findings& findings, const std::vector<std::string>& missing) {
  json::array abilities;
  for (const Ability& ability : findings.abilities) {
    abilities.push_back(json::object{
        {"name", ability.name},
        {"found", ability.is_checked ? json::value(ability.is_found) : json::value(nullptr)},
        {"detail", ability.detail},
        {"advice", ability.advice}});
  }
  json::array names;
  for (const std::string& name : missing) names.push_back(json::value(name));
  const std::string& daemon = findings.daemon_version;
  return json_text(json::object{{"plugin", FLOWCON_VERSION},
                                {"flowcond", daemon.empty() ? json::value() : json::value(daemon)},
                                {"missing", std::move(names)},
                                {"abilities", std::move(abilities)}}) +
         "\n";
}

}  // namespace

void declare_doctor(CLI::App& app, DoctorOptions& options) {
  app.add_option("--format", options.format, "Output as table or json (default: table)")
      ->type_name("string")
      ->check([](const std::string& text) {
        return text == "table" || text == "json" ? std::string() : "has to be table or json";
      });
}

int run_doctor(const Session& session, const DoctorOptions& options) {
  const Findings findings = examine(session);
  const std::vector<std::string> missing = missing_essentials(findings);
  session.terminal.out << (options.format == "json" ? render_findings(findings, missing)
                                                    : render_table(findings, missing));
  return missing.empty() ? kDone : kFailed;
}

}  // namespace flowcon::plugin
