// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/plot.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/digits.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/history/chart.h"
#include "cmd/docker-flowcon/history/history.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr unsigned kLeastWidth = 20;
constexpr unsigned kMostWidth = 1000;
constexpr unsigned kLeastHeight = 5;
constexpr unsigned kMostHeight = 500;
constexpr unsigned kUsualHeight = 24;
constexpr std::size_t kNameBytes = 64;
constexpr double kDay = 86400;

// Losses of some thousands stay readable and distinguishable.
std::string plain_label(double value) {
  const double size = std::fabs(value);
  return number_text(value, size >= 1e3 && size < 1e6 ? 6 : 4);
}
// More digits than in a table: an idle job's chart has labels that differ, too.
std::string share_label(double value) { return number_text(value * 100, 3) + "%"; }
std::string bytes_label(double value) { return memory_text(value); }
std::string clock_label(double time) { return clock_text(time); }
std::string moment_label(double time) { return moment_text(time); }

// A series of the history: its list, the cell of its rows, its name.
struct Series {
  std::string_view option;
  std::string_view list;
  std::size_t cell;
  std::string_view title;  // "" = the metric's name
  std::string (*label)(double);
  bool has_steps;
};

constexpr Series kSeries[] = {
    {"loss", "samples", 1, "", plain_label, false},
    {"cpu", "usage", 1, "CPU, share of the host", share_label, false},
    {"limit", "decisions", 2, "CPU limit, share of the host", share_label, true},
    {"memory", "usage", 2, "memory", bytes_label, false}};

const Series& find_series(const std::string& option) {
  const auto* found = std::find_if(std::begin(kSeries), std::end(kSeries),
                                   [&](const Series& series) { return series.option == option; });
  return found == std::end(kSeries) ? kSeries[0] : *found;
}

std::vector<ChartPoint> read_points(const json::object& history, const Series& series) {
  std::vector<ChartPoint> points;
  for (const json::value& row : list_of(member(history, series.list))) {
    const json::array& cells = list_of(row);
    if (cells.size() <= series.cell) continue;
    const std::optional<double> time = real_of(cells[0]);
    if (!time) continue;
    points.push_back({*time, real_of(cells[series.cell]).value_or(std::nan(""))});
  }
  return points;
}

// A limit holds until the next one, or until now.
void add_end(const json::object& history, std::vector<ChartPoint>& points) {
  if (points.empty()) return;
  const double end = real_of(member(history, "finished")).value_or(wall_seconds());
  if (end > points.back().x) points.push_back({end, points.back().y});
}

bool is_drawn(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

// The locale's character set by the variable that counts: LC_ALL, then LC_CTYPE, then LANG.
bool is_utf8(const Environment& environment) {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = lookup(environment, name);
  }
  locale = lower(locale);
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

unsigned find_width(const Session& session, const PlotOptions& options) {
  unsigned width = options.width;
  if (width == 0) {
    width = parse_number<unsigned>(lookup(session.environment, "COLUMNS")).value_or(0);
  }
  if (width == 0) width = session.terminal.width;
  return std::clamp(width, kLeastWidth, kMostWidth);
}

unsigned find_height(const Session& session, const PlotOptions& options) {
  if (options.height != 0) return std::clamp(options.height, kLeastHeight, kMostHeight);
  // The title, and the line on which the shell goes on.
  const unsigned screen = session.terminal.height > 2 ? session.terminal.height - 2 : 0;
  return std::clamp(screen, kLeastHeight, kUsualHeight);
}

// "vae: loss (min)   0.871 → 0.0431   118 values"
std::string title_of(const json::object& history, const Series& series,
                     const std::vector<ChartPoint>& points, const ChartLook& look) {
  std::string what(series.title);
  if (what.empty()) {
    const std::string metric = printable(text_of(history, "metric"), kNameBytes);
    const std::string goal = text_of(history, "goal");
    what = (metric.empty() ? "metric" : metric) +
           (goal == "min" || goal == "max" ? " (" + goal + ")" : "");
  }
  const auto count = std::count_if(points.begin(), points.end(), is_drawn);
  const auto first = std::find_if(points.begin(), points.end(), is_drawn);
  const auto last = std::find_if(points.rbegin(), points.rend(), is_drawn);
  std::string title = printable(text_of(history, "name"), kNameBytes) + ": " + what;
  std::string numbers = "   " + series.label(first->y);
  if (count > 1) numbers += (look.braille ? " → " : " -> ") + series.label(last->y);
  numbers += "   " + std::to_string(count) + (count == 1 ? " value" : " values");
  // One line, of which the numbers are kept.
  const std::size_t room = look.width - std::min<std::size_t>(look.width, columns_of(numbers));
  if (columns_of(title) > room) title = fitted(title, room);
  if (!look.braille) title = ascii_cells(title);
  return title + numbers + "\n";
}

}  // namespace

void declare_plot(CLI::App& app, PlotOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  app.add_option("--height", options.height,
                 "Lines of the chart, 5 to 500 (default: the terminal's, at most 24)")
      ->type_name("lines")
      ->check(CLI::Range(kLeastHeight, kMostHeight));
  app.add_option("--what", options.what,
                 "What to draw: loss (the metric, whatever its name), cpu, limit or memory")
      ->type_name("string")
      ->check([](const std::string& text) {
        return find_series(text).option == text ? std::string()
                                                : "has to be loss, cpu, limit or memory";
      })
      ->capture_default_str();
  app.add_option(
         "--width", options.width,
         "Characters of a line, 20 to 1000 (default: COLUMNS, else the terminal's, else 80)")
      ->type_name("characters")
      ->check(CLI::Range(kLeastWidth, kMostWidth));
}

int run_plot(const Session& session, const PlotOptions& options) {
  const Result<json::object> history = fetch_history(session, options.container, "plot");
  if (!history) return report(session.terminal, history.error());
  const Series& series = find_series(options.what);
  std::vector<ChartPoint> points = read_points(*history, series);
  const auto drawn = std::count_if(points.begin(), points.end(), is_drawn);
  if (drawn == 0) {
    session.terminal.err << "nothing to draw: no finite value of " << options.what << " of "
                         << options.container << " is recorded\n";
    return kFailed;
  }
  const auto left_out = static_cast<std::ptrdiff_t>(points.size()) - drawn;
  ChartLook look;
  look.width = find_width(session, options);
  look.height = find_height(session, options);
  look.braille = is_utf8(session.environment);
  look.has_steps = series.has_steps;
  look.y_label = series.label;
  const std::string title = title_of(*history, series, points, look);
  if (series.has_steps) add_end(*history, points);
  double first = HUGE_VAL;
  double last = -HUGE_VAL;
  for (const ChartPoint& point : points) {
    if (!is_drawn(point)) continue;
    first = std::min(first, point.x);
    last = std::max(last, point.x);
  }
  look.x_label = last / 2 - first / 2 < kDay / 2 ? clock_label : moment_label;
  session.terminal.out << title << render_chart(points, look);
  session.terminal.out.flush();
  if (left_out > 0) {
    session.terminal.err << left_out << (left_out == 1 ? " value is" : " values are")
                         << " left out: unknown or not finite\n";
  }
  return kDone;
}

}  // namespace flowcon::plugin
