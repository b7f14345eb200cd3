// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/options.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cluster/policy/allocate.h"

namespace flowcon::sim {
namespace {

constexpr int kMostCbcSeconds = 86'400;

std::string known_algorithms() {
  std::string names;
  for (const Algorithm& algorithm : algorithms()) {
    names += (names.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  return names;
}

std::string hint(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(word, known);
  return near.empty() ? "." : "; did you mean " + std::string(near) + "?";
}

Error usage_error(const std::string& problem, bool is_decide) {
  if (is_decide) {
    return bad_input(problem +
                     "\n\nUsage:  flowcon-sim decide ALGORITHM [OPTIONS] < STATE > DECISION\n\n"
                     "Run 'flowcon-sim decide --help' for more information");
  }
  return bad_input(problem +
                   "\n\nUsage:  flowcon-sim COMMAND\n\n"
                   "Run 'flowcon-sim --help' for more information");
}

constexpr std::string_view kStates = R"(
Options:
      --lines         One state a line, one decision a line; a bad line gives {"error":"..."} there
      --cbc SECONDS   allocate, milp: where bound is more than 0.1 % above objective, the solver CBC
                      (coinor-cbc) goes on from the plan for so long; the better plan is printed
  -h, --help          Print this help

State of executor (alpha in units of growth, intervals in seconds, limits as share of the host):
  {"alpha":0.03,"beta":2,"interval":20,
   "containers":[{"id":"a","list":"WL","limit":0.5,"growth":0.01},
                 {"id":"b","list":"NL","limit":1,"growth":null}]}
  list: NL, WL or CL; growth null: not measured; limit null: none yet.
  Optional: "interval_max" (the back-off's bound), "floor_all" (the floor 1/(beta*n) for all lists).
State of listener: the same and "initial_interval" and "active":["a","b"], the ids running now.

State of milestone (left, left90: CPU seconds to the end and to 90 % of the gain; due in seconds from
now; width in cores; before: the rank that it had):
  {"cores":8,
   "containers":[{"id":"a","left":900,"left90":120,"open90":1,"due":400},
                 {"id":"b","left":300,"left90":0,"open90":0,"width":2,"before":0}]}
  Optional: "worth", "step", "floor", "critical", "inertia"; "blind" (no estimate of its end);
  "span" (1 s: its runtime in the processor-sharing baseline, the unit of lateness).

State of categorise, for the containers of one host (alpha and growth in units of value):
  {"alpha":0.01,
   "containers":[{"id":"a","category":"WC","value":0.25,"previous_value":0.254,
                  "previous_growth":0.006,"migrated":false}]}
  category: PC, WC or CC; null for a value or growth: not measured; migrated: keeps its category.

State of speculate, for one request (pc, wc, cc: containers of each category; usage: share in use):
  {"weights":{"pc":2,"wc":1.5,"cc":1},"container":"a","source":"h1",
   "workers":[{"id":"h1","pc":2,"wc":1,"cc":1,"usage":0.9},
              {"id":"h2","pc":1,"wc":0,"cc":1,"usage":0.4}]}
  Weights: pc above wc above cc above 0. The source is one of the workers; its counts include the
  container.

State of rebalance (times in seconds, all on one clock):
  {"now":1000,
   "workers":[{"id":"h1","containers":[{"id":"a","converged_at":900,"migrated_at":null,
                                        "rebalanced":false},
                                       {"id":"b","converged_at":null,"migrated_at":950,
                                        "rebalanced":false}]},
              {"id":"h2","containers":[]}]}
  null: never. A container without a time, or a rebalanced one, stays.
  Optional: "guard" (a source holds at least two more than the target), "rounding" ("floor", or
  "ceil": of containers per worker), "fill" (a target takes containers while it has room).

State of balance (left: CPU seconds to the end; width, cores: in cores; move_seconds: how long a
migrating container stands still):
  {"move_seconds":5,"max_moves":2,"gain":3,
   "hosts":[{"id":"h1","cores":2,
             "containers":[{"id":"a","left":900,"width":2,"moves":0,"may_move":true},
                           {"id":"b","left":300,"width":1,"moves":2,"may_move":true}]},
            {"id":"h2","cores":2,"containers":[]}]}
  moves: its migrations so far, max_moves: their maximum; gain: least benefit of a migration, as a
  multiple of its cost. A container that may not migrate counts and stays.

State of queue (cap, idle, requests: amounts of any resources; since, starve_limit in seconds):
  {"now":100,"starve_limit":1800,
   "nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":3,"mem":16}}],
   "waiting":[{"id":"a","since":40,"weight":0.9,"min":1,"max":4,"ps":1,
               "worker_request":{"cpu":2,"mem":4},"ps_request":{"cpu":1}}],
   "running":[{"id":"b","since":0,"weight":0.8,"min":1,"max":2,"ps":0,"worker_request":{"cpu":5},
               "ps_request":{},"placed":{"ps":{},"workers":{"h1":1}},"done":false}],
   "new":[]}
  new: jobs that come, without a weight; since may be missing, done too.
  Optional: "basis" ("worker", or "job": whose request the weight rests on), "prune" (workers leave
  only the host where a job starts), "repeat" (until nothing starts), "check_after",
  "starve_everywhere" (both true; false: as printed).

State of left (seconds; left, served as if with max workers on one node; waited: without a task):
  {"starve_limit":1800,
   "nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":3,"mem":16}}],
   "jobs":[{"id":"a","since":40,"waited":60,"served":0,"left":900,"min":1,"max":4,"ps":1,
            "worker_request":{"cpu":2,"mem":4},"ps_request":{"cpu":1}},
           {"id":"b","since":0,"waited":0,"served":120,"min":1,"max":2,"ps":0,
            "worker_request":{"cpu":5},"ps_request":{},"placed":{"ps":{},"workers":{"h1":1}}}]}
  left missing: not known; placed missing: it waits.
  Optional: "totals":[seconds] (what ended jobs took), "growth" (0.9: n workers do n^0.9 times the
  work), "network" (2: a job with all workers remote takes 1+2 times as long), "pause" (0: seconds
  that a job stands still whose tasks change), "gain" (3: least win, as a multiple of its cost).

