// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/image.h"

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/load_filter.h"
#include "cluster/migration/plan/save_filter.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
using ctrl::engine::Client;
using ctrl::engine::engine_error;
using ctrl::engine::Reply;

constexpr double kCallTime = 60;  // seconds; an engine that unpacks another image is slow
constexpr std::size_t kMostCompared = 2000;

std::string path_of(const std::string& id) { return "/images/" + percent_encoded(id); }

Error in_containerd(const std::string& side) {
  return bad_input("the engine of the " + side +
                   " keeps its images in containerd's store, where they have other ids and do not "
                   "travel: pull the image on the target if its engine does so too");
}

Async<Result<bool>> is_in_containerd(Client& engine) {
  const Result<std::string> info =
      co_await engine.get("/info", "asking the engine about itself", kCallTime);
  if (!info) co_return info.error();
  co_return keeps_images_in_containerd(*info);
}

// Ids of all images, also of those without a name.
Async<Result<std::vector<std::string>>> all_images(Client& engine) {
  const Result<json::value> all =
      co_await engine.get_json("/images/json?all=1", "listing images", kCallTime);
  if (!all) co_return all.error();
  std::vector<std::string> ids;
  for (const json::value& entry : list_of(*all)) {
    std::string id = text_of(entry, "Id");
    if (is_digest(id) && ids.size() < kMostCompared) ids.push_back(std::move(id));
  }
  co_return ids;
}

// What is between the engine and the peer, on either side.
template <class Filter>
struct Filtered {
  Filtered(Pull from, Filter through) : source(std::move(from)), filter(std::move(through)) {}

  Pull source;
  Filter filter;
  bool has_ended = false;
};

template <class Filter>
Async<Result<std::string>> next_piece(std::shared_ptr<Filtered<Filter>> state) {
  while (!state->has_ended) {
    Result<std::string> piece = co_await state->source();
    if (!piece) co_return piece.error();
    state->has_ended = piece->empty();
    Result<std::string> out =
        state->has_ended ? state->filter.finish() : state->filter.feed(*piece);
    if (!out || !out->empty()) co_return out;
  }
  co_return std::string();
}

template <class Filter>
Pull filtered(Pull source, Filter filter) {
  auto state = std::make_shared<Filtered<Filter>>(std::move(source), std::move(filter));
  return [state] { return next_piece(state); };
}

Async<Result<std::string>> next_of(std::shared_ptr<std::string> first, Pull rest) {
  if (!first->empty()) co_return std::exchange(*first, "");
  co_return co_await rest();
}

// `first`, then the rest.
Pull joined(std::string first, Pull rest) {
  auto left = std::make_shared<std::string>(std::move(first));
  return [left, rest = std::move(rest)] { return next_of(left, rest); };
}

struct Surveyed {
  Pull archive;                  // from its beginning
  std::set<std::string> wanted;  // where the missing layers are in it
};

// An engine writes all layers to its disk before the first byte of an archive, so it is asked once
// where the first piece tells that each layer is named by its sum (since engine 25).
Async<Result<Surveyed>> survey(Client& engine, ImageInfo image, std::size_t layers_there) {
  const std::string path = path_of(image.id) + "/get";
  Result<Pull> archive = co_await engine.download(path, kImageIdle);
  if (!archive) co_return archive.error();
  SaveSurvey found(std::move(image), layers_there);
  for (bool is_first = true; !found.is_done(); is_first = false) {
    Result<std::string> piece = co_await (*archive)();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return bad_input("the engine's archive of the image has no manifest");
    if (Result<void> fed = found.feed(*piece); !fed) co_return fed.error();
    if (is_first && found.is_done()) {
      Pull whole = joined(std::move(*piece), std::move(*archive));
      co_return Surveyed{std::move(whole), found.wanted()};
    }
  }
  Result<Pull> again = co_await engine.download(path, kImageIdle);
  if (!again) co_return again.error();
  co_return Surveyed{std::move(*again), found.wanted()};
}

}  // namespace

Async<Result<ImageInfo>> image_info(Client& engine, std::string id) {
  const Result<std::string> image =
      co_await engine.get(path_of(id) + "/json", "inspecting the image", kCallTime);
  if (!image) co_return image.error();
  co_return parse_image(*image);
}

Async<Result<std::size_t>> layers_there(Client& engine, ImageInfo image) {
  if (Result<void> checked = check_image(image); !checked) co_return checked.error();
  Result<ImageInfo> same = co_await image_info(engine, image.id);
  if (same) co_return image.layers.size();
  if (!is_absent(same.error())) co_return same.error();
  Result<bool> other_store = co_await is_in_containerd(engine);
  if (!other_store) co_return other_store.error();
  if (*other_store) co_return in_containerd("target");
  Result<std::vector<std::string>> ids = co_await all_images(engine);
  if (!ids) co_return ids.error();
  std::size_t most = 0;
  for (const std::string& id : *ids) {
    Result<ImageInfo> other = co_await image_info(engine, id);
    // One that was removed meanwhile, or has no layers.
    if (!other) continue;
    most = std::max(most, common_layers(image.layers, other->layers));
    if (most == image.layers.size()) break;
  }
  // All would mean that the image itself is there.
  co_return std::min(most, image.layers.size() - 1);
}

