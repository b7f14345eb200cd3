// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "sim/csv.h"

namespace flowcon::sim {
namespace {

constexpr double kLongest = 1e10;      // seconds, three centuries
constexpr double kLongestTrace = 1e9;  // seconds, 30 years
constexpr double kMostWorkers = 1e6;
constexpr double kMostValue = 1e150;  // its square is a number, too
constexpr std::size_t kLeastPoints = 5;
constexpr double kSecondsPerLine = 30;
constexpr double kMostLines = 1e6;
constexpr std::uint64_t kEarlierRuns = 1'000'000'000;  // their noise is not that of a row
constexpr double kNoise = 0.02;                        // share of the curve's range
constexpr double kWarmup = 0.02;                       // share of the work

struct TraceColumns {
  std::optional<std::size_t> id, arrival, duration, workers, model, status, memory_mib, curve,
      lines, noise, warmup, cores, host;
};

TraceColumns find_columns(const CsvReader& reader) {
  TraceColumns columns;
  columns.id = reader.column({"job_id", "id", "job", "name"});
  columns.arrival = reader.column(
      {"submit_s", "arrival_s", "arrival", "submit_time", "submitted_time", "submit", "start_s"});
  columns.duration =
      reader.column({"duration_s", "duration", "run_time_s", "runtime", "run_time", "seconds"});
  columns.workers = reader.column(
      {"gpus_or_nodes", "num_gpu", "num_gpus", "gpus", "num_workers", "workers", "nodes"});
  columns.model = reader.column({"model", "assigned_model", "model_name", "image"});
  columns.status = reader.column({"status", "state"});
  columns.memory_mib = reader.column({"memory_mib", "mem_mib"});
  columns.curve = reader.column({"curve_id", "curve"});
  columns.lines = reader.column({"lines"});
  columns.noise = reader.column({"noise"});
  columns.warmup = reader.column({"warmup"});
  columns.cores = reader.column({"cores"});
  columns.host = reader.column({"host"});
  return columns;
}

Error missing(const CsvReader& reader, const std::string& what, const char* wanted) {
  return bad_input(what + ": no column for " + wanted + "; it has " +
                   joined(reader.header(), ", ").substr(0, 200));
}

// A column that need not be there, nor be filled.
Result<double> number_or(const CsvReader& reader, std::optional<std::size_t> column, double low,
                         double high, double otherwise) {
  if (reader.field(column).empty()) return otherwise;
  return reader.number(*column, low, high);
}

std::string most_simulated() {
  return "; at most " + render_number(kLongestTrace) + " s (30 years) are simulated";
}

// How its log goes. `seconds` is how long it runs alone.
Result<void> read_log(const CsvReader& reader, const TraceColumns& columns, double seconds,
                      const std::vector<NamedCurve>& curves, JobSpec& job) {
  const double usual = std::clamp(seconds / kSecondsPerLine, 10.0, 200.0);
  const Result<double> lines = number_or(reader, columns.lines, 1, kMostLines, usual);
  if (!lines) return lines.error();
  const Result<double> noise = number_or(reader, columns.noise, 0, 10, kNoise);
  if (!noise) return noise.error();
  const Result<double> warmup = number_or(reader, columns.warmup, 0, 0.99, kWarmup);
  if (!warmup) return warmup.error();
  job.lines = static_cast<std::uint32_t>(*lines);
  job.noise = *noise;
  job.warmup = *warmup;
  job.curve_id = std::string(reader.field(columns.curve));
  const auto has_its_name = [&](const NamedCurve& curve) { return curve.id == job.curve_id; };
  if (job.curve_id.empty() || std::any_of(curves.begin(), curves.end(), has_its_name)) return {};
  return bad_input(reader.place() + ": there is no curve " + printable(job.curve_id, 60) +
                   " in the files of --curves");
}

// One row. A job without cores of its own (0 workers: it was CPU-only) has one worker.
Result<JobSpec> job_of(const CsvReader& reader, const TraceColumns& columns,
                       const TraceOptions& trace, const Schedule& schedule,
                       const std::vector<NamedCurve>& curves) {
  const Result<double> arrival = reader.number(*columns.arrival, -kLongest, kLongest);
  if (!arrival) return arrival.error();
  const Result<double> duration = reader.number(*columns.duration, 0, kLongest);
  if (!duration) return duration.error();
  const Result<double> workers = number_or(reader, columns.workers, 0, kMostWorkers, 1);
  if (!workers) return workers.error();
  const double by_workers = std::max(1.0, *workers) * trace.worker_cores;
  const Result<double> cores = number_or(reader, columns.cores, 0.01, kMostWorkers, by_workers);
  if (!cores) return cores.error();
  const Result<double> memory_mib = number_or(reader, columns.memory_mib, 0, 1e9, 0);
  if (!memory_mib) return memory_mib.error();
  JobSpec job;
  job.memory = *memory_mib * 1024 * 1024;
  job.id = std::string(reader.field(columns.id));
  job.model = std::string(reader.field(columns.model));
  job.arrival = *arrival * trace.arrival_scale;
  const double seconds = std::max(1e-3, *duration * trace.work_scale);
  if (trace.is_bounded && seconds > kLongestTrace) {
    return bad_input(reader.place() + ": the job takes " + render_number(seconds) + " s" +
                     (trace.work_scale == 1 ? "" : " with --work-scale") + most_simulated());
  }
  job.parallelism = std::min(schedule.hosts.front().cores, *cores);
  job.work = seconds * job.parallelism;
  if (Result<void> read = read_log(reader, columns, seconds, curves, job); !read) {
    return read.error();
  }
  if (!reader.field(columns.host).empty()) {
    const auto hosts = static_cast<double>(schedule.hosts.size());
    const Result<double> host = reader.number(*columns.host, 1, hosts);
    if (!host) return host.error();
    job.host = static_cast<std::size_t>(*host) - 1;
  }
  const std::string_view status = reader.field(columns.status);
  if (status == "failed" || status == "Failed") job.crash_at = 1;
  if (status == "killed" || status == "Killed") job.kill_after = seconds;
  return job;
}

// All hosts are busy for at least as long as they need together for all jobs.
Result<void> check_work(const Schedule& schedule, const std::string& what) {
  double work = 0;
  for (const JobSpec& job : schedule.jobs) work += job.work;
  double cores = 0;
  for (const HostSpec& host : schedule.hosts) cores += host.cores;
  if (work <= kLongestTrace * cores) return {};
  return bad_input(what + ": its jobs keep all hosts busy for " + render_number(work / cores) +
                   " s" + most_simulated());
}

// The value of a cell; a program's word for none is none.
Result<double> value_of(const CsvReader& reader, std::size_t column) {
  const std::string_view text = reader.field(column);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = parsed.ptr == text.data() + text.size();
  if (!is_whole || parsed.ec == std::errc::invalid_argument) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  // Too large, or next to nothing: which of the two is not told.
  if (parsed.ec != std::errc()) value = std::strtod(std::string(text).c_str(), nullptr);
  const bool has_digits = text.find_first_of("0123456789") != std::string_view::npos;
  if (has_digits && std::fabs(value) > kMostValue) {
    return bad_input(reader.place() + ": " + printable(reader.header()[column], 40) + ": \"" +
                     printable(text, 40) + "\" is not a number from " + render_number(-kMostValue) +
                     " to " + render_number(kMostValue));
  }
  return value;
}

bool is_loss(std::string_view metric) {
  for (const std::string_view word : {"loss", "err", "wer", "ppl", "perplexity", "mae", "rmse"}) {
    if (metric.find(word) != std::string_view::npos) return true;
  }
  return false;
}

struct RawCurve {
  std::string model;
  std::map<std::string, std::vector<CurvePoint>, std::less<>> metrics;
};

std::size_t finite_count(const std::vector<CurvePoint>& points) {
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const CurvePoint& p) { return std::isfinite(p.value); }));
}

