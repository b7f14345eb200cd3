// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/answers.h"

#include <boost/json/array.hpp>

#include "base/json.h"

namespace flowcon::cluster::migration {

namespace json = boost::json;
using ctrl::api::Response;

Response answer_with(const json::object& body, unsigned status) {
  Response response;
  response.status = status;
  response.body = render_json(body);
  return response;
}

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
  return answer_with(body, 409);
}

}  // namespace flowcon::cluster::migration
