// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/links.h"

#include <boost/asio/awaitable.hpp>

#include "base/text.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::peers {

LinkPtr Links::find(const std::string& name) const {
  for (const LinkPtr& link : all_) {
    if (link->name == name) return link;
  }
  return nullptr;
}

LinkPtr Links::find_id(const std::string& id) const {
  for (const LinkPtr& link : all_) {
    if (link->unused.empty() && link->hello && link->hello->id == id) return link;
  }
  return nullptr;
}

LinkPtr Links::speaker_of(const std::string& from) const {
  LinkPtr link = find(from);
  if (!link || link->same_as.empty()) return link;
  // Its key may have come under the other of two names. That it says so would not be enough.
  const LinkPtr other = find(link->same_as);
  return other ? other : link;
}

// Only a key that was let in as a peer's says whose it is.
Result<LinkPtr> Links::known_speaker(const std::string& from) const {
  if (from.empty()) {
    return bad_input(
        "unknown key: run docker flowcon peer add once more, which writes the peer's name beside "
        "its key");
  }
  LinkPtr speaker = speaker_of(from);
  if (speaker) return speaker;
  return bad_input("this host has no peer " + printable(from, 80) +
                   ": run docker flowcon peer add there");
}

Async<void> KnownIds::read() {
  auto read = [&store = host_.store()] { return store.peer_ids(); };
  Result<std::map<std::string, std::string>> ids = co_await host_.effects().run(std::move(read));
  if (ids) {
    ids_ = std::move(*ids);
  } else {
    host_.warn(ids.error().message());
  }
}

std::string KnownIds::of(const std::string& name) const {
  const auto id = ids_.find(name);
  return id != ids_.end() ? id->second : "";
}

Async<void> KnownIds::keep(LinkPtr link) {
  if (of(link->name) == link->known_id || link->is_ended) co_return;
  const std::string name = link->name, id = link->known_id;
  auto save = [&store = host_.store(), name, id] { return store.save_peer_id(name, id); };
  const Result<void> saved = co_await host_.effects().run(std::move(save));
  if (!saved) {
    ctrl::log::warning(saved.error().message());
    co_return;
  }
  if (link->is_ended) co_return;  // and forgotten behind it
  std::erase_if(ids_, [&](const auto& one) { return one.second == id; });
  ids_[name] = id;
}

Async<void> KnownIds::forget(std::string name) {
  ids_.erase(name);
  auto forget = [&store = host_.store(), name] { return store.forget_peer_id(name); };
  const Result<void> forgotten = co_await host_.effects().run(std::move(forget));
  if (!forgotten) ctrl::log::warning(forgotten.error().message());
}

}  // namespace flowcon::cluster::peers
