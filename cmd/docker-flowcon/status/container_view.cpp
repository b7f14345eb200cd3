// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/status/container_view.h"

#include <array>
#include <boost/json/array.hpp>
#include <cmath>
#include <cstdio>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"
#include "ctrl/model.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kShortId = 12;  // docker's
constexpr std::size_t kTextBytes = 4096;

json::value progress_of(const json::value& value) {
  if (!value.is_object()) return nullptr;
  return json::object{{"Done", number_or_null(member(value, "done"))},
                      {"Total", number_or_null(member(value, "total"))},
                      {"Within", number_or_null(member(value, "within"))},
                      {"From", text_or_null(member(value, "from"))}};
}

json::value gpu_of(const json::value& value) {
  if (!value.is_object()) return nullptr;
  return json::object{{"Use", number_or_null(member(value, "use"))},
                      {"Memory", number_or_null(member(value, "memory"))}};
}

json::value pin_of(const json::value& value) {
  if (!value.is_object()) return nullptr;
  return json::object{{"Limit", number_or_null(member(value, "limit"))},
                      {"Until", number_or_null(member(value, "until"))}};
}

json::value resource_of(const json::value& value) {
  if (!value.is_object()) return nullptr;
  return json::object{{"List", text_of(member(value, "list"))},
                      {"Limit", number_or_null(member(value, "limit"))},
                      {"Growth", number_or_null(member(value, "growth"))}};
}

json::value resources_of(const json::value& value) {
  if (!value.is_object()) return nullptr;
  json::object all;
  for (const ctrl::ResourceKind& kind : ctrl::kResourceKinds) {
    all[kind.label] = resource_of(member(value, kind.name));
  }
  return all;
}

json::value bool_or_null(const json::value& value) {
  return value.is_bool() ? value : json::value();
}

json::array texts_of(const json::value& list) {
  json::array texts;
  for (const json::value& item : list_of(list)) {
    if (item.is_string()) texts.push_back(item);
  }
  return texts;
}

std::string print(const char* format, double number) {
  std::array<char, 64> out{};
  const int length = std::snprintf(out.data(), out.size(), format, number);
  return {out.data(), static_cast<std::size_t>(std::max(length, 0))};
}

// Nested counters (epoch 3, step 17 of 90) make parts of an epoch; two digits say enough.
std::string count_text(double count) {
  const bool is_plain = count == std::floor(count) || !(std::fabs(count) < 1e9);
  return is_plain ? number_text(count, 9) : print("%.2f", count);
}

std::string progress_text(const json::value& progress) {
  const auto done = real_of(member(progress, "Done"));
  const auto total = real_of(member(progress, "Total"));
  if (!done) return std::string(kUnknown);
  // How many epochs there are is not known.
  const auto within = real_of(member(progress, "Within"));
  if (!total && within) return "epoch " + count_text(*done) + print(", %.0f %%", *within * 100);
  if (!total) return std::string(kUnknown);
  // Seconds of a forecast say less than their share.
  if (text_of(member(progress, "From")) == "time left") return percent_text(*done / *total);
  const std::string counter = count_text(*done) + "/" + count_text(*total);
  return *total > 0 ? counter + " (" + percent_text(*done / *total) + ")" : counter;
}

// "loss 0.0431 ↓": the arrow points to where better values are.
std::string score_text(const json::object& container) {
  const std::string metric = text_of(container, "Metric");
  if (metric.empty()) return std::string(kUnknown);
  const std::optional<double> value = real_of(member(container, "Value"));
  const std::string goal = text_of(container, "Goal");
  return metric + (value ? " " + number_text(*value, 4) : "") +
         (goal == "min"   ? " ↓"
          : goal == "max" ? " ↑"
                          : "");
}

// Without a growth there is a reason, and the daemon has a word for it.
std::string growth_or_verdict(const json::object& container) {
  const std::optional<double> growth = real_of(member(container, "Growth"));
  if (growth) return growth_text(growth);
  const std::string verdict = text_of(container, "Verdict");
  return verdict.empty() ? std::string(kUnknown) : verdict;
}

std::string pinned_text(const json::value& pinned) {
  if (!pinned.is_object()) return std::string(kUnknown);
  const std::optional<double> until = real_of(member(pinned, "Until"));
  return percent_text(real_of(member(pinned, "Limit"))) +
         (until ? " until " + moment_text(until) : "");
}

// What a person decided comes first: it is why the limit does not follow the growth.
std::string note_text(const json::object& container) {
  std::string text = text_of(container, "State") == "paused" ? "PAUSED" : "";
  const auto add = [&text](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  const json::value& pinned = member(container, "Pinned");
  if (pinned.is_object()) add("pinned to " + pinned_text(pinned));
  add(text_of(container, "Note"));
  return text;
}

json::value made_safe(const json::value& value) {
  if (value.is_string()) return json::value(printable(text_of(value), kTextBytes));
  if (value.is_array()) {
    json::array safe;
    for (const json::value& item : value.get_array()) safe.push_back(made_safe(item));
    return safe;
  }
  if (!value.is_object()) return value;
  json::object safe;  // the names of its members are ours
  for (const auto& entry : value.get_object()) safe[entry.key()] = made_safe(entry.value());
  return safe;
}

}  // namespace

