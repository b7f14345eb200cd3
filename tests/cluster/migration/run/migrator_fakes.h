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
  Async<Result<void>> save(ctrl::store::Migration row) override {
    const Result<Entry> entry = parse_entry(row.entry);
    if (entry && refused_.contains(entry->step)) {
      ++refusals_;
      co_return errno_error(ENOSPC, "writing the journal");
    }
    if (entry) steps_.push_back(name(entry->step));
    rows_[row.id] = std::move(row);
    co_return Result<void>();
  }
  Async<Result<std::vector<ctrl::store::Migration>>> read(std::size_t) override {
    if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
    std::vector<ctrl::store::Migration> all;
    for (const auto& [id, row] : rows_) all.push_back(row);
    co_return all;
  }
  Async<Result<std::vector<std::string>>> ended(std::size_t most) override {
    if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
    std::multimap<double, std::string, std::greater<>> by_end;
    for (const auto& [id, row] : rows_) {
      if (row.ended) by_end.emplace(*row.ended, row.entry);
    }
    std::vector<std::string> all;
    for (const auto& [end, entry] : by_end) all.push_back(entry);
    if (all.size() > most) all.resize(most);
    co_return all;
  }
  Async<Result<ctrl::store::Migration>> find(std::string id) override {
    if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
    const auto found = rows_.find(id);
    if (found == rows_.end()) co_return errno_error(ENOENT, "no such move");
    co_return found->second;
  }
  Async<Result<std::vector<ctrl::store::LostMove>>> lost() override { co_return lost_; }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }

  /// Of the only move; reserve where there is none.
  [[nodiscard]] std::string step() const {
    if (rows_.empty()) return "";
    const Result<Entry> entry = parse_entry(rows_.begin()->second.entry);
    return entry ? name(entry->step) : "?";
  }

  [[nodiscard]] std::string reason() const {
    const Result<Entry> entry = parse_entry(rows_.begin()->second.entry);
    return entry ? entry->reason : "?";
  }

  std::map<std::string, ctrl::store::Migration> rows_;
  std::vector<std::string> steps_;  ///< that were written
  std::set<Step> refused_;          ///< that cannot be written
  int refusals_ = 0;
  std::vector<ctrl::store::LostMove> lost_;
  bool is_whole_ = true;
  bool is_unreadable_ = false;
};

inline ctrl::Pull pull_of(const std::string& text) {
  auto left = std::make_shared<std::string>(text);
  return [left]() -> Async<Result<std::string>> { co_return std::exchange(*left, ""); };
}

inline Async<Result<std::string>> drained(ctrl::Pull body) {
  std::string text;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return text;
    text += *piece;
  }
}

/// Hands a body to the other host.
using Carry =
    std::function<Async<Result<Answer>>(std::string method, std::string target, ctrl::Pull body)>;

class FakeGoods : public Goods {
 public:
  Async<Result<ImageInfo>> image_info(std::string id) override {
    if (!images_.contains(id)) co_return errno_error(ENOENT, "no such image");
    co_return ImageInfo{id, {"sha256:" + std::string(64, '1')}, image_bytes_, "amd64"};
  }
  Async<Result<std::size_t>> layers_there(ImageInfo) override { co_return std::size_t{0}; }
  Async<Result<ctrl::Pull>> send_image(ImageInfo, std::size_t) override {
    ++image_sends_;
    co_return pull_of("layers");
  }
  Async<Result<void>> take_image(ImageInfo image, std::size_t, ctrl::Pull body,
                                 std::uint64_t) override {
    const Result<std::string> text = co_await drained(std::move(body));
    if (!text) co_return text.error();
    if (!refuses_images_.empty()) co_return bad_input(refuses_images_);
    images_.insert(image.id);
    co_return Result<void>();
  }
  Async<Result<std::string>> call_image(ImageInfo image, std::string, bool is_brought) override {
    if (is_brought || moved_.contains(image.id)) moved_[image.id] = {image.id, 50, 0};
    co_return image.id;
  }
  Async<Result<void>> remove_image(std::string id, ImageName called) override {
    removals_.push_back(id);
    if (on_removal_) on_removal_();
    if (keeps_images_) co_return bad_input("it is in use");
    if ((called == ImageName::moved) != moved_.contains(id)) co_return Result<void>();
    if (loses_names_) moved_.erase(id);
    if (loses_names_) co_return bad_input("no space left on device");
    images_.erase(id);
    moved_.erase(id);
    co_return Result<void>();
  }
  Async<Result<std::vector<MovedImage>>> moved_images() override {
    ++sweeps_;
    std::vector<MovedImage> all;
    for (const auto& [id, image] : moved_) all.push_back(image);
    co_return all;
  }
  Async<Result<CopyPlace>> find_place(std::string id, std::string) override {
    CopyPlace place;
    place.id = id;
    place.folder = "/fake/" + id;
    if (volumes_of_) place.volumes = volumes_of_(id);
    co_return place;
  }
  Async<Result<ctrl::Pull>> send_part(CopyPlace, Part part) override {
    co_return pull_of("bytes of " + part.name);
  }
  Async<Result<void>> take_part(CopyPlace, Part part, ctrl::Pull body, PartLimits) override {
    if (is_taking_) is_taking_(part.name, true);
    const Result<std::string> text = co_await drained(std::move(body));
    if (is_taking_) is_taking_(part.name, false);
    if (!text) co_return text.error();
    if (!refuses_parts_.empty()) co_return bad_input(refuses_parts_);
    parts_[part.name] = *text;
    co_return Result<void>();
  }
  Async<Result<Answer>> send_body(std::vector<std::string>, std::string method, std::string target,
                                  ctrl::Pull body, double) override {
    return carry_(std::move(method), std::move(target), std::move(body));
  }

