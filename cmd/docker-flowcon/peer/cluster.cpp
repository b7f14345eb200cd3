// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/cluster.h"

#include <boost/json/array.hpp>
#include <cmath>
#include <ostream>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/format.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

// Others have a few seconds each to answer flowcond, and it answers then.
constexpr auto kPatience = std::chrono::seconds(70);
constexpr std::size_t kIdShown = 12;

constexpr std::string_view kHosts =
    "{{.Name}}\t{{.StateText}}\t{{.ScoreText}}\t{{.CategoriesText}}\t{{.UsageText}}\t"
    "{{.ContainersText}}\t{{.OfferText}}\t{{.Error}}";
constexpr std::string_view kContainers =
    "{{.Host}}\t{{.Name}}\t{{.Category}}\t{{.ValueText}}\t{{.ConvergedText}}\t{{.Marks}}\t"
    "{{.MovableText}}\t{{.IDText}}";
constexpr std::string_view kMoves =
    "{{.Name}}\t{{.From}}\t{{.To}}\t{{.Cause}}\t{{.Step}}\t{{.EndedText}}\t{{.SecondsText}}\t"
    "{{.StoppedText}}\t{{.BytesText}}\t{{.Error}}";
constexpr std::size_t kMovesShown = 10;
constexpr std::string_view kPlan = "{{.Name}}\t{{.From}}\t{{.To}}\t{{.State}}\t{{.Error}}";

struct Thing {
  json::object exact;
  json::object shown;  ///< safe for a terminal
};

std::string shown_text(const std::string& text) {
  return text.empty() ? std::string(kUnknown) : printable(text, 400);
}

// "2m5s", as docker's own durations are written; two units say enough.
std::string age_text(std::optional<double> seconds) {
  if (!seconds || !(*seconds >= 0) || *seconds > 1e9) return std::string(kUnknown);
  const auto whole = static_cast<long long>(std::floor(*seconds));
  const auto two = [](long long first, const char* unit, long long second, const char* small) {
    return std::to_string(first) + unit + (second > 0 ? std::to_string(second) + small : "");
  };
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return two(whole / 60, "m", whole % 60, "s");
  if (whole < 86400) return two(whole / 3600, "h", whole / 60 % 60, "m");
  return two(whole / 86400, "d", whole / 3600 % 24, "h");
}

// "6.4s"; from a minute on as above.
std::string seconds_text(std::optional<double> seconds) {
  if (!seconds || !(*seconds >= 0) || *seconds >= 60) return age_text(seconds);
  return number_text(*seconds, 2) + "s";
}

// What a host gives to jobs of the queue: "6 cores, 20GiB".
std::string offer_text(const json::object& host) {
  if (is_true(member(host, "Draining"))) return "none";
  if (is_true(member(host, "QueueWaits"))) return "starts";
  const std::optional<double> cores = real_of(member(host, "OfferCPU"));
  if (!cores) return std::string(kUnknown);
  if (!(*cores > 0)) return "none";
  return number_text(*cores, 4) + (*cores == 1 ? " core, " : " cores, ") +
         memory_text(real_of(member(host, "OfferMemory")));
}

Thing host_of(const json::value& host, const std::string& coordinator) {
  Thing thing;
  json::object& out = thing.exact;
  out["Name"] = text_of(member(host, "name"));
  out["ID"] = text_of(member(host, "id"));
  out["State"] = text_of(member(host, "state"));
  out["Coordinator"] = !coordinator.empty() && text_of(member(host, "id")) == coordinator;
  for (const auto& [name, field] : {std::pair("PC", "pc"),
                                    {"WC", "wc"},
                                    {"CC", "cc"},
                                    {"Score", "score"},
                                    {"Usage", "usage"},
                                    {"Cores", "cores"},
                                    {"Containers", "containers"},
                                    {"OfferCPU", "offer_cpu"},
                                    {"OfferMemory", "offer_mem"}}) {
    out[name] = number_or_null(member(host, field));
  }
  out["QueueWaits"] = is_true(member(host, "queue_waits"));
  out["Draining"] = is_true(member(host, "draining"));
  out["Error"] = text_of(member(host, "error"));
  json::object& shown = thing.shown = out;
  for (const char* name : {"Name", "ID", "State"}) shown[name] = shown_text(text_of(out, name));
  shown["Error"] = printable(text_of(out, "Error"), 400);
  std::string state = shown_text(text_of(out, "State"));
  if (is_true(out["Coordinator"])) state += ", coordinates";
  if (is_true(out["Draining"])) state += ", draining";
  shown["StateText"] = state;
  shown["ScoreText"] = number_text(real_of(out["Score"]));
  shown["CategoriesText"] = number_text(real_of(out["PC"])) + "/" +
                            number_text(real_of(out["WC"])) + "/" + number_text(real_of(out["CC"]));
  shown["UsageText"] = percent_text(real_of(out["Usage"]));
  shown["ContainersText"] = number_text(real_of(out["Containers"]));
  shown["OfferText"] = offer_text(out);
  return thing;
}

