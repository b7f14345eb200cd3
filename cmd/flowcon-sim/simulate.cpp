// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/simulate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cmd/flowcon-sim/reader.h"
#include "cmd/flowcon-sim/run_elastic.h"
#include "cmd/flowcon-sim/run_groups.h"
#include "ctrl/policy/host_policies.h"
#include "sim/render.h"
#include "sim/schedule.h"
#include "sim/summary.h"
#include "sim/trace.h"

namespace flowcon::sim {
namespace {

constexpr double kMostSeeds = 10000;

enum class Command { run, bound, jobs };

Command command_of(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "run") return Command::run;
  return arguments.front() == "bound" ? Command::bound : Command::jobs;
}

std::string_view name_of(Command command) {
  return command == Command::run ? "run" : command == Command::bound ? "bound" : "jobs";
}

std::string_view summary_of(Command command) {
  switch (command) {
    case Command::run:
      return "Simulate a schedule under policies, each against free competition on the same "
             "jobs.\nThe decisions are those of the daemon. The same arguments give the same "
             "bytes.\n";
    case Command::bound:
      return "Print a bound that no policy can beat on a schedule, even with knowledge of the "
             "future.\n";
    case Command::jobs:
      return "Print the jobs of a schedule as a comma-separated table, which run and bound read "
             "too.\n";
  }
  return "";
}

// The given options, as text; "" = not given.
struct Said {
  std::string schedule;
  std::optional<std::string> policy;
  std::string format = "table";
  std::string report;
  std::string seeds = "1", seed = "1";
  std::string counters = "all", noise, lines, crashes;
  std::vector<std::string> curves;
  std::string hosts, cores, start, contention, move_seconds;
  std::string worker_cores, arrival_scale, work_scale, jobs;
  std::string alpha, beta, interval, max_moves, categorise_interval;
  std::string history, worth, lateness, step, inertia, observe;
  std::string model, pause, starve_limit;  // of groups
  bool no_memory = false, rebalance_idle = false;
  bool help = false;
};

struct Plan {
  Experiment experiment;
  ScheduleOptions schedule;
  TraceOptions trace;
  Format format = Format::table;
  std::string table;  ///< of the trace; "" = a published schedule
};

std::string help_text(Command command) {
  std::string text = "\nUsage:  flowcon-sim " + std::string(name_of(command)) +
                     " SCHEDULE [OPTIONS]\n\n" + std::string(summary_of(command));
  text += "\nSchedules (or a table of jobs: FILE.csv, FILE.csv.gz):\n";
  const auto padded = [](std::string_view name) {
    std::string out(name);
    out.resize(std::max<std::size_t>(18, out.size() + 1), ' ');
    return out;
  };
  for (const PublishedSchedule& known : published_schedules()) {
    text += "  " + padded(known.name) + std::string(known.summary) + "\n";
  }
  if (command == Command::run) {
    for (const groups::ScheduleKind& known : groups::group_schedules()) {
      text += "  " + padded(known.name) + std::string(known.summary) + "\n";
    }
    text += elastic_schedule_help();
    text += "\nPolicies:\n";
    for (const PolicyKind& kind : policies()) {
      text += "  " + padded(kind.name) + std::string(kind.summary) + "\n";
    }
    text += "\nPolicies for kod2 and liquid-N, each against the first that is named:\n";
    for (const groups::PolicyKind& kind : groups::group_policies()) {
      text += "  " + padded(kind.name) + std::string(kind.summary) + "\n";
    }
    text += elastic_policies_help();
  }
  text += "\nOptions:\n";
  const std::string work = ctrl::policy::host_policy_names(ctrl::policy::DividesBy::work);
  if (command == Command::run) {
    text += "      --policy LIST         Comma-separated (" + default_policies() +
            ")\n"
            "      --report FILE         Write a page with table and figures\n";
  }
  if (command != Command::jobs) {
    text +=
        "      --format FORMAT       table, csv or json (table)\n"
        "      --seeds N             Number of runs, each with other jobs, arrivals and noise "
        "(1)\n";
  }
  text +=
      "      --seed N              The first seed (1)\n"
      "      --hosts N             Hosts (as the schedule has it; 1 for a table)\n"
      "      --cores N             Cores of each host (8)\n"
      "      --start WAY           Where jobs begin: balanced, random or least (loaded)\n";
  if (command == Command::run) {
    text +=
        "      --counters WHICH      Jobs that print a progress counter: all, none or a share "
        "(all)\n"
        "      --noise SHARE         Noise of the values, share of their range\n";
  }
  if (command != Command::jobs) {
    text +=
        "      --lines N             Log lines with a value, over a whole run\n"
        "      --crashes SHARE       Jobs that crash at some point (0)\n"
        "      --curves FILE         Real curves instead of formulas; may be repeated\n";
  }
  if (command == Command::run) {
    text +=
        "      --history N           Runs of each model before a published schedule begins (3)\n"
        "      --contention X        Each further job that shares a host costs this share of its "
        "speed (0)\n"
        "      --move-seconds S      Cost of a migration for a job (5)\n"
        "      --max-moves N         Maximum migrations per job under balance (2)\n"
        "      --categorise-interval S\n"
        "                            As the option of flowcond, and how often SpeCon decides (30)\n"
        "      --rebalance-idle      SpeCon also rebalances whenever a host idles, as flowcond "
        "does\n"
        "      --interval S          As the option of flowcond (20)\n"
        "      --observe S           As the option of flowcond, and how often " +
        work +
        " decides "
        "(5)\n"
        "      --alpha X             (0.03)\n"
        "      --beta X              (2)\n"
        "      --worth Q             For " +
        work +
        ": value of a usable model, relative to the end "
        "(0.85)\n"
        "      --lateness SHARE      ... how much longer than under free a job may take (0.1)\n"
        "      --step N              ... weight of a rank, relative to the next one (8)\n"
        "      --inertia SHARE       ... hysteresis: the key of rank r of n counts 1 + SHARE r/n "
        "times\n"
        "                            (0.15)\n"
        "      --no-memory           Forget earlier runs of the same model\n";
  }
  if (command == Command::run) {
    text +=
        "  For kod2, beside --policy, --format, --seeds, --seed and --counters:\n"
        "      --model NAME          All jobs are of this model: vgg-16, cnn-rand, resnet-50 or\n"
        "                            resnext-110 (each of them)\n"
        "      --pause S             How long a job stands still whose tasks change (0)\n"
        "      --starve-limit S      How long a job waits before it goes before others (300)\n";
  }
  text +=
      "  For tables:\n"
      "      --jobs N              Only the first N to arrive\n"
      "      --worker-cores N      Cores that one worker (GPU, node) stands for (1)\n"
      "      --arrival-scale X     Factor on the times of arrival (1)\n"
      "      --work-scale X        Factor on the durations (1)\n";
  if (command == Command::run) text += elastic_options_help();
  text +=
      "  -h, --help                Print this help\n\n"
      "Exit status: 0 done, 1 failed (a file, a row of it), 125 wrong usage.\n";
  return text;
}

void read_policies(const std::string& list, Reader& reader, std::vector<const PolicyKind*>& out) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const Result<const PolicyKind*> kind = find_policy(list.substr(at, end - at));
    if (!kind) {
      reader.complain("--policy: " + kind.error().message());
      return;
    }
    if (std::find(out.begin(), out.end(), *kind) == out.end()) out.push_back(*kind);
    at = end + 1;
  }
}

