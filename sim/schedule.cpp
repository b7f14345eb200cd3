// SPDX-License-Identifier: Apache-2.0
#include "sim/schedule.h"

#include <algorithm>
#include <array>

#include "base/random.h"

namespace flowcon::sim {
namespace {

// The models of the publications on a host of eight cores: seconds that one takes alone, cores that
// it can use, and how its loss goes. The publications name the models and little more.
struct Model {
  std::string_view name;
  double seconds;
  double cores;
  Shape shape;
  double first;
  double last;
  double rate;
  std::uint32_t lines;
  double noise;
  double memory;  // bytes
};

constexpr std::array<Model, 8> kModels{{
    {"vae-pytorch", 300, 8, Shape::exponential, 550, 105, 18, 100, 0.01, 1.2e9},
    {"vae-tensorflow", 180, 8, Shape::exponential, 550, 110, 12, 60, 0.01, 1.5e9},
    {"mnist-pytorch", 160, 6, Shape::exponential, 2.3, 0.05, 10, 100, 0.03, 0.9e9},
    {"mnist-tensorflow", 60, 8, Shape::exponential, 2.3, 0.06, 8, 50, 0.03, 1.1e9},
    {"lstm-cfc", 240, 4, Shape::power, 4.2, 1.1, 14, 120, 0.02, 1.4e9},
    {"lstm-crf", 120, 2, Shape::exponential, 38, 2, 6, 80, 0.03, 0.8e9},
    {"bi-rnn", 140, 8, Shape::plateau_drop, 2.1, 0.3, 9, 70, 0.02, 1.3e9},
    {"gru", 200, 6, Shape::exponential, 1.4, 0.2, 5, 90, 0.02, 1.0e9},
}};

constexpr double kJitter = 0.2;   // of the work of jobs of one model: data and epochs differ
constexpr double kWarmup = 0.03;  // share of the work before the first step

const Model& model_of(std::string_view name) {
  const auto found = std::find_if(kModels.begin(), kModels.end(),
                                  [&](const Model& model) { return model.name == name; });
  return found == kModels.end() ? kModels.front() : *found;
}

JobSpec job_of(const Model& model, double arrival, double factor, std::size_t number,
               std::uint64_t seed) {
  JobSpec job;
  job.id = std::string(model.name) + "-" + std::to_string(number + 1);
  job.model = model.name;
  job.arrival = arrival;
  job.work = model.seconds * model.cores * factor;
  job.parallelism = model.cores;
  job.memory = model.memory;
  job.warmup = kWarmup;
  job.lines = model.lines;
  job.noise = model.noise;
  job.noise_seed = mix(seed, number);
  job.curve = std::make_shared<const Curve>(
      Curve::formula(model.shape, model.first, model.last, model.rate));
  return job;
}

// Runs of another time: their work and their noise have nothing to do with the schedule's own.
void add_history(Schedule& schedule, const ScheduleOptions& options) {
  Random random(mix(options.seed, 0x01d));
  std::vector<JobSpec> earlier;
  for (const Model& model : kModels) {
    for (std::uint32_t i = 0; i < options.history; ++i) {
      const double factor = random.uniform(1 - kJitter, 1 + kJitter);
      earlier.push_back(job_of(model, 0, factor, 1000 + earlier.size(), options.seed));
    }
  }
  schedule.earlier = std::move(earlier);
}

Schedule on_hosts(const ScheduleOptions& options, std::size_t hosts) {
  Schedule schedule;
  schedule.seed = options.seed;
  HostSpec spec;
  spec.cores = options.cores.value_or(spec.cores);
  schedule.hosts.assign(options.hosts.value_or(hosts), spec);
  schedule.start = options.start.value_or(Start::balanced);
  add_history(schedule, options);
  return schedule;
}

Schedule random_jobs(const ScheduleOptions& options, std::size_t hosts, std::size_t count,
                     double window) {
  Schedule schedule = on_hosts(options, hosts);
  Random random(options.seed);
  std::array<std::size_t, kModels.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i + 1)]);
  for (std::size_t i = 0; i < count; ++i) {
    // Five jobs are five models; more are drawn.
    const std::size_t drawn = random.below(order.size());
    const Model& model = kModels[count <= 5 ? order[i] : drawn];
    const double factor = random.uniform(1 - kJitter, 1 + kJitter);
    const double arrival = random.uniform(0, window);
    schedule.jobs.push_back(job_of(model, arrival, factor, i, options.seed));
  }
  apply_options(schedule, options);
  return schedule;
}

Schedule fixed3(const ScheduleOptions& options) {
  Schedule schedule = on_hosts(options, 1);
  schedule.jobs = {job_of(model_of("vae-pytorch"), 0, 1, 0, options.seed),
                   job_of(model_of("mnist-pytorch"), 40, 1, 1, options.seed),
                   job_of(model_of("mnist-tensorflow"), 80, 1, 2, options.seed)};
  apply_options(schedule, options);
  return schedule;
}