json::object exact_fields(const json::object& entry) {
  return {{"ID", text_of(entry, "id")},
          {"Name", text_of(entry, "name")},
          {"Image", text_of(entry, "image")},
          {"State", text_of(entry, "state")},
          {"List", text_of(entry, "list")},
          {"Limit", number_or_null(member(entry, "limit"))},
          {"Growth", number_or_null(member(entry, "growth"))},
          {"Verdict", text_of(entry, "verdict")},
          {"Metric", text_or_null(member(entry, "metric"))},
          {"Goal", text_or_null(member(entry, "goal"))},
          {"Value", number_or_null(member(entry, "value"))},
          {"Values", number_or_null(member(entry, "values"))},
          {"Progress", progress_of(member(entry, "progress"))},
          {"Left", number_or_null(member(entry, "left"))},
          {"CPU", number_or_null(member(entry, "cpu"))},
          {"Memory", number_or_null(member(entry, "memory"))},
          {"IO", number_or_null(member(entry, "io"))},
          {"Network", number_or_null(member(entry, "network"))},
          {"GPU", gpu_of(member(entry, "gpu"))},
          {"Resources", resources_of(member(entry, "resources"))},
          {"Weight", number_or_null(member(entry, "weight"))},
          {"Floor", number_or_null(member(entry, "floor"))},
          {"Ceiling", number_or_null(member(entry, "ceiling"))},
          {"OnlyGrow", bool_or_null(member(entry, "only_grow"))},
          {"Pinned", pin_of(member(entry, "pinned"))},
          {"Since", number_or_null(member(entry, "since"))},
          {"Reason", text_of(entry, "reason")},
          {"Note", text_of(entry, "note")},
          {"Warnings", texts_of(member(entry, "warnings"))}};
}

json::object shown_fields(const json::object& exact, bool truncate) {
  json::object shown;
  for (const auto& entry : exact) shown[entry.key()] = made_safe(entry.value());
  if (truncate) shown["ID"] = text_of(shown, "ID").substr(0, kShortId);
  // What is planned for a container that is not controlled is nothing it has.
  const std::string state = text_of(shown, "State");
  const bool has_limit = state != "unsupported" && state != "paused" && state != "frozen";
  const json::value& gpu = member(exact, "GPU");  // a reference into `shown` ends as it grows
  shown["LimitPerc"] =
      has_limit ? percent_text(real_of(member(shown, "Limit"))) : std::string(kUnknown);
  shown["CPUPerc"] = percent_text(real_of(member(shown, "CPU")));
  shown["MemUsage"] = memory_text(real_of(member(shown, "Memory")));
  shown["BlockIO"] = rate_text(real_of(member(shown, "IO")));
  shown["NetIO"] = rate_text(real_of(member(shown, "Network")));
  shown["GPUPerc"] = percent_text(real_of(member(gpu, "Use")));
  shown["GPUMem"] = memory_text(real_of(member(gpu, "Memory")));
  shown["FloorPerc"] = percent_text(real_of(member(shown, "Floor")));
  shown["CeilingPerc"] = percent_text(real_of(member(shown, "Ceiling")));
  shown["PinnedText"] = pinned_text(member(shown, "Pinned"));
  shown["Score"] = score_text(shown);
  shown["ProgressPerc"] = progress_text(member(shown, "Progress"));
  shown["LeftText"] = time_text(real_of(member(shown, "Left")));
  shown["GrowthText"] = growth_or_verdict(shown);
  shown["NoteText"] = note_text(shown);
  return shown;
}

const json::object& field_headings() {
  static const json::object names{{"Host", "HOST"},           {"ID", "CONTAINER ID"},
                                  {"Name", "NAME"},           {"Image", "IMAGE"},
                                  {"State", "STATE"},         {"List", "LIST"},
                                  {"Limit", "LIMIT"},         {"Growth", "GROWTH"},
                                  {"Verdict", "VERDICT"},     {"Metric", "METRIC"},
                                  {"Goal", "GOAL"},           {"Value", "VALUE"},
                                  {"Values", "VALUES"},       {"Progress", "PROGRESS"},
                                  {"Left", "LEFT"},           {"CPU", "CPU"},
                                  {"Memory", "MEMORY"},       {"IO", "IO"},
                                  {"Network", "NETWORK"},     {"GPU", "GPU"},
                                  {"Resources", "RESOURCES"}, {"Weight", "WEIGHT"},
                                  {"Floor", "FLOOR"},         {"Ceiling", "CEILING"},
                                  {"OnlyGrow", "ONLY GROW"},  {"Pinned", "PINNED"},
                                  {"Since", "SINCE"},         {"Reason", "REASON"},
                                  {"Note", "NOTE"},           {"Warnings", "WARNINGS"},
                                  {"LimitPerc", "LIMIT"},     {"CPUPerc", "CPU %"},
                                  {"MemUsage", "MEM USAGE"},  {"BlockIO", "BLOCK I/O"},
                                  {"NetIO", "NET I/O"},       {"GPUPerc", "GPU %"},
                                  {"GPUMem", "GPU MEM"},      {"FloorPerc", "FLOOR"},
                                  {"CeilingPerc", "CEILING"}, {"PinnedText", "PINNED"},
                                  {"Score", "METRIC"},        {"ProgressPerc", "PROGRESS"},
                                  {"LeftText", "LEFT"},       {"GrowthText", "GROWTH"},
                                  {"NoteText", "NOTE"}};
  return names;
}

}  // namespace flowcon::plugin