Result<Plan> plan_of(const Said& said, Command command) {
  Plan plan;
  Reader reader;
  ScheduleOptions& schedule = plan.schedule;
  if (said.counters == "none") {
    schedule.counters = 0;
  } else if (said.counters != "all") {
    reader.number("--counters", said.counters, 0, 1, schedule.counters);
  }
  reader.number("--noise", said.noise, 0, 10, schedule.noise);
  reader.number("--lines", said.lines, 1, 100000, schedule.lines);
  reader.number("--crashes", said.crashes, 0, 1, schedule.crashes);
  reader.number("--history", said.history, 0, 100, schedule.history);
  reader.number("--hosts", said.hosts, 1, 100000, schedule.hosts);
  reader.number("--cores", said.cores, 0.01, 100000, schedule.cores);
  Start start = Start::balanced;
  reader.word<Start>(
      "--start", said.start,
      {{"balanced", Start::balanced}, {"random", Start::random}, {"least", Start::least}}, start);
  if (!said.start.empty()) schedule.start = start;
  reader.number("--worker-cores", said.worker_cores, 0.01, 100000, plan.trace.worker_cores);
  reader.number("--arrival-scale", said.arrival_scale, 0, 1e6, plan.trace.arrival_scale);
  reader.number("--work-scale", said.work_scale, 1e-9, 1e6, plan.trace.work_scale);
  reader.number("--jobs", said.jobs, 1, 5e6, plan.trace.most_jobs);
  Experiment& experiment = plan.experiment;
  reader.number("--seeds", said.seeds, 1, kMostSeeds, experiment.seeds);
  reader.number("--seed", said.seed, 0, 1e15, experiment.first_seed);
  reader.number("--contention", said.contention, 0, 10, experiment.engine.contention);
  reader.number("--move-seconds", said.move_seconds, 0, 1e6, experiment.engine.move_seconds);
  PolicyParameters& policy = experiment.policy_parameters;
  reader.number("--alpha", said.alpha, 0, 1e6, policy.alpha);
  reader.number("--beta", said.beta, 1, 1e6, policy.beta);
  reader.number("--interval", said.interval, 1, 86400, policy.interval);
  policy.interval_max = std::max(policy.interval_max, policy.interval);
  reader.number("--max-moves", said.max_moves, 0, 1000, policy.max_moves);
  reader.number("--categorise-interval", said.categorise_interval, 1, 86400,
                policy.categorise_interval);
  policy.rebalance_idle = said.rebalance_idle;
  policy.has_memory = !said.no_memory;
  reader.number("--worth", said.worth, 0, 1000, policy.planner.worth);
  reader.number("--lateness", said.lateness, 0, 1e6, policy.planner.lateness);
  reader.number("--step", said.step, 1, 1000, policy.planner.step);
  reader.number("--observe", said.observe, 1, 86400, policy.observe);
  reader.number("--inertia", said.inertia, 0, 10, policy.planner.inertia);
  reader.word<Format>("--format", said.format,
                      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}},
                      plan.format);
  if (command == Command::run)
    read_policies(said.policy.value_or(default_policies()), reader, experiment.policies);
  if (!reader.problem().empty()) return bad_input(reader.problem());
  return plan;
}

