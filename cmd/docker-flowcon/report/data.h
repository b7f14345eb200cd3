// SPDX-License-Identifier: Apache-2.0
// The data of `docker flowcon report`, read from flowcond's answers and thinned to fit a page.
// Pure. Every text is made safe; the page escapes it for HTML.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/model.h"

namespace flowcon::plugin {

/// Times are seconds since the epoch on the clock of the host, shares are of the host, 0 to 1.

struct ReportPoint {
  double time = 0;
  double value = 0;  ///< may be not finite
};

/// One sample of the usage.
struct ReportUse {
  double time = 0;
  std::optional<double> cpu;
  std::optional<double> memory;   ///< bytes
  std::optional<double> io;       ///< bytes per second
  std::optional<double> network;  ///< bytes per second
};

/// From this time on; `list` is a category for categories.
struct ReportPlace {
  double time = 0;
  std::string list;
  std::optional<double> limit;
};

/// A decision that changed something.
struct ReportMark {
  double time = 0;
  std::string resource;  ///< cpu, memory, io; "" = it is about hosts
  std::string from;
  std::string to;
  std::string reason;  ///< a sentence
};

struct ReportStay {
  std::string host;
  double began = 0;
  double ended = 0;
};

struct ReportRun {
  std::string id;
  std::string name;
  std::string image;
  std::string metric;
  bool is_max = false;  ///< its goal: greater values are better
  double started = 0;
  std::optional<double> finished;
  std::optional<double> status;  ///< with which it ended
  std::vector<ReportPoint> samples;
  std::vector<ReportUse> usage;
  std::vector<ReportPoint> growth;
  ctrl::PerResource<std::vector<ReportPlace>> places;
  std::vector<ReportPlace> categories;
  std::vector<ReportMark> marks;
  std::size_t marks_left_out = 0;
  std::vector<ReportStay> stays;
  bool has_moved = false;  ///< it migrated from or to another host
};

struct ReportMove {
  std::string name;
  std::string from;
  std::string to;
  std::string method;
  std::string cause;
  std::string step;
  std::string error;
  double began = 0;
  std::optional<double> ended;
  std::optional<double> stopped_seconds;
};

/// From this time on a job of the queue was in this state.
struct ReportStep {
  double time = 0;
  std::string state;
  std::string host;  ///< "" = the one it was submitted on
};

struct ReportJob {
  std::string name;
  std::string state;
  std::string note;
  double submitted = 0;
  std::optional<double> ended;
  std::optional<double> status;  ///< with which it ended last
  std::optional<double> waited;  ///< seconds in all
  std::optional<double> served;  ///< seconds in all that it ran
  std::vector<ReportStep> steps;
};

struct ReportData {
  std::string host;
  std::string version;
  std::string limit_mode;
  std::string policy;           ///< the current policy
  std::optional<double> alpha;  ///< empty if the policy has none
  std::optional<double> beta;   ///< the same
  std::optional<double> cores;
  bool is_dry_run = false;  ///< limits were planned, not written
  double since = 0;
  double made = 0;
  std::vector<ReportRun> runs;
  std::vector<ReportMove> moves;
  std::vector<ReportJob> jobs;
  std::vector<std::string> notes;  ///< missing data, in sentences
};

/// Begins a report from GET /v1/status.
[[nodiscard]] ReportData begin_report(const boost::json::value& status, double since, double made);

/// Reads GET /v1/containers/NAME/history of one of GET /v1/runs, whole.
[[nodiscard]] ReportRun read_run(const boost::json::value& run, const boost::json::value& history);

/// Adds a page of GET /v1/changes to its runs.
void add_changes(ReportData& data, const boost::json::value& changes);

/// Reads GET /v1/queue/NAME.
[[nodiscard]] ReportJob read_report_job(const boost::json::value& job);

/// Adds GET /v1/moves.
void add_moves(ReportData& data, const boost::json::value& moves);

/// Cuts every run to about `most_points` points a series; extremes, changes of a list and the ends
/// stay.
void thin_report(ReportData& data, std::size_t most_points);

}  // namespace flowcon::plugin
