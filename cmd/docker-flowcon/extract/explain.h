// SPDX-License-Identifier: Apache-2.0
// `docker flowcon extract --explain`: the reasons of a choice in plain words and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "cmd/docker-flowcon/extract/extract.h"
#include "ctrl/metrics/explain.h"

namespace flowcon::plugin {

/// One line per candidate, best first, with the parts of its score; then one per named number that
/// cannot be the metric. Safe for a terminal.
[[nodiscard]] std::string explanation_text(const ctrl::metrics::Explanation& explanation,
                                           const ExtractOptions& options);

/// {"candidates":[{"metric","goal","direction","score","count","reasons":[{"points","text"}]}],
/// "refused":[{"name","text","count"}]}
[[nodiscard]] boost::json::object explanation_json(const ctrl::metrics::Explanation& explanation);

}  // namespace flowcon::plugin
