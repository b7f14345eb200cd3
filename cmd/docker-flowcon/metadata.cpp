// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/metadata.h"

#include <unistd.h>

#include <cerrno>

#define FLOWCON_SHORT_DESCRIPTION "Give more CPU to training containers that are still learning"

namespace flowcon::plugin {

std::string_view short_description() { return FLOWCON_SHORT_DESCRIPTION; }

std::string_view metadata_json() {
  return R"({"SchemaVersion":"0.1.0","Vendor":"docker-flowcon","Version":")" FLOWCON_VERSION
         R"(","ShortDescription":")" FLOWCON_SHORT_DESCRIPTION
         R"(","URL":"https://github.com/docker-flowcon/docker-flowcon"})"
         "\n";
}

int write_metadata(int file) {
  std::string_view rest = metadata_json();
  while (!rest.empty()) {
    const ssize_t written = write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return 1;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace flowcon::plugin
