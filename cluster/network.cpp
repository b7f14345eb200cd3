// SPDX-License-Identifier: Apache-2.0
#include "cluster/network.h"

#include "base/text.h"

namespace flowcon::cluster {

Result<std::string> speaker_id(const Network& network, const std::string& from) {
  if (from.empty()) {
    return bad_input(
        "this host does not know whose key that is: run docker flowcon peer add once more");
  }
  for (const Neighbour& neighbour : network.neighbours()) {
    if (neighbour.name != from) continue;
    if (!neighbour.id.empty()) return neighbour.id;
    return bad_input(printable(from, 80) + " has not been reached from here yet");
  }
  return bad_input(printable(from, 80) + " is no peer of this host: docker flowcon peer add");
}

}  // namespace flowcon::cluster
