// SPDX-License-Identifier: Apache-2.0
// Much data to a peer: over an ssh of its own, so that heartbeats do not wait for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/payload.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace boost::asio {
class io_context;
}

namespace flowcon::cluster::peers {

/// The longest answer that is read, in bytes.
inline constexpr std::size_t kMaxBulkAnswer = 1U << 20;

/// Over the child `words` (Network::dial), which starts at once and again after each failure.
/// `peer` is its name, for sentences. Errors of put(): those of `body`, which the peer sees as a
/// request that is cut; ETIMEDOUT the peer took nothing or, in the end, said nothing for
/// `idle_seconds`; the connection ended, with what ssh said of it; it cannot be started.
[[nodiscard]] std::shared_ptr<PayloadConnection> connect_for_payload(boost::asio::io_context& io,
                                                                     std::vector<std::string> words,
                                                                     std::string peer = "the peer");

}  // namespace flowcon::cluster::peers
