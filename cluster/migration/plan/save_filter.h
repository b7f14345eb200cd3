// SPDX-License-Identifier: Apache-2.0
// What of an engine's archive of an image goes to a peer. Pure. Engines up to 24 write the layers
// as "FOLDER/layer.tar", where only manifest.json, the last entry, says which is which, and equal
// ones as links; engines from 25 on write "blobs/sha256/SUM".
//
// What a peer gets is a tar archive of plain files: "config.json", the image's configuration, and
// "layer-0.tar", "layer-1.tar" and so on, each layer once, in whatever order. The numbers mean
// nothing: a layer is told by its sum.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/saved_image.h"
#include "cluster/migration/plan/tar_reader.h"

namespace flowcon::cluster::migration {

/// The different layers of `image` from `layers_there` on.
[[nodiscard]] std::set<std::string> missing_layers(const ImageInfo& image,
                                                   std::size_t layers_there);

/// The first of two readings of an archive: where the missing layers are in it. Not needed where
/// all are missing.
class SaveSurvey {
 public:
  SaveSurvey(ImageInfo image, std::size_t layers_there)
      : image_(std::move(image)), layers_there_(layers_there) {}

  /// The archive's next bytes. Errors: those of TarReader, a manifest that is not of this image or
  /// names files in ways that engines do not.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  /// Nothing more has to be fed.
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// Names of files to be sent besides those that are named by their sums. Only if done.
  [[nodiscard]] const std::set<std::string>& wanted() const { return wanted_; }

 private:
  [[nodiscard]] Result<void> take_manifest();

  ImageInfo image_;
  std::size_t layers_there_;
  TarReader reader_{TarExtensions::pax_and_gnu};
  bool is_done_ = false;
  bool is_manifest_ = false;
  std::string manifest_;
  std::map<std::string, std::string> links_;  ///< of layers, to layers
  std::set<std::string> wanted_;
};

/// The second: from the archive to what is sent.
class SaveFilter {
 public:
  /// `wanted` as the survey says. Without one all of the image's layers are sent.
  SaveFilter(const ImageInfo& image, std::size_t layers_there, std::set<std::string> wanted);

  /// The archive's next bytes; returns what is to be sent of them. Errors: those of TarReader, a
  /// file twice, an unlikely configuration.
  [[nodiscard]] Result<std::string> feed(std::string_view bytes);
  /// The last to be sent. Errors: the archive is not whole, or has not all that is missing there.
  [[nodiscard]] Result<std::string> finish();

 private:
  /// The name to send an entry under; empty: not sent.
  [[nodiscard]] std::string name_for(const TarHeader& header) const;

  std::string config_;   ///< the configuration's sum
  std::size_t missing_;  ///< how many layers
  bool takes_all_;
  std::set<std::string> wanted_;
  TarReader reader_{TarExtensions::pax_and_gnu};
  std::set<std::string> sent_;
  std::size_t layers_ = 0;
  bool has_config_ = false;
  bool is_sending_ = false;
  std::uint64_t size_ = 0;
};

}  // namespace flowcon::cluster::migration
