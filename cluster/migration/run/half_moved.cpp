// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/half_moved.h"

#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"

namespace flowcon::cluster::migration {
namespace {

constexpr const char* kMigrateLabel = "flowcon.migrate";

bool may_move(const Seen& seen) {
  const auto label = seen.labels.find(kMigrateLabel);
  return label != seen.labels.end() && label->second != "no";
}

}  // namespace

std::string why_half_moved(const Seen& seen, bool is_known) {
  // What runs, or will by its engine, is not in the middle of anything: a move stops and disarms.
  if (seen.copy == Copy::running || restarts(seen.restart_policy)) return "";
  if (seen.labels.contains(kMoveLabel) && !is_known) {
    return seen.copy == Copy::created
               ? "a migration made it and it never ran"
               : "a migration brought it, it is stopped and has no restart policy";
  }
  if (!may_move(seen) || seen.copy == Copy::created) return "";
  return "its label " + std::string(kMigrateLabel) +
         " lets it migrate, it is stopped and has no restart policy";
}

std::string describe_lost(const std::string& entry) {
  const Result<Entry> parsed = parse_entry(entry);
  if (!parsed) return "";
  return "container " + printable(parsed->name, 80) + ": its migration " + parsed->id.substr(0, 8) +
         (parsed->side == Side::source ? " from here" : " to here") +
         " had not ended; the last step that can be read is " + name(parsed->step);
}

}  // namespace flowcon::cluster::migration