std::shared_ptr<const Curve> curve_of(const RawCurve& raw) {
  const std::vector<CurvePoint>* best = nullptr;
  std::pair<bool, std::size_t> best_score;
  bool best_is_loss = false;
  for (const auto& [metric, points] : raw.metrics) {
    const std::size_t count = finite_count(points);
    if (count < kLeastPoints) continue;
    const std::pair<bool, std::size_t> score{is_loss(metric), count};
    if (best && score <= best_score) continue;
    best = &points;
    best_score = score;
    best_is_loss = is_loss(metric);
  }
  if (!best) return nullptr;
  std::vector<CurvePoint> points = *best;
  std::stable_sort(points.begin(), points.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  const double first = points.front().x;
  const double span = points.back().x - first;
  if (!(span > 0)) return nullptr;
  for (CurvePoint& point : points) point.x = (point.x - first) / span;
  return std::make_shared<const Curve>(
      Curve::table(std::move(points), best_is_loss ? ctrl::Goal::min : ctrl::Goal::max));
}

}  // namespace

bool is_trace(std::string_view text) {
  CsvReader reader(text, "");
  if (!reader.read_header()) return false;
  const TraceColumns columns = find_columns(reader);
  return columns.arrival && columns.duration;
}

Result<Schedule> parse_trace(std::string_view text, const std::string& what,
                             const TraceOptions& trace, const ScheduleOptions& options) {
  CsvReader reader(text, what);
  if (Result<void> header = reader.read_header(); !header) return header.error();
  const TraceColumns columns = find_columns(reader);
  if (!columns.arrival) return missing(reader, what, "the time of arrival, such as submit_s");
  if (!columns.duration) return missing(reader, what, "the duration, such as duration_s");
  Schedule schedule;
  schedule.name = what;
  schedule.seed = options.seed;
  HostSpec host;
  host.cores = options.cores.value_or(host.cores);
  schedule.hosts.assign(options.hosts.value_or(1), host);
  schedule.start = options.start.value_or(Start::least);
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (;;) {
    const Result<bool> more = reader.next();
    if (!more) return more.error();
    if (!*more) break;
    Result<JobSpec> job = job_of(reader, columns, trace, schedule, options.curves);
    if (!job) return job.error();
    if (job->arrival >= 0) {
      first = std::min(first, job->arrival);
      last = std::max(last, job->arrival);
      if (last - first > kLongestTrace) {
        return bad_input(reader.place() + ": jobs arrive " + render_number(last - first) +
                         " s apart" + most_simulated());
      }
    }
    (job->arrival < 0 ? schedule.earlier : schedule.jobs).push_back(std::move(*job));
  }
  if (schedule.jobs.empty()) return bad_input(what + " has no jobs");
  std::stable_sort(schedule.jobs.begin(), schedule.jobs.end(),
                   [](const JobSpec& a, const JobSpec& b) { return a.arrival < b.arrival; });
  if (trace.most_jobs > 0 && schedule.jobs.size() > trace.most_jobs) {
    schedule.jobs.resize(trace.most_jobs);
  }
  if (trace.is_bounded) {
    if (Result<void> work = check_work(schedule, what); !work) return work.error();
  }
  const double begin = schedule.jobs.front().arrival;
  for (std::size_t i = 0; i < schedule.jobs.size(); ++i) {
    JobSpec& job = schedule.jobs[i];
    job.arrival -= begin;
    job.noise_seed = mix(options.seed, i);
    job.curve = curve_for(job.model, options.curves, job.noise_seed);
  }
  for (std::size_t i = 0; i < schedule.earlier.size(); ++i) {
    JobSpec& job = schedule.earlier[i];
    job.noise_seed = mix(options.seed, kEarlierRuns + i);
    job.curve = curve_for(job.model, options.curves, job.noise_seed);
  }
  apply_options(schedule, options);
  return schedule;
}

