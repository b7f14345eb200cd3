// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/answers.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"

namespace flowcon::cluster::migration {

using ctrl::api::Response;

Response refuse(const std::vector<std::string>& reasons) {
  json::object body;
  std::string all;
  json::array list;
  for (const std::string& one : reasons) {
    all += (all.empty() ? "" : "; ") + one;
    list.emplace_back(one);
  }
  body["error"] = all;
  body["reasons"] = std::move(list);
  return ctrl::api::answer_with(body, 409);
}

}  // namespace flowcon::cluster::migration
