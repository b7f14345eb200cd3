// SPDX-License-Identifier: Apache-2.0
// Images, and their archives as engines write them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "cluster/migration/plan/saved_image.h"
#include "tests/cluster/migration/plan/tar_builder.h"

namespace flowcon::cluster::migration {

inline const std::string kEnd(1024, '\0');

[[nodiscard]] inline std::string sum(const std::string& bytes) {
  Sha256 made;
  made.feed(bytes);
  return made.finish();
}

// A layer with one file.
[[nodiscard]] inline std::string layer(const std::string& content) {
  return TarBuilder().file("etc/file", content).bytes + kEnd;
}

[[nodiscard]] inline std::string config_of(const std::vector<std::string>& layers) {
  std::string ids;
  for (const std::string& one : layers) {
    ids += (ids.empty() ? "\"sha256:" : ",\"sha256:") + sum(one) + "\"";
  }
  return R"({"architecture":"amd64","rootfs":{"type":"layers","diff_ids":[)" + ids + "]}}";
}

struct Image {
  std::vector<std::string> layers;  ///< their archives
  std::string config;
  ImageInfo info;

  explicit Image(std::vector<std::string> made)
      : layers(std::move(made)), config(config_of(layers)) {
    info.id = "sha256:" + sum(config);
    for (const std::string& one : layers) info.layers.push_back("sha256:" + sum(one));
  }
  [[nodiscard]] std::string id() const { return info.id.substr(7); }
};

// Three layers, of which the first and the last are equal.
[[nodiscard]] inline Image three() { return Image({layer("a"), layer("b"), layer("a")}); }

[[nodiscard]] inline std::string folder_of(std::size_t i) {
  return std::string(63, 'f') + std::to_string(i);
}

// As an engine up to 24 writes it: a folder a layer, equal ones as links, the manifest last.
[[nodiscard]] inline std::string old_archive(const Image& image) {
  TarBuilder tar;
  tar.file(image.id() + ".json", image.config);
  std::string names;
  for (std::size_t i = 0; i < image.layers.size(); ++i) {
    std::size_t first = 0;
    while (image.layers[first] != image.layers[i]) ++first;
    const std::string folder = folder_of(i);
    tar.folder(folder + "/").file(folder + "/VERSION", "1.0").file(folder + "/json", "{}");
    if (first == i) tar.file(folder + "/layer.tar", image.layers[i]);
    if (first != i) tar.symlink(folder + "/layer.tar", "../" + folder_of(first) + "/layer.tar");
    names += (names.empty() ? "\"" : ",\"") + folder + "/layer.tar\"";
  }
  tar.file("manifest.json", "[{\"Config\":\"" + image.id() + ".json\",\"RepoTags\":[\"x:1\"]," +
                                "\"Layers\":[" + names + "]}]");
  return tar.file("repositories", "{}").bytes + kEnd;
}

// As an engine from 25 on writes it.
[[nodiscard]] inline std::string new_archive(const Image& image) {
  std::map<std::string, std::string> blobs{{image.id(), image.config}, {sum("{}"), "{}"}};
  for (const std::string& one : image.layers) blobs[sum(one)] = one;
  TarBuilder tar;
  tar.folder("blobs/").folder("blobs/sha256/");
  for (const auto& [name, bytes] : blobs) tar.file("blobs/sha256/" + name, bytes);
  return tar.file("index.json", "{}").file("manifest.json", "[]").bytes + kEnd;
}

}  // namespace flowcon::cluster::migration
