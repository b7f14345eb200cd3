// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/decision_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl::policy {
namespace {

namespace json = boost::json;

// Reads fields of one object and keeps the first complaint, so that a reader is a list of fields
// and one look at the end.
class Reader {
 public:
  Reader(const json::value& value, std::string path) : path_(std::move(path)) {
    object_ = value.if_object();
    if (!object_) complain("", "must be an object, not " + shown(value));
  }

  // Null where the field is missing; whether that is an error is the caller's to say.
  const json::value* find(std::string_view name) const {
    return object_ ? object_->if_contains(name) : nullptr;
  }

  double number(std::string_view name) {
    const json::value* value = required(name);
    if (!value) return 0;
    if (!value->is_number()) {
      complain(name, "must be a number, not " + shown(*value));
      return 0;
    }
    return value->to_number<double>();
  }

  std::optional<double> number_or_null(std::string_view name) {
    const json::value* value = required(name);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_number()) {
      complain(name, "must be a number or null, not " + shown(*value));
      return std::nullopt;
    }
    return value->to_number<double>();
  }

  std::optional<double> optional_number(std::string_view name) {
    const json::value* value = find(name);
    if (!value || value->is_null()) return std::nullopt;
    return number(name);
  }

  bool optional_bool(std::string_view name) {
    const json::value* value = find(name);
    if (!value || value->is_null()) return false;
    if (!value->is_bool()) complain(name, "must be true or false, not " + shown(*value));
    return value->is_bool() && value->get_bool();
  }

  std::string text(std::string_view name) {
    const json::value* value = required(name);
    if (!value) return {};
    return text_of(*value, name);
  }

  std::string text_of(const json::value& value, std::string_view name) {
    if (const json::string* text = value.if_string()) return std::string(*text);
    complain(name, "must be a string, not " + shown(value));
    return {};
  }

  const json::array& array(std::string_view name) {
    static const json::array kEmpty;
    const json::value* value = required(name);
    if (!value) return kEmpty;
    if (const json::array* array = value->if_array()) return *array;
    complain(name, "must be an array, not " + shown(*value));
    return kEmpty;
  }

  void require(bool holds, std::string_view name, const char* rule) {
    if (holds || !complaint_.empty()) return;
    complain(name, std::string(rule) + ", not " + shown(*find(name)));
  }

  void complain(std::string_view name, const std::string& what) {
    if (!complaint_.empty()) return;
    complaint_ = path_;
    if (!path_.empty() && !name.empty()) complaint_ += '.';
    complaint_ += name;
    if (complaint_.empty()) complaint_ = "the state";
    complaint_ += ": " + what;
  }

  void take_complaint(const Reader& inner) {
    if (complaint_.empty()) complaint_ = inner.complaint_;
  }

  [[nodiscard]] bool failed() const { return !complaint_.empty(); }
  [[nodiscard]] Error error() const { return bad_input(complaint_); }

 private:
  const json::value* required(std::string_view name) {
    const json::value* value = find(name);
    if (!value) complain(name, "is missing");
    return value;
  }

  // What stands there, short enough for one line.
  static std::string shown(const json::value& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    if (const json::string* text = value.if_string()) return '"' + printable(*text, 40) + '"';
    return printable(render_json(value), 40);
  }

  const json::object* object_ = nullptr;
  std::string path_;
  std::string complaint_;
};

std::string indexed(const char* name, std::size_t index) {
  return std::string(name) + '[' + std::to_string(index) + ']';
}

Member read_member(Reader& reader) {
  Member member;
  member.id = reader.text("id");
  const std::string list = reader.text("list");
  if (list == name(List::wl)) {
    member.list = List::wl;
  } else if (list == name(List::cl)) {
    member.list = List::cl;
  } else {
    reader.require(list == name(List::nl), "list", "must be NL, WL or CL");
  }
  member.limit = reader.number_or_null("limit");
  member.growth = reader.number_or_null("growth");
  return member;
}

