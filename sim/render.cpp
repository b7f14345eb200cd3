// SPDX-License-Identifier: Apache-2.0
#include "sim/render.h"

#include <array>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/html.h"
#include "base/json.h"
#include "sim/table.h"

namespace flowcon::sim {
namespace {

struct Column {
  const char* name;
  const char* title;
  Figure PolicySummary::*figure;
};

constexpr std::array<Column, 7> kColumns{{
    {"mean_completion_percent", "MEAN %", &PolicySummary::mean_completion_percent},
    {"t90_percent", "T90 %", &PolicySummary::t90_percent},
    {"makespan_percent", "MAKESPAN %", &PolicySummary::makespan_percent},
    {"best_job_percent", "BEST %", &PolicySummary::best_job_percent},
    {"worst_job_percent", "WORST %", &PolicySummary::worst_job_percent},
    {"improved", "IMPROVED", &PolicySummary::improved},
    {"above_bound_percent", "ABOVE BOUND %", &PolicySummary::above_bound_percent},
}};

constexpr double kWidth = 720;
constexpr double kLeft = 150;
constexpr double kRow = 34;

// A bar from 0 to the mean for each policy, with a line for its standard error.
std::string bars(const std::vector<PolicySummary>& summaries, const Column& column) {
  double most = 5;
  for (const PolicySummary& summary : summaries) {
    const Figure& figure = summary.*column.figure;
    most = std::max(most, std::fabs(figure.mean) + figure.se.value_or(0));
  }
  const double middle = kLeft + (kWidth - kLeft) / 2;
  const double scale = (kWidth - kLeft) / 2 * 0.8 / most;
  const double height = kRow * static_cast<double>(summaries.size()) + 10;
  const auto at = [](double x) { return fixed(x, 1); };
  std::string out = "<svg viewBox=\"0 0 " + at(kWidth) + " " + at(height) + "\">\n<line x1=\"" +
                    at(middle) + "\" x2=\"" + at(middle) + "\" y1=\"0\" y2=\"" + at(height) +
                    "\" class=\"axis\"/>\n";
  double y = 6;
  for (const PolicySummary& summary : summaries) {
    const Figure& figure = summary.*column.figure;
    const double length = figure.mean * scale;
    const double error = figure.se.value_or(0) * scale;
    const double end = middle + length;
    out += "<text x=\"" + at(kLeft - 8) + "\" y=\"" + at(y + 17) + "\" class=\"name\">" +
           html_escaped(summary.policy) + "</text><rect x=\"" + at(std::min(middle, end)) +
           "\" y=\"" + at(y) + "\" width=\"" + at(std::fabs(length)) + "\" height=\"22\" class=\"" +
           (figure.mean <= 0 ? "less" : "more") + "\"/><line x1=\"" + at(end - error) + "\" x2=\"" +
           at(end + error) + "\" y1=\"" + at(y + 11) + "\" y2=\"" + at(y + 11) +
           "\" class=\"error\"/><text x=\"" + at(figure.mean <= 0 ? middle + 6 : middle - 6) +
           "\" y=\"" + at(y + 16) + "\" class=\"" + (figure.mean <= 0 ? "right" : "name") + "\">" +
           fixed(figure.mean, 1) + "</text>\n";
    y += kRow;
  }
  return out + "</svg>\n";
}

// Every job of every seed, from the one that gained most to the one that lost most.
std::string fates(const PolicySummary& summary) {
  constexpr double kHeight = 140;
  constexpr std::size_t kMostPoints = 400;
  const std::vector<double>& changes = summary.changes;
  if (changes.empty()) return "";
  const double most = std::max({10.0, std::fabs(changes.front()), std::fabs(changes.back())});
  const std::size_t step = std::max<std::size_t>(1, changes.size() / kMostPoints);
  std::string points;
  for (std::size_t i = 0; i < changes.size(); i += step) {
    const double x = kWidth * (static_cast<double>(i) + 0.5) / static_cast<double>(changes.size());
    const double y = kHeight / 2 * (1 - changes[i] / most);
    points += fixed(x, 1) + "," + fixed(y, 1) + " ";
  }
  return "<h3>" + html_escaped(summary.policy) + "</h3><p>best " + fixed(changes.front(), 1) +
         " %, worst " + fixed(changes.back(), 1) + " %</p><svg viewBox=\"0 0 720 140\"><line " +
         "x1=\"0\" x2=\"720\" y1=\"70\" y2=\"70\" class=\"axis\"/><polyline points=\"" + points +
         "\" class=\"curve\"/></svg>\n";
}

std::string html_table(const std::vector<PolicySummary>& summaries) {
  std::string out = "<table><tr><th>Policy</th>";
  for (const Column& column : kColumns) out += std::string("<th>") + column.title + "</th>";
  out += "</tr>\n";
  for (const PolicySummary& summary : summaries) {
    out += "<tr><td>" + html_escaped(summary.policy) + "</td>";
    for (const Column& column : kColumns) {
      const Figure& figure = summary.*column.figure;
      out += "<td>" + fixed(figure.mean, 1);
      if (figure.se) out += " &plusmn; " + fixed(*figure.se, 1);
      out += "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

constexpr const char* kStyle =
    "body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.3em .7em;border-bottom:1px solid #ccc;"
    "text-align:right}td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}"
    ".axis{stroke:#888}.error{stroke:#222;stroke-width:2}.less{fill:#5b8fb0}.more{fill:#c4714f}"
    ".name{text-anchor:end;font-size:13px}.right{font-size:13px}"
    ".curve{fill:none;stroke:#5b8fb0;stroke-width:2}code{background:#eee;padding:.1em .3em}";

}  // namespace

std::string render(const std::vector<PolicySummary>& summaries, Format format) {
  std::vector<std::vector<Cell>> rows;
  for (const PolicySummary& summary : summaries) {
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({"policy", "POLICY", summary.policy});
    for (const Column& column : kColumns) {
      row.push_back({column.name, column.title, summary.*column.figure});
    }
    row.push_back({"", "WORST OF ALL %", summary.worst_of_all});
    row.push_back({"", "MOVES/JOB", summary.moves_per_job, 2});
  }
  return render(rows, format);
}

std::string render_jobs(const std::vector<JobSpec>& jobs) {
  std::string out = "job_id,model,arrival_s,duration_s,cores,lines,noise,warmup\n";
  for (const JobSpec& job : jobs) {
    out += quoted(job.id) + "," + quoted(job.model);
    for (const double number : {job.arrival, job.work / job.parallelism, job.parallelism,
                                static_cast<double>(job.lines), job.noise, job.warmup}) {
      out += "," + render_number(number);
    }
    out += "\n";
  }
  return out;
}

std::string render_bounds(const std::vector<Bounds>& bounds, Format format) {
  std::vector<double> mean;
  std::vector<double> t90;
  std::vector<double> makespan;
  std::size_t jobs = 0;
  for (const Bounds& one : bounds) {
    mean.push_back(one.mean_completion);
    t90.push_back(one.mean_t90);
    makespan.push_back(one.makespan);
    jobs = one.jobs;
  }
  const Figure completion = figure_of(mean), to_90 = figure_of(t90), end = figure_of(makespan);
  if (format == Format::table) {
    return aligned({{"LOWER BOUND", "SECONDS"},
                    {"mean JCT", text_of(completion)},
                    {"mean time to 90 %", text_of(to_90)},
                    {"makespan", text_of(end)}});
  }
  const std::vector<Cell> row{{"jobs", "", static_cast<std::int64_t>(jobs)},
                              {"mean_completion_seconds", "", completion},
                              {"mean_t90_seconds", "", to_90},
                              {"makespan_seconds", "", end}};
  return format == Format::csv ? render({row}, format) : render_json_pretty(object_of(row)) + "\n";
}

std::string render_page(const std::string& title, const std::string& command,
                        const std::vector<PolicySummary>& summaries) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                    html_escaped(title) + "</title><style>" + kStyle +
                    "</style></head><body>\n<h1>" + html_escaped(title) + "</h1>\n<p><code>" +
                    html_escaped(command) +
                    "</code></p>\n<p>Percent against free competition on the same schedules; less "
                    "is better. &plusmn; is the standard error over the seeds.</p>\n" +
                    html_table(summaries);
  for (std::size_t i = 0; i < 3; ++i) {
    out += "<h2>" + std::string(kColumns[i].title) + "</h2>\n" + bars(summaries, kColumns[i]);
  }
  out +=
      "<h2>Jobs</h2>\n<p>Change of each job's time from arrival to end, all seeds, in order. Above "
      "the line it took longer.</p>\n";
  for (const PolicySummary& summary : summaries) out += fates(summary);
  return out + "</body></html>\n";
}

}  // namespace flowcon::sim