State of estimate (age in seconds; labels: what a run needed, above 0):
  {"quantile":0.9,"seed":1,
   "history":[{"family":"vae.py --epochs #","key":"vae.py --epochs 8","age":3600,
               "features":{"arg.epochs":8,"arg.optimizer":"adam"},
               "labels":{"seconds_train":310,"mem":2.1e9}}],
   "jobs":[{"id":"a","family":"vae.py --epochs #","key":"vae.py --epochs 9",
            "features":{"arg.epochs":9,"arg.optimizer":"adam"}}]}
  quantile: of the errors of the forest that upper covers; seed: of the forest.
State of place (cap, used, req: amounts of any resources, gpu for the score; lambda: the network's
weight against that of full GPUs, 0 to 1):
  {"mode":"immediate","lambda":0.5,
   "nodes":[{"id":"h1","rack":"r1","domain":"d1","cap":{"cpu":8,"gpu":2},"used":{"gpu":1}},
            {"id":"h2","rack":"r1","domain":"d1","cap":{"cpu":8,"gpu":2},"used":{}}],
   "tasks":[{"id":"a0","job":"a","role":"ps","req":{"cpu":1}},
            {"id":"a1","job":"a","role":"worker","req":{"cpu":2,"gpu":1}}]}
  mode: immediate (job after job, best-fit), or batch (all jobs at once, genetic; "seed").
  Optional: "lambda" (0.5); of immediate "seeded" (each node is tried for a job's first task),
  "remove_used" (one task of a job a node: as printed). With
  "links":[{"a":"h1","b":"h2","bytes_per_s":1e8}], "traffic":{"a":2e7} (bytes a second of one pair)
  the cost is traffic/bytes_per_s; rack and domain may be missing.

State of share (util in percent of a device, mem in any unit):
  {"devices":[{"id":"gpu0","mem":16,"util_used":30,"mem_used":4}],
   "tasks":[{"id":"a","util":40,"mem":6},{"id":"b","gpus":1}]}
  A task asks for a part of a device, or for whole ones that nobody uses.

State of allocate (nodes 0: it queues, in order; train_time: since its start; left in node hours):
  {"allocator":"greedy","nodes":16,
   "jobs":[{"id":"a","nodes":8,"train_time":900,"n_min":1,"n_max":16},
           {"id":"b","nodes":0,"train_time":0,"n_min":1,"n_max":4}]}
  Optional: "powers_of_two" (true), "cascade" (true: with an empty queue running jobs get idle
  nodes), "repeat" (false: only one job is halved).
  {"allocator":"milp","nodes":16,"steps":5,"minutes":5,
   "jobs":[{"id":"a","left":2.5,"n_min":1,"n_max":16},{"id":"b","left":0.4,"n_min":1,"n_max":4}]}
  Optional: "allow_zero" (jobs may be parked), "pause" (seconds of a step that are lost where the
  number changes); of a job "now" (its nodes), "speed":{"1":1,"2":1.6,"4":2.56}.

Exit status: 0 done, 1 the state is wrong (the message names the field), 125 wrong usage.
)";

