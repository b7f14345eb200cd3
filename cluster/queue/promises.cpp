// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/promises.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace flowcon::cluster::queue {
namespace {

constexpr double kOnItsWay = 120;  // seconds until a host counts what it was asked for
constexpr double kAdopted = 1800;  // and a job of several tasks all of them, two at a time

Promises::Given given_by(const Order& order, const policy::WaitingTask& job) {
  Promises::Given given;
  if (!order.host.empty()) given[order.host] = policy::whole_request(job);
  for (const TaskPlace& place : order.places) {
    given[place.host] = policy::sum_of(job, place.workers, place.ps);
  }
  return given;
}

}  // namespace

bool Promises::knows_all(double now) const { return now >= since_ + kOnItsWay; }

Promises::Given Promises::given(const std::string& owner, const std::string& job) const {
  for (const ByOwner* one : {&given_, &adopted_}) {
    const auto jobs = one->find(owner);
    if (jobs == one->end()) continue;
    const auto found = jobs->second.find(job);
    if (found != jobs->second.end()) return found->second;
  }
  return {};
}

// What a coordinator before this one gave, as the owners say: tasks that their hosts are yet to be
// asked for keep their room.
void Promises::adopt(const std::vector<HostJobs>& hosts) {
  for (const HostJobs& owner : hosts) {
    for (const ReportedJob& job : owner.jobs) {
      Given places;
      for (const HeldPlace& held : job.places) {
        if (held.host == owner.id) continue;
        const policy::Amounts part = policy::sum_of(job.task, held.workers, held.ps);
        const auto [place, is_first] = places.try_emplace(held.host, part);
        if (!is_first) add(place->second, part, 1);
      }
      if (!places.empty()) adopted_[owner.id][job.task.id] = std::move(places);
    }
  }
}

void Promises::note(double now, const std::vector<HostJobs>& hosts, const AllJobs& all,
                    const std::map<std::string, std::vector<JobOrder>>& orders) {
  for (const HostJobs& host : hosts) {
    const auto jobs = given_.find(host.id);
    if (jobs == given_.end()) continue;
    std::set<std::string_view> told;
    for (const ReportedJob& job : host.jobs) told.insert(job.task.id);
    std::erase_if(jobs->second, [&](const auto& one) { return !told.contains(one.first); });
  }
  if (!knows_all(now)) adopt(hosts);
  if (now >= since_ + kAdopted) adopted_.clear();
  std::map<std::pair<std::string_view, std::string_view>, const Order*> giving;
  for (const auto& [owner, some] : orders) {
    for (const JobOrder& one : some) {
      const bool gives =
          one.order && (one.order->op == Order::Op::start || one.order->op == Order::Op::resize);
      if (gives) giving[{owner, one.job}] = &*one.order;
    }
  }
  for (std::size_t i = 0; i < all.known.size() && !giving.empty(); ++i) {
    const std::string id = id_at_owner(all, i);
    const auto order = giving.find({all.known[i].owner, id});
    if (order == giving.end()) continue;
    given_[all.known[i].owner][id] = given_by(*order->second, all.view.jobs[i]);
  }
}

policy::Amounts take_part(policy::Amounts& given, policy::Amounts part) {
  for (auto& [kind, amount] : part) {
    amount = std::clamp(policy::amount_of(given, kind), 0.0, std::max(amount, 0.0));
    add(given, {{kind, amount}}, -1);
  }
  return part;
}

}  // namespace flowcon::cluster::queue
