// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/rows.h"

#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/text/times.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::plugin {
namespace {

using ctrl::policy::divides_by;
using ctrl::policy::DividesBy;

constexpr std::size_t kNameBytes = 200;
constexpr std::size_t kSentenceBytes = 1000;
constexpr std::size_t kMostTrend = 200;

std::string shown(const json::value& object, std::string_view name, std::size_t most = kNameBytes) {
  return drawable(printable(text_of(member(object, name)), most));
}

std::optional<double> number(const json::value& object, std::string_view name) {
  return real_of(member(object, name));
}

std::vector<std::string> sentences(const json::value& list) {
  std::vector<std::string> all;
  for (const json::value& text : list_of(list)) {
    if (text.is_string()) all.push_back(drawable(printable(text_of(text), kSentenceBytes)));
  }
  return all;
}

std::optional<double> progress_of(const json::value& progress) {
  const std::optional<double> done = number(progress, "done");
  const std::optional<double> total = number(progress, "total");
  if (!done || !total || !(*total > 0)) return std::nullopt;
  return *done / *total;
}

TopRow read_row(const json::value& entry, const std::string& host) {
  TopRow row;
  row.id = text_of(member(entry, "id"));
  row.name = shown(entry, "name");
  row.image = shown(entry, "image");
  row.host = host;
  row.state = shown(entry, "state");
  row.list = shown(entry, "list");
  row.metric = shown(entry, "metric");
  row.goal = text_of(member(entry, "goal"));
  row.verdict = shown(entry, "verdict");
  row.reason = shown(entry, "reason", kSentenceBytes);
  row.note = shown(entry, "note", kSentenceBytes);
  row.warnings = sentences(member(entry, "warnings"));
  // What is planned for a container that is not controlled is nothing it has.
  if (row.state != "paused" && row.state != "frozen" && row.state != "unsupported") {
    for (const ctrl::Resource resource : ctrl::kResources) {
      row.limits[resource] = number(member(member(entry, "resources"), name(resource)), "limit");
    }
    row.limits.cpu = number(entry, "limit");
  }
  row.growth = number(entry, "growth");
  row.value = number(entry, "value");
  for (const ctrl::Resource resource : ctrl::kResources) {
    row.use[resource] = number(entry, name(resource));
  }
  row.progress = progress_of(member(entry, "progress"));
  row.left = number(entry, "left");
  row.weight = number(entry, "weight");
  row.floor = number(entry, "floor");
  row.ceiling = number(entry, "ceiling");
  row.pinned = number(member(entry, "pinned"), "limit");
  row.pinned_until = number(member(entry, "pinned"), "until");
  for (const json::value& value : list_of(member(entry, "recent"))) {
    const std::optional<double> known = real_of(value);
    if (known && row.trend.size() < kMostTrend) row.trend.push_back(*known);
  }
  return row;
}

}  // namespace

std::string problem_of(const TopRow& row) {
  if (!row.note.empty()) return row.note;
  return row.warnings.empty() ? "" : row.warnings.front();
}

Result<TopView> read_top(const json::value& status) {
  const json::value& list = member(status, "containers");
  if (!list.is_array()) return bad_input("flowcond's status has no list of containers");
  TopView view;
  view.host.name = shown(status, "host");
  view.host.version = shown(status, "version");
  view.host.limit_mode = shown(status, "limit_mode");
  view.host.policy = shown(status, "policy");
  view.host.has_lists = divides_by(view.host.policy) != DividesBy::work;
  if (view.host.has_lists) {
    view.host.alpha = number(status, "alpha");
    view.host.interval = number(status, "interval");
  }
  view.host.queue = queue_counts(status);
  view.host.is_all_completing = is_true(member(status, "all_completing"));
  view.host.is_paused = is_true(member(status, "paused"));
  view.host.is_dry_run = is_true(member(status, "dry_run"));
  const json::value& reachable = member(member(status, "engine"), "reachable");
  if (reachable.is_bool() && !reachable.get_bool()) {
    view.host.warnings.push_back("the engine does not answer flowcond: " +
                                 shown(member(status, "engine"), "error", kSentenceBytes));
  }
  for (std::string& warning : sentences(member(status, "warnings"))) {
    view.host.warnings.push_back(std::move(warning));
  }
  for (const json::value& entry : list.get_array()) {
    if (entry.is_object()) view.rows.push_back(read_row(entry, view.host.name));
  }
  return view;
}

std::vector<TopRow> read_elsewhere(const json::value& peers) {
  std::vector<TopRow> rows;
  for (const auto& [name, status] : object_of(peers)) {
    const std::string host = drawable(printable(std::string(name), kNameBytes));
    for (const json::value& entry : list_of(member(status, "containers"))) {
      if (!entry.is_object()) continue;
      rows.push_back(read_row(entry, host));
      rows.back().is_elsewhere = true;
    }
  }
  return rows;
}

std::vector<std::string> read_decisions(const json::value& explained) {
  std::vector<std::string> lines;
  for (const json::value& decision : list_of(member(explained, "decisions"))) {
    const std::string resource = shown(decision, "resource");
    lines.push_back(clock_text(number(decision, "time")) + "  " +
                    fitted(resource.empty() ? "host" : resource, 6) + "  " +
                    shown(decision, "sentence", kSentenceBytes));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace flowcon::plugin
