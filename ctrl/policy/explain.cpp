// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/digits.h"
#include "base/json.h"

namespace flowcon::ctrl::policy {
namespace {

const char* word(List list) {
  return list == List::nl ? "learning" : list == List::wl ? "watched" : "converged";
}

std::string change(const std::optional<double>& before, double after) {
  const std::string now = share_text(after);
  if (!before) return "limit set to " + now;
  const std::string was = share_text(*before);
  if (was == now) return "limit kept at " + now;
  return (after < *before ? "limit lowered from " : "limit raised from ") + was + " to " + now;
}

std::string reason(const ExecutorState& state, const Member& member,
                   const ExecutorDecision& decision) {
  std::string text;
  if (!member.growth) {
    text = "growth is not measured";
  } else {
    text = "growth " + percent(*member.growth) + "/s is " +
           (*member.growth < state.alpha ? "under" : "at least") + " alpha " + percent(state.alpha);
  }
  if (decision.all_completing) {
    text += "; all jobs have converged and compete freely, next decision in " +
            rounded(decision.interval) + " s";
  }
  return text;
}

}  // namespace

std::string rounded(double number) {
  if (number == 0 || !std::isfinite(number)) return render_number(number);
  const double unit = std::pow(10, std::floor(std::log10(std::fabs(number))) - 2);
  const double near = std::round(number / unit) * unit;
  // Through text once more: 3 units of 0.01 are 0.030000000000000002.
  char text[32];
  std::snprintf(text, sizeof text, std::fabs(near) < 1000 ? "%.3g" : "%.15g", near);
  return text;
}

std::string percent(double share) { return rounded(share * 100) + " %"; }

std::string granted(const About& about, double decided) {
  if (!about.granted) return "";
  const std::string effective = share_text(*about.granted);
  if (effective == share_text(decided)) return "";
  return "; effective share " + effective + " (floor, ceiling, pin or migration)";
}

Result<std::string> explain(const ExecutorState& state, const ExecutorDecision& decision,
                            const About& about) {
  const auto member = std::find_if(state.containers.begin(), state.containers.end(),
                                   [&](const Member& m) { return m.id == about.id; });
  if (member == state.containers.end()) return bad_input("the container is not in this decision");
  const auto at = static_cast<std::size_t>(member - state.containers.begin());
  const Placement& place = decision.containers[at];
  std::string text = word(place.list);
  if (member->list != place.list) {
    text += std::string(", was ") + word(member->list);
  } else if (!about.since.empty()) {
    text += " since " + about.since;
  }
  text += ": " + reason(state, *member, decision) + "; " + change(member->limit, place.limit);
  return text + granted(about, place.limit);
}

Result<std::string> explain(const ListenerState& state, const ListenerDecision& decision,
                            const About& about) {
  const auto is_in = [&](const std::vector<std::string>& ids) {
    return std::find(ids.begin(), ids.end(), about.id) != ids.end();
  };
  if (is_in(decision.arrived)) {
    return std::string("arrived: starts in NL with limit 1; the executor runs now");
  }
  if (is_in(decision.departed)) {
    return std::string("left: the others get its share; the executor runs now");
  }
  if (!is_in(state.active)) return bad_input("the container is not in this decision");
  return std::to_string(decision.arrived.size()) + " arrived, " +
         std::to_string(decision.departed.size()) + " left: the interval is " +
         rounded(decision.interval) + " s again; the executor runs now";
}

}  // namespace flowcon::ctrl::policy
