// SPDX-License-Identifier: Apache-2.0
#include "cgroups/apply.h"

namespace flowcon::cgroups {

std::string shown_writes(const std::vector<Write>& writes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + writes[i].file + "=" + writes[i].text;
  }
  return text;
}

}  // namespace flowcon::cgroups
