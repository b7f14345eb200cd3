// SPDX-License-Identifier: Apache-2.0
// The migrator's beginning and end; what it is in between is in its parts.
#include "cluster/migration/run/migrator.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <fstream>
#include <utility>

#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/run/lost.h"
#include "cluster/migration/run/world_migrator.h"
#include "ctrl/log.h"
#include "ctrl/service.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kReadAgain = 1;       // seconds, twice as many each time
constexpr double kReadAgainMost = 30;  // seconds
constexpr double kSettleLook = 0.05;   // seconds
constexpr double kRestart = 15;        // seconds until a job that has saved runs again
constexpr double kStopLasts = 60;      // seconds that systemd is to wait from each word on
constexpr double kStopWord = 5;        // seconds

// The host as it is.
struct ThisHost {
  explicit ThisHost(ctrl::LocalHost& host)
      : client(host.io(), host.config().engine),
        goods(host.io(), client),
        rows(host),
        clock(host.io()) {}
  ctrl::engine::Client client;
  DockerEngine engine{client};
  DockerGoods goods;
  LocalFiles files;
  StoreRows rows;
  SystemClock clock;
};

// Its base comes first, and goes last.
class HostMigrator : private ThisHost, public WorldMigrator {
 public:
  HostMigrator(ctrl::LocalHost& host, Network& network, Lives& lives)
      : ThisHost(host),
        WorldMigrator({host, network, lives, ThisHost::engine, goods, files, rows, clock}) {}
};

ctrl::GpuDevices gpus_of(const Plan& plan) {
  const boost::json::value* host_config = plan.body.if_contains("HostConfig");
  return host_config != nullptr ? ctrl::gpus_in(*host_config) : ctrl::GpuDevices();
}

}  // namespace

std::unique_ptr<Migrator> make_migrator(ctrl::LocalHost& host, Network& network, Lives& lives) {
  return std::make_unique<HostMigrator>(host, network, lives);
}

WorldMigrator::WorldMigrator(World world) : world_(world) {}

// -------------------------------------------------------------------------------- who asks

Async<Result<std::string>> WorldMigrator::begin(MoveOrder order) {
  return calls_.begin(std::move(order));
}

Async<Result<Freight>> WorldMigrator::weigh(std::string container) {
  return calls_.weigh(std::move(container));
}

Async<Result<std::set<std::string>>> WorldMigrator::shared_volumes() {
  const Result<std::map<std::string, std::string>> whole = co_await cache_.whole();
  if (!whole) co_return whole.error();
  std::set<std::string> names;
  for (const auto& [name, folder] : *whole) names.insert(name);
  co_return names;
}

bool WorldMigrator::is_movable(const std::string& id) const {
  const std::optional<ctrl::Settings> settings = world_.host.settings_of(id);
  return settings && !settings->is_queued &&
         (settings->migrate == ctrl::Migrate::app || settings->migrate == ctrl::Migrate::criu);
}

bool WorldMigrator::is_moving(const std::string& id) const { return open_.is_moving(id); }
bool WorldMigrator::is_saving(const std::string& id) const { return open_.is_saving(id); }
std::int64_t WorldMigrator::reserved() const { return open_.reserved(); }
std::vector<MoveView> WorldMigrator::list(std::size_t most) const { return open_.list(most); }
std::vector<Way> WorldMigrator::ways() const { return open_.ways(); }

void WorldMigrator::release(const std::string& id) {
  const MovePtr move = open_.find(id);
  if (!move || std::exchange(move->is_released, true)) return;
  move->wake();
}

void WorldMigrator::turn_back(const std::string& id, const std::string& why) {
  const MovePtr move = open_.find(id);
  const bool is_late =
      !move || move->entry.step > Step::transfer || move->writing.step == Step::start;
  if (is_late) return;
  move->turn_back(why);
  move->wake();
}

void WorldMigrator::take_back(const std::string& id) {
  const MovePtr move = open_.find(id);
  if (!move || !move->is_source()) return;
  if (!why_not_taken_back(move->entry, move->peer.word, false).empty()) return;
  move->is_taken_back = true;
  move->peer.word = Word::none;
  move->wake();
}

void WorldMigrator::expect(const std::string& id, const std::string& birth) {
  // One at a time of a task.
  std::erase_if(world_.expected, [&birth](const auto& one) { return one.second == birth; });
  world_.expected[id] = birth;
}

Async<Result<std::optional<Passage>>> WorldMigrator::passage(std::string id) {
  if (const std::string why = records_.why_unread(); !why.empty()) co_return bad_input(why);
  Passage passage;
  if (const MovePtr move = open_.find(id)) {
    passage.entry = move->written;
    passage.request = move->plan.request;
    passage.gpus = gpus_of(move->plan);
    passage.is_early = move->plan.is_early;
    passage.is_ready = move->peer.word == Word::step && move->peer.step >= Step::ready &&
                       move->peer.step <= Step::done;
    passage.trouble = move->trouble;
    co_return passage;
  }
  const Result<ctrl::store::Migration> row = co_await world_.rows.find(std::move(id));
  if (is_absent(row)) co_return std::optional<Passage>();
  if (!row) co_return row.error();
  const Result<Entry> entry = parse_entry(row->entry);
  if (!entry) co_return entry.error();
  passage.entry = *entry;
  const Result<Plan> plan = parse_plan(row->plan);
  if (plan) {
    passage.request = plan->request;
    passage.gpus = gpus_of(*plan);
    passage.is_early = plan->is_early;
  }
  co_return passage;
}

