// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/view_json.h"

#include "base/json.h"
#include "base/json_reader.h"

namespace flowcon::cluster::migration {
namespace {

std::optional<double> number_of(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  return found.is_number() ? std::optional(found.to_number<double>()) : std::nullopt;
}

std::optional<std::uint64_t> count_of(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  if (found.is_uint64()) return found.get_uint64();
  if (found.is_int64() && found.get_int64() >= 0) {
    return static_cast<std::uint64_t>(found.get_int64());
  }
  return std::nullopt;
}

}  // namespace

json::object to_json(const MoveView& view) {
  json::object out;
  out["id"] = view.id;
  out["container"] = view.container;
  out["name"] = view.name;
  out["side"] = name(view.side);
  out["source"] = view.source;
  out["target"] = view.target;
  out["source_name"] = view.source_name;
  out["target_name"] = view.target_name;
  out["method"] = name(view.method);
  out["cause"] = view.cause;
  out["step"] = name(view.step);
  out["error"] = view.error;
  out["bytes"] = view.bytes;
  out["bytes_total"] = view.bytes_total ? json::value(*view.bytes_total) : json::value(nullptr);
  out["rate"] = view.rate;
  out["seconds"] = view.seconds;
  json::object steps;
  for (const auto& [step, at] : view.steps) steps[step] = at;
  out["steps"] = std::move(steps);
  out["stopped_seconds"] = number_or_null(view.stopped_seconds);
  out["ended"] = view.has_ended;
  if (view.ended_age) out["ended_age"] = *view.ended_age;
  return out;
}

json::array to_json(const std::vector<MoveView>& views) {
  json::array all;
  for (const MoveView& view : views) all.push_back(to_json(view));
  return all;
}

MoveView parse_view(const json::value& shown) {
  MoveView view;
  view.id = text_of(shown, "id");
  view.container = text_of(shown, "container");
  view.name = text_of(shown, "name");
  view.side = text_of(shown, "side") == name(Side::target) ? Side::target : Side::source;
  view.source = text_of(shown, "source");
  view.target = text_of(shown, "target");
  view.source_name = text_of(shown, "source_name");
  view.target_name = text_of(shown, "target_name");
  for (const Method one : {Method::criu, Method::birth, Method::home}) {
    if (text_of(shown, "method") == name(one)) view.method = one;
  }
  view.cause = read_cause(text_of(shown, "cause"));
  if (const auto step = parse_step(view.side, text_of(shown, "step"))) view.step = *step;
  view.error = text_of(shown, "error");
  view.bytes = count_of(shown, "bytes").value_or(0);
  view.bytes_total = count_of(shown, "bytes_total");
  view.rate = number_of(shown, "rate").value_or(0);
  view.seconds = number_of(shown, "seconds").value_or(0);
  for (const auto& [step, at] : object_of(shown, "steps")) {
    if (at.is_number()) view.steps[std::string(step)] = at.to_number<double>();
  }
  view.stopped_seconds = number_of(shown, "stopped_seconds");
  view.has_ended = is_true(shown, "ended");
  return view;
}

}  // namespace flowcon::cluster::migration
