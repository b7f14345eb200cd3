// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/simulate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>

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
constexpr const char* kCurves = "--curves";

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

struct Plan {
  Experiment experiment;
  ScheduleOptions schedule;
  TraceOptions trace;
  Format format = Format::table;
  std::string table;  ///< of the trace; "" = a published schedule
};

constexpr unsigned kRun = 1, kBound = 2, kJobs = 4;  // commands that take an option
constexpr unsigned kAll = kRun | kBound | kJobs;

unsigned bit_of(Command command) {
  return command == Command::run ? kRun : command == Command::bound ? kBound : kJobs;
}

// Said once: declared, explained and read from here.
struct Option {
  const char* name;
  const char* value;  // "N"; "" = a flag
  unsigned commands;
  std::string help;  // a line break goes on below it
  // Empty: read elsewhere.
  std::function<void(Reader& reader, const std::string& text, Plan& plan)> read;
};

struct Section {
  const char* heading;
  std::vector<Option> options;
};

// What was given.
struct Said {
  std::string schedule;
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, bool, std::less<>> flags;
  std::vector<std::string> curves;
  bool help = false;

  [[nodiscard]] std::string operator[](std::string_view option) const {
    const auto found = words.find(option);
    return found == words.end() ? "" : found->second;
  }
};

void read_policies(const std::string& list, Reader& reader, std::vector<const PolicyKind*>& out) {
  reader.each(list, [&](const std::string& name) {
    const Result<const PolicyKind*> kind = find_policy(name);
    if (!kind) return reader.complain("--policy: " + kind.error().message());
    if (std::find(out.begin(), out.end(), *kind) == out.end()) out.push_back(*kind);
  });
}

// A number in its range, and the way to it from the plan.
template <class... Members>
Option number(const char* name, const char* value, unsigned commands, std::string help, double low,
              double high, Members... members) {
  return {name, value, commands, std::move(help),
          [=](Reader& reader, const std::string& text, Plan& plan) {
            reader.number(name, text, low, high, (plan.*....*members));
          }};
}

// The same, with its default behind the help.
template <class... Members>
Option defaulted(const char* name, const char* value, unsigned commands, std::string help,
                 double low, double high, Members... members) {
  if (!help.empty() && help.back() != '\n') help += ' ';
  const Plan plan{};
  help += "(" + render_number(static_cast<double>((plan.*....*members))) + ")";
  return number(name, value, commands, std::move(help), low, high, members...);
}

void read_counters(Reader& reader, const std::string& text, Plan& plan) {
  if (text == "all") return;
  plan.schedule.counters = 0;
  if (text != "none") reader.number("--counters", text, 0, 1, plan.schedule.counters);
}

void read_format(Reader& reader, const std::string& text, Plan& plan) {
  reader.word<Format>("--format", text,
                      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}},
                      plan.format);
}

void read_start(Reader& reader, const std::string& text, Plan& plan) {
  Start start = Start::balanced;
  reader.word<Start>(
      "--start", text,
      {{"balanced", Start::balanced}, {"random", Start::random}, {"least", Start::least}}, start);
  plan.schedule.start = start;
}

std::vector<Option> options_of_runs() {
  constexpr auto experiment = &Plan::experiment;
  constexpr auto engine = &Experiment::engine;
  return {
      {"--policy", "LIST", kRun, "Comma-separated (" + default_policies() + ")",
       [](Reader& reader, const std::string& text, Plan& plan) {
         read_policies(text, reader, plan.experiment.policies);
       }},
      {"--report", "FILE", kRun, "Write a page with table and figures", {}},
      {"--format", "FORMAT", kRun | kBound, "table, csv or json (table)", read_format},
      defaulted("--seeds", "N", kRun | kBound,
                "Number of runs, each with other jobs, arrivals and noise", 1, kMostSeeds,
                experiment, &Experiment::seeds),
      defaulted("--seed", "N", kAll, "The first seed", 0, 1e15, experiment,
                &Experiment::first_seed),
      number("--hosts", "N", kAll, "Hosts (as the schedule has it; 1 for a table)", 1, 100000,
             &Plan::schedule, &ScheduleOptions::hosts),
      number("--cores", "N", kAll, "Cores of each host (8)", 0.01, 100000, &Plan::schedule,
             &ScheduleOptions::cores),
      {"--start", "WAY", kAll, "Where jobs begin: balanced, random or least (loaded)", read_start},
      {"--counters", "WHICH", kRun,
       "Jobs that print a progress counter: all, none or a share (all)", read_counters},
      number("--noise", "SHARE", kRun, "Noise of the values, share of their range", 0, 10,
             &Plan::schedule, &ScheduleOptions::noise),
      number("--lines", "N", kRun | kBound, "Log lines with a value, over a whole run", 1, 100000,
             &Plan::schedule, &ScheduleOptions::lines),
      defaulted("--crashes", "SHARE", kRun | kBound, "Jobs that crash at some point", 0, 1,
                &Plan::schedule, &ScheduleOptions::crashes),
      {kCurves, "FILE", kRun | kBound, "Real curves instead of formulas; may be repeated", {}},
      defaulted("--history", "N", kRun, "Runs of each model before a published schedule begins", 0,
                100, &Plan::schedule, &ScheduleOptions::history),
      defaulted("--contention", "X", kRun,
                "Each further job that shares a host costs this share of its speed", 0, 10,
                experiment, engine, &EngineParameters::contention),
      defaulted("--move-seconds", "S", kRun, "Cost of a migration for a job", 0, 1e6, experiment,
                engine, &EngineParameters::move_seconds),
  };
}

