// SPDX-License-Identifier: Apache-2.0
// Entries of the queue's journal as the store keeps them. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

inline constexpr std::size_t kMaxEntryBytes = 16U << 20;  ///< of a group with all its tasks

/// At most kMaxEntryBytes, and what parse_entry() reads: long texts are cut, notes made printable,
/// numbers held to their range, the newest kKeptSteps steps kept. The id has to be one.
[[nodiscard]] std::string render_entry(const JobEntry& entry);
/// What render_entry() gave; unknown members are ignored. Errors: it is not; the sentence names the
/// member.
[[nodiscard]] Result<JobEntry> parse_entry(std::string_view text);

}  // namespace flowcon::cluster::queue
