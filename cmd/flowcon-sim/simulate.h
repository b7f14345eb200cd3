// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim run`, `bound` and `jobs`: arguments, files, and the simulator between them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::sim {

/// The commands' view of the outside world.
struct World {
  /// The bytes of a file, unpacked where it is packed with gzip. Errors: of the system; too large.
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<Result<void>(const std::string& path, std::string_view bytes)> write;
  /// Gets the progress; null: nobody listens.
  std::function<void(const std::string& what)> progress;
};

/// A command's output and exit status.
struct Answer {
  std::string out;
  std::string problem;  ///< for standard error, where it is not empty
  int status = 0;       ///< 0 done, 1 failed, 125 wrong usage
};

/// `arguments` begin with "run", "bound" or "jobs".
[[nodiscard]] Answer simulate(const std::vector<std::string>& arguments, const World& world);

/// Reads a file, unpacked if it is packed with gzip. At most 512 MiB unpacked.
[[nodiscard]] Result<std::string> read_packed(const std::string& path);

/// Writes a file anew.
[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace flowcon::sim
