// SPDX-License-Identifier: Apache-2.0
// Which labels of a container say something about its move: not those that its image brought,
// unless this host says so. The copy is told which they were.
#pragma once

#include <string>

#include "cluster/migration/run/engine.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"

namespace flowcon::cluster::migration {

/// The container as if it had only those labels for us that count, and with a label that names them
/// (ctrl::kOwnLabel). Pure. `image`: what its image gives to its containers. Errors: `seen.inspect`
/// is not what the engine gives.
[[nodiscard]] Result<Seen> with_labels(Seen seen, const ctrl::Labels& image);

/// The same, with its image's labels as the engine tells them; those that cannot be told from the
/// image's count as the image's. `image_labels`: all count. Without the environment that the image
/// gives if it was committed from a task of a job. Errors: as with_labels(); the engine's.
Async<Result<Seen>> with_own_labels(ctrl::engine::Client& client, bool image_labels, Seen seen);

}  // namespace flowcon::cluster::migration
