// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/run_elastic.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "sim/elastic/modes.h"
#include "sim/elastic/summary.h"
#include "sim/elastic/trace.h"

namespace flowcon::sim {
namespace {

constexpr int kMostNodes = 100'000;
constexpr std::uint64_t kMostSeeds = 10'000;

template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.name);
  return names;
}

// The given options.
struct Said {
  std::string schedule, trace;
  std::vector<std::string> policy = names_of(elastic::allocators());
  std::vector<int> nodes{70, 90, 110, 130, 150, 170, 190};
  std::string mode = "exact", format = "table";
  std::uint64_t seeds = 1, seed = 1;
  bool allow_zero = false, at_events = false;
};

Error usage_error(const std::string& problem) {
  return bad_input(problem +
                   "\n\nUsage:  flowcon-sim run elastic-447 --trace FILE [OPTIONS]\n\n"
                   "Run 'flowcon-sim run --help' for more information");
}

void declare(CLI::App& app, Said& said) {
  app.allow_extras();
  app.set_help_flag();
  app.add_option("SCHEDULE", said.schedule);
  app.add_option("--trace", said.trace);
  app.add_option("--policy", said.policy)
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(elastic::allocators())));
  app.add_option("--nodes", said.nodes)->delimiter(',')->check(CLI::Range(1, kMostNodes));
  app.add_option("--mode", said.mode)->check(CLI::IsMember(names_of(elastic::modes())));
  app.add_option("--format", said.format)->check(CLI::IsMember({"table", "csv", "json"}));
  app.add_option("--seeds", said.seeds)->check(CLI::Range(std::uint64_t{1}, kMostSeeds));
  app.add_option("--seed", said.seed)->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 50));
  app.add_flag("--allow-zero", said.allow_zero);
  app.add_flag("--at-events", said.at_events);
}

// Wrong words, from the parser's point of view. "" = none.
std::string complaint_of(const CLI::App& app, const Said& said) {
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string word = printable(extras.front(), 60);
    return word.starts_with("-") ? word + " is no option of elastic-447"
                                 : "one schedule only, not also " + word;
  }
  if (said.trace.empty()) return "elastic-447 needs the jobs: --trace FILE";
  return "";
}

}  // namespace

bool is_elastic_run(const std::vector<std::string>& arguments) {
  const auto has = [&](std::string_view word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  return !arguments.empty() && arguments.front() == "run" && has(kElasticSchedule) &&
         !has("--help") && !has("-h");
}

Answer run_elastic(const std::vector<std::string>& arguments, const World& world) {
  CLI::App app("", "flowcon-sim");
  Said said;
  declare(app, said);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    return {"", usage_error(printable(e.what())).message(), 125};
  }
  if (const std::string complaint = complaint_of(app, said); !complaint.empty()) {
    return {"", usage_error(complaint).message(), 125};
  }
  const Result<std::string> text = world.read(said.trace);
  if (!text) return {"", text.error().message(), 1};
  Result<elastic::TraceJobs> jobs = elastic::parse_jobs(*text, printable(said.trace));
  if (!jobs) return {"", jobs.error().message(), 1};
  elastic::Comparison comparison;
  comparison.jobs = std::move(jobs->all);
  comparison.nodes = said.nodes;
  for (const std::string& policy : said.policy) {
    comparison.allocators.push_back(elastic::find_allocator(policy)->allocator);
  }
  comparison.setting = elastic::with_mode({}, *elastic::find_mode(said.mode));
  comparison.setting.allow_zero = said.allow_zero;
  comparison.setting.decides_at_events = said.at_events;
  comparison.first_seed = said.seed;
  comparison.seeds = said.seeds;
  const Format format = said.format == "json"  ? Format::json
                        : said.format == "csv" ? Format::csv
                                               : Format::table;
  return {elastic::render(elastic::compare(comparison, world.progress), format), "", 0};
}

std::string elastic_schedule_help() {
  return "  elastic-447       The jobs of --trace on equal nodes, as many as each is given\n";
}

std::string elastic_policies_help() {
  std::string text;
  for (const elastic::AllocatorKind& kind : elastic::allocators()) {
    std::string name(kind.name);
    name.resize(18, ' ');
    text += "  " + name + "elastic-447: " + std::string(kind.summary) + "\n";
  }
  return text;
}

std::string elastic_options_help() {
  std::string text =
      "  For elastic-447, beside --policy (greedy,horizon), --format, --seeds and --seed:\n"
      "      --trace FILE          The table of jobs\n"
      "      --nodes LIST          Numbers of nodes (70,90,110,130,150,170,190)\n"
      "      --mode MODE           What else is in the way (exact):\n";
  for (const elastic::Mode& mode : elastic::modes()) {
    std::string name(mode.name);
    name.resize(8, ' ');
    text += "                            " + name + std::string(mode.summary) + "\n";
  }
  return text +
         "      --allow-zero          Horizon may park jobs\n"
         "      --at-events           Horizon decides when a job comes or ends, not each 5 "
         "minutes\n";
}

}  // namespace flowcon::sim
