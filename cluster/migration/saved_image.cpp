// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/saved_image.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/json_parts.h"
#include "cluster/migration/sha256.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kSha256 = "sha256:";

std::vector<std::string> layers_of(const boost::json::value& root_fs, std::string_view name) {
  std::vector<std::string> layers;
  for (const auto& layer : list_of(root_fs, name)) {
    // One that is no text stays in the list, to be refused.
    layers.push_back(layer.is_string() ? std::string(layer.get_string()) : std::string());
  }
  return layers;
}

}  // namespace

bool is_digest(std::string_view text) {
  return text.substr(0, kSha256.size()) == kSha256 && is_sha256(text.substr(kSha256.size()));
}

Result<void> check_image(const ImageInfo& image) {
  if (!is_digest(image.id)) return bad_input("the image has no valid id");
  const std::string shown = "the image " + image.id;
  if (image.layers.empty()) return bad_input(shown + " has no layers");
  if (image.layers.size() > kMaxLayers) return bad_input(shown + " has too many layers");
  if (!std::all_of(image.layers.begin(), image.layers.end(), is_digest)) {
    return bad_input(shown + " has a layer without a valid digest");
  }
  return {};
}

Result<ImageInfo> parse_image(std::string_view json) {
  const Result<boost::json::value> parsed = parse_json(json);
  if (!parsed) return bad_input("what the engine says of the image is no JSON");
  ImageInfo image{text_of(*parsed, "Id"), layers_of(member(*parsed, "RootFS"), "Layers")};
  if (const Result<void> checked = check_image(image); !checked) return checked.error();
  return image;
}

bool has_name(std::string_view json) {
  const Result<boost::json::value> parsed = parse_json(json);
  return parsed &&
         !(list_of(*parsed, "RepoTags").empty() && list_of(*parsed, "RepoDigests").empty());
}

std::size_t common_layers(const std::vector<std::string>& one,
                          const std::vector<std::string>& other) {
  const auto ends = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<std::size_t>(ends.first - one.begin());
}

bool keeps_images_in_containerd(std::string_view json) {
  const Result<boost::json::value> parsed = parse_json(json);
  if (!parsed) return false;
  for (const auto& status : list_of(*parsed, "DriverStatus")) {
    const auto* pair = status.if_array();
    if (pair == nullptr || pair->size() != 2) continue;
    const auto* key = pair->at(0).if_string();
    const auto* value = pair->at(1).if_string();
    if (key != nullptr && value != nullptr && *key == "driver-type" &&
        std::string_view(*value).substr(0, 25) == "io.containerd.snapshotter") {
      return true;
    }
  }
  return false;
}

std::string load_error(std::string_view answer) {
  while (!answer.empty()) {
    const std::size_t end = std::min(answer.find('\n'), answer.size());
    const Result<boost::json::value> parsed = parse_json(answer.substr(0, end));
    if (parsed) {
      const std::string error = text_of(*parsed, "error");
      if (!error.empty()) return printable(error);
    }
    answer.remove_prefix(std::min(end + 1, answer.size()));
  }
  return {};
}

Result<void> check_config(std::string_view config, const ImageInfo& image) {
  Sha256 sum;
  sum.feed(config);
  if (std::string(kSha256) + sum.finish() != image.id) {
    return bad_input("the configuration is not that of the image " + image.id);
  }
  const Result<boost::json::value> parsed = parse_json(config);
  if (!parsed || layers_of(member(*parsed, "rootfs"), "diff_ids") != image.layers) {
    return bad_input("the image " + image.id + " has other layers than promised");
  }
  return {};
}

}  // namespace flowcon::cluster::migration
