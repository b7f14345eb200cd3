// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/entry_json.h"

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/names.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::int64_t kMaxAttempts = 1'000'000;

Error wrong(const char* name) {
  return bad_input(std::string("a migration's entry has no valid member ") + name);
}

Error too_large() { return bad_input("a migration's entry is too large"); }

Result<Entry> entry_in(const json::value& value) {
  Entry entry;
  entry.id = text_of(value, "id");
  if (!is_random_id(entry.id)) return wrong("id");
  const std::string side = text_of(value, "side");
  if (side != name(Side::source) && side != name(Side::target)) return wrong("side");
  entry.side = side == name(Side::source) ? Side::source : Side::target;
  entry.container = text_of(value, "container");
  if (!entry.container.empty() && !is_container_id(entry.container)) return wrong("container");
  entry.name = text_of(value, "name");
  if (!is_object_name(entry.name)) return wrong("name");
  entry.source = text_of(value, "source");
  if (!is_random_id(entry.source)) return wrong("source");
  entry.target = text_of(value, "target");
  if (!is_random_id(entry.target) || entry.target == entry.source) return wrong("target");
  const std::string method = text_of(value, "method");
  bool is_known = false;
  for (const Method one : {Method::app, Method::criu, Method::birth, Method::home}) {
    if (method != name(one)) continue;
    entry.method = one;
    is_known = true;
  }
  if (!is_known) return wrong("method");
  const auto step = parse_step(entry.side, text_of(value, "step"));
  if (!step) return wrong("step");
  entry.step = *step;
  entry.has_saved = is_true(value, "has_saved");
  const json::value& attempt = member(value, "attempt");
  if (!attempt.is_int64() || attempt.get_int64() < 0 || attempt.get_int64() > kMaxAttempts) {
    return wrong("attempt");
  }
  entry.attempt = attempt.get_int64();
  entry.reason = printable(text_of(value, "reason"), kMaxReasonBytes);
  return entry;
}

}  // namespace

Result<Entry> parse_entry(std::string_view text) {
  if (text.size() > kMaxEntryBytes) return too_large();
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return wrap(parsed.error(), "a migration's entry");
  return entry_in(*parsed);
}

Result<Entry> read_entry(const json::value& said) {
  return render_json(said).size() > kMaxEntryBytes ? too_large() : entry_in(said);
}

std::optional<double> running_for(const json::value& said) {
  const json::value& seconds = member(said, "running_for");
  return seconds.is_number() ? std::optional(seconds.to_number<double>()) : std::nullopt;
}

json::object to_json(const Entry& entry) {
  return {{"id", entry.id},
          {"side", name(entry.side)},
          {"container", entry.container},
          {"name", entry.name},
          {"source", entry.source},
          {"target", entry.target},
          {"method", name(entry.method)},
          {"step", name(entry.step)},
          {"has_saved", entry.has_saved},
          {"attempt", entry.attempt},
          {"reason", printable(entry.reason, kMaxReasonBytes)}};
}

std::string render(const Entry& entry) { return render_json(to_json(entry)); }

bool is_other_side(const Entry& ours, const Entry& theirs) {
  return ours.id == theirs.id && ours.side != theirs.side && ours.name == theirs.name &&
         ours.source == theirs.source && ours.target == theirs.target &&
         ours.method == theirs.method;
}

}  // namespace flowcon::cluster::migration
