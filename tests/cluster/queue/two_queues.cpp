// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {

Async<Result<std::string>> TaskEngine::make(std::string name, Plan plan, std::string id,
                                            std::string image) {
  const boost::json::object labels = object_of(plan.body, "Labels");
  const boost::json::value host_config = member(plan.body, "HostConfig");
  std::string called = name;
  Result<std::string> made =
      co_await FakeEngine::make(std::move(name), std::move(plan), std::move(id), std::move(image));
  Box& box = boxes_.at(*made);
  for (const auto& [label, value] : labels) box.labels[label] = std::string(value.get_string());
  inspects_[*made] = inspect_of(*made, called);
  inspects_[*made]["HostConfig"].as_object()["DeviceRequests"] =
      member(host_config, "DeviceRequests");
  tell("create", *made);
  co_return made;
}

TwoQueues::TwoQueues() {
  offer(h1, 4, 8);
  offer(h2, 4, 1);
  connect(h1, h2);
  connect(h2, h1);
  h2.goods.images_.insert("sha256:" + std::string(64, 'e'));
  start(h1);
  start(h2);
  run(3);
}

TwoQueues::~TwoQueues() {
  for (Side* side : {&h1, &h2}) kill(*side);
  do poll();
  while (clock.advance(1e12));
}

void TwoQueues::offer(Side& side, double cores, double gibibytes) {
  side.host.view_.cores = cores;
  side.host.config_.queue.offer.cpu = cores;
  side.host.config_.queue.offer.mem = gibibytes * kGiB;
}

void TwoQueues::start(Side& side) {
  side.is_up = true;
  side.migrators.push_back(std::make_unique<migration::WorldMigrator>(side.world()));
  migration::WorldMigrator& migrator = *side.migrators.back();
  side.queues.push_back(std::make_unique<queue::Queue>(queue::World{
      side.host, side.engine, clock, side.jobs, side.network, migrator,
      [](const ctrl::estimate::Command&) { return std::vector<ctrl::estimate::LabelEstimate>(); },
      [] { return std::uint64_t{1}; }, [] { return 0.0; }}));
  queue::Queue& queue = *side.queues.back();
  migrator.tell_of_tasks([&queue](const std::string& id) { queue.hear_of_move(id); });
  migrator.judge_room([&queue](const policy::Amounts& asked) { return queue.why_no_room(asked); });
  migrator.choose_gpus([&queue](boost::json::object& body, const Passage& birth) {
    return queue.give_gpus(body, birth);
  });
  // As at a real start: the journal of moves is read later.
  ctrl::spawn(io, "queue", queue.begin());
  ctrl::spawn(io, "migrator", migrator.start());
}

void TwoQueues::kill(Side& side) {
  if (!side.is_up) return;
  side.is_up = false;
  side.migrators.back()->end();
  side.queues.back()->end();
}

void TwoQueues::poll() {
  io.restart();
  while (io.poll() > 0) {
  }
}

void TwoQueues::run(double seconds) {
  const double end = clock.steady() + seconds;
  while (clock.steady() < end) {
    poll();
    for (Side* side : {&h1, &h2}) {
      if (side->is_up) side->queues.back()->look();
    }
    poll();
    const double until = std::min(end, clock.steady() + 0.5);
    while (clock.advance(until)) poll();
  }
  poll();
}

std::string TwoQueues::submit(const std::string& name, double gibibytes,
                              std::map<std::string, std::string> labels) {
  labels["flowcon.queue"] = "true";
  labels["flowcon.request"] = "cpu=1,mem=" + std::to_string(static_cast<int>(gibibytes)) + "G";
  return h2.engine.create(name, labels);
}

boost::json::value TwoQueues::job(const std::string& name) {
  return call("GET", "/v1/queue/" + name + "?decisions=1");
}

boost::json::value TwoQueues::call(const std::string& method, const std::string& target,
                                   const std::string& body) {
  const auto answered = std::make_shared<QueueBench::Answered>();
  ctrl::api::Request request;
  request.method = method;
  request.target = target;
  request.body = body;
  ctrl::spawn(io, "call",
              QueueBench::answer(h2.queues.back()->routes(), std::move(request), answered));
  poll();
  run(0.1);
  return answered->body;
}

bool TwoQueues::comes_to(const std::string& name, const std::string& wanted, double most) {
  return until([&] { return state(name) == wanted; }, most);
}

bool TwoQueues::is_deaf(const Side& from, const Side& to) const {
  return is_cut || (is_mute && &from == &h2) || !from.is_up || !to.is_up;
}

void TwoQueues::connect(Side& from, Side& to) {
  from.network.ask_ = [this, &from, &to](std::string method, std::string path,
                                         std::string body) -> Async<Result<Answer>> {
    if (is_deaf(from, to)) co_return errno_error(ETIMEDOUT, "no connection");
    ctrl::api::Request request;
    request.method = std::move(method);
    request.target = std::move(path);
    std::string speaker = from.network.own_id_;
    ctrl::Pull pull = pull_of(body);
    request.body = std::move(body);
    ctrl::api::Routes verbs = to.queues.back()->peer_routes();
    for (ctrl::api::Route& row : to.migrators.back()->peer_routes()) {
      verbs.push_back(std::move(row));
    }
    const ctrl::api::Response said = co_await ctrl::api::answer_peer(
        &verbs, std::move(request), std::move(speaker), std::move(pull));
    // Who has died meanwhile hears nothing.
    if (is_deaf(from, to)) co_return errno_error(ETIMEDOUT, "no connection");
    co_return Answer{said.status, said.body};
  };
  from.goods.carry_ = [this, &from, &to](std::string method, std::string path,
                                         ctrl::Pull body) -> Async<Result<Answer>> {
    if (is_deaf(from, to)) co_return errno_error(EPIPE, "no connection");
    if (path.ends_with("/image")) co_await clock.pause(image_seconds);
    ctrl::api::Request request;
    request.method = std::move(method);
    request.target = std::move(path);
    std::string speaker = from.network.own_id_;
    const ctrl::api::Routes verbs = to.migrators.back()->peer_routes();
    const ctrl::api::Response said = co_await ctrl::api::answer_peer(
        &verbs, std::move(request), std::move(speaker), std::move(body));
    co_return Answer{said.status, said.body};
  };
}

}  // namespace flowcon::cluster::test