std::string decide_help() {
  std::string text =
      "\nUsage:  flowcon-sim decide ALGORITHM [OPTIONS] < STATE > DECISION\n\n"
      "Make one decision by hand: a state as JSON on standard input, the decision as JSON on\n"
      "standard output. The daemon calls the same code; 'explain' prints the states it decided "
      "on.\n"
      "Nothing else is read, and the same state gives the same decision.\n\n"
      "Algorithms:\n";
  for (const Algorithm& algorithm : algorithms()) {
    std::string name(algorithm.name);
    name.resize(12, ' ');
    text += "  " + name + std::string(algorithm.summary) + "\n";
  }
  return text.append(kStates);
}

constexpr std::string_view kHelp = R"(
Usage:  flowcon-sim COMMAND

The decisions of docker-flowcon without containers.

Commands:
  decide          Make one decision by hand, from JSON to JSON
  run             Simulate a schedule of jobs under policies
  bound           Print a bound that no policy can beat on a schedule
  jobs            Print the jobs of a schedule as a table
  published       Print published figures beside those of the simulator

Options:
  -h, --help      Print this help
      --version   Print the version

Run 'flowcon-sim COMMAND --help' for more information on a command.
)";

}  // namespace

Result<Invocation> parse_command_line(int argc, const char* const* argv) {
  CLI::App app("", "flowcon-sim");
  app.allow_extras();
  app.set_help_flag();
  bool wants_help = false;
  bool wants_version = false;
  bool lines = false;
  std::string name;
  app.add_flag("-h,--help", wants_help);
  app.add_flag("--version", wants_version);
  CLI::App* decide = app.add_subcommand("decide");
  decide->allow_extras();
  decide->set_help_flag();
  decide->add_flag("-h,--help", wants_help);
  decide->add_flag("--lines", lines);
  int cbc_seconds = 0;
  decide->add_option("--cbc", cbc_seconds)->check(CLI::Range(1, kMostCbcSeconds));
  const CLI::Option* algorithm = decide->add_option("ALGORITHM", name);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return usage_error(printable(e.what()), decide->parsed());
  }

  Invocation invocation;
  const bool is_decide = decide->parsed();
  if (wants_help) {
    invocation.text = is_decide ? decide_help() : std::string(kHelp);
    return invocation;
  }
  if (wants_version) {
    invocation.text = "flowcon-sim " FLOWCON_VERSION "\n";
    return invocation;
  }
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string& word = extras.front();
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (is_option) {
      const std::vector<std::string_view> known =
          is_decide ? std::vector<std::string_view>{"--lines", "--cbc", "--help"}
                    : std::vector<std::string_view>{"--version", "--help"};
      return usage_error("unknown option " + printable(word, 60) + hint(word, known), is_decide);
    }
    if (is_decide) return usage_error("one algorithm only, not also " + printable(word, 60), true);
    return usage_error("unknown command " + printable(word, 60) +
                           hint(word, {"decide", "run", "bound", "jobs", "published"}),
                       false);
  }
  if (!is_decide) return usage_error("a command is missing", false);
  if (algorithm->count() == 0) {
    return usage_error("name an algorithm: " + known_algorithms(), true);
  }
  invocation.algorithm = find_algorithm(name);
  invocation.lines = lines;
  invocation.cbc_seconds = cbc_seconds;
  if (cbc_seconds > 0 && name != cluster::policy::AllocateState::kAlgorithm) {
    return usage_error("--cbc is an option of allocate alone", true);
  }
  if (invocation.algorithm) return invocation;
  std::vector<std::string_view> names;
  for (const Algorithm& known : algorithms()) names.push_back(known.name);
  return usage_error("unknown algorithm " + printable(name, 60) + hint(name, names) +
                         " Algorithms: " + known_algorithms(),
                     true);
}

}  // namespace flowcon::sim
