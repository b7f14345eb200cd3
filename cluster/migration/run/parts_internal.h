// SPDX-License-Identifier: Apache-2.0
// What parts.cpp and its neighbours share.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/migration/plan/archive.h"
#include "cluster/migration/run/parts.h"

namespace flowcon::cluster::migration {

/// How long an engine may be silent within a stream, and at its end. Units: seconds.
inline constexpr double kEnginePatience = 120;

/// What `limits` make of an archive.
[[nodiscard]] ArchiveRules archive_rules(const PartLimits& limits);

/// Packed by gzip, and back.
[[nodiscard]] ctrl::Pull packed(ctrl::Pull plain);
[[nodiscard]] ctrl::Pull unpacked(ctrl::Pull packed);
/// The same bytes, each checked before it is handed on; its end only if the archive is whole.
[[nodiscard]] ctrl::Pull checked(ctrl::Pull archive, const ArchiveRules& rules);

/// What is in `folder` as a tar archive, but for `without`, paths in it.
Async<Result<ctrl::Pull>> send_folder(std::string folder, std::vector<std::string> without = {});
/// Makes `folder` hold what a checked archive holds, and nothing else, on the disk.
Async<Result<void>> take_folder(std::string folder, ctrl::Pull archive);
/// What was written to the file system of `folder` survives a loss of power.
Async<Result<void>> sync_folder(std::string folder);
/// `error`, or that the disk is full, where it is.
[[nodiscard]] Error told_of_disk(Error error, const std::string& folder);

Async<Result<ctrl::Pull>> send_path(ctrl::engine::Client& engine, CopyPlace from, std::string path);
Async<Result<void>> take_path(ctrl::engine::Client& engine, CopyPlace into, ctrl::Pull archive);

Async<Result<ctrl::Pull>> send_log(ctrl::engine::Client& engine, CopyPlace from, bool ends_line);
Async<Result<void>> take_log(CopyPlace into, ctrl::Pull body, std::uint64_t max_bytes);

}  // namespace flowcon::cluster::migration