Result<void> read_files(const Said& said, const World& world, Plan& plan) {
  for (const std::string& path : said.curves) {
    Result<std::string> text = world.read(path);
    if (!text) return text.error();
    Result<std::vector<NamedCurve>> curves = parse_curves(*text, printable(path));
    if (!curves) return curves.error();
    for (NamedCurve& curve : *curves) plan.schedule.curves.push_back(std::move(curve));
  }
  if (!find_schedule(said.schedule)) {
    Result<std::string> text = world.read(said.schedule);
    if (!text) return text.error();
    plan.table = std::move(*text);
    // A wrong row is told before anything is run.
    const Result<Schedule> schedule =
        parse_trace(plan.table, printable(said.schedule), plan.trace, plan.schedule);
    if (!schedule) return schedule.error();
  }
  return {};
}

std::function<Schedule(std::uint64_t)> maker_of(const Said& said, const Plan& plan) {
  return [&said, &plan](std::uint64_t seed) {
    ScheduleOptions options = plan.schedule;
    options.seed = seed;
    const PublishedSchedule* known = find_schedule(said.schedule);
    if (known) {
      Schedule schedule = known->make(options);
      schedule.name = known->name;
      return schedule;
    }
    Result<Schedule> schedule =
        parse_trace(plan.table, printable(said.schedule), plan.trace, options);
    return schedule ? std::move(*schedule) : Schedule();
  };
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string out = "flowcon-sim";
  for (const std::string& argument : arguments) out += " " + printable(argument);
  return out;
}

Answer failed(const Error& error, int status) { return {"", error.message(), status}; }

Error usage_error(const std::string& problem, Command command) {
  const std::string name(name_of(command));
  return bad_input(problem + "\n\nUsage:  flowcon-sim " + name +
                   " SCHEDULE [OPTIONS]\n\nRun 'flowcon-sim " + name +
                   " --help' for more information");
}

void declare(CLI::App& app, Said& said, Command command) {
  app.allow_extras();
  app.set_help_flag();
  app.add_flag("-h,--help", said.help);
  app.add_option("SCHEDULE", said.schedule);
  app.add_option("--seed", said.seed);
  app.add_option("--hosts", said.hosts);
  app.add_option("--cores", said.cores);
  app.add_option("--start", said.start);
  app.add_option("--jobs", said.jobs);
  app.add_option("--worker-cores", said.worker_cores);
  app.add_option("--arrival-scale", said.arrival_scale);
  app.add_option("--work-scale", said.work_scale);
  if (command == Command::jobs) return;
  app.add_option("--format", said.format);
  app.add_option("--seeds", said.seeds);
  app.add_option("--lines", said.lines);
  app.add_option("--crashes", said.crashes);
  app.add_option("--curves", said.curves)->expected(1)->take_all();
  if (command == Command::bound) return;
  app.add_option("--policy", said.policy);
  app.add_option("--report", said.report);
  app.add_option("--counters", said.counters);
  app.add_option("--noise", said.noise);
  app.add_option("--contention", said.contention);
  app.add_option("--move-seconds", said.move_seconds);
  app.add_option("--max-moves", said.max_moves);
  app.add_option("--categorise-interval", said.categorise_interval);
  app.add_flag("--rebalance-idle", said.rebalance_idle);
  app.add_option("--interval", said.interval);
  app.add_option("--alpha", said.alpha);
  app.add_option("--beta", said.beta);
  app.add_option("--history", said.history);
  app.add_option("--worth", said.worth);
  app.add_option("--lateness", said.lateness);
  app.add_option("--step", said.step);
  app.add_option("--observe", said.observe);
  app.add_option("--inertia", said.inertia);
  app.add_flag("--no-memory", said.no_memory);
  app.add_option("--model", said.model);
  app.add_option("--pause", said.pause);
  app.add_option("--starve-limit", said.starve_limit);
}

