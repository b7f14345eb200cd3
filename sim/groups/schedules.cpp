// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/schedules.h"

#include <algorithm>
#include <array>

#include "base/random.h"

namespace flowcon::sim::groups {
namespace {

struct Model {
  std::string_view name;
  double work;
  double slowdown;
};

constexpr std::array<Model, 4> kKod2Models{{
    {"cnn-rand", 240, 0.15},
    {"vgg-16", 1500, 1.0},
    {"resnet-50", 1100, 0.45},
    {"resnext-110", 1800, 0.3},
}};

constexpr Model kResNet{"resnet-50", 600, 0.35};
constexpr Model kInception{"inception", 700, 0.15};
constexpr Model kVgg{"vgg-16", 500, 1.0};

std::int64_t one_of(Random& random, const std::array<std::int64_t, 3>& values) {
  return values[random.below(values.size())];
}

// Each job draws whether it has a counter from numbers of its own: the share shifts nothing else.
void set_counters(GroupSchedule& schedule, const GroupOptions& options) {
  Random random(mix(options.seed, 0xc0de));
  for (GroupJob& job : schedule.jobs) job.has_counter = random.uniform() < options.counters;
}

GroupSchedule kod2(const GroupOptions& options) {
  const auto* model = std::find_if(kKod2Models.begin(), kKod2Models.end(),
                                   [&](const Model& each) { return each.name == options.model; });
  if (model == kKod2Models.end()) model = &kKod2Models[1];
  GroupSchedule schedule;
  schedule.seed = options.seed;
  schedule.law = {0.7, 0.9, false};
  if (options.starve_limit >= 0) schedule.starve_limit = options.starve_limit;
  for (std::size_t i = 0; i < 3; ++i) {
    schedule.nodes.push_back(
        {"h" + std::to_string(i + 1), "r1", "d1", {{"cpu", 10}, {"mem", 32}}, {}});
  }
  Random random(options.seed);
  for (std::size_t i = 0; i < 10; ++i) {
    GroupJob job;
    job.id = std::string(model->name) + "-" + std::to_string(i + 1);
    job.arrival = 30 * static_cast<double>(i);
    job.slowdown = model->slowdown;
    job.min = one_of(random, {1, 1, 2});
    job.max = job.min + one_of(random, {1, 2, 3});
    job.ps_request = {{"cpu", 1}, {"mem", 2}};
    const auto cores = static_cast<double>(one_of(random, {1, 2, 3}));
    const auto memory = static_cast<double>(one_of(random, {2, 4, 8}));
    job.worker_request = {{"cpu", cores}, {"mem", memory}};
    job.work = model->work * random.uniform(0.6, 1.4);
    schedule.jobs.push_back(std::move(job));
  }
  set_counters(schedule, options);
  return schedule;
}

GroupSchedule liquid(const GroupOptions& options, std::size_t nodes) {
  GroupSchedule schedule;
  schedule.seed = options.seed;
  schedule.law.is_network_shared = true;
  for (std::size_t i = 0; i < nodes; ++i) {
    schedule.nodes.push_back({"h" + std::to_string(i + 1),
                              "r" + std::to_string(i / 5 + 1),
                              "d1",
                              {{"cpu", 8}, {"gpu", 2}},
                              {}});
  }
  Random random(options.seed);
  std::vector<const Model*> models;
  for (std::size_t i = 0; i < nodes / 5; ++i) {
    models.insert(models.end(), 4, &kResNet);
    models.insert(models.end(), 2, &kInception);
    models.insert(models.end(), 2, &kVgg);
  }
  for (std::size_t i = models.size(); i > 1; --i) std::swap(models[i - 1], models[random.below(i)]);
  constexpr std::array<std::int64_t, 4> kWorkers{1, 2, 2, 3};
  for (const Model* model : models) {
    GroupJob job;
    job.id = std::string(model->name) + "-" + std::to_string(schedule.jobs.size() + 1);
    job.slowdown = model->slowdown;
    job.work = model->work * random.uniform(0.8, 1.2);
    job.min = kWorkers[random.below(kWorkers.size())];
    job.max = job.min;
    job.ps_request = {{"cpu", 1}};
    job.worker_request = {{"cpu", 2}, {"gpu", 1}};
    schedule.jobs.push_back(std::move(job));
  }
  return schedule;
}

}  // namespace

const std::vector<ScheduleKind>& group_schedules() {
  using Options = const GroupOptions&;
  static const std::vector<std::string_view> kQueues{"tf-operator", "tf-operator-whole", "fifo",
                                                     "kod2",        "kod2-repeat",       "queue"};
  static const std::vector<std::string_view> kPlaces{"random",   "even",   "least-loaded",
                                                     "best-fit", "seeded", "genetic"};
  static const std::vector<ScheduleKind> kSchedules{
      {"kod2",
       "KOD2: 10 jobs of a model, one every 30 s, on 3 hosts",
       {"vgg-16", "cnn-rand", "resnet-50", "resnext-110"},
       kQueues,
       kod2},
      {"liquid-5",
       "Liquid: 8 jobs at once on 5 hosts of 2 GPUs",
       {},
       kPlaces,
       [](Options o) { return liquid(o, 5); }},
      {"liquid-10",
       "Liquid: 16 jobs at once on 10 hosts",
       {},
       kPlaces,
       [](Options o) { return liquid(o, 10); }},
      {"liquid-15",
       "Liquid: 24 jobs at once on 15 hosts",
       {},
       kPlaces,
       [](Options o) { return liquid(o, 15); }},
      {"liquid-20",
       "Liquid: 32 jobs at once on 20 hosts",
       {},
       kPlaces,
       [](Options o) { return liquid(o, 20); }},
  };
  return kSchedules;
}

const ScheduleKind* find_group_schedule(std::string_view name) {
  for (const ScheduleKind& known : group_schedules()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace flowcon::sim::groups