ExecutorState read_executor(Reader& reader) {
  ExecutorState state;
  state.alpha = reader.number("alpha");
  state.beta = reader.number("beta");
  reader.require(state.beta >= 1, "beta", "must be at least 1");
  state.interval = reader.number("interval");
  reader.require(state.interval > 0, "interval", "must be above 0");
  state.interval_max = reader.optional_number("interval_max");
  reader.require(!state.interval_max || *state.interval_max > 0, "interval_max", "must be above 0");
  state.floor_all = reader.optional_bool("floor_all");

  const json::array& containers = reader.array("containers");
  state.containers.reserve(containers.size());
  for (std::size_t i = 0; i < containers.size() && !reader.failed(); ++i) {
    Reader inner(containers[i], indexed("containers", i));
    state.containers.push_back(read_member(inner));
    reader.take_complaint(inner);
  }
  std::unordered_set<std::string_view> ids;
  for (std::size_t i = 0; i < state.containers.size(); ++i) {
    const std::string& id = state.containers[i].id;
    if (!ids.insert(id).second) {
      reader.complain(indexed("containers", i) + ".id",
                      "is there twice: \"" + printable(id, 40) + '"');
    }
  }
  return state;
}

json::value number_or_null(const std::optional<double>& number) {
  if (!number) return nullptr;
  return *number;
}

json::array texts(const std::vector<std::string>& from) {
  json::array array;
  array.reserve(from.size());
  for (const std::string& text : from) array.emplace_back(text);
  return array;
}

json::object seat(const std::string& id, List list, const std::optional<double>& limit) {
  return {{"id", id}, {"list", name(list)}, {"limit", number_or_null(limit)}};
}

template <class Seats>
json::array seats(const Seats& from) {
  json::array array;
  array.reserve(from.size());
  for (const auto& one : from) array.emplace_back(seat(one.id, one.list, one.limit));
  return array;
}

json::object state_object(const ExecutorState& state) {
  json::object object{{"alpha", state.alpha}, {"beta", state.beta}, {"interval", state.interval}};
  if (state.interval_max) object["interval_max"] = *state.interval_max;
  if (state.floor_all) object["floor_all"] = true;
  json::array containers;
  containers.reserve(state.containers.size());
  for (const Member& member : state.containers) {
    json::object container = seat(member.id, member.list, member.limit);
    container["growth"] = number_or_null(member.growth);
    containers.emplace_back(std::move(container));
  }
  object["containers"] = std::move(containers);
  return object;
}

}  // namespace

Result<ExecutorState> executor_state_from(const json::value& json) {
  Reader reader(json, "");
  ExecutorState state = read_executor(reader);
  if (reader.failed()) return reader.error();
  return state;
}

Result<ListenerState> listener_state_from(const json::value& json) {
  Reader reader(json, "");
  ListenerState state;
  state.executor = read_executor(reader);
  state.initial_interval = reader.number("initial_interval");
  reader.require(state.initial_interval > 0, "initial_interval", "must be above 0");
  const json::array& active = reader.array("active");
  state.active.reserve(active.size());
  for (std::size_t i = 0; i < active.size() && !reader.failed(); ++i) {
    state.active.push_back(reader.text_of(active[i], indexed("active", i)));
  }
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const ExecutorState& state) { return state_object(state); }

json::value to_json(const ListenerState& state) {
  json::object object = state_object(state.executor);
  object["initial_interval"] = state.initial_interval;
  object["active"] = texts(state.active);
  return object;
}

json::value to_json(const ExecutorDecision& decision) {
  return json::object{{"interval", decision.interval},
                      {"all_completing", decision.all_completing},
                      {"containers", seats(decision.containers)}};
}

json::value to_json(const ListenerDecision& decision) {
  return json::object{{"arrived", texts(decision.arrived)},
                      {"departed", texts(decision.departed)},
                      {"rerun", decision.rerun},
                      {"interval", decision.interval},
                      {"containers", seats(decision.containers)}};
}

}  // namespace flowcon::ctrl::policy
