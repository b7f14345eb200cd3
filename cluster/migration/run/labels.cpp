// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/labels.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "ctrl/settings.h"

namespace flowcon::cluster::migration {

Result<Seen> with_labels(Seen seen, const ctrl::Labels& image) {
  seen.labels = ctrl::own_labels(std::move(seen.labels), image);
  std::vector<std::string> names;
  for (const auto& [label, value] : seen.labels) {
    if (!label.starts_with(ctrl::kLabelPrefix)) continue;
    const std::string name = label.substr(ctrl::kLabelPrefix.size());
    if (name.find(' ') == std::string::npos) names.push_back(name);
  }
  json::object* inspect = seen.inspect.if_object();
  if (inspect == nullptr) return bad_input("the engine's answer on a container is no JSON object");
  json::value& config = (*inspect)["Config"];
  if (!config.is_object()) return bad_input("the engine's answer on a container has no Config");
  json::object labels;
  for (const auto& [label, value] : seen.labels) labels[label] = value;
  // Another one in each life of it, so that no image of its own has the same.
  labels[ctrl::kOwnLabel] = ctrl::own_label(seen.id.substr(0, 12), names);
  config.get_object()["Labels"] = std::move(labels);
  return seen;
}

// What its engine gives it by its image, whether it is said or not.
static Async<Result<Seen>> without_image_environment(ctrl::engine::Client& client, Seen seen) {
  const Result<json::value> image =
      co_await client.get_json("/images/" + percent_encoded(seen.image) + "/json",
                               "inspecting the image of a container", ctrl::engine::kAnswerTime);
  if (!image) co_return image.error();
  const json::array& given = list_of(member(*image, "Config"), "Env");
  json::array own;
  for (const json::value& one : list_of(member(seen.inspect, "Config"), "Env")) {
    if (std::find(given.begin(), given.end(), one) == given.end()) own.push_back(one);
  }
  seen.inspect.at("Config").as_object()["Env"] = std::move(own);
  co_return seen;
}

Async<Result<Seen>> with_own_labels(ctrl::engine::Client& client, bool image_labels, Seen seen) {
  ctrl::Labels image;
  bool is_of_task = false;
  if (ctrl::has_settings(seen.labels)) {
    Result<ctrl::Labels> given = co_await client.image_labels(seen.image);
    is_of_task = given && given->contains(kGroupLabel);
    if (!image_labels) image = given ? std::move(*given) : seen.labels;
  }
  Result<Seen> own = with_labels(std::move(seen), image);
  if (!own || !is_of_task) co_return own;
  Seen whole = std::move(*own);
  co_return co_await without_image_environment(client, std::move(whole));
}

}  // namespace flowcon::cluster::migration
