// SPDX-License-Identifier: Apache-2.0
// One file below one directory, opened so that no name, link or mount below it leads elsewhere.
// Used where libcgroup cannot reach (a cgroup2 hierarchy beside v1, controllers that it did not
// see when it started) and to learn the errno that libcgroup folds away.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace flowcon::cgroups {

/// The file's text without its last newline, at most 1 MiB.
/// Errors: ENOENT; ELOOP or EXDEV a link, a mount or ".." is on the way; else the kernel's errno.
[[nodiscard]] Result<std::string> read_beneath(const std::string& directory,
                                               const std::string& path);

/// Writes `text` in one call to a file that exists. Errors: as read_beneath.
[[nodiscard]] Result<void> write_beneath(const std::string& directory, const std::string& path,
                                         const std::string& text);

/// Opens for writing and closes again: learns whether a write could begin. Errors: as read_beneath.
[[nodiscard]] Result<void> try_open_beneath(const std::string& directory, const std::string& path);

/// Whether `path` below `directory` is a directory ("" is `directory` itself). Errors: as
/// read_beneath; ENOENT where there is nothing, ENOTDIR where it is something else.
[[nodiscard]] Result<void> find_directory_beneath(const std::string& directory,
                                                  const std::string& path);

/// The inode number of a directory that find_directory_beneath() finds. Errors: as it, fstat's.
[[nodiscard]] Result<std::uint64_t> inode_beneath(const std::string& directory,
                                                  const std::string& path);

/// The whole of a /proc file by its absolute path, at most 1 MiB. Errors: the kernel's errno.
[[nodiscard]] Result<std::string> read_proc(const std::string& path);

}  // namespace flowcon::cgroups
