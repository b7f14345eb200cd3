// SPDX-License-Identifier: Apache-2.0
// For which processors an image is. Pure.
#pragma once

#include <string>
#include <string_view>

namespace flowcon::cluster::migration {

/// What an engine calls its machine ("x86_64"), as images call it ("amd64"). "" = it says nothing,
/// or no word.
[[nodiscard]] std::string architecture_of(std::string_view machine);

/// Do its programs run on such a host? Also where nobody knows of one of them. Emulation does not
/// count: it takes many times as long.
[[nodiscard]] bool runs_on(std::string_view host, std::string_view image);

/// "its image is for arm64".
[[nodiscard]] std::string image_is_for(std::string_view image);

}  // namespace flowcon::cluster::migration
