// SPDX-License-Identifier: Apache-2.0
// What travels, as one host's engine gives and takes it: the image and the parts; and the way over.
// Each function is the one of that name in image.h, parts.h and peers/bulk.h, so that a test can
// stand in for them.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/run/image.h"
#include "cluster/migration/run/parts.h"
#include "cluster/payload.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/pull.h"

namespace flowcon::cluster::migration {

class Goods {
 public:
  virtual ~Goods() = default;
  virtual Async<Result<ImageInfo>> image_info(std::string id) = 0;
  virtual Async<Result<std::size_t>> layers_there(ImageInfo image) = 0;
  /// The engine's answer to GET /images/ID/history.
  virtual Async<Result<std::string>> image_history(std::string id) = 0;
  virtual Async<Result<ctrl::Pull>> send_image(ImageInfo image, std::size_t there) = 0;
  virtual Async<Result<void>> take_image(ImageInfo image, std::size_t there, ctrl::Pull body,
                                         std::uint64_t max_bytes) = 0;
  virtual Async<Result<std::string>> call_image(ImageInfo image, std::string name,
                                                bool is_brought) = 0;
  virtual Async<Result<void>> remove_image(std::string id, ImageName called) = 0;
  virtual Async<Result<std::vector<MovedImage>>> moved_images() = 0;

  virtual Async<Result<CopyPlace>> find_place(std::string id, std::string state_dir) = 0;
  virtual Async<Result<ctrl::Pull>> send_part(CopyPlace from, Part part) = 0;
  virtual Async<Result<void>> take_part(CopyPlace into, Part part, ctrl::Pull body,
                                        PartLimits limits) = 0;

  /// With the words of Network::dial.
  virtual std::shared_ptr<PayloadConnection> connect(std::vector<std::string> words) = 0;
};

class DockerGoods : public Goods {
 public:
  DockerGoods(boost::asio::io_context& io, ctrl::engine::Client& client)
      : io_(io), client_(client) {}
  Async<Result<ImageInfo>> image_info(std::string id) override;
  Async<Result<std::size_t>> layers_there(ImageInfo image) override;
  Async<Result<std::string>> image_history(std::string id) override;
  Async<Result<ctrl::Pull>> send_image(ImageInfo image, std::size_t there) override;
  Async<Result<void>> take_image(ImageInfo image, std::size_t there, ctrl::Pull body,
                                 std::uint64_t max_bytes) override;
  Async<Result<std::string>> call_image(ImageInfo image, std::string name,
                                        bool is_brought) override;
  Async<Result<void>> remove_image(std::string id, ImageName called) override;
  Async<Result<std::vector<MovedImage>>> moved_images() override;
  Async<Result<CopyPlace>> find_place(std::string id, std::string state_dir) override;
  Async<Result<ctrl::Pull>> send_part(CopyPlace from, Part part) override;
  Async<Result<void>> take_part(CopyPlace into, Part part, ctrl::Pull body,
                                PartLimits limits) override;
  std::shared_ptr<PayloadConnection> connect(std::vector<std::string> words) override;

 private:
  boost::asio::io_context& io_;
  ctrl::engine::Client& client_;
};

}  // namespace flowcon::cluster::migration
