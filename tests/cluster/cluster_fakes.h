// SPDX-License-Identifier: Apache-2.0
// A host, a network and moves of the test's own, with a clock that the test turns.
// For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/report_json.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "ctrl/effects.h"
#include "ctrl/extension.h"
#include "ctrl/store/store.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::cluster::test {

inline std::string host_id(char digit) { return std::string(32, digit); }

class FakeHost : public ctrl::LocalHost {
 public:
  explicit FakeHost(boost::asio::io_context& io) : io_(io) {
    std::string notice;
    auto opened = ctrl::store::Store::open(folder_.path() + "/db", &notice);
    REQUIRE(opened.has_value());
    store_ = std::move(*opened);
    config_.state_dir = folder_.path();
    config_.balance.categorise_interval = 10;
    config_.queue.allocate = "kod2";  // whole hosts, one by one
    view_.name = "h1";
  }
  ~FakeHost() override;
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  boost::asio::io_context& io() override;
  ctrl::Effects& effects() override;
  ctrl::store::Store& store() override;
  [[nodiscard]] const ctrl::Config& config() const override;
  [[nodiscard]] ctrl::HostSnapshot view() const override;
  [[nodiscard]] std::optional<double> value_of(const std::string& id) const override;
  [[nodiscard]] std::optional<ctrl::JobForecast> forecast(const std::string& id) const override;
  [[nodiscard]] std::optional<ctrl::Settings> settings_of(const std::string&) const override;
  [[nodiscard]] std::string name_of(const std::string& id) const override;
  [[nodiscard]] std::string find(const std::string& name) const override;
  Async<ctrl::api::Response> answer(ctrl::api::Request request) override;
  void warn(const std::string& sentence) override;
  Async<Result<std::string>> export_history(std::string) override;
  Async<Result<void>> import_history(std::string, std::string, std::string) override;
  Async<Result<void>> forget_history(std::string) override;

  flowcon::test::TempFolder folder_;
  boost::asio::io_context& io_;
  std::unique_ptr<ctrl::store::Store> store_;
  ctrl::Effects effects_;
  ctrl::Config config_;
  ctrl::HostSnapshot view_;
  std::map<std::string, double> values_;
  std::map<std::string, double> dones_;  // share by the counter, with lefts_
  std::map<std::string, double> lefts_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> ids_;  // of containers, by name
  std::vector<std::string> calls_;
  ctrl::api::Response answer_{200, R"({"id":"x","name":"vae"})"};
};

class FakeNetwork : public Network {
 public:
  struct Asked {
    std::string id, verb, body;
  };

  [[nodiscard]] const std::string& own_id() const override;
  [[nodiscard]] std::string own_name() const override;
  [[nodiscard]] bool is_draining() const override;
  [[nodiscard]] std::optional<std::vector<std::string>> leaders() const override;
  [[nodiscard]] std::vector<Neighbour> neighbours() const override;
  Async<Result<Answer>> ask(std::string id, std::string method, std::string target,
                            std::string body, double) override;
  [[nodiscard]] Result<std::vector<std::string>> dial(const std::string&) const override;
  void tell() override;

  // A peer with containers by category, as it tells them.
  Neighbour& add(const std::string& name, char digit, policy::Counts counts, double usage = 0.5);
  void report(char digit, const policy::HostReport& report);
  [[nodiscard]] std::vector<std::string> orders() const;

  std::string own_id_ = host_id('1');
  std::string own_name_ = "h1";
  bool is_draining_ = false;
  std::optional<std::vector<std::string>> leaders_;
  std::vector<Neighbour> neighbours_;
  std::map<std::string, Answer> answers_;  ///< by "ID METHOD TARGET"
  std::vector<Asked> asked_;
  int told_ = 0;
};

class FakeMoves : public Moves {
 public:
  Async<Result<std::string>> begin(MoveOrder order) override;
  Async<Result<Freight>> weigh(std::string) override;
  Async<Result<std::set<std::string>>> shared_volumes() override;
  [[nodiscard]] bool is_movable(const std::string& id) const override;
  [[nodiscard]] bool is_moving(const std::string& id) const override;
  [[nodiscard]] bool is_saving(const std::string&) const override;
  [[nodiscard]] std::int64_t reserved() const override;
  [[nodiscard]] std::vector<MoveView> list(std::size_t) const override;
  [[nodiscard]] std::vector<Way> ways() const override;
  void release(const std::string& id) override;
  void turn_back(const std::string& id, const std::string&) override;
  void take_back(const std::string& id) override;
  void expect(const std::string& id, const std::string& birth) override;
  Async<Result<std::optional<Passage>>> passage(std::string id) override;
  [[nodiscard]] std::vector<Passage> expected_births() const override;

  // The last one that was begun ends: "done" or "undone".
  void end(const std::string& step);

  struct Move {
    std::string id, container;
    Cause cause = kPerson;
    migration::Step step = migration::Step::transfer;
    bool ended = false;
    std::optional<double> stopped = std::nullopt;
    migration::Method method = migration::Method::app;
    std::string source = {}, target = {};
  };
  std::vector<std::string> orders_;
  std::vector<Move> moves_;
  std::set<std::string> fixed_;
  std::string refusal_;
  std::int64_t reserved_ = 0;
  std::set<std::string> released_, turned_back_, taken_back_;
  std::map<std::string, std::string> expected_;  ///< returns and their births
  std::map<std::string, Passage> passages_;
  std::vector<Passage> births_;
  Freight freight_;
  std::set<std::string> shared_;
};

}  // namespace flowcon::cluster::test
