// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_bound.h"

#include <algorithm>
#include <cmath>

namespace flowcon::cluster::policy::horizon {
namespace {

// Partial plans visited: for one response, of all jobs in one round, in all rounds (about 30 ms).
constexpr std::int64_t kMostVisits = 20'000;
constexpr std::int64_t kMostVisitsOfRound = 2'000'000;
constexpr std::int64_t kMostWork = 1'500'000;
constexpr int kMostRounds = 120;
constexpr std::size_t kMostColumns = 4'000;

/// A job's step from one of its numbers to a higher one, at its worth a node.
struct Raise {
  double rate = 0;
  int nodes = 0;
};

// The steps of a job along the concave hull of its gains.
void add_raises(const Job& job, std::vector<Raise>& raises) {
  std::size_t at = 0;
  for (;;) {
    std::size_t to = at;
    Raise best;
    for (std::size_t k = at + 1; k < job.numbers.size(); ++k) {
      const int nodes = job.numbers[k] - job.numbers[at];
      const double rate = (job.gain[k] - job.gain[at]) / nodes;
      if (rate > best.rate) {
        best = {rate, nodes};
        to = k;
      }
    }
    if (to == at) return;
    raises.push_back(best);
    at = to;
  }
}

// What the last node is worth in one step, were all jobs endless and nodes divisible.
double last_rate(const Model& model) {
  std::vector<Raise> raises;
  std::int64_t spare = model.nodes;
  for (const Job& job : model.jobs) {
    spare -= job.numbers.front();
    add_raises(job, raises);
  }
  std::stable_sort(raises.begin(), raises.end(),
                   [](const Raise& a, const Raise& b) { return a.rate > b.rate; });
  for (const Raise& raise : raises) {
    spare -= raise.nodes;
    if (spare < 0) return raise.rate;
  }
  return 0;
}

}  // namespace

struct Responder::Search {
  explicit Search(const Job& of) : job(of) {}

