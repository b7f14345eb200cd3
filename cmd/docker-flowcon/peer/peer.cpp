// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/peer.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <chrono>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/format.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

// Other hosts have a few seconds each to answer flowcond, and it answers then.
constexpr auto kPatience = std::chrono::seconds(70);

constexpr std::string_view kTable =
    "{{.Name}}\t{{.Reachable}}\t{{.SinceText}}\t{{.Version}}\t{{.ScoresText}}\t{{.Load}}\t"
    "{{.Error}}";

json::object headings() {
  return {{"Name", "NAME"},         {"Reachable", "REACHABLE"},   {"SinceText", "SINCE"},
          {"Version", "VERSION"},   {"ScoresText", "PC/WC/CC"},   {"Load", "LOAD"},
          {"Error", "ERROR"},       {"State", "STATE"},           {"ID", "ID"},
          {"HostName", "HOST"},     {"Containers", "CONTAINERS"}, {"Source", "SOURCE"},
          {"Draining", "DRAINING"}, {"Since", "SINCE"},           {"Heard", "HEARD"},
          {"Scores", "SCORES"},     {"Score", "SCORE"},           {"Usage", "USAGE"},
          {"Cores", "CORES"},       {"Memory", "MEMORY"},         {"Strangers", "STRANGERS"}};
}

json::object exact_peer(const json::object& peer) {
  json::object out;
  out["Name"] = text_of(peer, "name");
  out["State"] = text_of(peer, "state");
  out["Since"] = number_or_null(member(peer, "since"));
  out["Heard"] = number_or_null(member(peer, "heard"));
  out["Version"] = text_or_null(member(peer, "version"));
  out["ID"] = text_or_null(member(peer, "id"));
  out["HostName"] = text_or_null(member(peer, "hostname"));
  const json::value& scores = member(peer, "scores");
  out["Scores"] = json::object{{"PC", number_or_null(member(scores, "pc"))},
                               {"WC", number_or_null(member(scores, "wc"))},
                               {"CC", number_or_null(member(scores, "cc"))}};
  out["Score"] = number_or_null(member(peer, "score"));
  out["Usage"] = number_or_null(member(peer, "usage"));
  out["Cores"] = number_or_null(member(peer, "cores"));
  out["Memory"] = number_or_null(member(peer, "memory"));
  out["Containers"] = number_or_null(member(peer, "containers"));
  out["Draining"] = is_true(member(peer, "draining"));
  out["Source"] = text_of(peer, "source");
  json::array strangers;
  for (const json::value& one : list_of(member(peer, "strangers")))
    strangers.emplace_back(text_of(one));
  out["Strangers"] = std::move(strangers);
  out["Error"] = text_of(peer, "error");
  return out;
}

std::string scores_text(const json::value& scores) {
  std::string out;
  for (const char* category : {"PC", "WC", "CC"}) {
    const std::optional<double> count = real_of(member(scores, category));
    if (!count) return std::string(kUnknown);
    out += (out.empty() ? "" : "/") + number_text(*count, 6);
  }
  return out;
}

json::object shown_peer(const json::object& exact) {
  json::object out = exact;
  for (const char* name : {"Name", "State", "Version", "ID", "HostName", "Source", "Error"}) {
    const std::string text = printable(text_of(exact, name), 400);
    out[name] = text.empty() && std::string_view(name) != "Error" ? std::string(kUnknown) : text;
  }
  for (json::value& one : out["Strangers"].as_array()) one = printable(text_of(one), 400);
  const std::string state = text_of(exact, "State");
  std::string reachable = state == "reachable" ? "yes" : printable(state, 40);
  if (state == "reachable" && is_true(member(exact, "Draining"))) reachable += " (draining)";
  out["Reachable"] = reachable;
  out["SinceText"] = moment_text(real_of(member(exact, "Since")));
  out["ScoresText"] = scores_text(member(exact, "Scores"));
  out["Load"] = percent_text(real_of(member(exact, "Usage")));
  return out;
}

// Each pair once, whichever of the two does not know the other.
void warn_of_strangers(std::ostream& err, const std::vector<PeerView>& peers) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const PeerView& peer : peers) {
    const std::string name = text_of(peer.exact, "Name");
    for (const json::value& one : list_of(member(peer.exact, "Strangers"))) {
      pairs.insert(std::minmax(name, text_of(one)));
    }
  }
  for (const auto& [one, other] : pairs) {
    const std::string both = printable(one, 100) + " " + printable(other, 100);
    err << printable(one, 100) << " and " << printable(other, 100)
        << " do not know each other; on this host: sudo docker flowcon peer add " << both << "\n";
  }
}

int change_drain(const Session& session, const std::string& name, const std::string& action) {
  const Result<DaemonClient> daemon = find_daemon(session, "peer " + action);
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<SshAddress> peer = parse_ssh_address(name);
  if (!peer) return report(session.terminal, peer.error());
  const auto answer = daemon->post(peer_target(host_and_port(*peer), action), "");
  if (!answer) return report(session.terminal, answer.error());
  session.terminal.out << host_and_port(*peer) << "\n";
  return kDone;
}

// Why a container of a host that drains is not migrated; "" = it is.
std::string why_it_stays(const json::value& container) {
  if (is_true(member(container, "movable"))) return "";
  if (!is_true(member(container, "queued"))) return "its label flowcon.migrate lets it stay";
  if (!is_true(member(container, "saves_itself"))) {
    return "a job that cannot save itself, it stays until it ends";
  }
  return "a job that is parked, unless park = off or it does not save itself in time";
}