Result<std::vector<NamedCurve>> parse_curves(std::string_view text, const std::string& what) {
  CsvReader reader(text, what);
  if (Result<void> header = reader.read_header(); !header) return header.error();
  const auto id = reader.column({"curve_id", "id"});
  const auto model = reader.column({"model"});
  const auto step = reader.column({"step_or_epoch", "step", "epoch", "iteration"});
  const auto metric = reader.column({"metric"});
  const auto value = reader.column({"value", "loss"});
  if (!id) return missing(reader, what, "the curve, such as curve_id");
  if (!step) return missing(reader, what, "the step, such as step_or_epoch");
  if (!value) return missing(reader, what, "the value");
  std::map<std::string, RawCurve, std::less<>> curves;
  for (;;) {
    const Result<bool> more = reader.next();
    if (!more) return more.error();
    if (!*more) break;
    const Result<double> x = reader.number(*step, 0, 1e15);
    if (!x) return x.error();
    const Result<double> y = value_of(reader, *value);
    if (!y) return y.error();
    RawCurve& raw = curves[std::string(reader.field(id))];
    raw.model = reader.field(model);
    raw.metrics[std::string(reader.field(metric))].push_back({*x, *y});
  }
  std::vector<NamedCurve> named;
  for (const auto& [name, raw] : curves) {
    if (auto curve = curve_of(raw)) named.push_back({name, raw.model, std::move(curve)});
  }
  if (named.empty()) return bad_input(what + " has no curve with five values");
  return named;
}

}  // namespace flowcon::sim
