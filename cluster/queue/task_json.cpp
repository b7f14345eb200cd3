// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/task_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kMaxMessage = 64U << 10;  // bytes
constexpr std::size_t kMaxText = 300;           // bytes
constexpr double kMostStatus = 1e9;
constexpr double kMostAmount = 1e18;

constexpr std::array<const char*, 6> kVerbs{"look", "save", "stop", "fetch", "discard", "claim"};
constexpr std::array<const char*, 5> kCopies{"unknown", "absent", "created", "running", "ended"};

template <std::size_t Count>
std::size_t place_of(FieldReader& reader, const char* name,
                     const std::array<const char*, Count>& words, const char* rule) {
  const std::string word = reader.text(name);
  const auto found = std::find(words.begin(), words.end(), word);
  reader.require(found != words.end(), name, rule);
  return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

TaskCall call_in(FieldReader& reader) {
  TaskCall call;
  call.verb = static_cast<TaskVerb>(place_of(reader, "verb", kVerbs, "must be a verb of tasks"));
  call.birth = reader.text("birth");
  call.key = printable(reader.text("key"), kMaxText);
  call.is_early = reader.optional_bool("early");
  reader.require(is_random_id(call.birth), "birth", "must be 32 hexadecimal digits");
  reader.require(call.verb != TaskVerb::fetch || is_random_id(call.key), "key",
                 "must be 32 hexadecimal digits");
  return call;
}

TaskView view_in(FieldReader& reader) {
  TaskView view;
  view.copy =
      static_cast<TicketCopy>(place_of(reader, "copy", kCopies, "must be a state of a container"));
  view.life = printable(reader.text("life"), kMaxText);
  const double status = reader.number("status", -kMostStatus, kMostStatus);
  view.status = static_cast<std::int64_t>(std::trunc(status));
  view.was_killed_for_memory = reader.boolean("killed_for_memory");
  view.was_stopped = reader.boolean("stopped");
  view.was_interrupted = reader.boolean("interrupted");
  view.memory = reader.number("memory", 0, kMostAmount);
  view.is_saving = reader.boolean("saving");
  view.save_key = printable(reader.text("save_key"), kMaxText);
  view.save_failure = printable(reader.text("save_failure"), kMaxText);
  view.has_saved = reader.boolean("saved");
  view.undone_back = printable(reader.text("undone_back"), kMaxText);
  view.left = amount_in(reader, "left");
  view.width = amount_in(reader, "width");
  view.done = amount_in(reader, "done");
  if (view.left && *view.left <= 0) view.left.reset();
  if (view.width && *view.width <= 0) view.width.reset();
  reader.require(view.done.value_or(0) <= 1, "done", "must be 1 at most");
  return view;
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

std::optional<double> amount_in(FieldReader& reader, const char* name) {
  const std::optional<double> amount = reader.optional_number(name);
  reader.require(!amount || (*amount >= 0 && *amount <= kMostAmount), name,
                 "must be from 0 to 10^18");
  return amount;
}

const char* name(TaskVerb verb) { return kVerbs.at(static_cast<std::size_t>(verb)); }

Result<TaskCall> parse_task_call(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the call is too long");
  return read_fields(text, call_in);
}

std::string render(const TaskCall& call) {
  return render_json({{"verb", name(call.verb)},
                      {"birth", call.birth},
                      {"key", call.key},
                      {"early", call.is_early}});
}

Result<TaskView> parse_task_view(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, view_in);
}

std::string render(const TaskView& view) {
  json::object out{{"copy", kCopies.at(static_cast<std::size_t>(view.copy))},
                   {"life", view.life},
                   {"status", view.status},
                   {"killed_for_memory", view.was_killed_for_memory},
                   {"stopped", view.was_stopped},
                   {"interrupted", view.was_interrupted},
                   {"memory", view.memory},
                   {"saving", view.is_saving},
                   {"save_key", view.save_key},
                   {"save_failure", printable(view.save_failure, kMaxText)},
                   {"saved", view.has_saved},
                   {"undone_back", view.undone_back},
                   {"left", number_or_null(view.left)},
                   {"width", number_or_null(view.width)},
                   {"done", number_or_null(view.done)}};
  return render_json(out);
}

Result<std::vector<std::string>> parse_births(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the list is too long");
  return read_fields(text, births_in);
}

std::string render_births(const std::vector<std::string>& births) {
  return render_json({{"births", json::array(births.begin(), births.end())}});
}

}  // namespace flowcon::cluster::queue
