// SPDX-License-Identifier: Apache-2.0
// The container of a task of a group: the ticket's, with a name, a network and an environment of
// its own (docs/groups.md). Pure.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <map>
#include <string>

#include "cluster/queue/job.h"
#include "ctrl/queue_labels.h"

namespace flowcon::cluster::queue {

/// What a task finds in its environment, by name: who it is and where the others are, as torchrun,
/// torch.distributed, TensorFlow and programs of one's own read it.
[[nodiscard]] std::map<std::string, std::string> environment_of(const JobEntry& group,
                                                                std::size_t task);

/// The body of POST /containers/create. `inspect`: the engine's answer on the ticket with its own
/// labels alone (migration::with_own_labels). Variables that the user has set stay as they are,
/// except those that begin with FLOWCON_.
[[nodiscard]] boost::json::object task_body(const boost::json::value& inspect,
                                            const ctrl::QueueLabels& labels, const JobEntry& group,
                                            std::size_t task);

}  // namespace flowcon::cluster::queue