std::vector<Passage> WorldMigrator::expected_births() const {
  std::vector<Passage> births;
  for (const auto& [id, move] : open_.all()) {
    const bool is_expected = !move->is_source() && move->entry.method == Method::birth &&
                             move->entry.step <= Step::start && move->copy.seen != Copy::running;
    if (!is_expected) continue;
    const Plan& plan = move->plan;
    births.push_back({move->written, plan.request, plan.is_early, false, "", gpus_of(plan)});
  }
  return births;
}

Result<std::vector<std::string>> WorldMigrator::open_with(const std::string& id) const {
  if (const std::string why = records_.why_unread(); !why.empty()) return bad_input(why);
  return open_.open_with(id);
}

// -------------------------------------------------------------------------------- the start

Async<void> WorldMigrator::start() {
  records_.begin();
  if (const Result<ctrl::engine::Version> version = co_await world_.engine.ping(); !version) {
    ctrl::log::warning("migrations wait for the engine: " + version.error().message());
  }
  if (records_.is_lost()) {
    // It is never read: nothing begins, and peers are told that nothing can be said.
    ctrl::spawn(world_.host.io(), "half moved", name_lost());
    co_return;
  }
  if (!co_await restore()) {
    ctrl::spawn(world_.host.io(), "journal of moves", restore_later());
  }
}

Async<void> WorldMigrator::name_lost() {
  LostMoves lost(world_);
  co_await lost.name_all();
}

Async<void> WorldMigrator::restore_later() {
  world_.host.warn(
      "until flowcond can read and write the journal, it migrates no container and answers no peer "
      "about migrations; it retries");
  for (double wait = kReadAgain; !world_.is_ended; wait = std::min(2 * wait, kReadAgainMost)) {
    co_await world_.clock.pause(wait);
    if (world_.is_ended) co_return;
    if (co_await restore()) {
      ctrl::log::info("the journal of migrations was read");
      co_return;
    }
  }
}

// False where it has to be tried again. What was taken up already stays.
Async<bool> WorldMigrator::restore() {
  std::function<void(MovePtr)> launch = [this](MovePtr move) { driver_.launch(std::move(move)); };
  if (!co_await records_.read(std::move(launch))) co_return false;
  ::unlink((world_.host.config().state_dir + "/open-moves").c_str());
  ctrl::spawn(world_.host.io(), "data kept for jobs", cache_.run());
  co_return true;
}

// -------------------------------------------------------------------------------- the end

Async<void> WorldMigrator::settle(double seconds) {
  world_.is_stopping = true;
  const double until = world_.clock.steady() + seconds;
  // What is not read cannot be undone, nor named in the end.
  while (records_.is_reading() && world_.clock.steady() < until)
    co_await world_.clock.pause(kSettleLook);
  for (const auto& [id, move] : open_.all()) {
    if (!move->is_on_its_way_back()) continue;
    move->turn_back("flowcond was stopped");
    move->wake();
  }
  // A job that was asked to save does so in its time, and is down afterwards unless it is started.
  double longest = until;
  for (const auto& [id, move] : open_.all()) {
    const bool may_be_saving = move->is_on_its_way_back() && move->entry.step >= Step::save;
    if (!may_be_saving) continue;
    longest = std::max(longest, world_.clock.steady() + move->plan.checkpoint.timeout + kRestart);
  }
  const auto is_busy = [](const auto& one) { return one.second->is_on_its_way_back(); };
  double next_word = world_.clock.steady();
  while (world_.clock.steady() < longest &&
         std::any_of(open_.all().begin(), open_.all().end(), is_busy)) {
    if (world_.clock.steady() >= next_word) {
      ctrl::service::tell_stop_lasts(kStopLasts, "waiting for jobs that save themselves");
      next_word = world_.clock.steady() + kStopWord;
    }
    co_await world_.clock.pause(kSettleLook);
  }
}

// Is the job not where it was before, or may it still end?
bool WorldMigrator::is_away(const Move& move) const {
  const Step step = move.written.step;
  if (!move.is_source() || step < Step::save) return step >= Step::start && step <= Step::remove;
  const bool stays = step == Step::undo && move.copy.seen == Copy::running;
  return !stays || world_.clock.steady() < move.quiet_from;
}

// What of a package is to be removed may ask without flowcond: debian/docker-flowcon.prerm.
void WorldMigrator::end() {
  world_.is_ended = true;
  cache_.wake();
  std::string names;
  if (records_.is_reading()) names = "(the journal was not read)\n";
  for (const auto& [id, move] : open_.all()) {
    if (is_away(*move)) names += move->written.name + "\n";
  }
  if (!names.empty()) std::ofstream(world_.host.config().state_dir + "/open-moves") << names;
  for (const auto& [id, move] : open_.all()) {
    move->alarm->ring();
    const Entry& entry = move->written;
    const std::string what = move->is_source() && is_away(*move)
                                 ? "it is stopped here until flowcond runs again"
                                 : "it goes on when flowcond runs again";
    ctrl::log::warning(move->label() + (move->is_source() ? " to " : " from ") +
                       move->account.peer_name + " is open at step " + name(entry.step) + ": " +
                       what);
  }
}

}  // namespace flowcon::cluster::migration