Schedule specon_same(const ScheduleOptions& options) {
  Schedule schedule = on_hosts(options, 4);
  for (std::size_t i = 0; i < 20; ++i) {
    schedule.jobs.push_back(
        job_of(model_of("vae-pytorch"), 50 * static_cast<double>(i), 1, i, options.seed));
  }
  apply_options(schedule, options);
  return schedule;
}

}  // namespace

const std::vector<PublishedSchedule>& published_schedules() {
  using Options = const ScheduleOptions&;
  static const std::vector<PublishedSchedule> kSchedules{
      {"fixed3", "FlowCon: 3 jobs at 0, 40 and 80 s on one host", fixed3},
      {"random5", "FlowCon: 5 jobs at random in 0-200 s on one host",
       [](Options o) { return random_jobs(o, 1, 5, 200); }},
      {"random10", "FlowCon: 10 jobs at random in 0-200 s on one host",
       [](Options o) { return random_jobs(o, 1, 10, 200); }},
      {"random15", "FlowCon: 15 jobs at random in 0-200 s on one host",
       [](Options o) { return random_jobs(o, 1, 15, 200); }},
      {"specon-4x20-same", "SpeCon: 20 times the same job, one every 50 s, on 4 hosts",
       specon_same},
      {"specon-4x20", "SpeCon: 20 jobs at random in 0-300 s on 4 hosts",
       [](Options o) { return random_jobs(o, 4, 20, 300); }},
      {"specon-4x30", "SpeCon: 30 jobs at random in 0-300 s on 4 hosts",
       [](Options o) { return random_jobs(o, 4, 30, 300); }},
      {"specon-8x50", "SpeCon: 50 jobs at random in 0-1200 s on 8 hosts",
       [](Options o) { return random_jobs(o, 8, 50, 1200); }},
  };
  return kSchedules;
}

const PublishedSchedule* find_schedule(std::string_view name) {
  for (const PublishedSchedule& known : published_schedules()) {
    if (known.name == name || known.name == "specon-" + std::string(name)) return &known;
  }
  return nullptr;
}

std::shared_ptr<const Curve> curve_for(const std::string& model,
                                       const std::vector<NamedCurve>& curves, std::uint64_t seed) {
  Random random(seed);
  if (curves.empty()) {
    constexpr std::array<Shape, 4> kShapes{Shape::exponential, Shape::exponential, Shape::power,
                                           Shape::plateau_drop};
    const Shape shape = kShapes[random.below(kShapes.size())];
    const double rate = random.uniform(3, 20);
    return std::make_shared<const Curve>(Curve::formula(shape, 2.5, 0.2, rate));
  }
  std::vector<std::size_t> same;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (!model.empty() && curves[i].model == model) same.push_back(i);
  }
  const std::size_t at =
      same.empty() ? random.below(curves.size()) : same[random.below(same.size())];
  return curves[at].curve;
}

namespace {

// The same training has the same curve, whenever it runs.
std::shared_ptr<const Curve> real_curve(const JobSpec& job, const ScheduleOptions& options) {
  for (const NamedCurve& named : options.curves) {
    if (!job.curve_id.empty() && named.id == job.curve_id) return named.curve;
  }
  std::uint64_t name = 0xcbf29ce484222325ULL;
  for (const char c : job.model) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  const std::uint64_t seed = job.model.empty() ? job.noise_seed : mix(options.seed, name);
  return curve_for(job.model, options.curves, seed);
}

}  // namespace

void apply_options(Schedule& schedule, const ScheduleOptions& options) {
  Random random(mix(options.seed, 0xc0de));
  for (std::size_t i = 0; i < schedule.jobs.size(); ++i) {
    JobSpec& job = schedule.jobs[i];
    // Every job draws all, so that one option does not shift what another one draws.
    const double counter = random.uniform();
    const double crash = random.uniform();
    const double crash_at = random.uniform(0.05, 0.95);
    job.has_counter = counter < options.counters;
    if (crash < options.crashes) job.crash_at = crash_at;
    if (options.noise) job.noise = *options.noise;
    if (options.lines) job.lines = *options.lines;
    if (!options.curves.empty()) job.curve = real_curve(job, options);
  }
  for (JobSpec& job : schedule.earlier) {
    if (options.noise) job.noise = *options.noise;
    if (options.lines) job.lines = *options.lines;
    if (!options.curves.empty()) job.curve = real_curve(job, options);
  }
  std::stable_sort(schedule.jobs.begin(), schedule.jobs.end(),
                   [](const JobSpec& a, const JobSpec& b) { return a.arrival < b.arrival; });
}

}  // namespace flowcon::sim