// As the options of flowcond.
std::vector<Option> options_of_policies() {
  constexpr auto experiment = &Plan::experiment;
  constexpr auto policy = &Experiment::policy_parameters;
  constexpr auto host = &PolicyParameters::host;
  constexpr auto cluster = &PolicyParameters::cluster;
  constexpr auto planner = &PolicyParameters::planner;
  using ctrl::policy::ClusterOptions, ctrl::policy::HostOptions, ctrl::policy::PlannerParameters;
  const std::string work = ctrl::policy::host_policy_names(ctrl::policy::DividesBy::work);
  return {
      defaulted("--max-moves", "N", kRun, "Maximum migrations per job under balance", 0, 1000,
                experiment, policy, cluster, &ClusterOptions::max_moves),
      defaulted("--categorise-interval", "S", kRun,
                "As the option of flowcond, and how often SpeCon decides", 1, 86400, experiment,
                policy, cluster, &ClusterOptions::categorise_interval),
      {"--rebalance-idle", "", kRun,
       "SpeCon also rebalances whenever a host idles, as flowcond does",
       [](Reader&, const std::string&, Plan& plan) {
         plan.experiment.policy_parameters.cluster.rebalance_idle = true;
       }},
      defaulted("--interval", "S", kRun, "As the option of flowcond", 1, 86400, experiment, policy,
                host, &HostOptions::interval),
      defaulted("--observe", "S", kRun,
                "As the option of flowcond, and how often " + work + " decides", 1, 86400,
                experiment, policy, host, &HostOptions::observe),
      defaulted("--alpha", "X", kRun, "", 0, 1e6, experiment, policy, host, &HostOptions::alpha),
      defaulted("--beta", "X", kRun, "", 1, 1e6, experiment, policy, host, &HostOptions::beta),
      defaulted("--worth", "Q", kRun,
                "For " + work + ": value of a usable model, relative to the end", 0, 1000,
                experiment, policy, planner, &PlannerParameters::worth),
      defaulted("--lateness", "SHARE", kRun, "... how much longer than under free a job may take",
                0, 1e6, experiment, policy, planner, &PlannerParameters::lateness),
      defaulted("--step", "N", kRun, "... weight of a rank, relative to the next one", 1, 1000,
                experiment, policy, planner, &PlannerParameters::step),
      defaulted("--floor", "SHARE", kRun, "... of the host, which all jobs have in equal parts", 0,
                1, experiment, policy, planner, &PlannerParameters::floor),
      defaulted("--hysteresis", "SHARE", kRun,
                "... the key of rank r of n counts 1 + SHARE r/n times", 0, 10, experiment, policy,
                planner, &PlannerParameters::inertia),
      {"--no-memory", "", kRun, "Forget earlier runs of the same model",
       [](Reader&, const std::string&, Plan& plan) {
         plan.experiment.policy_parameters.has_memory = false;
       }},
  };
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"\nOptions:\n", options_of_runs()},
      {"", options_of_policies()},
      {"  For kod2, beside --policy, --format, --seeds, --seed and --counters:\n",
       {{"--model",
         "NAME",
         kRun,
         "All jobs are of this model: vgg-16, cnn-rand, resnet-50 or\n"
         "resnext-110 (each of them)",
         {}},
        {"--pause", "S", kRun, "How long a job stands still whose tasks change (0)", {}},
        {"--starve-limit",
         "S",
         kRun,
         "How long a job waits before it goes before others (300)",
         {}}}},
      {"  For tables:\n",
       {number("--jobs", "N", kAll, "Only the first N to arrive", 1, 5e6, &Plan::trace,
               &TraceOptions::most_jobs),
        defaulted("--worker-cores", "N", kAll, "Cores that one worker (GPU, node) stands for", 0.01,
                  100000, &Plan::trace, &TraceOptions::worker_cores),
        defaulted("--arrival-scale", "X", kAll, "Factor on the times of arrival", 0, 1e6,
                  &Plan::trace, &TraceOptions::arrival_scale),
        defaulted("--work-scale", "X", kAll, "Factor on the durations", 1e-9, 1e6, &Plan::trace,
                  &TraceOptions::work_scale)}}};
  return all;
}

