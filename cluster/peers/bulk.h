// SPDX-License-Identifier: Apache-2.0
// Much data to a peer: one request over an ssh of its own, so that heartbeats do not wait for it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/network.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace flowcon::cluster::peers {

/// The longest answer that is read, in bytes.
inline constexpr std::size_t kMaxBulkAnswer = 1U << 20;

/// Starts `words` (Network::dial), sends one request whose body is `body`, and returns the answer,
/// whatever its status; a peer that answers an error before it has all is sent no more. The child
/// has ended when this returns. `peer` is its name, for sentences.
/// Errors: those of `body`, which the peer sees as a request that is cut; ETIMEDOUT the peer took
/// nothing or, in the end, said nothing for `idle_seconds`; the connection ended, with what ssh
/// said of it; it cannot be started.
Async<Result<Answer>> send_body(boost::asio::io_context& io, std::vector<std::string> words,
                                std::string method, std::string target, ctrl::Pull body,
                                double idle_seconds, std::string peer = "the peer");

}  // namespace flowcon::cluster::peers
