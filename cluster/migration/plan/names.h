// SPDX-License-Identifier: Apache-2.0
// What a name or path from outside may look like.
#pragma once

#include <string_view>

namespace flowcon::cluster::migration {

/// As the engine allows for containers, volumes and networks: [A-Za-z0-9][A-Za-z0-9_.-]*, at most
/// 255 bytes.
[[nodiscard]] bool is_object_name(std::string_view name);

/// A name of a container that no engine takes for another one's id?
[[nodiscard]] bool is_container_name(std::string_view name);

/// Absolute, without "." and ".." and control characters, at most 4096 bytes?
[[nodiscard]] bool is_plain_path(std::string_view path);

/// Is `path` the folder `prefix` or in it? By components: /data is no prefix of /database.
[[nodiscard]] bool is_within(std::string_view path, std::string_view prefix);

}  // namespace flowcon::cluster::migration
