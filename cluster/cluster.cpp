// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.h"

#include "cluster/balancer.h"
#include "cluster/elsewhere.h"
#include "cluster/live_log.h"
#include "cluster/lives.h"
#include "cluster/migration/run/migrator.h"
#include "cluster/peers/peers.h"
#include "cluster/policy/algorithms.h"
#include "cluster/queue/estimates.h"
#include "cluster/queue/queue.h"
#include "ctrl/engine/client.h"
#include "ctrl/exposition.h"
#include "ctrl/log.h"

namespace flowcon::cluster {
namespace {

using ctrl::api::failure;
using ctrl::api::Request;
using ctrl::api::Response;

class Cluster : public ctrl::Extension {
 public:
  Cluster(ctrl::LocalHost& host, std::unique_ptr<ctrl::api::Server> server)
      : peers_(host, std::move(server)),
        migrator_(migration::make_migrator(host, peers_, lives_)),
        balancer_(host, peers_, *migrator_),
        elsewhere_(host, peers_, *migrator_),
        engine_(host.io(), host.config().engine),
        clock_(host.io()),
        rows_(host),
        estimates_(
            host, peers_,
            [this](std::string image) { return queue::image_facts(engine_, std::move(image)); },
            [] { return peers::present().wall; }),
        queue_({host, tickets_, clock_, rows_, peers_, *migrator_,
                [this](const ctrl::estimate::Command& command) {
                  return estimates_.estimate(command);
                },
                [this] { return estimates_.is_ready() ? estimates_.learnings() + 1 : 0; },
                queue::boot_time},
               [this] { estimates_.job_ended(); }) {
    lives_.join(balancer_, &host);
    balancer_.count_tasks([this] { return queue_.unreturned(); });
    migrator_->tell_of_tasks([this](const std::string& id) { queue_.hear_of_move(id); });
    migrator_->judge_room(
        [this](const policy::Amounts& request) { return queue_.why_no_room(request); });
    migrator_->choose_gpus([this](boost::json::object& body, const Passage& birth) {
      return queue_.give_gpus(body, birth);
    });
    peers_.join({[this] { return balancer_.counts(); }, [this] { return !queue_.is_ready(); },
                 verbs(), [this] { balancer_.look(); },
                 [this](const std::string& id) { return migrator_->open_with(id); }});
  }

  Async<void> begin() override {
    co_await estimates_.begin();
    co_await queue_.begin();
    co_await peers_.begin();
    if (!peers_.has_identity()) co_return;
    co_await balancer_.begin();
    co_await migrator_->start();
  }

  void look(double now) override {
    balancer_.look();
    peers_.look(now);
    estimates_.look(now);
    queue_.look();
  }

  [[nodiscard]] ctrl::api::Routes peer_routes() override { return peers_.peer_routes(); }

  [[nodiscard]] ctrl::api::Routes routes() override {
    ctrl::api::Routes all = peers_.routes();
    for (ctrl::api::Route& row : balancer_.routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : elsewhere_.routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : all) {
      row.answer = [this, answer = std::move(row.answer)](ctrl::api::Call call) {
        if (peers_.has_identity()) return answer(std::move(call));
        return ctrl::api::at_once(
            failure(503, "peers are off: flowcond could not write its state file at the start"));
      };
    }
    for (ctrl::api::Route& row : migrator_->routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : live_log_.routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : estimates_.routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : queue_.routes()) all.push_back(std::move(row));
    return all;
  }

  Async<std::optional<Response>> answer_first(Request request) override {
    return elsewhere_.answer(std::move(request));
  }

  [[nodiscard]] const ctrl::policy::Algorithm* find_algorithm(
      std::string_view name) const override {
    return policy::find_algorithm(name);
  }

  [[nodiscard]] std::string host_name(const std::string& id) const override {
    return balancer_.host_name(id);
  }

  [[nodiscard]] bool is_moving(const std::string& id) const override {
    return migrator_->is_moving(id) || queue_.goes_on(id);
  }
  [[nodiscard]] bool is_cut_short(const std::string& id) const override {
    return queue_.is_cut_short(id);
  }
  [[nodiscard]] bool is_saving(const std::string& id) const override {
    return migrator_->is_saving(id) || queue_.is_saving(id);
  }

  [[nodiscard]] bool is_early(const std::string& id) const override { return queue_.is_early(id); }

  [[nodiscard]] std::optional<double> promised_cores(const std::string& id) const override {
    return queue_.cores_of(id);
  }

  [[nodiscard]] std::optional<ctrl::QueueCounts> queue_counts() const override {
    return queue_.counts();
  }

  void add_metrics(ctrl::Exposition& out) const override {
    queue_.add_metrics(out);
    estimates_.add_metrics(out);
    out.add("flowcon_draining", peers_.is_draining() ? 1 : 0);
    for (const Neighbour& peer : peers_.neighbours()) {
      out.add("flowcon_peer_up", {{"peer", peer.name}}, peer.is_reachable ? 1 : 0);
      if (!peer.state) continue;
      out.add("flowcon_peer_containers", {{"peer", peer.name}},
              static_cast<double>(peer.state->containers));
      out.add("flowcon_peer_usage_ratio", {{"peer", peer.name}}, peer.state->usage);
    }
  }

  Async<void> settle(double seconds) override { co_await migrator_->settle(seconds); }

  void end() override {
    queue_.end();
    estimates_.end();
    balancer_.end();
    migrator_->end();
    peers_.end();
  }

 private:
  // What peers ask of the rest.
  ctrl::api::Routes verbs() {
    ctrl::api::Routes all = balancer_.peer_routes();
    for (ctrl::api::Route& row : migrator_->peer_routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : queue_.peer_routes()) all.push_back(std::move(row));
    for (ctrl::api::Route& row : elsewhere_.peer_routes()) all.push_back(std::move(row));
    return all;
  }

  peers::Peers peers_;
  JobLives lives_;
  std::unique_ptr<migration::Migrator> migrator_;
  Balancer balancer_;
  Elsewhere elsewhere_;
  ctrl::engine::Client engine_;
  migration::DockerEngine tickets_{engine_};
  LiveLog live_log_{engine_};
  migration::SystemClock clock_;
  queue::StoreRows rows_;
  queue::Estimates estimates_;
  queue::Queue queue_;
};

}  // namespace

Result<std::unique_ptr<ctrl::Extension>> make_cluster(ctrl::LocalHost& host) {
  std::string notice;
  const ctrl::Config& config = host.config();
  auto server =
      ctrl::api::Server::listen(host.io(), config.peer_socket_path(), config.peers.group, &notice);
  if (!server) {
    host.warn("no peer can reach this host: " + server.error().message() +
              " (another one: --peer-socket)");
    return std::unique_ptr<ctrl::Extension>(new Cluster(host, nullptr));
  }
  // Most hosts have no peers: that the group is not there yet is told when the first one is added.
  if (!notice.empty()) ctrl::log::debug(notice);
  return std::unique_ptr<ctrl::Extension>(new Cluster(host, std::move(*server)));
}

}  // namespace flowcon::cluster