Thing container_of(const json::value& container) {
  Thing thing;
  json::object& out = thing.exact;
  for (const auto& [name, field] : {std::pair("Host", "host"),
                                    {"HostID", "host_id"},
                                    {"ID", "id"},
                                    {"Name", "name"},
                                    {"Category", "category"}}) {
    out[name] = text_of(member(container, field));
  }
  out["Value"] = number_or_null(member(container, "value"));
  out["ConvergedAge"] = number_or_null(member(container, "converged_age"));
  out["Left"] = number_or_null(member(container, "left"));
  out["Moves"] = number_or_null(member(container, "moves"));
  for (const auto& [name, field] :
       {std::pair("Migrated", "migrated"), {"Rebalanced", "rebalanced"}, {"Movable", "movable"}}) {
    out[name] = is_true(member(container, field));
  }
  json::object& shown = thing.shown = out;
  for (const char* name : {"Host", "Name", "Category"}) {
    shown[name] = shown_text(text_of(out, name));
  }
  shown["IDText"] = printable(text_of(out, "ID").substr(0, kIdShown));
  const std::optional<double> value = real_of(out["Value"]);
  shown["ValueText"] = value ? number_text(*value, 4) : std::string(kUnknown);
  shown["ConvergedText"] = age_text(real_of(out["ConvergedAge"]));
  const bool migrated = is_true(out["Migrated"]), rebalanced = is_true(out["Rebalanced"]);
  shown["Marks"] = migrated && rebalanced ? "migrated, rebalanced"
                   : migrated             ? "migrated"
                   : rebalanced           ? "rebalanced"
                                          : "";
  shown["MovableText"] = is_true(out["Movable"]) ? "yes" : "no";
  return thing;
}

Thing move_of(const json::value& move) {
  Thing thing;
  json::object& out = thing.exact;
  for (const auto& [name, field] : {std::pair("ID", "id"),
                                    {"Container", "container"},
                                    {"Name", "name"},
                                    {"Side", "side"},
                                    {"From", "source_name"},
                                    {"To", "target_name"},
                                    {"Method", "method"},
                                    {"Cause", "cause"},
                                    {"Step", "step"},
                                    {"Error", "error"}}) {
    out[name] = text_of(member(move, field));
  }
  for (const auto& [name, field] : {std::pair("Bytes", "bytes"),
                                    {"BytesTotal", "bytes_total"},
                                    {"Rate", "rate"},
                                    {"Seconds", "seconds"},
                                    {"StoppedSeconds", "stopped_seconds"},
                                    {"EndedAge", "ended_age"}}) {
    out[name] = number_or_null(member(move, field));
  }
  json::object steps;
  for (const auto& [step, at] : object_of(member(move, "steps"))) steps[step] = number_or_null(at);
  out["Steps"] = std::move(steps);
  out["Ended"] = is_true(member(move, "ended"));
  json::object& shown = thing.shown = out;
  for (const char* name : {"Name", "From", "To", "Cause", "Step"}) {
    shown[name] = shown_text(text_of(out, name));
  }
  shown["Error"] = printable(text_of(out, "Error"), 400);
  shown["BytesText"] = memory_text(real_of(out["Bytes"]));
  shown["EndedText"] =
      is_true(out["Ended"]) ? age_text(real_of(out["EndedAge"])) + " ago" : "under way";
  shown["SecondsText"] = seconds_text(real_of(out["Seconds"]));
  shown["StoppedText"] = seconds_text(real_of(out["StoppedSeconds"]));
  return thing;
}

template <class Make>
std::vector<Thing> things_of(const json::value& list, Make make) {
  std::vector<Thing> things;
  for (const json::value& one : list_of(list)) {
    if (one.is_object()) things.push_back(make(one));
  }
  return things;
}

std::vector<json::object> shown(const std::vector<Thing>& things) {
  std::vector<json::object> out;
  for (const Thing& thing : things) out.push_back(thing.shown);
  return out;
}

json::array exact(const std::vector<Thing>& things) {
  json::array out;
  for (const Thing& thing : things) out.push_back(thing.exact);
  return out;
}

json::object host_headings() {
  return {{"Name", "HOST"},
          {"StateText", "STATE"},
          {"ScoreText", "SCORE"},
          {"CategoriesText", "PC/WC/CC"},
          {"UsageText", "USAGE"},
          {"ContainersText", "CONTAINERS"},
          {"OfferText", "OFFER"},
          {"Error", "ERROR"},
          {"ID", "ID"},
          {"State", "STATE"},
          {"PC", "PC"},
          {"WC", "WC"},
          {"CC", "CC"},
          {"Score", "SCORE"},
          {"Usage", "USAGE"},
          {"Cores", "CORES"},
          {"Containers", "CONTAINERS"},
          {"OfferCPU", "OFFER CPU"},
          {"OfferMemory", "OFFER MEMORY"},
          {"QueueWaits", "QUEUE WAITS"},
          {"Draining", "DRAINING"},
          {"Coordinator", "COORDINATOR"}};
}

json::object container_headings() {
  return {{"Host", "HOST"},
          {"Name", "CONTAINER"},
          {"Category", "CATEGORY"},
          {"ValueText", "VALUE"},
          {"ConvergedText", "CONVERGED"},
          {"Marks", "MARKS"},
          {"MovableText", "MOVABLE"},
          {"IDText", "ID"}};
}

