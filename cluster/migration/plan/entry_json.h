// SPDX-License-Identifier: Apache-2.0
// A journal's entry as JSON: what a side tells its peer, and what the journal may keep. Pure. An
// entry that is read comes from another machine: every member is held to what it may be.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/journal.h"

namespace flowcon::cluster::migration {

/// An entry's greatest size in bytes.
inline constexpr std::size_t kMaxEntryBytes = 4096;

/// Errors: longer than kMaxEntryBytes, not JSON, a member that is missing or not what it may be;
/// the sentence names it. Ids of migrations and hosts are 32 hexadecimal digits, those of
/// containers 64 or none; source and target are two; a reason is made printable. Unknown members
/// are ignored.
[[nodiscard]] Result<Entry> parse_entry(std::string_view text);

/// The same of one that is a part of what a peer says.
[[nodiscard]] Result<Entry> read_entry(const boost::json::value& said);

/// What a peer says besides its entry: how long its copy runs already, in seconds. Empty: it does
/// not say.
[[nodiscard]] std::optional<double> running_for(const boost::json::value& said);

/// What read_entry() reads back as the same; and parse_entry(), what is rendered.
[[nodiscard]] boost::json::object to_json(const Entry& entry);
[[nodiscard]] std::string render(const Entry& entry);

/// May what a peer says of a migration be heard as Facts::peer of `ours`? The other side of the
/// same migration of the same container, between the same hosts. Who says it is for the caller to
/// check: the host at the other end of the connection has to be the entry's other one.
[[nodiscard]] bool is_other_side(const Entry& ours, const Entry& theirs);

}  // namespace flowcon::cluster::migration
