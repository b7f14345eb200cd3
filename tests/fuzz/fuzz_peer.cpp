// SPDX-License-Identifier: Apache-2.0
// What peers tell: hello, state, drain, what ssh writes to stderr, addresses. What is read is
// rendered and read back as the same, within the ranges that are promised.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hex.h"
#include "base/ssh_address.h"
#include "cluster/peers/ledger.h"
#include "cluster/peers/message.h"
#include "cluster/peers/ssh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon;
using namespace flowcon::cluster::peers;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_state(std::string_view text) {
  const auto state = parse_state(text);
  if (!state) return;
  require(state->usage >= 0 && state->usage <= 1);
  require(state->cores > 0 && state->cores <= 1e6);
  require(state->counts.pc >= 0 && state->counts.wc >= 0 && state->counts.cc >= 0);
  require(state->sequence >= 1 && state->incarnation >= 1 && is_random_id(state->id));
  require(state->name.size() <= 255 && state->name.find('\x1b') == std::string::npos);
  const auto again = parse_state(render(*state));
  require(again && render(*again) == render(*state) && !is_news(*state, *again));
  Ledger ledger;
  const auto take = [&] {
    return ledger.take(state->id, state->incarnation, state->sequence, false);
  };
  require(take() == Ledger::Verdict::fresh);
  require(take() == Ledger::Verdict::stale);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_state(text);
  if (const auto hello = parse_hello(text)) {
    const auto again = parse_hello(render(*hello));
    require(again && render(*again) == render(*hello));
    (void)choose_protocol({}, hello->protocol);
  }
  (void)parse_drain(text);
  const std::string said = explain_ssh(text, "h2");
  require(said.size() < 400 && said.find('\n') == std::string::npos);
  if (const auto address = parse_ssh_address(text)) {
    const auto again = parse_ssh_address(render_ssh_address(*address));
    require(again && *again == *address && address->host.front() != '-');
  }
  return 0;
}
