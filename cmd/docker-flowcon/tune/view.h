// SPDX-License-Identifier: Apache-2.0
// The result of `docker flowcon tune`, as rows, sentences and a configuration file. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/tune/history.h"
#include "sim/tune.h"

namespace flowcon::plugin {

/// The template of the table, and its headings.
[[nodiscard]] std::string_view tune_table();
[[nodiscard]] boost::json::object tune_headings();

/// The current setting, the others, no control; a row each. `exact`: numbers for programs alone,
/// without those that are texts for people.
[[nodiscard]] std::vector<boost::json::object> tune_rows(const TuneHistory& history,
                                                         const sim::Tuning& tuning, bool exact);

/// "42 runs on gpu1 since 2026-11-20 10:00:00; left out: 2 not ended, 1 fewer than 8 values"
[[nodiscard]] std::string history_text(const TuneHistory& history);

/// The best setting, in a sentence, or that none is better than by chance.
[[nodiscard]] std::string verdict_text(const TuneHistory& history, const sim::Tuning& tuning,
                                       sim::Objective objective);

/// The limits of the simulation, in a sentence.
[[nodiscard]] std::string caveat_text();

/// A file for flowcon.conf.d with the setting of `row`, and in its comment the expected effect and
/// how to undo it. `path` is where it will be, `now` seconds since the epoch.
[[nodiscard]] std::string render_drop_in(const TuneHistory& history, const sim::TuneRow& row,
                                         const std::string& path, double now);

}  // namespace flowcon::plugin
