// SPDX-License-Identifier: Apache-2.0
// Jobs of the queue as the API shows them: docs/api.md. For .cpp files only: it includes Asio.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "cluster/network.h"
#include "cluster/queue/jobs.h"

namespace flowcon::cluster::queue {

/// `left`: seconds; empty: not known.
[[nodiscard]] boost::json::object view_of(const Job& job, std::optional<double> left, double now);

/// The same and all else that is known of it here: steps, estimates, warnings.
[[nodiscard]] boost::json::object details_of(const Job& job, const Network& network,
                                             std::optional<double> left, double now);

/// What it is or waits for, in a sentence; "" where there is nothing to say.
[[nodiscard]] std::string note_of(const Job& job);

}  // namespace flowcon::cluster::queue
