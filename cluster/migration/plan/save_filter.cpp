// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/save_filter.h"

#include <algorithm>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kBlobs = "blobs/sha256/";
constexpr std::string_view kLayer = "/layer.tar";
constexpr std::size_t kSumDigits = 64;

// "64 digits/layer.tar"
bool is_old_layer(std::string_view name) {
  return name.size() == kSumDigits + kLayer.size() && is_sha256(name.substr(0, kSumDigits)) &&
         name.substr(kSumDigits) == kLayer;
}

std::string sum_of(const std::string& digest) { return digest.substr(digest.find(':') + 1); }

std::string shown(const std::string& name) { return printable(name, 120); }

}  // namespace

std::set<std::string> missing_layers(const ImageInfo& image, std::size_t layers_there) {
  const auto first = static_cast<std::ptrdiff_t>(std::min(layers_there, image.layers.size()));
  return {image.layers.begin() + first, image.layers.end()};
}

Result<void> SaveSurvey::feed(std::string_view bytes) {
  while (!is_done_) {
    Result<TarStep> step = reader_.next(bytes);
    if (!step) return wrap(step.error(), "the engine's archive of the image");
    switch (step->kind) {
      case TarStep::Kind::more:
        return {};
      case TarStep::Kind::entry: {
        const TarHeader& header = step->header;
        is_manifest_ = header.name == "manifest.json" && header.type == TarType::file;
        if (is_manifest_ && header.size > kMaxConfigBytes) {
          return bad_input("the image's manifest is too long");
        }
        // Files that are named by their sums need no survey.
        is_done_ = header.name.substr(0, kBlobs.size()) == kBlobs;
        if (header.type == TarType::symlink && is_old_layer(header.name)) {
          if (header.link.substr(0, 3) != "../" || !is_old_layer(header.link.substr(3)) ||
              links_.size() >= kMaxLayers) {
            return bad_input("a layer of the image is a link to " + shown(header.link));
          }
          links_[header.name] = header.link.substr(3);
        }
        break;
      }
      case TarStep::Kind::content:
        if (is_manifest_) manifest_ += step->bytes;
        break;
      case TarStep::Kind::end:
        if (is_manifest_) {
          if (Result<void> taken = take_manifest(); !taken) return taken;
          is_done_ = true;
        }
        break;
    }
  }
  return {};
}

// "[{"Config":"SUM.json","RepoTags":…,"Layers":["FOLDER/layer.tar",…]}]"
Result<void> SaveSurvey::take_manifest() {
  const Result<boost::json::value> parsed = parse_json(manifest_);
  const auto* images = parsed ? parsed->if_array() : nullptr;
  if (images == nullptr || images->size() != 1) {
    return bad_input("the manifest of the image is not that of one image");
  }
  const boost::json::value& own = images->front();
  const std::string config = text_of(own, "Config");
  if (config == std::string(kBlobs) + sum_of(image_.id)) return {};
  if (config != sum_of(image_.id) + ".json") {
    return bad_input("the manifest is of another image");
  }
  const boost::json::array& layers = list_of(own, "Layers");
  if (layers.size() != image_.layers.size()) {
    return bad_input("the manifest of the image has another number of layers");
  }
  for (std::size_t i = layers_there_; i < layers.size(); ++i) {
    std::string name(layers[i].is_string() ? std::string_view(layers[i].get_string()) : "");
    if (!is_old_layer(name)) return bad_input("the manifest of the image names " + shown(name));
    if (const auto link = links_.find(name); link != links_.end()) name = link->second;
    wanted_.insert(std::move(name));
  }
  return {};
}

SaveFilter::SaveFilter(const ImageInfo& image, std::size_t layers_there,
                       std::set<std::string> wanted)
    : config_(sum_of(image.id)), takes_all_(layers_there == 0), wanted_(std::move(wanted)) {
  const std::set<std::string> missing = missing_layers(image, layers_there);
  missing_ = missing.size();
  for (const std::string& layer : missing) wanted_.insert(std::string(kBlobs) + sum_of(layer));
}

std::string SaveFilter::name_for(const TarHeader& header) const {
  if (header.type != TarType::file) return {};
  if (header.name == config_ + ".json" || header.name == std::string(kBlobs) + config_) {
    return "config.json";
  }
  if (wanted_.count(header.name) != 0 || (takes_all_ && is_old_layer(header.name))) {
    return "layer-" + std::to_string(layers_) + ".tar";
  }
  return {};
}

Result<std::string> SaveFilter::feed(std::string_view bytes) {
  std::string out;
  for (;;) {
    Result<TarStep> step = reader_.next(bytes);
    if (!step) return wrap(step.error(), "the engine's archive of the image");
    switch (step->kind) {
      case TarStep::Kind::more:
        return out;
      case TarStep::Kind::entry: {
        const TarHeader& header = step->header;
        const std::string name = name_for(header);
        is_sending_ = !name.empty();
        if (!is_sending_) break;
        if (!sent_.insert(header.name).second || sent_.size() > kMaxLayers + 1) {
          return bad_input("the engine's archive of the image has a file twice: " +
                           shown(header.name));
        }
        const bool is_config = name == "config.json";
        if (is_config && (has_config_ || header.size > kMaxConfigBytes)) {
          return bad_input("the image's configuration is too long, or there twice");
        }
        if (is_config) {
          has_config_ = true;
        } else {
          ++layers_;
        }
        size_ = header.size;
        out += render_tar_header(name, size_);
        break;
      }
      case TarStep::Kind::content:
        if (is_sending_) out += step->bytes;
        break;
      case TarStep::Kind::end:
        if (is_sending_) out += tar_padding(size_);
        break;
    }
  }
}

Result<std::string> SaveFilter::finish() {
  if (!reader_.is_whole()) return bad_input("the engine's archive of the image is cut");
  if (!has_config_) return bad_input("the engine's archive of the image has no configuration");
  if (layers_ != missing_) {
    return bad_input("the engine's archive of the image has " + std::to_string(layers_) +
                     " layers of the " + std::to_string(missing_) + " to be sent");
  }
  return std::string(2 * kTarBlock, '\0');
}

}  // namespace flowcon::cluster::migration
