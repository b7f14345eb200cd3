// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/report/data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/policy/categorise.h"
#include "cmd/docker-flowcon/text/units.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::plugin {
namespace {

using ctrl::policy::divides_by;
using ctrl::policy::DividesBy;

constexpr std::size_t kNameBytes = 200;
constexpr std::size_t kSentenceBytes = 1000;

std::string shown(const json::value& object, std::string_view name, std::size_t most = kNameBytes) {
  return printable(text_of(member(object, name)), most);
}

std::optional<double> number(const json::value& object, std::string_view name) {
  return real_of(member(object, name));
}

bool is_finite(const std::optional<double>& number) { return number && std::isfinite(*number); }

// The rows of a list whose first cell is a time, in order of it.
std::vector<const json::value*> timed_rows(const json::value& list) {
  std::vector<const json::value*> rows;
  for (const json::value& row : list_of(list)) {
    if (is_finite(real_of(item_of(row, 0)))) rows.push_back(&row);
  }
  const auto time = [](const json::value* row) { return *real_of(item_of(*row, 0)); };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const json::value* a, const json::value* b) { return time(a) < time(b); });
  return rows;
}

// "rank 2 12.0%", without unknown parts.
std::string with_limit(const std::string& place, const std::optional<double>& limit) {
  if (!limit) return place;
  return place + (place.empty() ? "" : " ") + percent_text(limit);
}

void add_place(std::vector<ReportPlace>& places, ReportPlace place) {
  if (!places.empty() && places.back().list == place.list && places.back().limit == place.limit) {
    return;
  }
  places.push_back(std::move(place));
}

void add_change(ReportRun& run, const json::value& change) {
  const double time = *number(change, "time");
  const std::string resource = shown(change, "resource");
  const std::string from = shown(change, "from");
  const std::string to = shown(change, "to");
  const std::optional<double> limit = number(change, "limit");
  const std::optional<double> from_limit = number(change, "from_limit");
  ReportMark mark{time, resource, from, to, shown(change, "sentence", kSentenceBytes)};
  if (shown(change, "algorithm") == cluster::policy::CategoriseState::kAlgorithm) {
    if (run.categories.empty()) run.categories.push_back({run.started, from, std::nullopt});
    add_place(run.categories, {time, to, std::nullopt});
  }
  // Those of the CPU are in the history.
  for (const ctrl::Resource kind : ctrl::kResources) {
    if (kind == ctrl::Resource::cpu || resource != name(kind)) continue;
    std::vector<ReportPlace>& places = run.places[kind];
    if (places.empty() && from_limit) places.push_back({run.started, from, from_limit});
    add_place(places, {time, to, limit});
  }
  if (limit != from_limit) {
    mark.from = with_limit(from, from_limit);
    mark.to = with_limit(to, limit);
  }
  run.marks.push_back(std::move(mark));
}

// --- thinning

// Of each of `count` groups of neighbours the least and the greatest value, in order.
std::vector<ReportPoint> thinned(const std::vector<ReportPoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<ReportPoint> kept{points.front()};
  const std::size_t groups = std::max<std::size_t>(most / 2, 1);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t begin = group * points.size() / groups;
    const std::size_t end = (group + 1) * points.size() / groups;
    std::size_t low = begin;
    std::size_t high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].value < points[low].value || std::isnan(points[low].value)) low = i;
      if (points[i].value > points[high].value || std::isnan(points[high].value)) high = i;
    }
    kept.push_back(points[std::min(low, high)]);
    if (low != high) kept.push_back(points[std::max(low, high)]);
  }
  kept.push_back(points.back());
  return kept;
}

std::optional<double> mean_of(const std::vector<ReportUse>& usage, std::size_t begin,
                              std::size_t end, std::optional<double> ReportUse::*member) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_finite(usage[i].*member)) continue;
    sum += *(usage[i].*member);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::vector<ReportUse> thinned(const std::vector<ReportUse>& usage, std::size_t most) {
  if (usage.size() <= most) return usage;
  std::vector<ReportUse> kept;
  for (std::size_t group = 0; group < most; ++group) {
    const std::size_t begin = group * usage.size() / most;
    const std::size_t end = (group + 1) * usage.size() / most;
    kept.push_back({usage[end - 1].time, mean_of(usage, begin, end, &ReportUse::cpu),
                    mean_of(usage, begin, end, &ReportUse::memory),
                    mean_of(usage, begin, end, &ReportUse::io),
                    mean_of(usage, begin, end, &ReportUse::network)});
  }
  return kept;
}

// Those that change the list, and of the others as many as there is room for.
template <class Item, class IsKept>
std::vector<Item> thinned_steps(const std::vector<Item>& items, std::size_t most, IsKept is_kept) {
  if (items.size() <= most) return items;
  const std::size_t every = (items.size() + most - 1) / most;
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % every == 0 || i + 1 == items.size() || is_kept(i)) kept.push_back(items[i]);
  }
  return kept;
}