std::string help_line(const Option& option) {
  const std::string margin(28, ' ');
  std::string line = "      " + std::string(option.name);
  if (*option.value != '\0') line.append(" ").append(option.value);
  if (line.size() < margin.size()) {
    line.resize(margin.size(), ' ');
  } else {
    line += "\n" + margin;
  }
  for (const char c : option.help) {
    line += c;
    if (c == '\n') line += margin;
  }
  return line + "\n";
}

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
    for (const groups::GroupPolicyKind& kind : groups::group_policies()) {
      text += "  " + padded(kind.name) + std::string(kind.summary) + "\n";
    }
    text += elastic_policies_help();
  }
  for (const Section& section : sections()) {
    std::string lines;
    for (const Option& option : section.options) {
      if ((option.commands & bit_of(command)) != 0) lines += help_line(option);
    }
    if (!lines.empty()) text += section.heading + lines;
  }
  if (command == Command::run) text += elastic_options_help();
  text +=
      "  -h, --help                Print this help\n\n"
      "Exit status: 0 done, 1 failed (a file, a row of it), 125 wrong usage.\n";
  return text;
}

Result<Plan> plan_of(const Said& said, Command command) {
  Plan plan;
  Reader reader;
  for (const Section& section : sections()) {
    for (const Option& option : section.options) {
      const auto flag = said.flags.find(option.name);
      const std::string text = said[option.name];
      const bool is_given = flag != said.flags.end() ? flag->second : !text.empty();
      if (is_given && option.read) option.read(reader, text, plan);
    }
  }
  ctrl::policy::HostOptions& host = plan.experiment.policy_parameters.host;
  host.interval_max = std::max(host.interval_max, host.interval);
  if (command == Command::run && said["--policy"].empty()) {
    const bool is_given = said.words.contains("--policy");
    read_policies(is_given ? "" : default_policies(), reader, plan.experiment.policies);
  }
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
  for (const Section& section : sections()) {
    for (const Option& option : section.options) {
      if ((option.commands & bit_of(command)) == 0) continue;
      if (*option.value == '\0') {
        app.add_flag(option.name, said.flags[option.name]);
      } else if (option.name == kCurves) {
        app.add_option(option.name, said.curves)->expected(1)->take_all();
      } else {
        app.add_option(option.name, said.words[option.name]);
      }
    }
  }
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
  const auto report = said.words.find("--report");
  if (report != said.words.end() && (report->second.empty() || report->second == "-")) {
    return "--report: \"" + report->second + "\" is not the name of a file";
  }
  const bool is_file = said.schedule.find_first_of("./") != std::string::npos;
  if (find_schedule(said.schedule) || is_file) {
    if ((said["--model"] + said["--pause"] + said["--starve-limit"]).empty()) return "";
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
  const std::string_view near = nearest_word(said.schedule, names);
  return "there is no schedule " + printable(said.schedule, 60) +
         (near.empty() ? ". Known: " + joined(names, ", ")
                       : "; did you mean " + std::string(near) + "?");
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
  std::erase_if(said.words, [&app](const auto& word) { return app[word.first]->count() == 0; });
  if (said.help) return {help_text(command), "", 0};
  if (const std::string complaint = complaint_of(app, said, command); !complaint.empty()) {
    return failed(usage_error(complaint, command), 125);
  }
  if (const auto* kind = groups::find_group_schedule(said.schedule)) {
    Result<std::string> out = run_groups(*kind, said.words, world.progress);
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
  if (const std::string file = said["--report"]; !file.empty()) {
    const std::string command_line =
        "flowcon-sim " +
        joined(arguments, " ", [](const std::string& one) { return printable(one); });
    const std::string page =
        render_page("flowcon-sim: " + printable(said.schedule), command_line, summaries);
    if (Result<void> written = world.write(file, page); !written) {
      return failed(written.error(), 1);
    }
  }
  return {render(summaries, plan->format), "", 0};
}

}  // namespace flowcon::sim
