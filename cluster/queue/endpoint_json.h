// SPDX-License-Identifier: Apache-2.0
// Where tasks on several hosts can be reached, and how their owner asks for that (docs/peers.md),
// as JSON. Pure; what comes from another machine is checked here, once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

/// An address, a port of it, and a name that an interface may have.
void fields(FieldReader& io, Endpoint& endpoint);
void fields(FieldWriter& io, const Endpoint& endpoint);

/// What a job's owner asks of a host where tasks are to listen.
struct PortCall {
  enum class Verb {
    lease,  ///< so many ports
    hush,   ///< nobody is to answer at these any more
    drop,   ///< nor are they kept
    reach,  ///< can these be reached?
  };
  Verb verb = Verb::lease;
  std::int64_t count = 0;
  bool is_published = false;  ///< lease: not in the host's network
  std::vector<Endpoint> endpoints;
};
[[nodiscard]] Result<PortCall> parse_port_call(std::string_view text);
[[nodiscard]] std::string render(const PortCall& call);
/// The answer to `lease`.
[[nodiscard]] Result<std::vector<Endpoint>> parse_endpoints(std::string_view text);
[[nodiscard]] std::string render(const std::vector<Endpoint>& endpoints);
/// The answer to `reach`: those that cannot be, with the reason.
[[nodiscard]] Result<std::vector<std::string>> parse_failures(std::string_view text);
[[nodiscard]] std::string render_failures(const std::vector<std::string>& failures);

}  // namespace flowcon::cluster::queue
