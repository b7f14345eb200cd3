// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/explain.h"

#include <algorithm>

namespace flowcon::ctrl::estimate {
namespace {

using policy::rounded;

std::string basis_of(const LabelEstimate& estimate) {
  const std::string runs = std::to_string(estimate.rows) + " runs";
  if (estimate.basis == EstimateBasis::repeat) return "last " + runs + " of the same command";
  if (estimate.basis == EstimateBasis::family) return runs + " of a like command";
  return "random forest of " + runs;
}

}  // namespace

Result<std::string> explain(const EstimateState&, const EstimateDecision& decision,
                            const policy::About& about) {
  const auto job = std::find_if(decision.jobs.begin(), decision.jobs.end(),
                                [&about](const JobEstimate& each) { return each.id == about.id; });
  if (job == decision.jobs.end()) return bad_input("the job is not in this decision");
  std::string text;
  for (const LabelEstimate& estimate : job->labels) {
    text += (text.empty() ? "" : "; ") + estimate.label + ' ';
    text += estimate.expected ? rounded(*estimate.expected) + ", at most " +
                                    rounded(*estimate.upper) + " (" + basis_of(estimate) + ')'
                              : std::string("unknown (too few runs)");
  }
  return text.empty() ? std::string("unknown: no run has ended yet") : text;
}

}  // namespace flowcon::ctrl::estimate
