// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/ledger.h"

namespace flowcon::cluster::peers {

Ledger::Verdict Ledger::take(const std::string& id, std::int64_t incarnation, std::int64_t sequence,
                             bool is_peer) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    if (!is_peer && strangers_ >= kMaxStrangers) return Verdict::full;
    if (!is_peer) ++strangers_;
    entries_[id] = {incarnation, sequence, is_peer};
    return Verdict::fresh;
  }
  Entry& last = found->second;
  const bool is_newer = incarnation > last.incarnation ||
                        (incarnation == last.incarnation && sequence > last.sequence);
  if (!is_newer) return Verdict::stale;
  if (is_peer && !last.is_peer) --strangers_;
  last = {incarnation, sequence, is_peer || last.is_peer};
  return Verdict::fresh;
}

void Ledger::settle(const std::string& id, std::int64_t incarnation,
                    std::optional<std::int64_t> sequence) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& last = found->second;
  const bool is_same = last.incarnation == incarnation;
  if (last.incarnation > incarnation || (is_same && sequence && last.sequence > *sequence)) {
    last.incarnation = incarnation;
    last.sequence = sequence.value_or(0);
  }
}

}  // namespace flowcon::cluster::peers