std::vector<ReportPlace> thinned(const std::vector<ReportPlace>& places, std::size_t most) {
  return thinned_steps(places, most,
                       [&](std::size_t i) { return places[i].list != places[i - 1].list; });
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace

ReportData begin_report(const json::value& status, double since, double made) {
  ReportData data;
  data.host = shown(status, "host");
  data.version = shown(status, "version");
  data.limit_mode = shown(status, "limit_mode");
  data.policy = shown(status, "policy");
  if (divides_by(data.policy) != DividesBy::work) {
    data.alpha = number(status, "alpha");
    data.beta = number(status, "beta");
  }
  data.cores = number(status, "cores");
  data.since = since;
  data.made = made;
  data.is_dry_run = is_true(member(status, "dry_run"));
  if (data.is_dry_run) {
    data.notes.emplace_back("flowcond runs with --dry-run: limits were planned, not written.");
  }
  return data;
}

ReportRun read_run(const json::value& about, const json::value& history) {
  ReportRun run;
  run.id = shown(about, "id");
  run.name = shown(about, "name");
  run.image = shown(about, "image");
  run.metric = shown(history, "metric");
  run.is_max = text_of(member(history, "goal")) == "max";
  run.started = number(history, "started").value_or(0);
  run.finished = number(history, "finished");
  run.status = number(about, "status");
  for (const json::value* row : timed_rows(member(history, "samples"))) {
    const std::optional<double> value = real_of(item_of(*row, 1));
    if (value) run.samples.push_back({*real_of(item_of(*row, 0)), *value});
  }
  for (const json::value* row : timed_rows(member(history, "usage"))) {
    run.usage.push_back({*real_of(item_of(*row, 0)), real_of(item_of(*row, 1)),
                         real_of(item_of(*row, 2)), real_of(item_of(*row, 3)),
                         real_of(item_of(*row, 4))});
  }
  for (const json::value* row : timed_rows(member(history, "decisions"))) {
    const double time = *real_of(item_of(*row, 0));
    add_place(run.places.cpu,
              {time, printable(text_of(item_of(*row, 1)), 8), real_of(item_of(*row, 2))});
    const std::optional<double> growth = real_of(item_of(*row, 3));
    run.growth.push_back({time, growth.value_or(std::nan(""))});
  }
  for (const json::value& stay : list_of(member(history, "stays"))) {
    const std::optional<double> began = number(stay, "began");
    const std::optional<double> ended = number(stay, "ended");
    if (began && ended) run.stays.push_back({shown(stay, "host"), *began, *ended});
  }
  run.has_moved = is_true(member(about, "moved"));
  return run;
}

void add_changes(ReportData& data, const json::value& changes) {
  std::map<std::string, ReportRun*, std::less<>> by_id;
  for (ReportRun& run : data.runs) by_id[run.id] = &run;
  for (const json::value& change : list_of(member(changes, "changes"))) {
    const auto run = by_id.find(text_of(member(change, "container")));
    if (run != by_id.end() && is_finite(number(change, "time"))) add_change(*run->second, change);
  }
}

ReportJob read_report_job(const json::value& about) {
  ReportJob job;
  job.name = shown(about, "name");
  job.state = shown(about, "state");
  job.note = shown(about, "note", kSentenceBytes);
  job.submitted = number(about, "submitted").value_or(0);
  job.ended = number(about, "ended");
  job.status = number(about, "exit");
  job.waited = number(about, "waited");
  job.served = number(about, "served");
  for (const json::value& step : list_of(about, "steps")) {
    const std::optional<double> time = number(step, "time");
    if (is_finite(time)) job.steps.push_back({*time, shown(step, "state"), shown(step, "host")});
  }
  return job;
}

void add_moves(ReportData& data, const json::value& moves) {
  for (const json::value& entry : list_of(member(moves, "moves"))) {
    if (!entry.is_object()) continue;
    ReportMove move;
    move.name = shown(entry, "name");
    move.from = shown(entry, "source_name");
    move.to = shown(entry, "target_name");
    move.method = shown(entry, "method");
    move.cause = shown(entry, "cause");
    move.step = shown(entry, "step");
    move.error = shown(entry, "error", kSentenceBytes);
    move.stopped_seconds = number(entry, "stopped_seconds");
    // They come as ages, so that they do not depend on the host's clock.
    const std::optional<double> age = number(entry, "ended_age");
    if (age) move.ended = data.made - *age;
    move.began = move.ended.value_or(data.made) - number(entry, "seconds").value_or(0);
    if (!(move.ended.value_or(data.made) < data.since)) data.moves.push_back(std::move(move));
  }
}

void thin_report(ReportData& data, std::size_t most_points) {
  for (ReportRun& run : data.runs) {
    run.samples = thinned(run.samples, most_points);
    run.growth = thinned(run.growth, most_points);
    run.usage = thinned(run.usage, most_points);
    for (const ctrl::Resource kind : ctrl::kResources) {
      run.places[kind] = thinned(run.places[kind], most_points);
    }
    const std::size_t before = run.marks.size();
    const std::vector<ReportMark> marks = run.marks;
    run.marks = thinned_steps(marks, most_points, [&](std::size_t i) {
      return first_word(marks[i].from) != first_word(marks[i].to);
    });
    run.marks_left_out = before - run.marks.size();
  }
}

}  // namespace flowcon::plugin
