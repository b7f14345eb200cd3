// SPDX-License-Identifier: Apache-2.0
// Messages between peers (docs/peers.md), as JSON. Pure. Every message comes from another
// machine: sizes, ranges and texts are checked here, once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/policy/category.h"

namespace flowcon::cluster::peers {

/// Versions of the protocol that this program speaks. A new member of a message changes none of
/// them; a member with another meaning does.
struct Protocol {
  std::int64_t min = 1;
  std::int64_t max = 1;
};

/// A message's greatest size in bytes.
inline constexpr std::size_t kMaxMessage = 64U << 10;

/// The answer to GET /v1/peer/hello.
struct Hello {
  Protocol protocol;
  std::string version;           ///< of the program
  std::string host;              ///< its name, for people
  std::string id;                ///< 32 hexadecimal digits, made once for each state folder
  std::int64_t incarnation = 0;  ///< how often flowcond was started on that state folder
};

/// The state that a host publishes. Units: usage is the share (0..1) of its CPU that is in use,
/// memory in bytes.
struct State {
  std::int64_t protocol = 1;
  std::string id;
  std::string name;
  std::int64_t incarnation = 0;
  std::int64_t sequence = 0;  ///< grows with each state of one incarnation
  policy::Counts counts;
  double usage = 0;
  double cores = 1;
  std::int64_t memory = 0;
  std::int64_t containers = 0;
  bool draining = false;     ///< it takes nothing and wants to give away what it has
  bool runs_jobs = false;    ///< it takes tasks of the queue, and gives orders where it coordinates
  bool queue_waits = false;  ///< it cannot give them now: it does not know yet what it has
  std::optional<double> offer_cpu;  ///< cores that it gives to jobs of the queue, if published
  std::optional<double> offer_mem;  ///< the same, bytes
  std::optional<double> offer_gpu;  ///< GPUs for jobs of other hosts, if there are any
  std::optional<std::vector<std::string>> knows;  ///< ids of its peers, if published
};

/// Unknown members are ignored. Errors: not JSON, longer than kMaxMessage, a member that is missing
/// or out of its range; the sentence names it.
[[nodiscard]] Result<Hello> parse_hello(std::string_view text);
/// Errors: as above; a protocol that this program does not speak.
[[nodiscard]] Result<State> parse_state(std::string_view text);
/// {"draining":true}. Errors: as above.
[[nodiscard]] Result<bool> parse_drain(std::string_view text);

/// What the functions above read back as the same.
[[nodiscard]] std::string render(const Hello& hello);
[[nodiscard]] std::string render(const State& state);
[[nodiscard]] std::string render_drain(bool is_draining);

/// The newest version that both speak. Errors: there is none; says who has to be updated.
[[nodiscard]] Result<std::int64_t> choose_protocol(const Protocol& ours, const Protocol& theirs);

/// Is there news in `now` that others should have at once? The sequence is none, and usage is one
/// from 5 % of the host on.
[[nodiscard]] bool is_news(const State& before, const State& now);

}  // namespace flowcon::cluster::peers
