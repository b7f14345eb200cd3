// SPDX-License-Identifier: Apache-2.0
// What one daemon knows of a job's work as JSON, for the daemon that goes on with it: of another
// host, or the next one here. Text and types only.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"
#include "ctrl/growth/track.h"
#include "ctrl/model.h"

namespace flowcon::ctrl {

/// `metric` and `goal` are those of the track's values. Units: seconds since the epoch.
struct Past {
  growth::TrackRecord track;
  std::string metric;
  Goal goal = Goal::min;
  bool is_whole = false;  ///< the track reaches back to the job's beginning
  double started = 0;     ///< when the container began here that goes on with it; 0: none has
};

/// {"metric","goal","whole","started","used","cycles","begun","values":[{"work","value"}],
/// "counts":[{"work","value"}]}
[[nodiscard]] boost::json::value to_json(const Past& past);

/// Reads what to_json() gives, whoever sends it. Errors: a missing or ill-typed field, numbers that
/// no job can have; the sentence names the field.
[[nodiscard]] Result<Past> past_from(const boost::json::value& json);

}  // namespace flowcon::ctrl
