// SPDX-License-Identifier: Apache-2.0
// The rows of the API are lists of numbers; each kind of them is a list of columns here.
#include "cmd/docker-flowcon/history/history.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <ostream>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kWordBytes = 32;
constexpr std::size_t kFamilyBytes = 80;

std::string number_cell(const json::value& value) { return number_text(real_of(value)); }
std::string moment_cell(const json::value& value) { return moment_text(real_of(value)); }
std::string percent_cell(const json::value& value) { return percent_text(real_of(value)); }
std::string growth_cell(const json::value& value) { return growth_text(real_of(value)); }
std::string memory_cell(const json::value& value) { return memory_text(real_of(value)); }
std::string rate_cell(const json::value& value) { return rate_text(real_of(value)); }
std::string word_cell(const json::value& value) { return printable(text_of(value), kWordBytes); }

struct Column {
  std::string_view heading;
  std::string_view csv;  // with its unit
  std::string (*cell)(const json::value&);
};

struct Kind {
  std::string_view name;  // of the member
  std::vector<Column> columns;
};

const Kind& samples_kind() {
  static const Kind kind{"samples",
                         {{"TIME", "time", moment_cell}, {"VALUE", "value", number_cell}}};
  return kind;
}

const Kind& usage_kind() {
  static const Kind kind{"usage",
                         {{"TIME", "time", moment_cell},
                          {"CPU %", "cpu", percent_cell},
                          {"MEM USAGE", "memory_bytes", memory_cell},
                          {"BLOCK I/O", "io_bytes_per_second", rate_cell},
                          {"NET I/O", "network_bytes_per_second", rate_cell}}};
  return kind;
}

const Kind& decisions_kind() {
  static const Kind kind{"decisions",
                         {{"TIME", "time", moment_cell},
                          {"LIST", "list", word_cell},
                          {"LIMIT", "limit", percent_cell},
                          {"GROWTH", "growth", growth_cell}}};
  return kind;
}

const Kind& wanted_kind(const HistoryOptions& options) {
  return options.samples ? samples_kind() : options.usage ? usage_kind() : decisions_kind();
}

// Rows without a time are kept: nobody can say that they are too old.
json::array rows_since(const json::value& rows, std::optional<double> since) {
  if (!since) return list_of(rows);
  json::array kept;
  for (const json::value& row : list_of(rows)) {
    const std::optional<double> time = real_of(item_of(row, 0));
    if (!time || !(*time < *since)) kept.push_back(row);
  }
  return kept;
}

std::string render_table(const Kind& kind, const json::array& rows) {
  std::string out = joined(kind.columns, "\t", &Column::heading) + "\n";
  for (const json::value& row : rows) {
    for (std::size_t i = 0; i < kind.columns.size(); ++i) {
      out += (i > 0 ? "\t" : "") + kind.columns[i].cell(item_of(row, i));
    }
    out += "\n";
  }
  return align_columns(out);
}

// RFC 4180: commas, lines that end in CRLF, fields with one of these in quotes, quotes doubled.
std::string csv_field(const json::value& value) {
  if (const std::optional<double> number = real_of(value)) return render_number(*number);
  const std::string text = printable(text_of(value), kWordBytes);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string render_csv(const Kind& kind, const json::array& rows) {
  std::string out = joined(kind.columns, ",", &Column::csv) + "\r\n";
  for (const json::value& row : rows) {
    for (std::size_t i = 0; i < kind.columns.size(); ++i) {
      out += (i > 0 ? "," : "") + csv_field(item_of(row, i));
    }
    out += "\r\n";
  }
  return out;
}

std::string render_history_json(json::object history, const HistoryOptions& options,
                                std::optional<double> since) {
  const bool all = !options.samples && !options.usage && !options.decisions;
  const std::pair<const Kind&, bool> kinds[] = {{samples_kind(), options.samples},
                                                {usage_kind(), options.usage},
                                                {decisions_kind(), options.decisions}};
  for (const auto& [kind, wanted] : kinds) {
    if (all || wanted) {
      history[kind.name] = rows_since(member(history, kind.name), since);
    } else {
      history.erase(kind.name);
    }
  }
  return json_text(history) + "\n";
}

}  // namespace

void declare_history(CLI::App& app, HistoryOptions& options) {
  app.add_option("CONTAINER", options.container);
  app.add_flag("--decisions", options.decisions, "Show decisions: list, limit, growth (default)");
  app.add_option("--format", options.format,
                 "Output as table, json (as flowcond's API has it) or csv (default: table)")
      ->type_name("string")
      ->check([](const std::string& text) {
        const bool is_known = text == "table" || text == "json" || text == "csv";
        return is_known ? std::string() : "has to be table, json or csv";
      });
  app.add_flag("--profiles", options.profiles,
               "Show the resource use of runs that ended with status 0");
  app.add_flag("--samples", options.samples, "Show the values of the metric");
  app.add_option("--since", options.since,
                 "Show records since a timestamp (e.g. \"2013-01-02T13:23:37Z\") or "
                 "relative (e.g. \"42m\" for 42 minutes)")
      ->type_name("string")
      ->check(check_moment);
  app.add_flag("--usage", options.usage, "Show usage of CPU, memory, block I/O, network");
}

