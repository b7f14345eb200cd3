// SPDX-License-Identifier: Apache-2.0
#include "ctrl/profile_rows.h"

#include <boost/json/object.hpp>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/codec/estimate_json.h"

namespace flowcon::ctrl {

Result<estimate::EndedProfile> read_profile(const store::ProfileRow& row) {
  if (!std::isfinite(row.ended)) return bad_input("a profile says no time of its end");
  Result<json::value> features = parse_json(row.features);
  if (!features) return features.error();
  Result<json::value> labels = parse_json(row.labels);
  if (!labels) return labels.error();
  Result<estimate::Profile> read =
      estimate::profile_from(json::object{{"family", valid_utf8(row.family)},
                                          {"key", valid_utf8(row.key)},
                                          {"age", 0},
                                          {"features", std::move(*features)},
                                          {"labels", std::move(*labels)}});
  if (!read) return read.error();
  return estimate::EndedProfile{std::move(read->family), std::move(read->key), row.ended,
                                std::move(read->features), std::move(read->labels)};
}

store::ProfileRow row_of(const estimate::EndedProfile& run) {
  return {run.key, run.family, render_json(estimate::to_json(run.features)),
          render_json(estimate::to_json(run.labels)), run.ended};
}

}  // namespace flowcon::ctrl
