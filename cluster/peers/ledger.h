// SPDX-License-Identifier: Apache-2.0
// Which messages of a host are new: the last incarnation and sequence number of each. Pure. No
// clock is looked at, neither ours nor theirs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace flowcon::cluster::peers {

class Ledger {
 public:
  enum class Verdict {
    fresh,  ///< newer than all before; it is the last one now
    stale,  ///< replayed or overtaken; nothing has changed
    full    ///< of a stranger, and too many are remembered already; nothing has changed
  };

  /// Hosts that are not among the peers and are remembered all the same.
  static constexpr std::size_t kMaxStrangers = 64;

  /// Takes message `sequence` of `incarnation` of the host `id`. A later incarnation begins anew,
  /// an earlier one is over.
  Verdict take(const std::string& id, std::int64_t incarnation, std::int64_t sequence,
               bool is_peer);

  /// The host itself said, on a connection that we made, where it is. Earlier than the last means
  /// that its state was put back, or that another spoke with its key: what it says now counts.
  void settle(const std::string& id, std::int64_t incarnation,
              std::optional<std::int64_t> sequence = {});

 private:
  struct Entry {
    std::int64_t incarnation = 0;
    std::int64_t sequence = 0;
    bool is_peer = false;
  };
  std::map<std::string, Entry> entries_;
  std::size_t strangers_ = 0;
};

}  // namespace flowcon::cluster::peers