std::string check_history(const HistoryOptions& options) {
  const int kinds =
      (options.samples ? 1 : 0) + (options.usage ? 1 : 0) + (options.decisions ? 1 : 0);
  if (options.profiles) {
    if (!options.container.empty() || kinds > 0) {
      return "--profiles covers all containers: leave out CONTAINER, --samples, --usage and "
             "--decisions";
    }
    return options.format == "csv" ? "--profiles is a table or json" : "";
  }
  if (options.container.empty()) return "name a CONTAINER, or give --profiles";
  return kinds > 1 && options.format != "json"
             ? "only json can hold more than one of --samples, --usage and --decisions"
             : "";
}

namespace {

struct LabelColumn {
  std::string_view heading;
  std::string_view label;
  std::string (*cell)(const json::value&);
};

std::string seconds_cell(const json::value& value) { return time_text(real_of(value)); }

// The last of them first, as people look for what has just ended.
std::string render_profiles(const json::array& profiles) {
  static const LabelColumn kColumns[] = {{"LAUNCH", "seconds_launch", seconds_cell},
                                         {"TRAIN", "seconds_train", seconds_cell},
                                         {"SAVE", "seconds_save", seconds_cell},
                                         {"CPU s", "cpu_seconds", number_cell},
                                         {"CORES", "cpu", number_cell},
                                         {"MEM USAGE", "mem", memory_cell},
                                         {"NET I/O", "net", rate_cell},
                                         {"BLOCK I/O", "io", rate_cell}};
  std::string out = "ENDED";
  for (const LabelColumn& column : kColumns) out += "\t" + std::string(column.heading);
  out += "\tFAMILY\n";
  for (auto profile = profiles.rbegin(); profile != profiles.rend(); ++profile) {
    out += seconds_cell(member(*profile, "age")) + " ago";
    for (const LabelColumn& column : kColumns) {
      out += "\t" + column.cell(member(member(*profile, "labels"), column.label));
    }
    out += "\t" + printable(text_of(*profile, "family"), kFamilyBytes) + "\n";
  }
  return align_columns(out);
}

Result<json::array> fetch_profiles(const Session& session, std::optional<double> since) {
  const Result<DaemonClient> daemon = find_daemon(session, "history");
  if (!daemon) return daemon.error();
  const std::string query = since ? "since=" + render_number(*since) : "";
  Result<json::array> profiles = daemon->get_parts("/v1/profiles", query, "profiles");
  if (!profiles) return profiles;
  // flowcond has them in the order in which it saved them.
  std::stable_sort(profiles->begin(), profiles->end(), [](const auto& a, const auto& b) {
    return real_of(member(a, "age")).value_or(0) > real_of(member(b, "age")).value_or(0);
  });
  return profiles;
}

int run_profiles(const Session& session, const HistoryOptions& options,
                 std::optional<double> since) {
  const Result<json::array> profiles = fetch_profiles(session, since);
  if (!profiles) return report(session.terminal, profiles.error());
  session.terminal.out << (options.format == "json" ? json_text(*profiles) + "\n"
                                                    : render_profiles(*profiles));
  return kDone;
}

}  // namespace

Result<json::object> fetch_history(const Session& session, const std::string& container,
                                   const std::string& command) {
  const Result<DaemonClient> daemon = find_daemon(session, command);
  if (!daemon) return daemon.error();
  const Result<std::string> target = container_target(container, "history");
  if (!target) return target.error();
  bool is_missing = false;
  Result<json::value> answer = daemon->get(*target, &is_missing);
  if (!answer) return is_missing ? or_job(*daemon, container, answer.error()) : answer.error();
  return std::move(answer->get_object());  // DaemonClient takes nothing else
}

int run_history(const Session& session, const HistoryOptions& options) {
  const std::optional<double> since =
      options.since.empty() ? std::nullopt : parse_moment(options.since, wall_seconds());
  if (options.profiles) return run_profiles(session, options, since);
  Result<json::object> history = fetch_history(session, options.container, "history");
  if (!history) return report(session.terminal, history.error());
  if (options.format == "json") {
    session.terminal.out << render_history_json(std::move(*history), options, since);
    return kDone;
  }
  // Where it was is talk: what is recorded goes through all of it.
  for (const json::value& stay : list_of(member(*history, "stays"))) {
    if (!stay.is_object()) continue;
    session.terminal.err << "On " << printable(text_of(member(stay.get_object(), "host")), 80)
                         << " until " << moment_text(real_of(member(stay.get_object(), "ended")))
                         << "\n";
  }
  const Kind& kind = wanted_kind(options);
  const json::array rows = rows_since(member(*history, kind.name), since);
  session.terminal.out << (options.format == "csv" ? render_csv(kind, rows)
                                                   : render_table(kind, rows));
  return kDone;
}

}  // namespace flowcon::plugin
