// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_problem.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace flowcon::cluster::policy::horizon {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Cells times sums of what the members behind can use together; are there more, all sums between
// are taken to be there.
constexpr std::size_t kMostSums = 400'000;

// most[used]: the largest net[rest] for rest = net.size() - 1 - used - one of `sums`.
void most_of_sums(const std::vector<double>& net, const std::vector<int>& sums, double* most) {
  for (const int sum : sums) {
    const auto behind = static_cast<std::size_t>(sum);
    for (std::size_t used = 0; used + behind < net.size(); ++used) {
      most[used] = std::max(most[used], net[net.size() - 1 - used - behind]);
    }
  }
}

// The same where the sums are all from `least` to `last`: the largest of a window that slides.
void most_of_window(const std::vector<double>& net, int least, int last, double* most) {
  std::deque<int> falling;  // rests that are largest of those that come after them
  const int size = static_cast<int>(net.size());
  for (int left = 0; left < size; ++left) {
    const int newest = left - least;
    if (newest < 0) continue;
    const double worth = net[static_cast<std::size_t>(newest)];
    while (!falling.empty() && net[static_cast<std::size_t>(falling.back())] <= worth) {
      falling.pop_back();
    }
    falling.push_back(newest);
    while (falling.front() < left - last) falling.pop_front();
    most[size - 1 - left] = net[static_cast<std::size_t>(falling.front())];
  }
}

}  // namespace

Problem::Problem(const Model& model, const Dual& dual, const std::vector<std::uint8_t>& is_member,
                 double value)
    : model_(model),
      dual_(dual),
      fields_(model.nodes, model.steps),
      responder_(model, dual.prices) {
  divide(is_member);
  price();
  most_loss_ = bound_ - value + kRounding;
  list_columns();
  look_ahead();
  work_ += responder_.work();
}

void Problem::divide(const std::vector<std::uint8_t>& is_member) {
  rest_spare_ = model_.nodes;
  for (const Job& job : model_.jobs) rest_spare_ -= job.numbers.front();
  rest_.reset(rest_spare_);
  for (std::size_t i = 0; i < model_.jobs.size(); ++i) {
    const Job& job = model_.jobs[i];
    if (is_member[i] != 0) {
      members_.emplace_back().job = i;
    } else {
      others_.push_back(i);
      rest_.add(job.numbers, job.gain.data());
      rest_least_ += job.numbers.front();
    }
  }
  work_ += static_cast<std::int64_t>(others_.size()) * (rest_spare_ + 1) / 8;
}

void Problem::price() {
  std::vector<Choice> response(dual_.prices.size(), 0);
  for (Member& member : members_) {
    std::fill(response.begin(), response.end(), Choice{0});
    member.best = responder_.best(model_.jobs[member.job], response.data());
    bound_ += member.best;
  }
  for (std::size_t t = 0; t < dual_.prices.size(); ++t) {
    const auto times = static_cast<double>(dual_.prices.size() - t);
    double ceiling = kNever;
    for (int spare = 0; spare <= rest_spare_; ++spare) {
      ceiling =
          std::max(ceiling, times * rest_.best(spare) - dual_.prices[t] * (rest_least_ + spare));
    }
    ceiling_.push_back(ceiling);
    bound_ += ceiling + dual_.prices[t] * model_.nodes;
  }
}

void Problem::list_columns() {
  for (Member& member : members_) {
    const Job& job = model_.jobs[member.job];
    if (!responder_.all(job, member.best, most_loss_, member.columns)) has_all_columns_ = false;
    for (const Column& column : member.columns) {
      Usage& usage = member.usages.emplace_back();
      for (int t = 0; t < model_.steps; ++t) {
        fields_.add(usage, t, job.numbers[column.choices[static_cast<std::size_t>(t)]]);
      }
    }
  }
  // Few choices first: the layers stay small as long as they can.
  std::stable_sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return a.columns.size() < b.columns.size();
  });
}

void Problem::look_ahead() {
  std::vector<std::uint8_t> sums(static_cast<std::size_t>(model_.nodes) + 1, 0);
  sums[0] = 1;  // what the members behind can use together
  int most = model_.nodes - rest_least_;
  double best_behind = 0;
  for (std::size_t m = members_.size(); m-- > 0;) {
    Member& member = members_[m];
    const std::vector<int>& numbers = model_.jobs[member.job].numbers;
    for (int t = 0; t < model_.steps; ++t) fields_.add(member.most, t, most);
    member.best_behind = best_behind;
    fill_hope(member, sums);
    most -= numbers.front();
    best_behind += member.best;
    std::vector<std::uint8_t> next(sums.size(), 0);
    for (const int number : numbers) {
      const auto more = static_cast<std::size_t>(number);
      for (std::size_t sum = more; sum < sums.size(); ++sum) {
        next[sum] = static_cast<std::uint8_t>(next[sum] | sums[sum - more]);
      }
    }
    sums.swap(next);
  }
}

// In each step, by the nodes used so far: most of times * (worth of the rest) + price * f, where f
// is one of the sums of what the members behind use.
void Problem::fill_hope(Member& member, const std::vector<std::uint8_t>& sums) {
  std::vector<int> behind;
  for (std::size_t sum = 0; sum < sums.size(); ++sum) {
    if (sums[sum] != 0) behind.push_back(static_cast<int>(sum));
  }
  member.hope.assign(sums.size() * dual_.prices.size(), kNever);
  const bool is_exact = member.hope.size() * behind.size() <= kMostSums;
  work_ += static_cast<std::int64_t>(member.hope.size() * (is_exact ? behind.size() : 16) / 64);
  std::vector<double> net(static_cast<std::size_t>(model_.nodes - rest_least_) + 1);
  for (std::size_t t = 0; t < dual_.prices.size(); ++t) {
    const auto times = static_cast<double>(dual_.prices.size() - t);
    const double price = dual_.prices[t];
    for (std::size_t rest = 0; rest < net.size(); ++rest) {
      const int spare = std::min(static_cast<int>(rest), rest_spare_);
      net[rest] = times * rest_.best(spare) - price * static_cast<double>(rest);
    }
    double* const hope = member.hope.data() + t * sums.size();
    if (is_exact) {
      most_of_sums(net, behind, hope);
    } else {
      most_of_window(net, behind.front(), behind.back(), hope);
    }
    for (std::size_t used = 0; used < net.size(); ++used) {
      hope[used] += price * static_cast<double>(net.size() - 1 - used);
    }
  }
}

double Problem::hope(std::size_t m, const Usage& usage, double value) const {
  const Member& member = members_[m];
  const double* hope = member.hope.data();
  double most = value + member.best_behind;
  for (int t = 0; t < model_.steps; ++t) {
    most += hope[fields_.at(usage, t)];
    hope += model_.nodes + 1;
  }
  return most;
}

void Problem::choose_others(int step, const Usage& usage, std::vector<Choice>& choices) const {
  const int used = static_cast<int>(fields_.at(usage, step));
  rest_.choose(std::min(model_.nodes - rest_least_ - used, rest_spare_), choices);
}

}  // namespace flowcon::cluster::policy::horizon
