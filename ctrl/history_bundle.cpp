// SPDX-License-Identifier: Apache-2.0
#include "ctrl/history_bundle.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/control.h"
#include "ctrl/logs/framing_position.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {
namespace {

constexpr const char* kBundle = "the history bundle";
constexpr int kFormat = 1;
constexpr double kOldest = 100.0 * 366 * 86400;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxStays = 1000;

// ---------------------------------------------------------------------------------- rendering

// Every `step`th row, and the last one.
template <class Row, class Render>
json::array rows_of(const std::vector<Row>& rows, std::size_t step, Render render) {
  json::array out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((rows.size() - 1 - i) % step == 0) out.push_back(render(rows[i]));
  }
  return out;
}

json::object object_of(const HistoryBundle& bundle, double now, std::size_t step) {
  const auto age = [now](double time) { return std::max(0.0, now - time); };
  const store::History& history = bundle.history;
  json::object out;
  out["flowcon_life"] = kFormat;
  out["whole"] = bundle.is_whole;
  out["recorded"] = bundle.has_history;
  out["name"] = valid_utf8(history.run.name);
  out["metric"] = valid_utf8(history.run.metric);
  out["goal"] = name(history.run.goal);
  out["started"] = bundle.has_history ? age(history.run.started) : 0.0;
  out["samples"] = rows_of(history.samples, step, [&](const Sample& s) {
    return json::array{age(s.time), s.value};
  });
  out["usage"] = rows_of(history.usage, step, [&](const store::UsageRow& u) {
    return json::array{age(u.time), u.cpu, u.memory, number_or_null(u.io),
                       number_or_null(u.network)};
  });
  out["decisions"] = rows_of(history.decisions, step, [&](const store::DecisionRow& d) {
    return json::array{age(d.time), name(d.list), d.limit, number_or_null(d.growth)};
  });
  out["stays"] = rows_of(history.stays, 1, [&](const store::Stay& s) {
    return json::array{valid_utf8(s.host), age(s.began), age(s.ended)};
  });
  json::object choice;
  choice["released"] = bundle.choice.released;
  choice["settings"] = bundle.choice.settings;
  Result<Control> control = parse_control(bundle.choice.control);
  if (control && control->pin && control->pin->until) {
    // What is left of it; it ends by the clock of whoever has the job.
    control->pin->until = std::max(0.0, *control->pin->until - now);
  }
  choice["control"] = control ? render_control(*control) : "";
  out["choice"] = std::move(choice);
  if (bundle.past) out["past"] = to_json(*bundle.past);
  if (bundle.position) {
    Result<logs::Position> at = logs::parse_position(bundle.position->position);
    if (at && !at->is_empty()) {
      at->file = logs::kMovedFile;
      at->time = age(at->time);
      out["log"] = valid_utf8(bundle.position->log);
      out["position"] = logs::render_position(*at);
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------ reading

// The first member that is not what it may be is the error.
class Reader : public FieldReader {
 public:
  Reader(const json::value& from, std::string path, double now)
      : FieldReader(from, std::move(path)), now_(now) {}

  void refuse(std::string_view name) { complain(name, "has a wrong value"); }
  std::string text(std::string_view name) {
    std::string text = FieldReader::text(name);
    if (text.size() > kMaxText) refuse(name);
    return text;
  }
  double moment(std::string_view name) { return time_of(member(name), name); }

  /// Calls `take` with each row, which has `cells` cells.
  template <class Take>
  void rows(std::string_view name, std::size_t cells, Take take) {
    for (const json::value& row : array(name)) {
      if (!row.is_array() || row.get_array().size() != cells) return refuse(name);
      take(row.get_array());
      if (failed()) return;
    }
  }
  /// An age as a time.
  double time_of(const json::value& value, std::string_view name) {
    return now_ - number_of(value, 0, kOldest, name);
  }
  double number_of(const json::value& value, double least, double most, std::string_view name) {
    const double number = value.is_number() ? value.to_number<double>() : NAN;
    if (number >= least && number <= most) return number;
    refuse(name);
    return least;
  }
  std::optional<double> number_or_none(const json::value& value, std::string_view name) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return value.is_null() ? std::nullopt : std::optional(number_of(value, -kMost, kMost, name));
  }
  /// Also those that JSON does not know.
  double any_number(const json::value& value, std::string_view name) {
    if (value.is_number()) return value.to_number<double>();
    const std::string text = text_of(value, name);
    if (text == "nan" || text == "inf" || text == "-inf") return std::strtod(text.c_str(), nullptr);
    refuse(name);
    return 0;
  }

 private:
  double now_;
};

List list_of(Reader& reader, const json::value& value) {
  for (const List list : {List::nl, List::wl, List::cl}) {
    if (value.is_string() && value.get_string() == name(list)) return list;
  }
  reader.refuse("decisions");
  return List::nl;
}

void read_rows(Reader& reader, store::History& history) {
  constexpr double kMostBytes = 9e18;
  const auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  reader.rows("samples", 2, [&](const json::array& row) {
    history.samples.push_back(
        {reader.time_of(row[0], "samples"), reader.any_number(row[1], "samples")});
  });
  reader.rows("usage", 5, [&](const json::array& row) {
    const double memory = reader.number_of(row[2], 0, kMostBytes, "usage");
    history.usage.push_back(
        {reader.time_of(row[0], "usage"), reader.number_of(row[1], 0, 1e6, "usage"),
         static_cast<std::uint64_t>(memory), reader.number_or_none(row[3], "usage"),
         reader.number_or_none(row[4], "usage")});
  });
  reader.rows("decisions", 4, [&](const json::array& row) {
    history.decisions.push_back({reader.time_of(row[0], "decisions"), list_of(reader, row[1]),
                                 reader.number_of(row[2], 0, 1, "decisions"),
                                 reader.number_or_none(row[3], "decisions")});
  });
  reader.rows("stays", 3, [&](const json::array& row) {
    const json::string* host = row[0].if_string();
    if (host == nullptr || host->size() > 255 || history.stays.size() == kMaxStays) {
      return reader.refuse("stays");
    }
    history.stays.push_back({std::string(host->data(), host->size()),
                             reader.time_of(row[1], "stays"), reader.time_of(row[2], "stays")});
  });
  // Equal times keep their order.
  std::stable_sort(history.samples.begin(), history.samples.end(), by_time);
  std::stable_sort(history.usage.begin(), history.usage.end(), by_time);
  std::stable_sort(history.decisions.begin(), history.decisions.end(), by_time);
}

Result<store::Choice> read_choice(const json::value& from, double now) {
  Reader reader(from, "choice", now);
  store::Choice choice;
  choice.released = reader.boolean("released");
  choice.settings = reader.text("settings");
  const std::string decided = reader.text("control");
  if (reader.failed()) return reader.error();
  if (!choice.settings.empty()) {
    if (const auto settings = parse_choice(choice.settings); !settings) return settings.error();
  }
  Result<Control> control = parse_control(decided);
  if (!control) return control.error();
  if (control->pin && control->pin->until) {
    control->pin->until = now + std::clamp(*control->pin->until, 0.0, kOldest);
  }
  choice.control = render_control(*control);
  return choice;
}

}  // namespace

std::string render_bundle(const HistoryBundle& bundle, double now, std::size_t most) {
  for (std::size_t step = 1;;) {
    std::string text = render_json(object_of(bundle, now, step));
    const std::size_t rows = std::max({bundle.history.samples.size(), bundle.history.usage.size(),
                                       bundle.history.decisions.size()});
    if (text.size() <= most || step > rows) return text;
    step = std::max(step + 1, step * text.size() / most + 1);
  }
}

Result<HistoryBundle> parse_bundle(std::string_view text, double now) {
  if (text.size() > kMaxBundle) return bad_input("the history bundle is longer than 15 MiB");
  Result<json::value> parsed = parse_json(text);
  if (!parsed) return wrap(parsed.error(), kBundle);
  Reader reader(*parsed, "", now);
  reader.require(reader.count("flowcon_life") == kFormat, "flowcon_life", "must be 1");
  HistoryBundle bundle;
  bundle.is_whole = reader.boolean("whole");
  bundle.has_history = reader.boolean("recorded");
  store::Run& run = bundle.history.run;
  run.name = reader.text("name");
  run.metric = reader.text("metric");
  run.goal = reader.text("goal") == "max" ? Goal::max : Goal::min;
  run.started = reader.moment("started");
  read_rows(reader, bundle.history);
  auto chosen = read_choice(reader.member("choice"), now);
  if (reader.failed()) return wrap(reader.error(), kBundle);
  if (!chosen) return wrap(chosen.error(), kBundle);
  bundle.choice = std::move(*chosen);
  if (const json::value* past = reader.find("past")) {
    Result<Past> read = past_from(*past);
    if (read) {
      bundle.past = std::move(*read);
    } else {
      bundle.past_problem = read.error().message();
    }
  }
  if (reader.find("position") != nullptr) {
    store::LogPosition position{reader.text("log"), ""};
    Result<logs::Position> at = logs::parse_position(reader.text("position"));
    const bool is_right =
        at && at->file == logs::kMovedFile && at->time >= 0 && at->time <= kOldest;
    if (!is_right) reader.refuse("position");
    if (reader.failed()) return wrap(reader.error(), kBundle);
    at->time = now - at->time;
    position.position = logs::render_position(*at);
    bundle.position = std::move(position);
  }
  return bundle;
}

}  // namespace flowcon::ctrl
