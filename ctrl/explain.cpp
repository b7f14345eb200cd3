// SPDX-License-Identifier: Apache-2.0
#include "ctrl/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json.h"

namespace flowcon::ctrl {
namespace {

const char* word(List list) {
  return list == List::nl ? "young" : list == List::wl ? "watching" : "completing";
}

// Three digits say enough to a person.
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

std::string change(const std::optional<double>& before, double after) {
  if (!before) return "limit set to " + rounded(after);
  if (*before == after) return "limit kept at " + rounded(after);
  return std::string(after < *before ? "limit lowered from " : "limit raised from ") +
         rounded(*before) + " to " + rounded(after);
}

std::string reason(const policy::ExecutorState& state, const policy::Member& member,
                   const policy::ExecutorDecision& decision) {
  std::string text;
  if (!member.growth) {
    text = "growth is not measured";
  } else {
    text = "growth " + percent(*member.growth) + "/s is " +
           (*member.growth < state.alpha ? "under" : "at least") + " alpha " + percent(state.alpha);
  }
  if (decision.all_completing) {
    text += "; all are completing and compete freely, next look in " + rounded(decision.interval) +
            " s";
  }
  return text;
}

}  // namespace

Result<std::string> explain(const policy::ExecutorState& state, const std::string& id,
                            const std::string& since, const std::optional<double>& granted) {
  const auto member = std::find_if(state.containers.begin(), state.containers.end(),
                                   [&](const policy::Member& m) { return m.id == id; });
  if (member == state.containers.end()) return bad_input("the container is not in this decision");
  const policy::ExecutorDecision decision = policy::decide_executor(state);
  const auto at = static_cast<std::size_t>(member - state.containers.begin());
  const policy::Placement& place = decision.containers[at];
  std::string text = word(place.list);
  if (member->list != place.list) {
    text += std::string(", was ") + word(member->list);
  } else if (!since.empty()) {
    text += " since " + since;
  }
  text += ": " + reason(state, *member, decision) + "; " + change(member->limit, place.limit);
  if (granted && *granted != place.limit) {
    text += "; granted " + rounded(*granted) + ", by its floor, ceiling, pin or a move";
  }
  return text;
}

Result<std::string> explain(const policy::MilestoneState& state, const std::string& id,
                            const std::optional<double>& granted) {
  return explain(state, policy::decide_milestone(state), id, granted);
}

Result<std::string> explain(const policy::MilestoneState& state,
                            const policy::MilestoneDecision& decision, const std::string& id,
                            const std::optional<double>& granted) {
  const auto member = std::find_if(state.members.begin(), state.members.end(),
                                   [&](const policy::MilestoneMember& m) { return m.id == id; });
  if (member == state.members.end()) return bad_input("the container is not in this decision");
  const auto at = static_cast<std::size_t>(member - state.members.begin());
  const policy::Ranked& ranked = decision.members[at];
  std::string text = "rank " + std::to_string(ranked.rank + 1) + " of " +
                     std::to_string(state.members.size()) + ": " + rounded(member->left) +
                     " CPU s to its end" + (member->is_blind ? ", which is a guess" : "");
  if (member->left90 && member->open90 > 0) {
    text += ", 90 % of its gain still to come by " + percent(member->open90) + ", " +
            rounded(*member->left90) + " CPU s per chance";
  }
  if (member->due) {
    text += *member->due < 0 ? "; late by " + rounded(-*member->due) + " s"
                             : "; due in " + rounded(*member->due) + " s";
  }
  text += "; share " + rounded(ranked.share);
  if (granted && *granted != ranked.share) {
    text += "; granted " + rounded(*granted) + ", by its floor, ceiling, pin or a move";
  }
  return text;
}

Result<std::string> explain(const policy::ListenerState& state, const std::string& id) {
  const policy::ListenerDecision decision = policy::decide_listener(state);
  const auto is_in = [&](const std::vector<std::string>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  if (is_in(decision.arrived)) {
    return std::string("arrived: joins the young with limit 1, and the executor runs at once");
  }
  if (is_in(decision.departed)) {
    return std::string("left: its share goes to the others, and the executor runs at once");
  }
  if (!is_in(state.active)) return bad_input("the container is not in this decision");
  return "others came or went (" + std::to_string(decision.arrived.size()) + " and " +
         std::to_string(decision.departed.size()) + "): the interval is back to " +
         rounded(decision.interval) + " s and the executor runs at once";
}

}  // namespace flowcon::ctrl
