// SPDX-License-Identifier: Apache-2.0
// What was recorded of containers, as the requests of docs/api.md show it. For .cpp files only: it
// includes Asio.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <memory>
#include <string>

#include "ctrl/api/routes.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/effects.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// What is shown of a daemon now; good until its next change.
using See = std::function<Snapshot()>;

class RecordReader {
 public:
  /// Effects and store have to outlive it. `wall`: seconds since the epoch.
  RecordReader(See see, Effects& effects, store::Store& store, std::function<double()> wall)
      : see_(std::move(see)), effects_(effects), store_(store), wall_(std::move(wall)) {}

  Async<api::Response> history(api::Call call);
  Async<api::Response> explain(api::Call call);
  Async<api::Response> runs(api::Call call);
  Async<api::Response> changes(api::Call call);
  Async<api::Response> profiles(api::Call call);

 private:
  /// The id of a container that is here, else as it is called.
  [[nodiscard]] std::string id_of(const std::string& name) const;
  [[nodiscard]] api::Response no_records(const Error& error, const std::string& name) const;
  [[nodiscard]] const policy::Algorithm* find_algorithm(const std::string& name) const;
  [[nodiscard]] policy::About asked_of(const std::string& id) const;
  [[nodiscard]] std::string sentence_of(const std::string& id,
                                        const store::ExplainedRound& explained) const;
  [[nodiscard]] static api::Response busy();
  void show_changes(const store::Round& round, boost::json::array& all) const;

  See see_;
  Effects& effects_;
  store::Store& store_;
  std::function<double()> wall_;
  /// Held by each history and explanation that is being read.
  std::shared_ptr<const char> reading_ = std::make_shared<char>();
};

}  // namespace flowcon::ctrl