  std::function<void(const std::string& part, bool begins)> is_taking_;
  std::set<std::string> images_;
  std::uint64_t image_bytes_ = 0;
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
};

class FakeFiles : public HostFiles {
 public:
  explicit FakeFiles(Clock& clock) : clock_(clock) {}
  Async<Result<void>> sync(std::string) override { co_return Result<void>(); }
  Async<Result<void>> look_for_room(std::string) override { co_return Result<void>(); }
  Async<Result<std::string>> why_no_room(std::string, std::uint64_t bytes) override {
    if (free_ && bytes > free_()) co_return std::string("not enough room on its disk");
    co_return room_;
  }
  Async<std::vector<std::string>> unfit_paths(boost::json::object, AcceptPolicy) override {
    co_return std::vector<std::string>();
  }
  Async<Result<std::vector<Tree>>> measure(std::vector<std::string> folders,
                                           std::uint64_t) override {
    if (measure_lasts_ > 0) co_await clock_.pause(measure_lasts_);
    co_return std::vector<Tree>(folders.size(), Tree{100, 1, content_});
  }
  Async<Result<void>> mark_whole(std::string folder) override {
    marks_[folder] = {100, clock_.wall()};
    co_return Result<void>();
  }
  Async<Result<std::vector<std::optional<DataMark>>>> marks_of(
      std::vector<std::string> folders) override {
    std::vector<std::optional<DataMark>> marks;
    for (const std::string& folder : folders) {
      const auto found = marks_.find(folder);
      marks.push_back(found == marks_.end() ? std::nullopt : std::optional(found->second));
    }
    co_return marks;
  }
  Async<void> mark_used(std::string folder) override {
    marks_[folder].used = clock_.wall();
    co_return;
  }
  Async<LeftBehind> left_behind(std::string, std::string, boost::json::object,
                                std::optional<timespec>) override {
    co_return left_;
  }
  Async<bool> has_saved_since(Plan, CopyPlace, timespec) override { co_return has_saved_; }
  [[nodiscard]] timespec now() const override {
    return {static_cast<std::time_t>(clock_.wall()), 0};
  }

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
  Async<Result<std::string>> export_life(std::string) override { co_return std::string("{}"); }
  Async<Result<void>> import_life(std::string, std::string, Cause) override {
    ++imports_;
    co_return Result<void>();
  }
  Async<Result<void>> forget_life(std::string) override { co_return Result<void>(); }
  int imports_ = 0;
};

/// A network of two hosts.
class FakeLink : public FakeNetwork {
 public:
  using Ask = std::function<Async<Result<Answer>>(std::string method, std::string target,
                                                  std::string body)>;
  Async<Result<Answer>> ask(std::string, std::string method, std::string target, std::string body,
                            double seconds) override {
    if (seconds > kMostOnConnection) long_asks_.push_back(target);
    return ask_(std::move(method), std::move(target), std::move(body));
  }
  [[nodiscard]] Result<std::vector<std::string>> dial(const std::string&) const override {
    return std::vector<std::string>{"ssh"};
  }
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
  void pass(double seconds) {
    const double end = clock.steady() + seconds;
    do {
      io.restart();
      while (io.poll() > 0) {
      }
    } while (clock.advance(end));
  }
  MovePtr add(Side side, Step step, const std::string& name = "vae") {
    Entry entry;
    entry.id = std::string(31, 'f') + std::to_string(open.all().size());
    entry.side = side;
    entry.step = step;
    entry.name = name;
    entry.container = std::string(64, static_cast<char>('a' + open.all().size()));
    entry.source = host_id(side == Side::source ? '1' : '2');
    entry.target = host_id(side == Side::source ? '2' : '1');
    auto move = std::make_shared<Move>(clock, std::move(entry), Plan());
    move->began = clock.steady();
    open.add(move);
    return move;
  }

  FakeClock clock{io};  ///< outlives what waits on the loop
  boost::asio::io_context io{1};
  MigratorHost host{io, clock, '1', '2'};
  World world = host.world();
  OpenMoves open{world};
  Records records{world, open};
};

}  // namespace flowcon::cluster::test
