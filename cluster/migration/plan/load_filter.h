// SPDX-License-Identifier: Apache-2.0
// From what a peer sends of an image (save_filter.h) to what the engine is given to load. Pure.
// Nothing of the peer's is passed on but the bytes of the configuration and of layers, which must
// be those of the image that was promised; names and the manifest are made here, and no tags.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "cluster/migration/plan/saved_image.h"
#include "cluster/migration/plan/tar_reader.h"

namespace flowcon::cluster::migration {

class LoadFilter {
 public:
  /// `max_bytes` is the most that all layers together may have.
  LoadFilter(const ImageInfo& image, std::size_t layers_there, std::uint64_t max_bytes);

  /// The next bytes as they come; returns what the engine is to get of them. After an error it
  /// accepts nothing more, and what the engine has got so far is no archive that it loads.
  /// Errors: those of TarReader; an entry that is no plain file or has another name than the next
  /// must have; too many bytes; a configuration or a layer that was not promised; a layer that is
  /// packed, or whose own archive is none or has sparse files, which unpack to more than is sent.
  [[nodiscard]] Result<std::string> feed(std::string_view bytes);
  /// The last for the engine: the manifest. Errors: not all has come.
  [[nodiscard]] Result<std::string> finish();

 private:
  [[nodiscard]] Result<std::string> take(std::string_view bytes);
  [[nodiscard]] Result<std::string> begin(const TarHeader& header);
  [[nodiscard]] Result<std::string> take_content(std::string_view bytes);
  [[nodiscard]] Result<std::string> end_entry();
  [[nodiscard]] Result<void> look_into_layer(std::string_view bytes);

  ImageInfo image_;
  std::size_t layers_there_;
  std::uint64_t left_bytes_;
  std::set<std::string> missing_;               ///< digests of layers still to come
  std::map<std::string, std::string> file_of_;  ///< of layers that have come, by digest
  TarReader reader_{TarExtensions::none};
  bool has_failed_ = false;
  bool has_config_ = false;
  std::string config_;
  // The entry that comes.
  bool is_config_ = false;
  std::string name_;
  std::uint64_t size_ = 0;
  std::string beginning_;
  std::optional<Sha256> sum_;
  std::optional<TarReader> inside_;
};

}  // namespace flowcon::cluster::migration
