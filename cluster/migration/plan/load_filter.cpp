// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/load_filter.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/save_filter.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kConfig = "config.json";
constexpr std::size_t kMagic = 6;

// What the engine would unpack before it looks at the sum.
bool is_packed(std::string_view beginning) {
  constexpr std::array<std::string_view, 4> kMagics{std::string_view("\x1f\x8b\x08"),
                                                    std::string_view("BZh"),
                                                    std::string_view("\xfd"
                                                                     "7zXZ\0",
                                                                     6),
                                                    std::string_view("\x28\xb5\x2f\xfd")};
  for (const std::string_view magic : kMagics) {
    if (beginning.substr(0, magic.size()) == magic) return true;
  }
  // A skippable frame of zstd, before which anything may stand.
  return beginning.size() >= 4 && (static_cast<unsigned char>(beginning[0]) & 0xf0U) == 0x50U &&
         beginning.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

LoadFilter::LoadFilter(const ImageInfo& image, std::size_t layers_there, std::uint64_t max_bytes)
    : image_(image),
      layers_there_(layers_there),
      left_bytes_(max_bytes),
      missing_(missing_layers(image, layers_there)) {}

Result<std::string> LoadFilter::feed(std::string_view bytes) {
  if (has_failed_) return bad_input("the image has been refused");
  Result<std::string> out = take(bytes);
  has_failed_ = !out;
  return out;
}

Result<std::string> LoadFilter::take(std::string_view bytes) {
  std::string out;
  for (;;) {
    Result<TarStep> step = reader_.next(bytes);
    if (!step) return wrap(step.error(), "the image as it comes");
    Result<std::string> more = std::string();
    switch (step->kind) {
      case TarStep::Kind::more:
        return out;
      case TarStep::Kind::entry:
        more = begin(step->header);
        break;
      case TarStep::Kind::content:
        more = take_content(step->bytes);
        break;
      case TarStep::Kind::end:
        more = end_entry();
        break;
    }
    if (!more) return more;
    out += *more;
  }
}

Result<std::string> LoadFilter::begin(const TarHeader& header) {
  const std::string layer = "layer-" + std::to_string(file_of_.size()) + ".tar";
  is_config_ = header.name == kConfig;
  if (header.type != TarType::file || (is_config_ ? has_config_ : header.name != layer)) {
    return bad_input("the image as it comes has an entry that is not expected: " +
                     printable(header.name, 120));
  }
  if (is_config_ && (header.size == 0 || header.size > kMaxConfigBytes)) {
    return bad_input("the configuration of the image has an unlikely size");
  }
  if (!is_config_ && missing_.empty())
    return bad_input("the image as it comes has too many layers");
  if (!is_config_ && header.size > left_bytes_) {
    return bad_input("the image is larger than this host accepts");
  }
  if (!is_config_) left_bytes_ -= header.size;
  name_ = header.name;
  size_ = header.size;
  beginning_.clear();
  sum_.emplace();
  inside_.emplace(TarExtensions::pax_and_gnu);
  // The configuration is passed on once it is known to be right.
  return is_config_ ? std::string() : render_tar_header(name_, size_);
}

Result<std::string> LoadFilter::take_content(std::string_view bytes) {
  if (is_config_) {
    config_ += bytes;
    return std::string();
  }
  sum_->feed(bytes);
  if (Result<void> looked = look_into_layer(bytes); !looked) return looked.error();
  return std::string(bytes);
}

Result<void> LoadFilter::look_into_layer(std::string_view bytes) {
  if (beginning_.size() < kMagic) {
    beginning_ += bytes.substr(0, kMagic - beginning_.size());
    if (is_packed(beginning_)) return bad_input("a layer of the image is packed");
  }
  while (!bytes.empty()) {
    if (Result<TarStep> step = inside_->next(bytes); !step) {
      return wrap(step.error(), "a layer of the image (pull the image on the target instead)");
    }
  }
  return {};
}

Result<std::string> LoadFilter::end_entry() {
  if (is_config_) {
    if (Result<void> checked = check_config(config_, image_); !checked) return checked.error();
    has_config_ = true;
    return render_tar_header(kConfig, size_) + config_ + tar_padding(size_);
  }
  const std::string digest = "sha256:" + sum_->finish();
  if (missing_.erase(digest) == 0) {
    return bad_input("a layer came that was not promised: " + digest);
  }
  if (!inside_->is_between()) return bad_input("a layer of the image is cut: " + digest);
  file_of_[digest] = name_;
  return tar_padding(size_);
}

Result<std::string> LoadFilter::finish() {
  const bool is_all = reader_.is_whole() && has_config_ && missing_.empty();
  if (has_failed_ || !is_all) return bad_input("the image has not come whole");
  boost::json::array layers;
  for (std::size_t i = 0; i < image_.layers.size(); ++i) {
    // The engine does not look for the files of layers that it has.
    layers.emplace_back(i < layers_there_ ? "there-" + std::to_string(i) + ".tar"
                                          : file_of_[image_.layers[i]]);
  }
  boost::json::object manifest;
  manifest["Config"] = kConfig;
  manifest["RepoTags"] = nullptr;
  manifest["Layers"] = std::move(layers);
  const std::string text = "[" + render_json(manifest) + "]";
  return render_tar_header("manifest.json", text.size()) + text + tar_padding(text.size()) +
         std::string(2 * kTarBlock, '\0');
}

}  // namespace flowcon::cluster::migration