  const Job& job;
  double floor = 0;    ///< a response has to have more
  double cut_off = 0;  ///< at most so much has what was not looked at
  bool is_complete = true;
  std::int64_t visits_left = 0;
  std::vector<Choice> path;
  Choice* best = nullptr;                  ///< keeps the best response there, or
  std::vector<Column>* columns = nullptr;  ///< all of them there
};

Responder::Responder(const Model& model, const std::vector<double>& prices)
    : model_(model), prices_(prices) {
  const auto jobs = static_cast<std::int64_t>(model.jobs.size());
  most_visits_ = std::min(kMostVisits, 1 + kMostVisitsOfRound / std::max<std::int64_t>(jobs, 1));
}

void Responder::look_ahead(const Job& job) {
  const auto steps = static_cast<std::size_t>(model_.steps);
  hope_.assign(steps + 1, 0);
  least_.assign(steps + 1, 0);
  for (std::size_t t = steps; t-- > 0;) {
    const auto times = static_cast<double>(steps - t);  // so often counts what this step serves
    double most = times * job.gain[0] - prices_[t] * job.numbers[0];
    for (std::size_t k = 1; k < job.numbers.size(); ++k) {
      most = std::max(most, times * job.gain[k] - prices_[t] * job.numbers[k]);
    }
    hope_[t] = hope_[t + 1] + most;
    least_[t] = least_[t + 1] + prices_[t] * job.numbers[0];
  }
}

// A response: nothing more is gained from `step` on.
void Responder::end(Search& search, int step, double total) const {
  if (!(total > search.floor)) return;
  std::fill(search.path.begin() + step, search.path.end(), Choice{0});
  if (search.best != nullptr) {
    search.floor = total;
    std::copy(search.path.begin(), search.path.end(), search.best);
  } else if (search.columns->size() < kMostColumns) {
    search.columns->push_back({search.path, 0, total});
  } else {
    search.is_complete = false;
    search.visits_left = 0;
  }
}

// `value`: of the steps before `step`, less their price.
void Responder::descend(Search& search, int step, double served, double value, int before) {
  const auto t = static_cast<std::size_t>(step);
  const double times = model_.steps - step;
  const double kept = value + times * served;  // with nothing from here on
  if (step == model_.steps || served >= 1) return end(search, step, kept - least_[t]);
  const double most = kept + std::min(hope_[t], times * (1 - served) - least_[t]);
  if (!(most > search.floor)) return;
  if (search.visits_left <= 0) {
    search.is_complete = false;
    search.cut_off = std::max(search.cut_off, most);
    return;
  }
  --search.visits_left;
  ++work_;
  const Job& job = search.job;
  for (std::size_t k = job.numbers.size(); k-- > 0;) {
    const int choice = static_cast<int>(k);
    search.path[t] = static_cast<Choice>(k);
    const double then = std::min(1.0, served + job.gain_after(before, choice));
    descend(search, step + 1, then, value + then - prices_[t] * job.numbers[k], choice);
  }
}

double Responder::best(const Job& job, Choice* choices) {
  look_ahead(job);
  Search search(job);
  search.floor = value_of(model_, job, choices);
  for (std::size_t t = 0; t < prices_.size(); ++t) {
    search.floor -= prices_[t] * job.numbers[choices[t]];
  }
  search.cut_off = search.floor;
  search.visits_left = most_visits_;
  search.path.assign(prices_.size(), 0);
  search.best = choices;
  descend(search, 0, 0, 0, job.now);
  return std::max(search.floor, search.cut_off);
}

bool Responder::all(const Job& job, double best, double most_loss, std::vector<Column>& columns) {
  look_ahead(job);
  columns.clear();
  Search search(job);
  search.floor = best - most_loss;
  search.visits_left = most_visits_;
  search.path.assign(prices_.size(), 0);
  search.columns = &columns;
  descend(search, 0, 0, 0, job.now);
  for (Column& column : columns) {
    column.loss = std::max(0.0, best - column.loss);
    column.value = value_of(model_, job, column.choices.data());
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const Column& a, const Column& b) { return a.loss < b.loss; });
  return search.is_complete;
}

Dual solve_dual(const Model& model, double value) {
  const auto steps = static_cast<std::size_t>(model.steps);
  // Were no job to end, what a step serves would count once for each step that follows.
  std::vector<double> prices(steps, last_rate(model));
  for (std::size_t t = 0; t < steps; ++t) prices[t] *= static_cast<double>(steps - t);
  std::vector<Choice> responses(model.jobs.size() * steps, 0);
  Dual dual;
  double pace = 1;
  int stale = 0;
  std::int64_t work = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    Responder responder(model, prices);
    std::vector<double> spare(steps, model.nodes);
    double bound = 0;
    for (const double price : prices) bound += price * model.nodes;
    for (std::size_t i = 0; i < model.jobs.size(); ++i) {
      Choice* const choices = responses.data() + i * steps;
      bound += responder.best(model.jobs[i], choices);
      for (std::size_t t = 0; t < steps; ++t) spare[t] -= model.jobs[i].numbers[choices[t]];
    }
    work += responder.work() + static_cast<std::int64_t>(responses.size());
    const bool is_less = round == 0 || bound < dual.bound * (1 - 1e-7);
    stale = is_less ? 0 : stale + 1;
    if (stale == 4) {
      pace /= 2;
      stale = 0;
    }
    if (round == 0 || bound < dual.bound) dual = {bound, prices};
    double norm = 0;
    for (const double nodes : spare) norm += nodes * nodes;
    if (norm == 0 || dual.bound <= value + kRounding || work > kMostWork || pace < 0.01) break;
    const double step = pace * (bound - value) / norm;  // Polyak's, towards the plan's value
    for (std::size_t t = 0; t < steps; ++t) prices[t] = std::max(0.0, prices[t] - step * spare[t]);
  }
  return dual;
}

}  // namespace flowcon::cluster::policy::horizon
