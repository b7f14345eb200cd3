// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/task_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kMaxMessage = 64U << 10;  // bytes
constexpr std::size_t kMaxText = 300;           // bytes
constexpr double kMostStatus = 1e9;
constexpr double kMostAmount = 1e18;

constexpr std::array<const char*, 6> kVerbs{"look", "save", "stop", "fetch", "discard", "claim"};
constexpr std::array<const char*, 5> kCopies{"unknown", "absent", "created", "running", "ended"};

std::string shown(const std::string& text) { return printable(text, kMaxText); }

std::string words_in(FieldReader& reader, std::string_view name) {
  return shown(reader.text(name));
}

std::int64_t status_in(FieldReader& reader, std::string_view name) {
  const double status = reader.number(name, -kMostStatus, kMostStatus);
  return static_cast<std::int64_t>(std::trunc(status));
}

// Of something that is left, or used.
std::optional<double> above_0_in(FieldReader& reader, std::string_view name) {
  const std::optional<double> amount = amount_in(reader, name);
  return amount && *amount > 0 ? amount : std::nullopt;
}

std::vector<std::string> births_in(FieldReader& reader) {
  std::vector<std::string> births;
  for (const json::value& one : reader.array("births")) {
    births.push_back(reader.text_of(one, "births"));
    reader.require(is_random_id(births.back()), "births", "must be 32 hexadecimal digits each");
  }
  reader.require(births.size() <= kMostBirths, "births", "must be 256 at most");
  return births;
}

}  // namespace

std::optional<double> amount_in(FieldReader& reader, std::string_view name) {
  const std::optional<double> amount = reader.optional_number(name);
  reader.require(!amount || (*amount >= 0 && *amount <= kMostAmount), name,
                 "must be from 0 to 10^18");
  return amount;
}

static void fields(auto& io, Is<TaskCall> auto& call) {
  io.one_of("verb", call.verb, kVerbs, "must be a verb of tasks");
  io("birth", call.birth);
  io.as("key", call.key, words_in);
  if (io.has("early")) io("early", call.is_early);
  io.require(is_random_id(call.birth), "birth", "must be 32 hexadecimal digits");
  io.require(call.verb != TaskVerb::fetch || is_random_id(call.key), "key",
             "must be 32 hexadecimal digits");
}

static void fields(auto& io, Is<TaskView> auto& view) {
  io.one_of("copy", view.copy, kCopies, "must be a state of a container");
  io.as("life", view.life, words_in);
  io.as("status", view.status, status_in);
  io("killed_for_memory", view.was_killed_for_memory);
  io("stopped", view.was_stopped);
  io("interrupted", view.was_interrupted);
  io("memory", view.memory, 0, kMostAmount);
  io("saving", view.is_saving);
  io.as("save_key", view.save_key, words_in);
  io.cleaned("save_failure", view.save_failure, shown);
  io("saved", view.has_saved);
  io.as("undone_back", view.undone_back, words_in);
  io.as("left", view.left, above_0_in);
  io.as("width", view.width, above_0_in);
  io.as("done", view.done, amount_in);
  io.require(view.done.value_or(0) <= 1, "done", "must be 1 at most");
}

const char* name(TaskVerb verb) { return kVerbs.at(static_cast<std::size_t>(verb)); }

Result<TaskCall> parse_task_call(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the call is too long");
  return read_fields(text, value_in<TaskCall>);
}

std::string render(const TaskCall& call) { return render_json(fields_json(call)); }

Result<TaskView> parse_task_view(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, value_in<TaskView>);
}

std::string render(const TaskView& view) { return render_json(fields_json(view)); }

Result<std::vector<std::string>> parse_births(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the list is too long");
  return read_fields(text, births_in);
}

std::string render_births(const std::vector<std::string>& births) {
  return render_json({{"births", json::array(births.begin(), births.end())}});
}

}  // namespace flowcon::cluster::queue
