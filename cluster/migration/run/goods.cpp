// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/goods.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/text.h"
#include "cluster/peers/bulk.h"

namespace flowcon::cluster::migration {

using ctrl::Pull;

Async<Result<ImageInfo>> DockerGoods::image_info(std::string id) {
  return migration::image_info(client_, std::move(id));
}

Async<Result<std::size_t>> DockerGoods::layers_there(ImageInfo image) {
  return migration::layers_there(client_, std::move(image));
}

Async<Result<std::string>> DockerGoods::image_history(std::string id) {
  constexpr double kCallTime = 60;  // seconds
  return client_.get("/images/" + percent_encoded(id) + "/history", "reading the image's history",
                     kCallTime);
}

Async<Result<Pull>> DockerGoods::send_image(ImageInfo image, std::size_t there) {
  return migration::send_image(client_, std::move(image), there);
}

Async<Result<void>> DockerGoods::take_image(ImageInfo image, std::size_t there, Pull body,
                                            std::uint64_t max_bytes) {
  return migration::take_image(client_, std::move(image), there, std::move(body), max_bytes);
}

Async<Result<std::string>> DockerGoods::call_image(ImageInfo image, std::string name,
                                                   bool is_brought) {
  return migration::call_image(client_, std::move(image), std::move(name), is_brought);
}

Async<Result<void>> DockerGoods::remove_image(std::string id, ImageName called) {
  return migration::remove_image(client_, std::move(id), called);
}

Async<Result<std::vector<MovedImage>>> DockerGoods::moved_images() {
  return migration::moved_images(client_);
}

Async<Result<CopyPlace>> DockerGoods::find_place(std::string id, std::string state_dir) {
  return migration::find_place(client_, std::move(id), std::move(state_dir));
}

Async<Result<Pull>> DockerGoods::send_part(CopyPlace from, Part part) {
  return migration::send_part(client_, std::move(from), std::move(part));
}

Async<Result<void>> DockerGoods::take_part(CopyPlace into, Part part, Pull body,
                                           PartLimits limits) {
  return migration::take_part(client_, std::move(into), std::move(part), std::move(body),
                              std::move(limits));
}

std::shared_ptr<PayloadConnection> DockerGoods::connect(std::vector<std::string> words) {
  return peers::connect_for_payload(io_, std::move(words));
}

}  // namespace flowcon::cluster::migration
