// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/free.h"

#include <limits>

namespace flowcon::ctrl::policy {

HostDecision Free::decide(const HostView& view, Rounds*) {
  if (parameters().is_watched) measure(view);
  reset_interval();
  for (const std::string& id : members()) {
    for (const Resource resource : kResources) {
      share_of(id, resource).list = List::nl;
      share_of(id, resource).limit = 1;
    }
  }
  HostDecision decision = standings(view);
  decision.next = parameters().is_watched ? interval() : std::numeric_limits<double>::infinity();
  return decision;
}

}  // namespace flowcon::ctrl::policy
