// SPDX-License-Identifier: Apache-2.0
// The peers that this host has, and which host each of them is. For .cpp files only: it includes
// Asio.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/peers/link.h"
#include "ctrl/async.h"
#include "ctrl/extension.h"

namespace flowcon::cluster::peers {

using LinkPtr = std::shared_ptr<Link>;

/// In order of arrival, those of the configuration first.
class Links {
 public:
  [[nodiscard]] const std::vector<LinkPtr>& all() const { return all_; }
  void add(LinkPtr link) { all_.push_back(std::move(link)); }
  void erase(const LinkPtr& link) { std::erase(all_, link); }

  /// Null where there is none.
  [[nodiscard]] LinkPtr find(const std::string& name) const;
  /// A peer by its host's id; null where there is none.
  [[nodiscard]] LinkPtr find_id(const std::string& id) const;
  /// The peer that `from` means, which may be listed under two names; null where there is none.
  [[nodiscard]] LinkPtr speaker_of(const std::string& from) const;
  /// The same. Errors: it did not say who it is; no such peer; the sentence says what to do.
  [[nodiscard]] Result<LinkPtr> known_speaker(const std::string& from) const;

 private:
  std::vector<LinkPtr> all_;
};

/// The ids of peers by name, as the store keeps them. Where they cannot be written they hold until
/// the end of this process.
class KnownIds {
 public:
  explicit KnownIds(ctrl::LocalHost& host) : host_(host) {}
  Async<void> read();
  /// "" where it was never reached.
  [[nodiscard]] std::string of(const std::string& name) const;
  Async<void> keep(LinkPtr link);
  Async<void> forget(std::string name);

 private:
  ctrl::LocalHost& host_;
  std::map<std::string, std::string> ids_;
};

}  // namespace flowcon::cluster::peers
