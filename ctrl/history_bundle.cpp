// SPDX-License-Identifier: Apache-2.0
#include "ctrl/history_bundle.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/control.h"
#include "ctrl/logs/framing_position.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

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

// Members of one object; the first that has a wrong value is the error.
class Reader {
 public:
  Reader(const json::object& from, double now) : from_(from), now_(now) {}

  [[nodiscard]] bool is_right() const { return error_.empty(); }
  [[nodiscard]] Error error() const { return bad_input("the history bundle: " + error_); }
  void refuse(std::string_view member) {
    if (error_.empty()) error_ = "\"" + std::string(member) + "\" has a wrong value";
  }

  bool boolean(std::string_view name) {
    const json::value* value = from_.if_contains(name);
    if (value == nullptr || !value->is_bool()) {
      refuse(name);
      return false;
    }
    return value->get_bool();
  }
  std::string text(std::string_view name) {
    const json::value* value = from_.if_contains(name);
    const json::string* text = value != nullptr ? value->if_string() : nullptr;
    if (text == nullptr || text->size() > kMaxText) {
      refuse(name);
      return "";
    }
    return {text->data(), text->size()};
  }
  double moment(std::string_view name) {
    const json::value* value = from_.if_contains(name);
    return value != nullptr ? time_of(*value, name) : (refuse(name), 0.0);
  }

  /// Calls `take` with each row, which has `cells` cells.
  template <class Take>
  void rows(std::string_view name, std::size_t cells, Take take) {
    const json::value* value = from_.if_contains(name);
    if (value == nullptr || !value->is_array()) return refuse(name);
    for (const json::value& row : value->get_array()) {
      if (!row.is_array() || row.get_array().size() != cells) return refuse(name);
      take(row.get_array());
      if (!is_right()) return;
    }
  }
  /// An age as a time.
  double time_of(const json::value& value, std::string_view name) {
    const std::optional<double> age = finite(value);
    if (!age || *age < 0 || *age > kOldest) {
      refuse(name);
      return now_;
    }
    return now_ - *age;
  }
  double number_of(const json::value& value, double least, double most, std::string_view name) {
    const std::optional<double> number = finite(value);
    if (!number || *number < least || *number > most) {
      refuse(name);
      return least;
    }
    return *number;
  }
  std::optional<double> number_or_none(const json::value& value, std::string_view name) {
    if (value.is_null()) return {};
    const std::optional<double> number = finite(value);
    if (!number) refuse(name);
    return number;
  }
  /// Also those that JSON does not know.
  double any_number(const json::value& value, std::string_view name) {
    if (const json::string* text = value.if_string()) {
      if (*text == "nan") return std::nan("");
      if (*text == "inf") return HUGE_VAL;
      if (*text == "-inf") return -HUGE_VAL;
    }
    const std::optional<double> number = finite(value);
    if (!number) refuse(name);
    return number.value_or(0);
  }

 private:
  static std::optional<double> finite(const json::value& value) {
    if (!value.is_number()) return {};
    const double number = value.to_number<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }

  const json::object& from_;
  double now_;
  std::string error_;
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

Result<store::Choice> read_choice(const json::object& from, double now) {
  Reader reader(from, now);
  store::Choice choice;
  choice.released = reader.boolean("released");
  choice.settings = reader.text("settings");
  const std::string decided = reader.text("control");
  if (!reader.is_right()) return reader.error();
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
  if (!parsed || !parsed->is_object()) return bad_input("the history bundle is not a JSON object");
  const json::object& from = parsed->get_object();
  const json::value* format = from.if_contains("flowcon_life");
  if (format == nullptr || !format->is_int64() || format->get_int64() != kFormat) {
    return bad_input("this version does not know the format of the history bundle");
  }
  Reader reader(from, now);
  HistoryBundle bundle;
  bundle.is_whole = reader.boolean("whole");
  bundle.has_history = reader.boolean("recorded");
  store::Run& run = bundle.history.run;
  run.name = reader.text("name");
  run.metric = reader.text("metric");
  run.goal = reader.text("goal") == "max" ? Goal::max : Goal::min;
  run.started = reader.moment("started");
  read_rows(reader, bundle.history);
  const json::value* choice = from.if_contains("choice");
  if (choice == nullptr || !choice->is_object()) reader.refuse("choice");
  if (!reader.is_right()) return reader.error();
  auto chosen = read_choice(choice->get_object(), now);
  if (!chosen) return wrap(chosen.error(), "the history bundle");
  bundle.choice = std::move(*chosen);
  if (const json::value* past = from.if_contains("past")) {
    Result<Past> read = past_from(*past);
    if (read) {
      bundle.past = std::move(*read);
    } else {
      bundle.past_problem = read.error().message();
    }
  }
  if (from.contains("position")) {
    store::LogPosition position{reader.text("log"), ""};
    Result<logs::Position> at = logs::parse_position(reader.text("position"));
    const bool is_right = reader.is_right() && at && at->file == logs::kMovedFile &&
                          std::isfinite(at->time) && at->time >= 0 && at->time <= kOldest;
    if (!is_right) return bad_input("the history bundle: \"position\" has a wrong value");
    at->time = now - at->time;
    position.position = logs::render_position(*at);
    bundle.position = std::move(position);
  }
  return bundle;
}

}  // namespace flowcon::ctrl
