// SPDX-License-Identifier: Apache-2.0
#include "ctrl/control.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::ctrl {
namespace {

constexpr std::array<std::string_view, 4> kValues = {"weight", "floor", "ceiling", "only-grow"};
constexpr double kLeastPin = 1e-6;
constexpr double kLongestPin = 10.0 * 366 * 86400;  // ten years; a typing error, not a plan

Result<void> merge(Control& control, const json::object& values) {
  Control merged = control;
  for (const auto& member : values) {
    const std::string key{std::string_view(member.key())};
    if (std::find(kValues.begin(), kValues.end(), key) == kValues.end()) {
      return bad_input("set takes weight, floor, ceiling and only-grow, not " + printable(key, 80));
    }
    if (!member.value().is_string()) return bad_input(key + " must be a string");
    const std::string value(member.value().get_string());
    if (value == "none") {
      merged.values.erase(key);
      continue;
    }
    Settings probe;
    if (auto taken = take_setting(probe, key, value); !taken) return wrap(taken.error(), key);
    merged.values[key] = value;
  }
  control = std::move(merged);
  return {};
}

Result<json::object> parse_object(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return json::object();
  Result<json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return bad_input("the body is not a JSON object");
  return parsed->get_object();
}

}  // namespace

std::string render_control(const Control& control) {
  if (control == Control()) return "";
  json::object body;
  body["paused"] = control.is_paused;
  if (control.pin) {
    json::object pin;
    pin["limit"] = control.pin->limit;
    pin["until"] = number_or_null(control.pin->until);
    body["pin"] = std::move(pin);
  }
  json::object values;
  for (const auto& [name, value] : control.values) values[name] = value;
  body["values"] = std::move(values);
  return render_json(body);
}

Result<Control> parse_control(std::string_view text) {
  Control control;
  Result<json::object> body = parse_object(text);
  if (!body) return body.error();
  control.is_paused = is_true(member(*body, "paused"));
  if (const json::value& pin = member(*body, "pin"); pin.is_object()) {
    if (!member(pin, "limit").is_number()) return bad_input("the pin is incomplete");
    control.pin = Pin{std::clamp(*real_of(member(pin, "limit")), kLeastPin, 1.0), {}};
    if (member(pin, "until").is_number()) control.pin->until = real_of(member(pin, "until"));
  }
  const Result<void> merged = merge(control, object_of(member(*body, "values")));
  if (!merged) return merged.error();
  return control;
}

Result<Pin> parse_pin(std::string_view text, double now) {
  Result<json::object> body = parse_object(text);
  if (!body) return body.error();
  std::optional<double> limit;
  Pin pin;
  for (const auto& member : *body) {
    const std::string key{std::string_view(member.key())};
    if (!member.value().is_string()) return bad_input(printable(key, 80) + " must be a string");
    const std::string value(member.value().get_string());
    if (key == "cpu") {
      Result<double> share = parse_bounded(value, 0, 1, "above 0, at most 1");
      if (!share) return wrap(share.error(), "cpu");
      limit = *share;
    } else if (key == "for") {
      Result<double> seconds = parse_bounded(value, 0, kLongestPin, "of seconds above 0");
      if (!seconds) return wrap(seconds.error(), "for");
      pin.until = now + *seconds;
    } else {
      return bad_input("pin takes cpu and for, not " + printable(key, 80));
    }
  }
  if (!limit) return bad_input("pin needs a share of the host: {\"cpu\":\"0.5\"}");
  pin.limit = std::max(*limit, kLeastPin);
  return pin;
}

Result<void> merge_values(Control& control, std::string_view text) {
  Result<json::object> body = parse_object(text);
  if (!body) return body.error();
  if (body->empty())
    return bad_input("nothing to set; set takes weight, floor, ceiling and only-grow");
  return merge(control, *body);
}

Settings with_values(Settings labels, const Control& control) {
  for (const auto& [key, value] : control.values) {
    if (auto taken = take_setting(labels, key, value); !taken) {
      labels.warnings.push_back("set " + key + ": " + taken.error().message());
    }
  }
  return labels;
}

double grant(double decided, double before, const Settings& settings,
             const std::optional<Pin>& pin) {
  if (pin) return pin->limit;
  double granted = std::max(decided, settings.floor.value_or(0));
  if (settings.only_grow) granted = std::max(granted, before);
  return std::min(granted, settings.ceiling.value_or(1));
}

}  // namespace flowcon::ctrl
