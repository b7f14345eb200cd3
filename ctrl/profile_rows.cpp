// SPDX-License-Identifier: Apache-2.0
#include "ctrl/profile_rows.h"

#include <boost/json/object.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/codec/estimate_json.h"

namespace flowcon::ctrl {

Result<estimate::Profile> read_profile(const store::ProfileRow& row, double now) {
  Result<json::value> features = parse_json(row.features);
  if (!features) return features.error();
  Result<json::value> labels = parse_json(row.labels);
  if (!labels) return labels.error();
  return estimate::profile_from(json::object{{"family", valid_utf8(row.family)},
                                             {"key", valid_utf8(row.key)},
                                             {"age", now - row.ended},
                                             {"features", std::move(*features)},
                                             {"labels", std::move(*labels)}});
}

}  // namespace flowcon::ctrl
