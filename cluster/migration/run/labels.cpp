// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/labels.h"

#include <boost/asio/awaitable.hpp>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
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
  Result<json::value> parsed = parse_json(seen.inspect);
  if (!parsed || !parsed->is_object()) {
    return bad_input("the engine's answer on a container is no JSON object");
  }
  json::value& config = parsed->get_object()["Config"];
  if (!config.is_object()) return bad_input("the engine's answer on a container has no Config");
  json::object labels;
  for (const auto& [label, value] : seen.labels) labels[label] = value;
  // Another one in each life of it, so that no image of its own has the same.
  labels[ctrl::kOwnLabel] = ctrl::own_label(seen.id.substr(0, 12), names);
  config.get_object()["Labels"] = std::move(labels);
  seen.inspect = render_json(*parsed);
  return seen;
}

Async<Result<Seen>> with_own_labels(ctrl::engine::Client& client, bool image_labels, Seen seen) {
  ctrl::Labels image;
  if (!image_labels && ctrl::has_settings(seen.labels)) {
    const Result<json::value> parsed = parse_json(seen.inspect);
    std::string id = parsed ? text_of(*parsed, "Image") : "";
    Result<ctrl::Labels> given = co_await client.image_labels(std::move(id));
    image = given ? std::move(*given) : seen.labels;
  }
  co_return with_labels(std::move(seen), image);
}

}  // namespace flowcon::cluster::migration
