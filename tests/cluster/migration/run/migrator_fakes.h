// SPDX-License-Identifier: Apache-2.0
// A clock, an engine, a journal and a way over of the test's own, all on one loop. For .cpp files
// only: it includes Asio.
#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"
#include "ctrl/spawn.h"
#include "tests/cluster/cluster_fakes.h"
#include "tests/cluster/migration/run/engine_fake.h"

namespace flowcon::cluster::test {

using namespace migration;

/// The rows as they are on the disk.
class FakeRows : public Rows {
 public:
  Async<Result<void>> save(ctrl::store::Migration row) override;
  Async<Result<std::vector<ctrl::store::Migration>>> read(std::size_t) override;
  Async<Result<std::vector<std::string>>> ended(std::size_t most) override;
  Async<Result<ctrl::store::Migration>> find(std::string id) override;
  Async<Result<std::vector<ctrl::store::LostMove>>> lost() override;
  [[nodiscard]] bool is_whole() const override;

  /// Of the only move; reserve where there is none.
  [[nodiscard]] std::string step() const;

  [[nodiscard]] std::string reason() const;

  std::map<std::string, ctrl::store::Migration> rows_;
  std::vector<std::string> steps_;  ///< that were written
  std::set<Step> refused_;          ///< that cannot be written
  int refusals_ = 0;
  std::vector<ctrl::store::LostMove> lost_;
  bool is_whole_ = true;
  bool is_unreadable_ = false;
};

ctrl::Pull pull_of(const std::string& text);

Async<Result<std::string>> drained(ctrl::Pull body);

/// Hands a body to the other host.
using Carry =
    std::function<Async<Result<Answer>>(std::string method, std::string target, ctrl::Pull body)>;

class FakeGoods : public Goods {
 public:
  Async<Result<ImageInfo>> image_info(std::string id) override;
  Async<Result<std::size_t>> layers_there(ImageInfo) override;
  Async<Result<std::string>> image_history(std::string) override;
  Async<Result<ctrl::Pull>> send_image(ImageInfo, std::size_t) override;
  Async<Result<void>> take_image(ImageInfo image, std::size_t, ctrl::Pull body,
                                 std::uint64_t) override;
  Async<Result<std::string>> call_image(ImageInfo image, std::string, bool is_brought) override;
  Async<Result<void>> remove_image(std::string id, ImageName called) override;
  Async<Result<std::vector<MovedImage>>> moved_images() override;
  Async<Result<CopyPlace>> find_place(std::string id, std::string) override;
  Async<Result<ctrl::Pull>> send_part(CopyPlace, Part part) override;
  Async<Result<void>> take_part(CopyPlace, Part part, ctrl::Pull body, PartLimits) override;
  std::shared_ptr<PayloadConnection> connect(std::vector<std::string>) override;

  std::function<void(const std::string& part, bool begins)> is_taking_;
  std::set<std::string> images_;
  std::uint64_t image_bytes_ = 0;
  std::size_t layers_ = 1;  ///< of each image
  std::size_t layers_there_ = 0;
  std::string history_ = "[]";
  std::map<std::string, MovedImage> moved_;  ///< of them those that have only a moved one's name
  int image_sends_ = 0;
  std::map<std::string, std::string> parts_;  ///< that have come
  std::string refuses_images_;
  std::string refuses_parts_;
  std::vector<std::string> removals_;
  bool keeps_images_ = false;
  std::function<void()> on_removal_;
  bool loses_names_ = false;  // as an engine on a full disk
  int sweeps_ = 0;
  std::function<std::vector<VolumePlace>(const std::string& id)> volumes_of_;
  Carry carry_;
  int connections_ = 0;
};

class FakeFiles : public HostFiles {
 public:
  explicit FakeFiles(Clock& clock) : clock_(clock) {}
  Async<Result<void>> sync(std::string) override;
  Async<Result<void>> look_for_room(std::string) override;
  Async<Result<std::string>> why_no_room(std::string, std::uint64_t bytes) override;
  Async<std::vector<std::string>> unfit_paths(boost::json::object, AcceptPolicy) override;
  Async<Result<std::vector<Tree>>> measure(std::vector<std::string> folders,
                                           std::uint64_t) override;
  Async<Result<void>> mark_whole(std::string folder) override;
  Async<Result<std::vector<std::optional<DataMark>>>> marks_of(
      std::vector<std::string> folders) override;
  Async<void> mark_used(std::string folder) override;
  Async<LeftBehind> left_behind(std::string, std::string, boost::json::object,
                                std::optional<timespec>) override;
  Async<bool> has_saved_since(Plan, CopyPlace, timespec) override;
  [[nodiscard]] timespec now() const override;

  std::string room_;                     ///< why there is none
  std::function<std::uint64_t()> free_;  ///< bytes of the disk; null: enough
  LeftBehind left_;
  bool has_saved_ = true;
  std::string content_ = "a";  ///< of every folder
  double measure_lasts_ = 0;   ///< seconds
  std::map<std::string, DataMark> marks_;

 private:
  Clock& clock_;
};

class FakeLives : public Lives {
 public:
  Async<Result<std::string>> export_life(std::string) override;
  Async<Result<void>> import_life(std::string, std::string, Cause) override;
  Async<Result<void>> forget_life(std::string) override;
  int imports_ = 0;
};

/// A network of two hosts.
class FakeLink : public FakeNetwork {
 public:
  using Ask = std::function<Async<Result<Answer>>(std::string method, std::string target,
                                                  std::string body)>;
  Async<Result<Answer>> ask(std::string, std::string method, std::string target, std::string body,
                            double seconds) override;
  [[nodiscard]] Result<std::vector<std::string>> dial(const std::string&) const override;
  Ask ask_;
  std::vector<std::string> long_asks_;  ///< each of which would open a connection of its own
};

/// What a migrator acts on.
struct MigratorHost {
  MigratorHost(boost::asio::io_context& io, FakeClock& the_clock, char digit, char other)
      : clock(the_clock), host(io), engine(clock), files(clock) {
    host.config_.state_dir = host.folder_.path();
    network.own_id_ = host_id(digit);
    network.add(std::string("h") + other, other, {});
    goods.volumes_of_ = [this](const std::string& id) {
      const auto found = engine.boxes_.find(id);
      return found == engine.boxes_.end() ? std::vector<VolumePlace>() : found->second.volumes;
    };
  }
  World world() { return {host, network, lives, engine, goods, files, rows, clock}; }

  FakeClock& clock;
  FakeHost host;
  FakeLink network;
  FakeEngine engine;
  FakeGoods goods;
  FakeFiles files;
  FakeRows rows;
  FakeLives lives;
};

/// One host with a migrator's journal, for the parts that need no other.
struct OneHost {
  /// Runs it to its end; time passes as it waits.
  template <class T>
  T await(Async<T> asked) {
    std::optional<T> found;
    auto life = [&]() -> Async<void> { found = co_await std::move(asked); };
    ctrl::spawn(io, "test", life);
    for (int turn = 0; turn < 100'000 && !found; ++turn) {
      io.restart();
      if (io.poll() == 0 && !found) (void)clock.advance(clock.steady() + 1e6);
    }
    return std::move(found.value());
  }
  /// Lets so many seconds pass.
  void pass(double seconds);
  MovePtr add(Side side, Step step, const std::string& name = "vae");

  FakeClock clock{io};  ///< outlives what waits on the loop
  boost::asio::io_context io{1};
  MigratorHost host{io, clock, '1', '2'};
  World world = host.world();
  OpenMoves open{world};
  Records records{world, open};
};

}  // namespace flowcon::cluster::test
