// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/promises.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace flowcon::cluster::queue {
namespace {

constexpr double kOnItsWay = 120;  // seconds until a host counts what it was asked for

Promises::Given given_by(const Order& order, const policy::WaitingTask& job) {
  Promises::Given given;
  if (!order.host.empty()) given[order.host] = policy::whole_request(job);
  for (const TaskPlace& place : order.places) {
    given[place.host] = policy::sum_of(job, place.workers, place.ps);
  }
  return given;
}

// What a job has on another host by its owner's word alone.
struct Claim {
  policy::Amounts amounts;
  bool is_denied = true;  // that host is heard, and counts no task of the job
};

std::map<std::string, Claim> claims_of(const HostJobs& owner, const ReportedJob& job,
                                       const std::map<std::string_view, const HostJobs*>& heard) {
  std::map<std::string, Claim> claims;
  for (const HeldPlace& held : job.places) {
    if (held.host == owner.id) continue;
    const auto there = heard.find(held.host);
    const bool is_counted = there != heard.end() && counts(*there->second, held.birth, owner.id);
    Claim& claim = claims[held.host];
    claim.is_denied = claim.is_denied && there != heard.end() && !is_counted;
    if (is_counted) continue;
    const policy::Amounts part = policy::sum_of(job.task, held.workers, held.ps);
    if (claim.amounts.empty()) {
      claim.amounts = part;
    } else {
      add(claim.amounts, part, 1);
    }
  }
  std::erase_if(claims, [](const auto& one) { return one.second.amounts.empty(); });
  return claims;
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

// What a coordinator before this one gave, as the owners say. A host that has one task of a job may
// be yet to be asked for the others, of which two are on their way at a time.
void Promises::adopt(double now, const std::vector<HostJobs>& hosts) {
  std::map<std::string_view, const HostJobs*> heard;
  for (const HostJobs& host : hosts) heard[host.id] = &host;
  for (const HostJobs& owner : hosts) {
    std::map<std::string, Given> before;
    if (const auto found = adopted_.extract(owner.id)) before = std::move(found.mapped());
    if (before.empty() && knows_all(now)) continue;
    for (const ReportedJob& job : owner.jobs) {
      Given& known = before[job.task.id];
      for (auto& [host, claim] : claims_of(owner, job, heard)) {
        const bool has_ended = knows_all(now) && (claim.is_denied || !known.contains(host));
        if (has_ended) continue;
        if (knows_all(now)) claim.amounts = take_part(known[host], std::move(claim.amounts));
        adopted_[owner.id][job.task.id][host] = std::move(claim.amounts);
      }
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
  adopt(now, hosts);
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
