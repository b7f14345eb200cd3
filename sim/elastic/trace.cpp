// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/trace.h"

#include <set>

#include "base/json.h"
#include "sim/csv.h"
#include "sim/trace.h"

namespace flowcon::sim::elastic {
namespace {

using Ids = std::set<std::string, std::less<>>;

// The ids of the rows whose column in447 is 1. Errors: too many rows.
Result<Ids> ids_of_447(std::string_view text, const std::string& what) {
  Ids ids;
  CsvReader reader(text, what);
  if (Result<void> header = reader.read_header(); !header) return header.error();
  const auto id = reader.column({"job_id", "id", "job", "name"});
  const auto is_one = reader.column({"in447"});
  for (std::size_t rows = 0;; ++rows) {
    const Result<bool> more = reader.next();
    if (!more) return more.error();
    if (!*more) return ids;
    if (rows == TraceJobs::kMostJobs) {
      return bad_input(what + " has more than " + std::to_string(TraceJobs::kMostJobs) + " jobs");
    }
    if (id && reader.field(is_one) == "1") ids.emplace(reader.field(id));
  }
}

}  // namespace

Result<TraceJobs> parse_jobs(std::string_view text, const std::string& what) {
  const Result<Ids> ids = ids_of_447(text, what);
  if (!ids) return ids.error();
  ScheduleOptions options;
  options.cores = 1;  // then a job's work is its duration
  TraceOptions trace;
  trace.is_bounded = false;  // but by kMostHours
  const Result<Schedule> schedule = parse_trace(text, what, trace, options);
  if (!schedule) return schedule.error();
  TraceJobs jobs;
  double hours = 0;
  for (const JobSpec& spec : schedule->jobs) {
    const Job job{spec.arrival / 3600, spec.work / spec.parallelism / 3600};
    hours += job.work;
    jobs.all.push_back(job);
    if (ids->contains(spec.id)) jobs.of_447.push_back(job);
  }
  if (hours > TraceJobs::kMostHours) {
    return bad_input(what + " has more than " + render_number(TraceJobs::kMostHours) +
                     " hours of work");
  }
  return jobs;
}

}  // namespace flowcon::sim::elastic