// The first option that a schedule with groups of tasks has no use for. "" = none.
std::string complaint_about_groups(const CLI::App& app, const std::string& schedule) {
  const std::vector<std::string> known = group_options(*groups::find_group_schedule(schedule));
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return name + " makes no sense with " + schedule + ", which takes " + listed(known) +
           "; leave it out";
  }
  return "";
}

// Wrong words, from the parser's point of view. "" = none.
std::string complaint_of(const CLI::App& app, const Said& said, Command command) {
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string& word = extras.front();
    if (word.size() > 1 && word[0] == '-') {
      std::vector<std::string> names;
      for (const CLI::Option* option : app.get_options()) {
        if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
      }
      const std::vector<std::string_view> known(names.begin(), names.end());
      const std::string_view near = nearest_word(word, known);
      return "unknown option " + printable(word, 60) +
             (near.empty() ? "." : "; did you mean " + std::string(near) + "?");
    }
    return "one schedule only, not also " + printable(word, 60);
  }
  if (said.schedule.empty()) return "which schedule?";
  const bool is_file = said.schedule.find_first_of("./") != std::string::npos;
  if (find_schedule(said.schedule) || is_file) {
    if (said.model.empty() && said.pause.empty() && said.starve_limit.empty()) return "";
    return "--model, --pause and --starve-limit are for kod2: " + printable(said.schedule, 60) +
           " has no groups of tasks";
  }
  const bool has_groups = groups::find_group_schedule(said.schedule) != nullptr;
  if (has_groups && command == Command::run) return complaint_about_groups(app, said.schedule);
  if (has_groups) {
    return printable(said.schedule, 60) + " has groups of tasks: only 'flowcon-sim run' takes it";
  }
  std::vector<std::string_view> names;
  for (const PublishedSchedule& known : published_schedules()) names.push_back(known.name);
  if (command == Command::run) {
    for (const groups::ScheduleKind& known : groups::group_schedules()) names.push_back(known.name);
    names.push_back(kElasticSchedule);
  }
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  const std::string_view near = nearest_word(said.schedule, names);
  return "there is no schedule " + printable(said.schedule, 60) +
         (near.empty() ? ". Known: " + list : "; did you mean " + std::string(near) + "?");
}

}  // namespace

Answer simulate(const std::vector<std::string>& arguments, const World& world) {
  const Command command = command_of(arguments);
  if (is_elastic_run(arguments)) return run_elastic(arguments, world);
  CLI::App app("", "flowcon-sim");
  Said said;
  declare(app, said, command);
  try {
    std::vector<std::string> reversed(arguments.rbegin(),
                                      arguments.rend() - (arguments.empty() ? 0 : 1));
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    return failed(usage_error(printable(e.what()), command), 125);
  }
  if (said.help) return {help_text(command), "", 0};
  if (const std::string complaint = complaint_of(app, said, command); !complaint.empty()) {
    return failed(usage_error(complaint, command), 125);
  }
  if (const auto* kind = groups::find_group_schedule(said.schedule)) {
    const GroupArguments words{said.policy, said.format,   said.seeds, said.seed,
                               said.model,  said.counters, said.pause, said.starve_limit};
    Result<std::string> out = run_groups(*kind, words, world.progress);
    if (!out) return failed(usage_error(out.error().message(), command), 125);
    return {std::move(*out), "", 0};
  }
  Result<Plan> plan = plan_of(said, command);
  if (!plan) return failed(usage_error(plan.error().message(), command), 125);
  if (Result<void> read = read_files(said, world, *plan); !read) return failed(read.error(), 1);
  Experiment& experiment = plan->experiment;
  experiment.schedule = maker_of(said, *plan);
  if (command == Command::jobs) {
    return {render_jobs(experiment.schedule(experiment.first_seed).jobs), "", 0};
  }
  if (command == Command::bound) {
    std::vector<Bounds> bounds;
    for (std::uint64_t i = 0; i < experiment.seeds; ++i) {
      bounds.push_back(bounds_of(experiment.schedule(experiment.first_seed + i)));
    }
    return {render_bounds(bounds, plan->format), "", 0};
  }
  const std::vector<PolicySummary> summaries = run_experiment(experiment, world.progress);
  if (!said.report.empty()) {
    const std::string page =
        render_page("flowcon-sim: " + printable(said.schedule), joined(arguments), summaries);
    if (Result<void> written = world.write(said.report, page); !written) {
      return failed(written.error(), 1);
    }
  }
  return {render(summaries, plan->format), "", 0};
}

}  // namespace flowcon::sim