Async<Result<Pull>> send_image(Client& engine, ImageInfo image, std::size_t layers_there) {
  if (Result<void> checked = check_image(image); !checked) co_return checked.error();
  if (layers_there >= image.layers.size()) co_return bad_input("no layer of the image is missing");
  Result<bool> other_store = co_await is_in_containerd(engine);
  if (!other_store) co_return other_store.error();
  if (*other_store) co_return in_containerd("source");
  if (layers_there > 0) {
    Result<Surveyed> found = co_await survey(engine, image, layers_there);
    if (!found) co_return found.error();
    co_return filtered(std::move(found->archive),
                       SaveFilter(image, layers_there, std::move(found->wanted)));
  }
  Result<Pull> archive = co_await engine.download(path_of(image.id) + "/get", kImageIdle);
  if (!archive) co_return archive.error();
  co_return filtered(std::move(*archive), SaveFilter(image, layers_there, {}));
}

Async<Result<void>> take_image(Client& engine, ImageInfo image, std::size_t layers_there, Pull body,
                               std::uint64_t max_bytes) {
  if (Result<void> checked = check_image(image); !checked) co_return checked.error();
  Pull archive = filtered(std::move(body), LoadFilter(image, layers_there, max_bytes));
  const std::string doing = "loading the image " + image.id;
  // Its progress shows that the engine is alive.
  Result<Reply> reply = co_await engine.upload("POST", "/images/load?quiet=0", "application/x-tar",
                                               std::move(archive), kImageIdle);
  if (!reply) co_return reply.error();
  if (reply->status != 200) co_return engine_error(*reply, doing);
  if (const std::string error = load_error(reply->body); !error.empty()) {
    co_return bad_input(doing + ": " + error);
  }
  Result<ImageInfo> loaded = co_await image_info(engine, image.id);
  if (!loaded) co_return wrap(loaded.error(), doing);
  if (loaded->layers != image.layers) {
    // The engine and we have understood its configuration in two ways.
    (void)co_await remove_image(engine, image.id, ImageName::none);
    co_return bad_input(doing + ": it has other layers than promised");
  }
  co_return Result<void>();
}

Async<Result<std::string>> call_image(Client& engine, ImageInfo image, std::string name,
                                      bool is_brought) {
  if (name.starts_with(kMovedRegistry)) name.erase(0, kMovedRegistry.size());
  std::string path = path_of(image.id) + "/json";
  const Result<std::string> seen = co_await engine.get(path, "inspecting the image", kCallTime);
  if (!seen) co_return seen.error();
  const std::vector<std::string> names = names_of(*seen, name);
  const bool is_moved = is_moved_only(*seen);
  if (!names.empty() && !is_moved) co_return names.front();
  if (names.empty() && !is_brought) co_return image.id;
  std::string called = is_moved ? names.front() : moved_name(name, image.id, false);
  Result<ImageInfo> other = co_await image_info(engine, called);
  if (other && other->id != image.id) called = moved_name(name, image.id, true);
  // The engine keeps the time of it.
  const std::size_t colon = called.rfind(':');
  path = path_of(image.id) + "/tag?repo=" + percent_encoded(called.substr(0, colon)) +
         "&tag=" + percent_encoded(called.substr(colon + 1));
  Result<Reply> tagged = co_await engine.call("POST", path, "", kCallTime);
  const bool is_tagged = tagged && tagged->status == 201;
  if (is_tagged || is_moved) co_return called;
  if (!tagged) co_return tagged.error();
  co_return engine_error(*tagged, "naming the image " + image.id);
}

Async<Result<void>> remove_image(Client& engine, std::string id, ImageName called) {
  if (!is_digest(id)) co_return bad_input("removing an image: it has no valid id");
  const std::string path = path_of(id), doing = "removing the image " + id;
  const Result<std::string> seen = co_await engine.get(path + "/json", doing, kCallTime);
  if (is_absent(seen)) co_return Result<void>();
  if (!seen) co_return seen.error();
  const bool is_moved = called == ImageName::moved;
  // By its id the engine would remove it with its only name.
  if (is_moved ? !is_moved_only(*seen) : has_name(*seen)) co_return Result<void>();
  // The engine keeps the last name of an image that is used. Has it several, each is a look's work.
  std::string last = id;
  if (is_moved) last = names_of(*seen, "").back();
  Result<Reply> removed =
      co_await engine.call("DELETE", path_of(last) + "?noprune=1", "", kCallTime);
  if (!removed) co_return removed.error();
  const bool is_used = removed->status == 409;
  if (removed->status != 200 && removed->status != 404 && !is_used) {
    co_return engine_error(*removed, doing);
  }
  co_return Result<void>();
}

Async<Result<std::vector<MovedImage>>> moved_images(Client& engine) {
  const Result<json::value> all =
      co_await engine.get_json("/images/json", "listing images", kCallTime);
  if (!all) co_return all.error();
  std::vector<MovedImage> images;
  for (const json::value& entry : list_of(*all)) {
    const std::string id = text_of(entry, "Id");
    const std::vector<std::string> names = names_of(render_json(entry), "");
    if (!is_digest(id) || names.empty() || !names.front().starts_with(kMovedRegistry)) continue;
    const Result<std::string> seen =
        co_await engine.get(path_of(id) + "/json", "inspecting the image", kCallTime);
    // One that was removed meanwhile, or that the engine cannot describe.
    if (!seen && (!seen.error().code || is_absent(seen))) continue;
    if (!seen) co_return seen.error();
    if (is_moved_only(*seen)) images.push_back(parse_moved_image(*seen));
  }
  co_return images;
}

}  // namespace flowcon::cluster::migration
