// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/status_view.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "cmd/docker-flowcon/table.h"

namespace flowcon::plugin {
namespace {

namespace json = boost::json;

constexpr std::size_t kShortId = 12;  // docker's
constexpr std::size_t kNoteCharacters = 60;
constexpr std::size_t kTextBytes = 4096;
constexpr std::string_view kUnknown = "--";  // as docker stats shows it

const json::value& member(const json::object& object, std::string_view name) {
  static const json::value nothing;
  const json::value* value = object.if_contains(name);
  return value != nullptr ? *value : nothing;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "";
}

std::string text_of(const json::object& object, std::string_view name) {
  return text_of(member(object, name));
}

// A number, or one of the words for those that JSON does not know.
json::value number_or_null(const json::value& value) {
  if (value.is_number()) return value;
  const std::string word = text_of(value);
  return word == "nan" || word == "inf" || word == "-inf" ? value : json::value();
}

json::value text_or_null(const json::value& value) {
  return value.is_string() ? value : json::value();
}

std::optional<double> real(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  const std::string word = text_of(value);
  if (word == "nan") return std::nan("");
  if (word == "inf") return HUGE_VAL;
  if (word == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

std::string print(const char* format, double number) {
  // Nobody asks for more than ten digits.
  std::array<char, 64> out{};
  const int length = std::snprintf(out.data(), out.size(), format, number);
  return std::string(out.data(), static_cast<std::size_t>(std::max(length, 0)));
}

std::string percent(const json::value& share) {
  const std::optional<double> number = real(share);
  if (!number) return std::string(kUnknown);
  // A share far above 1 is a mistake of someone's, and still must not widen the table.
  const bool is_sane = std::fabs(*number) < 1000;
  return print(is_sane ? "%.1f%%" : "%.3g%%", *number * 100);
}

std::string memory_text(const json::value& bytes) {
  const std::optional<double> number = real(bytes);
  if (!number || !std::isfinite(*number)) return std::string(kUnknown);
  constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = *number;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return print("%.4g", amount) + kUnits[unit];
}

json::value progress_of(const json::value& value) {
  const json::object* progress = value.if_object();
  if (progress == nullptr) return nullptr;
  return json::object{{"Done", number_or_null(member(*progress, "done"))},
                      {"Total", number_or_null(member(*progress, "total"))}};
}

// Nested counters (epoch 3, step 17 of 90) make parts of an epoch; two digits say enough.
std::string count_text(double count) {
  return print(count == std::floor(count) ? "%.9g" : "%.2f", count);
}

std::string progress_text(const json::value& progress) {
  const json::object* object = progress.if_object();
  const auto done = object != nullptr ? real(member(*object, "Done")) : std::nullopt;
  const auto total = object != nullptr ? real(member(*object, "Total")) : std::nullopt;
  if (!done || !total) return std::string(kUnknown);
  const std::string counter = count_text(*done) + "/" + count_text(*total);
  return *total > 0 ? counter + " (" + print("%.0f%%", *done / *total * 100) + ")" : counter;
}

// "loss 0.0431 ↓": the arrow points to where better values are.
std::string score_text(const json::object& container) {
  const std::string metric = text_of(container, "Metric");
  if (metric.empty()) return std::string(kUnknown);
  const std::optional<double> value = real(member(container, "Value"));
  const std::string goal = text_of(container, "Goal");
  return metric + (value ? " " + print("%.4g", *value) : "") +
         (goal == "min"   ? " ↓"
          : goal == "max" ? " ↑"
                          : "");
}

// Without a growth there is a reason, and the daemon has a word for it.
std::string growth_text(const json::object& container) {
  const std::optional<double> growth = real(member(container, "Growth"));
  if (growth) return print("%.3g", *growth);
  const std::string verdict = text_of(container, "Verdict");
  return verdict.empty() ? std::string(kUnknown) : verdict;
}

json::array texts_of(const json::value& list) {
  json::array texts;
  if (!list.is_array()) return texts;
  for (const json::value& item : list.get_array()) {
    if (item.is_string()) texts.push_back(item);
  }
  return texts;
}

json::object read_container(const json::object& from) {
  return {{"ID", text_of(from, "id")},
          {"Name", text_of(from, "name")},
          {"Image", text_of(from, "image")},
          {"State", text_of(from, "state")},
          {"List", text_of(from, "list")},
          {"Limit", number_or_null(member(from, "limit"))},
          {"Growth", number_or_null(member(from, "growth"))},
          {"Verdict", text_of(from, "verdict")},
          {"Metric", text_or_null(member(from, "metric"))},
          {"Goal", text_or_null(member(from, "goal"))},
          {"Value", number_or_null(member(from, "value"))},
          {"Values", number_or_null(member(from, "values"))},
          {"Progress", progress_of(member(from, "progress"))},
          {"CPU", number_or_null(member(from, "cpu"))},
          {"Memory", number_or_null(member(from, "memory"))},
          {"Since", number_or_null(member(from, "since"))},
          {"Note", text_of(from, "note")},
          {"Warnings", texts_of(member(from, "warnings"))}};
}

json::value made_safe(const json::value& value) {
  if (value.is_string()) return json::value(printable(text_of(value), kTextBytes));
  if (!value.is_array()) return value;
  json::array safe;
  for (const json::value& item : value.get_array()) safe.push_back(made_safe(item));
  return safe;
}

json::object shown_form(const json::object& exact, bool truncate) {
  json::object shown;
  for (const auto& entry : exact) shown[entry.key()] = made_safe(entry.value());
  if (truncate) shown["ID"] = text_of(shown, "ID").substr(0, kShortId);
  // What is planned for a container that cannot be controlled is nothing it has.
  const bool has_limit = text_of(shown, "State") != "unsupported";
  shown["LimitPerc"] = has_limit ? percent(member(shown, "Limit")) : std::string(kUnknown);
  shown["CPUPerc"] = percent(member(shown, "CPU"));
  shown["MemUsage"] = memory_text(member(shown, "Memory"));
  shown["Score"] = score_text(shown);
  shown["ProgressPerc"] = progress_text(member(shown, "Progress"));
  shown["GrowthText"] = growth_text(shown);
  const std::string note = text_of(shown, "Note");
  shown["NoteText"] = truncate ? shortened(note, kNoteCharacters) : note;
  return shown;
}

void read_warnings(const json::object& status, StatusView& view) {
  const json::object* engine = member(status, "engine").if_object();
  const json::value& reachable = engine != nullptr ? member(*engine, "reachable") : json::value();
  if (engine != nullptr && reachable.is_bool() && !reachable.get_bool()) {
    const std::string why = printable(text_of(*engine, "error"), 1000);
    view.warnings.push_back("the engine does not answer flowcond" +
                            (why.empty() ? "" : ": " + why));
  }
  const json::value& dry_run = member(status, "dry_run");
  if (dry_run.is_bool() && dry_run.get_bool()) {
    view.warnings.emplace_back("flowcond runs with --dry-run: limits are planned, not written");
  }
  for (const json::value& warning : texts_of(member(status, "warnings"))) {
    view.warnings.push_back(printable(text_of(warning), 1000));
  }
  for (const ContainerView& container : view.containers) {
    for (const json::value& warning : member(container.shown, "Warnings").get_array()) {
      view.warnings.push_back(text_of(container.shown, "Name") + ": " + text_of(warning));
    }
  }
}

const json::object& headers() {
  static const json::object names{{"ID", "CONTAINER ID"},
                                  {"Name", "NAME"},
                                  {"Image", "IMAGE"},
                                  {"State", "STATE"},
                                  {"List", "LIST"},
                                  {"Limit", "LIMIT"},
                                  {"Growth", "GROWTH"},
                                  {"Verdict", "VERDICT"},
                                  {"Metric", "METRIC"},
                                  {"Goal", "GOAL"},
                                  {"Value", "VALUE"},
                                  {"Values", "VALUES"},
                                  {"Progress", "PROGRESS"},
                                  {"CPU", "CPU"},
                                  {"Memory", "MEMORY"},
                                  {"Since", "SINCE"},
                                  {"Note", "NOTE"},
                                  {"Warnings", "WARNINGS"},
                                  {"LimitPerc", "LIMIT"},
                                  {"CPUPerc", "CPU %"},
                                  {"MemUsage", "MEM USAGE"},
                                  {"Score", "METRIC"},
                                  {"ProgressPerc", "PROGRESS"},
                                  {"GrowthText", "GROWTH"},
                                  {"NoteText", "NOTE"}};
  return names;
}

}  // namespace

Result<StatusView> read_status(const json::value& answer, bool truncate) {
  const json::object* status = answer.if_object();
  const json::array* list = status != nullptr ? member(*status, "containers").if_array() : nullptr;
  if (list == nullptr) return bad_input("flowcond's status has no list of containers");
  StatusView view;
  for (const json::value& entry : *list) {
    if (!entry.is_object()) continue;
    json::object exact = read_container(entry.get_object());
    json::object shown = shown_form(exact, truncate);
    view.containers.push_back({std::move(exact), std::move(shown)});
  }
  read_warnings(*status, view);
  return view;
}

std::vector<std::string> select_containers(StatusView& view,
                                           const std::vector<std::string>& wanted) {
  std::vector<std::string> problems;
  if (wanted.empty()) return problems;
  std::vector<ContainerView> selected;
  for (const std::string& name : wanted) {
    const ContainerView* exact = nullptr;
    std::vector<const ContainerView*> beginnings;
    for (const ContainerView& container : view.containers) {
      const std::string id = text_of(container.exact, "ID");
      if (id == name || text_of(container.exact, "Name") == name) exact = &container;
      if (!name.empty() && id.compare(0, name.size(), name) == 0) beginnings.push_back(&container);
    }
    if (exact == nullptr && beginnings.size() == 1) exact = beginnings.front();
    if (exact != nullptr) {
      selected.push_back(*exact);
    } else if (beginnings.empty()) {
      problems.push_back("No such container under control: " + printable(name));
    } else {
      problems.push_back("Multiple IDs found with provided prefix: " + printable(name));
    }
  }
  view.containers = std::move(selected);
  return problems;
}

Result<std::string> render_status(const StatusView& view, const Format& format) {
  std::vector<json::object> things;
  for (const ContainerView& container : view.containers) {
    things.push_back(format.is_json() ? container.exact : container.shown);
  }
  return format.render(things, headers());
}

std::string_view default_status_table() {
  return "{{.ID}}\t{{.Name}}\t{{.List}}\t{{.LimitPerc}}\t{{.CPUPerc}}\t{{.GrowthText}}\t{{.Score}}"
         "\t{{.ProgressPerc}}\t{{.NoteText}}";
}

}  // namespace flowcon::plugin
