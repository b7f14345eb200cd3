// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/report/page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <set>

#include "base/html.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::plugin {
namespace {

// Lists and growth decide nothing then.
bool is_ranked(const ReportData& data) {
  return ctrl::policy::divides_by(data.policy) == ctrl::policy::DividesBy::work;
}

// --- the data of the script

json::value number(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json::value(*number) : json::value(nullptr);
}

json::array points_json(const std::vector<ReportPoint>& points) {
  json::array rows;
  for (const ReportPoint& point : points) {
    rows.push_back(json::array{point.time, number(point.value)});
  }
  return rows;
}

json::array places_json(const std::vector<ReportPlace>& places) {
  json::array rows;
  for (const ReportPlace& place : places) {
    rows.push_back(json::array{place.time, json::string(place.list), number(place.limit)});
  }
  return rows;
}

json::object run_json(const ReportRun& run) {
  json::array usage, marks, stays;
  for (const ReportUse& use : run.usage) {
    usage.push_back(json::array{use.time, number(use.cpu), number(use.memory), number(use.io),
                                number(use.network)});
  }
  for (const ReportMark& mark : run.marks) {
    marks.push_back(json::array{mark.time, json::string(mark.resource), json::string(mark.from),
                                json::string(mark.to), json::string(mark.reason)});
  }
  for (const ReportStay& stay : run.stays) {
    stays.push_back(json::array{json::string(stay.host), stay.began, stay.ended});
  }
  json::object out{{"id", run.id},
                   {"name", run.name},
                   {"image", run.image},
                   {"metric", run.metric},
                   {"started", run.started},
                   {"finished", number(run.finished)},
                   {"samples", points_json(run.samples)},
                   {"usage", std::move(usage)},
                   {"growth", points_json(run.growth)},
                   {"categories", places_json(run.categories)},
                   {"marks", std::move(marks)},
                   {"marks_left_out", run.marks_left_out},
                   {"stays", std::move(stays)}};
  for (const ctrl::Resource resource : ctrl::kResources) {
    out[name(resource)] = places_json(run.places[resource]);
  }
  return out;
}

// Seconds that local time is ahead of UTC.
std::int64_t utc_offset(std::time_t moment) {
  std::tm local{};
  return localtime_r(&moment, &local) != nullptr ? local.tm_gmtoff : 0;
}

// [time, offset from then on] for the first moment and each change, which one look a day finds.
json::array offsets_json(double first, double last) {
  constexpr std::time_t kDay = 86400;
  tzset();  // localtime_r() alone need not look at TZ
  auto time = static_cast<std::time_t>(first);
  const auto end = static_cast<std::time_t>(last);
  std::int64_t offset = utc_offset(time);
  json::array rows;
  rows.push_back(json::array{time, offset});
  while (time < end) {
    std::time_t before = time;
    time = std::min(time + kDay, end);
    if (utc_offset(time) == offset) continue;
    while (time - before > 1) {
      const std::time_t middle = before + (time - before) / 2;
      (utc_offset(middle) == offset ? before : time) = middle;
    }
    offset = utc_offset(time);
    rows.push_back(json::array{time, offset});
  }
  return rows;
}

double first_moment(const ReportData& data) {
  double first = data.since;
  for (const ReportRun& run : data.runs) first = std::min(first, run.started);
  for (const ReportJob& job : data.jobs) first = std::min(first, job.submitted);
  return std::max(first, 0.0);
}

json::array jobs_json(const std::vector<ReportJob>& jobs) {
  json::array out;
  for (const ReportJob& job : jobs) {
    json::array steps;
    for (const ReportStep& step : job.steps) {
      steps.push_back(
          json::array{step.time, json::string(step.state), nullptr, json::string(step.host)});
    }
    out.push_back(json::object{
        {"name", job.name}, {"ended", number(job.ended)}, {"steps", std::move(steps)}});
  }
  return out;
}

json::object data_json(const ReportData& data) {
  json::array runs, moves;
  for (const ReportRun& run : data.runs) runs.push_back(run_json(run));
  for (const ReportMove& move : data.moves) {
    moves.push_back(json::object{{"name", move.name},
                                 {"from", move.from},
                                 {"to", move.to},
                                 {"cause", move.cause},
                                 {"step", move.step},
                                 {"began", move.began},
                                 {"ended", number(move.ended)}});
  }
  return {{"since", data.since},
          {"made", data.made},
          {"offsets", offsets_json(first_moment(data), data.made)},
          {"ranked", is_ranked(data)},
          {"alpha", number(data.alpha)},
          {"runs", std::move(runs)},
          {"moves", std::move(moves)},
          {"jobs", jobs_json(data.jobs)}};
}

// --- the words around the charts

std::string print(const char* format, double value) {
  char out[48];
  const int length = std::snprintf(out, sizeof out, format, value);
  return {out, static_cast<std::size_t>(std::clamp(length, 0, 47))};
}

// "73 s", "12 min 5 s", "3 h 20 min".
std::string time_text(double seconds) {
  if (!std::isfinite(seconds) || std::fabs(seconds) > 1e9) return std::string(kUnknown);
  const double size = std::fabs(seconds);
  const std::string sign = seconds < 0 && size >= 0.05 ? "-" : "";
  if (size < 120) return sign + print("%.1f s", size);
  const auto whole = static_cast<long>(std::lround(size));
  if (whole < 7200)
    return sign + std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return sign + std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

// Classes of cells: text, and what a narrow screen does without.
constexpr const char* kText = "text";
constexpr const char* kMore = "more";

std::string text_cell(const std::string& text, const char* tag = "td") {
  return "<" + std::string(tag) + (std::string_view(tag) == "th" ? " scope=\"row\"" : "") +
         " class=\"text\">" + html_escaped(text) + "</" + tag + ">";
}

std::string cell(const std::string& text, const std::string& kind = "") {
  return "<td" + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + html_escaped(text) +
         "</td>";
}

std::string head_row(const std::vector<std::pair<std::string, std::string>>& cells) {
  std::string out = "<thead><tr>";
  for (const auto& [text, kind] : cells) {
    out += "<th scope=\"col\"" + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + text +
           "</th>";
  }
  return out + "</tr></thead>\n";
}

std::string table(const std::string& caption, const std::string& head, const std::string& rows) {
  return "<div class=\"card scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
         html_escaped(caption) + "\"><table><caption>" + html_escaped(caption) + "</caption>\n" +
         head + "<tbody>\n" + rows + "</tbody></table></div>\n";
}

double last_value(const ReportRun& run, bool* is_known) {
  for (auto point = run.samples.rbegin(); point != run.samples.rend(); ++point) {
    if (!std::isfinite(point->value)) continue;
    *is_known = true;
    return point->value;
  }
  *is_known = false;
  return 0;
}

std::string mean_cpu(const ReportRun& run) {
  double sum = 0;
  double count = 0;
  for (const ReportUse& use : run.usage) {
    if (!use.cpu || !std::isfinite(*use.cpu)) continue;
    sum += *use.cpu;
    ++count;
  }
  return count > 0 ? percent_text(sum / count) : std::string(kUnknown);
}

// Empty where it is not known.
std::string status_text(std::optional<double> status) {
  return status ? ", status " + number_text(*status, 6) : "";
}

std::string containers_table(const ReportData& data) {
  const bool has_lists = !is_ranked(data);
  std::string rows;
  for (const ReportRun& run : data.runs) {
    bool is_known = false;
    const double last = last_value(run, &is_known);
    const std::string value = is_known ? number_text(last, 4) : std::string(kUnknown);
    const ReportPlace* place = run.places.cpu.empty() ? nullptr : &run.places.cpu.back();
    rows += "<tr>" + text_cell(run.name, "th") + cell(moment_text(run.started), kMore) +
            cell(run.finished ? moment_text(run.finished) + status_text(run.status) : "runs") +
            text_cell((run.metric.empty() ? "" : run.metric + " ") + value) +
            (has_lists ? cell(place == nullptr ? std::string(kUnknown) : place->list) : "") +
            cell(place == nullptr ? std::string(kUnknown) : percent_text(place->limit)) +
            cell(mean_cpu(run), kMore) +
            cell(std::to_string(run.marks.size() + run.marks_left_out)) + "</tr>\n";
  }
  std::vector<std::pair<std::string, std::string>> heads{
      {"Container", kText}, {"Began", kMore}, {"Ended", ""}, {"Metric", kText}};
  if (has_lists) heads.emplace_back("List", "");
  heads.insert(heads.end(), {{"Limit", ""}, {"CPU, mean", kMore}, {"Changes", ""}});
  return table("Containers under control, with their last values", head_row(heads), rows);
}

std::string moves_table(const ReportData& data) {
  if (data.moves.empty()) return "";
  std::string rows;
  for (const ReportMove& move : data.moves) {
    rows += "<tr>" + text_cell(move.name, "th") + text_cell(move.from + " → " + move.to) +
            cell(moment_text(move.began), kMore) + text_cell(move.cause) + text_cell(move.method) +
            text_cell(move.ended ? move.step : move.step + ", under way") +
            cell(move.stopped_seconds ? time_text(*move.stopped_seconds) : std::string(kUnknown)) +
            text_cell(move.error) + "</tr>\n";
  }
  return "<h2>Migrations</h2>\n" + table("Migrations from and to this host",
                                         head_row({{"Container", kText},
                                                   {"From, to", kText},
                                                   {"Began", kMore},
                                                   {"Cause", kText},
                                                   {"Method", kText},
                                                   {"Last step", kText},
                                                   {"Job stopped for", ""},
                                                   {"Error", kText}}),
                                         rows);
}

std::string optional_time(const std::optional<double>& seconds) {
  return seconds ? time_text(*seconds) : std::string(kUnknown);
}

// Where it ran, each host once.
std::string hosts_of(const ReportJob& job) {
  std::string out;
  std::set<std::string> seen;
  for (const ReportStep& step : job.steps) {
    if (step.state != "running" || !seen.insert(step.host).second) continue;
    out += (out.empty() ? "" : ", ") + (step.host.empty() ? "here" : step.host);
  }
  return out;
}

std::string legend_entry(const std::string& mark, const char* words) {
  return "<li><svg viewBox=\"0 0 22 12\" aria-hidden=\"true\">" + mark + "</svg>" + words + "</li>";
}

std::string legend_band(const char* list, const char* words) {
  return legend_entry("<rect class=\"" + std::string(list) + "\" width=\"22\" height=\"12\"/>",
                      words);
}

std::string jobs_section(const ReportData& data) {
  if (data.jobs.empty()) return "";
  const bool has_hosts = std::any_of(data.jobs.begin(), data.jobs.end(), [](const ReportJob& job) {
    return std::any_of(job.steps.begin(), job.steps.end(),
                       [](const ReportStep& step) { return !step.host.empty(); });
  });
  std::string rows;
  for (const ReportJob& job : data.jobs) {
    rows += "<tr>" + text_cell(job.name, "th") + cell(moment_text(job.submitted), kMore) +
            cell(optional_time(job.waited)) + cell(optional_time(job.served)) +
            (has_hosts ? text_cell(hosts_of(job)) : "") +
            text_cell(job.state + status_text(job.status)) +
            cell(job.ended ? moment_text(job.ended) : "") + text_cell(job.note) + "</tr>\n";
  }
  std::vector<std::pair<std::string, std::string>> heads{
      {"Job", kText}, {"Submitted", kMore}, {"Waited", ""}, {"Ran", ""}};
  if (has_hosts) heads.emplace_back("On", kText);
  heads.insert(heads.end(), {{"State", kText}, {"Ended", ""}, {"Note", kText}});
  return "<h2>Jobs of the queue</h2>\n" +
         table("Jobs that were submitted on this host", head_row(heads), rows) +
         "<ul class=\"legend\">" + legend_band("cl", "waits") + legend_band("nl", "runs") +
         legend_band("wl", "is placed, started, saved, stopped or comes home") +
         "</ul>\n<div id=\"jobs\"></div>\n";
}

constexpr double kSmall = 0.02;  // of the time: below the precision of the estimate

std::string worth_cells(const std::optional<WorthTime>& worth) {
  if (!worth) return cell(std::string(kUnknown)) + cell(std::string(kUnknown), kMore) + cell("");
  const double part = worth->free > 0 ? worth->saved() / worth->free : 0;
  const bool is_small = std::fabs(part) < kSmall;
  return cell(time_text(worth->took)) +
         cell(time_text(worth->free) + (worth->is_extrapolated ? " *" : ""), kMore) +
         cell(time_text(worth->saved()) + " (" +
                  (is_small ? "0 %" : print("%+.0f %%", part * 100)) + ")",
              is_small   ? ""
              : part > 0 ? "good"
                         : "bad");
}

struct Sum {
  double took = 0;
  double free = 0;
  std::size_t jobs = 0;

  void add(const std::optional<WorthTime>& worth) {
    if (!worth) return;
    took += worth->took;
    free += worth->free;
    ++jobs;
  }
  [[nodiscard]] std::string cells() const {
    if (jobs == 0) return worth_cells(std::nullopt);
    return worth_cells(WorthTime{took, free, false});
  }
  [[nodiscard]] std::string sentence(const std::string& what) const {
    if (jobs == 0) return "";
    const double saved = free - took;
    const std::string result = std::fabs(saved) < kSmall * free ? "neither saved nor lost"
                               : saved < 0 ? "about " + time_text(-saved) + " lost"
                                           : "about " + time_text(saved) + " saved";
    return "<p><strong>" +
           html_escaped(what + ": " + result + " by " + std::to_string(jobs) +
                        (jobs == 1 ? " job" : " jobs together")) +
           "</strong> (" + html_escaped(time_text(took) + ", about " + time_text(free)) +
           " without FlowCon).</p>\n";
  }
};

std::string worth_section(const ReportData& data, const std::vector<JobWorth>& worths) {
  std::string rows;
  Sum learnt;
  Sum whole;
  bool is_extrapolated = false;
  for (std::size_t i = 0; i < worths.size() && i < data.runs.size(); ++i) {
    const JobWorth& worth = worths[i];
    if (!worth.learnt && !worth.whole) continue;
    learnt.add(worth.learnt);
    whole.add(worth.whole);
    is_extrapolated = is_extrapolated || (worth.learnt && worth.learnt->is_extrapolated) ||
                      (worth.whole && worth.whole->is_extrapolated);
    rows += "<tr>" + text_cell(data.runs[i].name, "th") + worth_cells(worth.learnt) +
            worth_cells(worth.whole) + "</tr>\n";
  }
  std::string out = "<h2>Estimated gain</h2>\n";
  if (rows.empty()) {
    return out + "<p>" + html_escaped(worth_gap(data)) + "</p>\n<p class=\"quiet\">" +
           html_escaped(worth_method()) + "</p>\n";
  }
  if (learnt.jobs + whole.jobs > 2) {
    rows += "<tr>" + text_cell("Sum", "th") + learnt.cells() + whole.cells() + "</tr>\n";
  }
  out += learnt.sentence("Until 90 % was learnt") + whole.sentence("Until the end");
  out += table("Estimated times, each from the start of the job",
               head_row({{"Container", kText},
                         {"90 % learnt", ""},
                         {"without FlowCon", kMore},
                         {"saved", ""},
                         {"End", ""},
                         {"without FlowCon", kMore},
                         {"saved", ""}}),
               rows);
  if (is_extrapolated) out += "<p class=\"quiet\">* extrapolated beyond the records</p>\n";
  return out + "<p class=\"quiet\">" + html_escaped(worth_method()) + "</p>\n";
}

std::string legend(const ReportData& data) {
  const bool has_ranks = is_ranked(data);
  std::string out = "<ul class=\"legend\">";
  if (has_ranks) {
    out += legend_band("nl", "NL: before its usable model (PC: still learns)") +
           legend_band("wl", "WL: only under policy flowcon (WC: watched, slower)") +
           legend_band("cl", "CL: probably past its usable model (CC: converged)");
  } else {
    out += legend_band("nl", "NL: new or still learning (PC)") +
           legend_band("wl", "WL: watched, slower (WC)") + legend_band("cl", "CL: converged (CC)");
  }
  return out + legend_entry("<path class=\"first\" d=\"M0 6H22\"/>", "measured") +
         legend_entry("<path class=\"second\" d=\"M0 6H22\"/>", "limit") +
         legend_entry("<circle class=\"change\" cx=\"11\" cy=\"6\" r=\"4\"/>",
                      has_ranks ? "new, or on another list" : "on another list") +
         legend_entry("<circle class=\"mark\" cx=\"11\" cy=\"6\" r=\"2.5\"/>",
                      has_ranks ? "other rank or limit" : "other limit") +
         legend_entry("<path class=\"move\" d=\"M11 0V12\"/>", "migrated to another host") +
         "</ul>\n";
}

std::string facts(const ReportData& data) {
  std::string text =
      "Records from " + moment_text(data.since) + " to " + moment_text(data.made) + ", host's time";
  if (data.cores) text += "; " + number_text(*data.cores, 4) + " cores";
  if (!data.limit_mode.empty()) text += "; limits by " + data.limit_mode;
  if (!data.policy.empty()) text += "; policy " + data.policy;
  if (data.alpha) text += "; alpha " + number_text(*data.alpha * 100, 4) + " %";
  if (data.beta) text += "; beta " + number_text(*data.beta, 4);
  return text + "; flowcond " + data.version + ".";
}

std::string body(const ReportData& data, const std::vector<JobWorth>& worths) {
  std::string out = "<h1>docker flowcon on " + html_escaped(data.host) +
                    "</h1>\n<p class=\"quiet\">" + html_escaped(facts(data)) + "</p>\n";
  for (const std::string& note : data.notes) {
    out += "<p class=\"bad\" role=\"note\">" + html_escaped(note) + "</p>\n";
  }
  if (data.runs.empty()) {
    return out + "<p>No container was under control in this time.</p>\n" + moves_table(data) +
           jobs_section(data);
  }
  return out + containers_table(data) + worth_section(data, worths) + moves_table(data) +
         jobs_section(data) + "<h2>Over time</h2>\n" + legend(data) +
         "<noscript><p class=\"bad\">The charts need JavaScript; the tables above do "
         "not.</p></noscript>\n<div id=\"charts\"></div>\n";
}

}  // namespace

std::string script_json(const json::value& value) {
  std::string out;
  // These characters stand in strings only.
  for (const char c : render_json(value)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string render_page(const ReportData& data, const std::vector<JobWorth>& worths,
                        const std::string& nonce) {
  const PageFiles files = page_files();
  std::string_view rest = files.page;
  std::string out;
  // One pass: inserted text is never searched for placeholders.
  while (true) {
    const std::size_t at = rest.find('@');
    const std::size_t end = at == std::string_view::npos ? at : rest.find('@', at + 1);
    if (end == std::string_view::npos) return out + std::string(rest);
    const std::string_view name = rest.substr(at + 1, end - at - 1);
    out += rest.substr(0, at);
    rest.remove_prefix(end + 1);
    if (name == "NONCE") out += nonce;
    if (name == "TITLE") out += html_escaped("docker flowcon: " + data.host);
    if (name == "STYLE") out += files.style;
    if (name == "SCRIPT") out += files.script;
    if (name == "BODY") out += body(data, worths);
    if (name == "DATA") out += script_json(data_json(data));
  }
}

}  // namespace flowcon::plugin