// "vae, gru (WHY)": what is there, or what of it is not migrated.
std::string containers_on(const json::value& cluster, const std::string& host, bool all) {
  std::string names;
  for (const json::value& one : list_of(member(cluster, "containers"))) {
    const std::string why = why_it_stays(one);
    if (text_of(member(one, "host")) != host || (!all && why.empty())) continue;
    names += (names.empty() ? "" : ", ") + printable(text_of(member(one, "name")), 100) +
             (why.empty() ? "" : " (" + why + ")");
  }
  return names;
}

// Why a host is not empty, "" = it is; what is on its way is in no list.
Result<std::string> why_not_empty(const json::value& cluster, const std::string& host) {
  const std::string names = containers_on(cluster, host, true);
  if (!names.empty()) return "still there: " + names;
  for (const json::value& one : list_of(member(cluster, "hosts"))) {
    if (text_of(member(one, "name")) != host) continue;
    const std::optional<double> moves = real_of(member(one, "moves"));
    if (!moves) return host + " does not answer";
    return *moves > 0 ? "a migration from or to " + host + " is under way" : std::string();
  }
  return bad_input(host + " is no peer any more");
}

int wait_until_empty(const Session& session, const PeerDrainOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "peer drain");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<SshAddress> peer = parse_ssh_address(options.host);
  if (!peer) return report(session.terminal, peer.error());
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> most_silence(options.silence_seconds);
  Clock::time_point answered = Clock::now();
  for (std::string said;;) {
    const Result<json::value> cluster = daemon->with_timeout(kPatience).get("/v1/cluster");
    if (cluster) {
      answered = Clock::now();
      const Result<std::string> why = why_not_empty(*cluster, host_and_port(*peer));
      if (!why) return report(session.terminal, why.error());
      if (why->empty()) return kDone;
      if (*why != said) session.terminal.err << *why << "\n" << std::flush;
      said = *why;
    } else if (Clock::now() - answered >= most_silence) {
      return report(session.terminal, cluster.error());
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(options.look_seconds));
  }
}

// What of it will not be migrated. The host drains, whether that is known or not.
int say_what_stays(const Session& session, const std::string& name) {
  const Result<DaemonClient> daemon = find_daemon(session, "peer drain");
  const Result<SshAddress> peer = parse_ssh_address(name);
  if (!daemon || !peer) return kDone;
  const Result<json::value> cluster = daemon->with_timeout(kPatience).get("/v1/cluster");
  if (!cluster) return kDone;
  const std::string names = containers_on(*cluster, host_and_port(*peer), false);
  if (!names.empty()) session.terminal.err << "not migrated: " << names << "\n";
  return kDone;
}

}  // namespace

std::string peer_target(const std::string& name, const std::string& action) {
  return "/v1/peers/" + percent_encoded(name) + "/" + action;
}

Result<std::vector<PeerView>> read_peers(const json::value& answer) {
  const json::array* list = member(answer, "peers").if_array();
  if (list == nullptr) return bad_input("flowcond's answer has no list of peers");
  std::vector<PeerView> peers;
  for (const json::value& entry : *list) {
    if (!entry.is_object()) continue;
    json::object exact = exact_peer(entry.get_object());
    json::object shown = shown_peer(exact);
    peers.push_back({std::move(exact), std::move(shown)});
  }
  return peers;
}

void declare_peer_ls(CLI::App& app, PeerLsOptions& options) {
  app.add_option("--format", options.format, format_help())->type_name("string");
  app.add_flag("-q,--quiet", options.quiet, "Only display names");
}

int run_peer_ls(const Session& session, const PeerLsOptions& options) {
  const Result<Format> format = Format::parse(options.quiet ? "{{.Name}}" : options.format, kTable);
  if (!format) return report(session.terminal, format.error());
  const Result<DaemonClient> daemon = find_daemon(session, "peer ls");
  if (!daemon) return report(session.terminal, daemon.error());
  const auto answer = daemon->get("/v1/peers");
  if (!answer) return report(session.terminal, answer.error());
  const Result<std::vector<PeerView>> peers = read_peers(*answer);
  if (!peers) return report(session.terminal, peers.error());
  std::vector<json::object> things;
  for (const PeerView& peer : *peers) {
    things.push_back(format->is_json() ? peer.exact : peer.shown);
  }
  const Result<std::string> text = format->render(things, headings());
  if (!text) return report(session.terminal, text.error());
  session.terminal.out << *text;
  if (!options.quiet) warn_of_strangers(session.terminal.err, *peers);
  return kDone;
}

void declare_peer_drain(CLI::App& app, PeerDrainOptions& options) {
  app.add_option("HOST", options.host)->required();
  app.add_flag("-w,--wait", options.wait,
               "Wait until it has no containers under control and no open migration, and say what "
               "stays");
}

void declare_peer_undrain(CLI::App& app, PeerDrainOptions& options) {
  app.add_option("HOST", options.host)->required();
}

int run_peer_drain(const Session& session, const PeerDrainOptions& options) {
  const int status = change_drain(session, options.host, "drain");
  if (status != kDone) return status;
  return options.wait ? wait_until_empty(session, options) : say_what_stays(session, options.host);
}

int run_peer_undrain(const Session& session, const PeerDrainOptions& options) {
  return change_drain(session, options.host, "undrain");
}

}  // namespace flowcon::plugin