json::object move_headings() {
  return {{"Name", "MIGRATION"},   {"From", "FROM"},           {"To", "TO"},
          {"Cause", "CAUSE"},      {"Step", "STEP"},           {"EndedText", "ENDED"},
          {"SecondsText", "TOOK"}, {"StoppedText", "STOPPED"}, {"BytesText", "BYTES"},
          {"State", "STATE"},      {"Error", "ERROR"}};
}

Result<std::string> table(std::string_view layout, const std::vector<Thing>& things,
                          const json::object& headings) {
  const Result<Format> format = Format::parse("", layout);
  if (!format) return format.error();
  return format->render(shown(things), headings);
}

// The three tables, those without rows left out.
Result<std::string> tables(const std::vector<Thing>& hosts, const std::vector<Thing>& containers,
                           const std::vector<Thing>& moves) {
  Result<std::string> out = table(kHosts, hosts, host_headings());
  if (!out) return out;
  for (const auto& [layout, things, headings] :
       {std::tuple(kContainers, &containers, container_headings()),
        std::tuple(kMoves, &moves, move_headings())}) {
    if (things->empty()) continue;
    const Result<std::string> more = table(layout, *things, headings);
    if (!more) return more;
    *out += "\n" + *more;
  }
  return out;
}

}  // namespace

void declare_cluster(CLI::App& app, ClusterOptions& options) {
  app.add_option("--format", options.format, format_help() + "; a template describes hosts")
      ->type_name("string");
  app.add_flag("-q,--quiet", options.quiet, "Only display names of hosts");
}

int run_cluster(const Session& session, const ClusterOptions& options) {
  const bool is_plain = !options.quiet && (options.format.empty() || options.format == "table");
  const Result<Format> format = Format::parse(options.quiet ? "{{.Name}}" : options.format, kHosts);
  if (!format) return report(session.terminal, format.error());
  const Result<DaemonClient> daemon = find_daemon(session, "cluster");
  if (!daemon) return report(session.terminal, daemon.error());
  const auto answer = daemon->with_timeout(kPatience).get("/v1/cluster");
  if (!answer) return report(session.terminal, answer.error());
  const std::string coordinator = text_of(member(*answer, "coordinator_id"));
  const auto hosts = things_of(member(*answer, "hosts"),
                               [&](const json::value& host) { return host_of(host, coordinator); });
  const auto containers = things_of(member(*answer, "containers"), container_of);
  auto moves = things_of(member(*answer, "moves"), move_of);
  if (format->is_json()) {
    session.terminal.out << json_text(json::object{
                                {"Coordinator", text_of(member(*answer, "coordinator"))},
                                {"Hosts", exact(hosts)},
                                {"Containers", exact(containers)},
                                {"Moves", exact(moves)}})
                         << "\n";
    return kDone;
  }
  if (moves.size() > kMovesShown) moves.resize(kMovesShown);
  const Result<std::string> text =
      is_plain ? tables(hosts, containers, moves) : format->render(shown(hosts), host_headings());
  if (!text) return report(session.terminal, text.error());
  session.terminal.out << *text;
  return kDone;
}

void declare_rebalance(CLI::App& app, RebalanceOptions& options) {
  app.add_flag("--dry-run", options.dry_run, "Show the planned migrations, migrate nothing");
  app.add_option("--format", options.format, format_help())->type_name("string");
}

int run_rebalance(const Session& session, const RebalanceOptions& options) {
  const Result<Format> format = Format::parse(options.format, kPlan);
  if (!format) return report(session.terminal, format.error());
  const Result<DaemonClient> daemon = find_daemon(session, "rebalance");
  if (!daemon) return report(session.terminal, daemon.error());
  const auto answer = daemon->with_timeout(kPatience).post(
      "/v1/rebalance", render_json(json::object{{"dry_run", options.dry_run}}));
  if (!answer) return report(session.terminal, answer.error());
  bool has_failed = false;
  std::vector<json::object> rows;
  for (const json::value& move : list_of(member(*answer, "moves"))) {
    json::object row;
    for (const auto& [name, field] : {std::pair("Container", "container"),
                                      {"Name", "name"},
                                      {"From", "from_name"},
                                      {"To", "to_name"},
                                      {"State", "state"},
                                      {"Error", "error"}}) {
      const std::string text = text_of(member(move, field));
      row[name] = format->is_json() ? text : printable(text, 400);
    }
    has_failed = has_failed || text_of(row, "State") == "refused";
    rows.push_back(std::move(row));
  }
  if (rows.empty() && !format->is_json()) {
    session.terminal.err
        << "nothing to migrate: the load is even, or no eligible container would help\n";
    return kDone;
  }
  json::object headings = move_headings();
  headings["Name"] = "CONTAINER";
  headings["Container"] = "ID";
  const Result<std::string> text = format->render(rows, headings);
  if (!text) return report(session.terminal, text.error());
  session.terminal.out << *text;
  return has_failed ? kFailed : kDone;
}

}  // namespace flowcon::plugin
