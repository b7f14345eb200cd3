// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/saved_image.h"

#include <algorithm>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cluster/migration/plan/architecture.h"
#include "cluster/migration/plan/log_lines.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kSha256 = "sha256:";
constexpr double kMostBytes = 1e15;

std::vector<std::string> layers_of(const boost::json::value& root_fs, std::string_view name) {
  std::vector<std::string> layers;
  for (const auto& layer : list_of(root_fs, name)) {
    // One that is no text stays in the list, to be refused.
    layers.push_back(layer.is_string() ? std::string(layer.get_string()) : std::string());
  }
  return layers;
}

// Bytes of the steps of a history, the oldest first.
std::optional<std::vector<std::uint64_t>> steps_of(std::string_view history) {
  const Result<boost::json::value> parsed = parse_json(history);
  if (!parsed || !parsed->is_array()) return std::nullopt;
  std::vector<std::uint64_t> steps;
  for (const auto& step : parsed->get_array()) {
    const std::optional<double> bytes = real_of(member(step, "Size"));
    if (!bytes || *bytes < 0 || *bytes > kMostBytes) return std::nullopt;
    steps.push_back(static_cast<std::uint64_t>(*bytes));
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::size_t count_empty(const std::vector<std::uint64_t>& steps) {
  return static_cast<std::size_t>(std::count(steps.begin(), steps.end(), std::uint64_t{0}));
}

// Bytes of the layers from `there` on if the first, or the last, of the steps without bytes made
// the `empty` layers.
std::uint64_t sum_from(const std::vector<std::uint64_t>& steps, std::size_t empty,
                       std::size_t there, bool are_first) {
  std::size_t without = count_empty(steps);
  std::size_t layer = 0;
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : steps) {
    const bool is_empty_layer = bytes == 0 && empty > 0 && (are_first || without <= empty);
    if (bytes == 0) --without;
    if (is_empty_layer) --empty;
    if (bytes == 0 && !is_empty_layer) continue;
    if (layer++ >= there) sum += bytes;
  }
  return sum;
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
  if (!parsed) return bad_input("the engine's description of the image is no JSON");
  ImageInfo image{text_of(*parsed, "Id"), layers_of(member(*parsed, "RootFS"), "Layers")};
  if (const Result<void> checked = check_image(image); !checked) return checked.error();
  const double bytes = real_of(member(*parsed, "Size")).value_or(0);
  if (bytes > 0 && bytes < kMostBytes) image.bytes = static_cast<std::uint64_t>(bytes);
  image.architecture = architecture_of(text_of(*parsed, "Architecture"));
  return image;
}

bool has_name(std::string_view json) {
  const Result<boost::json::value> parsed = parse_json(json);
  return parsed &&
         !(list_of(*parsed, "RepoTags").empty() && list_of(*parsed, "RepoDigests").empty());
}

std::string moved_name(std::string_view name, const std::string& id, bool is_taken) {
  const std::string own = id.substr(kSha256.size(), 12);
  std::string text(name.substr(0, name.find('@')));
  if (text.starts_with(kMovedRegistry)) text.erase(0, kMovedRegistry.size());
  std::string tag = name.find('@') == std::string_view::npos ? "latest" : own;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && text.find('/', colon) == std::string::npos) {
    tag = text.substr(colon + 1);
    text.erase(colon);
  }
  std::replace(text.begin(), text.end(), ':', '-');  // of a registry's port
  // As engines allow: words of small letters and digits, with single separators between them.
  bool is_valid = !text.empty() && text.size() <= 150 && text != "sha256";
  bool is_in_word = false;
  for (const char c : text) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    is_valid =
        is_valid && (is_word || (is_in_word && (c == '.' || c == '_' || c == '-' || c == '/')));
    is_in_word = is_word;
  }
  constexpr std::string_view kOfTag =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  const bool is_tag = !tag.empty() && tag.size() <= 100 && tag.front() != '.' &&
                      tag.front() != '-' && tag.find_first_not_of(kOfTag) == std::string::npos;
  if (!is_valid || !is_in_word || !is_tag) {
    text = "image";
    tag = own;
  } else if (is_taken) {
    tag += "-" + own;
  }
  return std::string(kMovedRegistry) + text + ":" + tag;
}

std::vector<std::string> names_of(std::string_view json, std::string_view wanted) {
  std::vector<std::string> names;
  const Result<boost::json::value> parsed = parse_json(json);
  if (!parsed) return names;
  for (const auto& name : list_of(*parsed, "RepoTags")) {
    const auto* text = name.if_string();
    if (text != nullptr && *text != "<none>:<none>") names.emplace_back(*text);
  }
  const std::string tagged = std::string(wanted) + ":latest";
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    const auto rank = [&](const std::string& one) {
      return one == wanted || one == tagged ? 0 : one.starts_with(kMovedRegistry) ? 2 : 1;
    };
    return rank(a) < rank(b);
  });
  return names;
}

bool is_moved_only(std::string_view json) {
  const std::vector<std::string> names = names_of(json, "");
  const Result<boost::json::value> parsed = parse_json(json);
  // Tagging makes no digest of a registry.
  return !names.empty() && parsed && list_of(*parsed, "RepoDigests").empty() &&
         names.front().starts_with(kMovedRegistry);
}

MovedImage parse_moved_image(std::string_view json) {
  MovedImage image;
  const Result<boost::json::value> parsed = parse_json(json);
  if (!parsed) return image;
  image.id = text_of(*parsed, "Id");
  const double bytes = real_of(member(*parsed, "Size")).value_or(0);
  if (bytes > 0 && bytes < 1e18) image.bytes = static_cast<std::uint64_t>(bytes);
  const auto tagged = parse_log_time(text_of(member(*parsed, "Metadata"), "LastTagTime"));
  if (tagged) image.wanted = static_cast<double>(*tagged) / 1e9;
  return image;
}

std::optional<std::uint64_t> bytes_from(std::string_view history, std::size_t layers,
                                        std::size_t there) {
  const auto steps = steps_of(history);
  if (!steps || steps->size() < layers) return std::nullopt;
  const std::size_t with = steps->size() - count_empty(*steps);
  if (with > layers) return std::nullopt;
  const std::uint64_t most = sum_from(*steps, layers - with, there, true);
  const bool is_sure = most == sum_from(*steps, layers - with, there, false);
  return is_sure ? std::optional(most) : std::nullopt;
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
