// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/published.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "cmd/flowcon-sim/reader.h"
#include "cmd/flowcon-sim/run_groups.h"
#include "sim/elastic/rows.h"
#include "sim/estimate/rows.h"
#include "sim/groups/rows.h"
#include "sim/published.h"
#include "sim/trace.h"

namespace flowcon::sim {
namespace {

using Rows = std::vector<PublishedRow>;

// A table of jobs that was given.
struct TraceFile {
  std::string name;
  std::string text;
};

struct Inputs {
  const std::vector<TraceFile>& traces;
  std::uint64_t seeds;  // at most
  const std::function<void(const std::string& what)>& progress;
};

// An experiment by name, in the order in which it is printed.
struct Source {
  const char* name;
  const char* summary;
  bool (*reads)(std::string_view table);  // null: it needs none
  Result<Rows> (*rows)(const Inputs& inputs);
};

void append(Rows& rows, Rows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

Result<Rows> kod2(const Inputs& inputs) {
  return groups::kod2_rows(std::min<std::uint64_t>(inputs.seeds, 20), inputs.progress);
}

Result<Rows> liquid(const Inputs& inputs) {
  std::vector<groups::LiquidSize> sizes;
  for (const std::uint64_t nodes : {5, 10, 15, 20}) {
    sizes.push_back({nodes, std::min<std::uint64_t>(inputs.seeds, nodes < 20 ? 8 : 4)});
  }
  return groups::liquid_rows(sizes, inputs.progress);
}

// Of the tables that are given, one after the other.
Result<Rows> elastic_rows(const Inputs& inputs) {
  Rows rows;
  for (const TraceFile& trace : inputs.traces) {
    if (!is_trace(trace.text)) continue;
    const Result<elastic::TraceJobs> jobs = elastic::parse_jobs(trace.text, trace.name);
    if (!jobs) return jobs.error();
    append(rows, elastic::elastic_rows(*jobs));
  }
  return rows;
}

Result<Rows> estimate_rows(const Inputs& inputs) {
  Rows rows;
  const std::uint64_t seeds = std::min(inputs.seeds, estimate::kSeeds);
  for (const TraceFile& trace : inputs.traces) {
    const Result<std::vector<estimate::Runs>> tables =
        estimate::parse_tables(trace.text, trace.name);
    if (!tables) return tables.error();
    Result<Rows> more = estimate::estimate_rows(*tables, trace.name, seeds, inputs.progress);
    if (!more) return more.error();
    append(rows, std::move(*more));
  }
  return rows;
}

Result<Rows> container_rows(const Inputs&) {
  const auto row = [](std::string experiment, std::string published, std::string goal) {
    return PublishedRow{
        std::move(experiment), std::move(published), "-", std::move(goal), false, false};
  };
  return Rows{row("Liquid, a ps and two workers of VGG-16: worst of four plans against the best",
                  "up to 2 times", ">= 1.5 times, best chosen"),
              row("Liquid, early transmission: idle time between two jobs that remains",
                  "18, 50, 77, 30 %", "<= 30 %"),
              row("Liquid, events: idle time that remains of that with a heartbeat of 5 s",
                  "16, 15, 10, 10 %", "<= 10 %"),
              row("Liquid, shared GPUs, 8 CNN, 4 NeuMF, 4 of both: total time",
                  "-38, -33, -47 % (K80), -40, -41, -41 % (T4)", "<= -35 %")};
}

const std::vector<Source>& sources() {
  static const std::vector<Source> kSources{
      {"kod2", "KOD2's queue: completion, stuck jobs, CPU use", nullptr, kod2},
      {"liquid", "Liquid's placement on 5, 10, 15 and 20 nodes", nullptr, liquid},
      {"elastic", "The elastic allocator on each --trace of jobs; without one left out", is_trace,
       elastic_rows},
      {"estimate", "Errors of the estimate on each --trace of measured runs; without one left out",
       estimate::is_table, estimate_rows},
      {"containers", "Figures that need real containers: not simulated, to be measured", nullptr,
       container_rows},
  };
  return kSources;
}

std::string help_text() {
  std::string text =
      "\nUsage:  flowcon-sim published [OPTIONS]\n\n"
      "Print figures of the publications beside those of the simulator, the goals, and which are\n"
      "met. A goal that is missed is no failure.\n"
      "\nExperiments:\n";
  for (const Source& source : sources()) {
    std::string name(source.name);
    name.resize(12, ' ');
    text += "  " + name + std::string(source.summary) + "\n";
  }
  return text +
         "\nOptions:\n"
         "      --experiment LIST     Only these, comma-separated (all)\n"
         "      --trace FILE          A table of jobs or runs, for experiments that need one; may "
         "be\n"
         "                            repeated\n"
         "      --seeds N             At most so many runs of each (20 of kod2, 8 of liquid, 4 on "
         "20\n"
         "                            nodes, 5 of estimate)\n"
         "      --format FORMAT       table, csv or json (table)\n"
         "  -h, --help                Print this help\n\n"
         "Exit status: 0 done, 1 failed (a file, a row of it), 125 wrong usage.\n";
}

Answer wrong_usage(const std::string& problem) {
  return {"",
          problem +
              "\n\nUsage:  flowcon-sim published [OPTIONS]\n\n"
              "Run 'flowcon-sim published --help' for more information",
          125};
}

struct Said {
  std::string experiment, format, seeds;
  std::vector<std::string> traces;
  bool help = false;
};

void read_experiments(const std::string& list, Reader& reader, std::vector<const Source*>& out) {
  std::vector<std::string> names;
  for (const Source& source : sources()) names.emplace_back(source.name);
  reader.each(list, [&](const std::string& name) {
    const auto found = std::find_if(sources().begin(), sources().end(),
                                    [&](const Source& source) { return source.name == name; });
    if (found == sources().end()) {
      reader.complain("--experiment: there is no \"" + printable(name, 40) +
                      "\"; known: " + listed(names));
      return;
    }
    if (std::find(out.begin(), out.end(), &*found) == out.end()) out.push_back(&*found);
  });
}

// Each table is for an experiment, and each experiment that was named and needs one has it. A
// sentence, "" = so it is.
std::string check_traces(const std::vector<const Source*>& chosen,
                         const std::vector<TraceFile>& traces, bool are_named) {
  for (const TraceFile& trace : traces) {
    const auto reads = [&trace](const Source* source) {
      return source->reads && source->reads(trace.text);
    };
    if (std::none_of(chosen.begin(), chosen.end(), reads)) {
      return printable(trace.name) +
             ": no experiment reads a table with these columns; docs/simulator.md has those it "
             "needs";
    }
  }
  for (const Source* source : chosen) {
    const auto is_read = [source](const TraceFile& trace) { return source->reads(trace.text); };
    if (are_named && source->reads && std::none_of(traces.begin(), traces.end(), is_read)) {
      return std::string(source->name) + ": no --trace is a table that it reads";
    }
  }
  return "";
}

}  // namespace

Answer print_published(const std::vector<std::string>& arguments, const World& world) {
  CLI::App app("", "flowcon-sim");
  Said said;
  app.allow_extras();
  app.set_help_flag();
  app.add_flag("-h,--help", said.help);
  app.add_option("--experiment", said.experiment);
  app.add_option("--trace", said.traces)->expected(1)->take_all();
  app.add_option("--seeds", said.seeds);
  app.add_option("--format", said.format);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(),
                                       arguments.rend() - (arguments.empty() ? 0 : 1)));
  } catch (const CLI::ParseError& e) {
    return wrong_usage(printable(e.what()));
  }
  if (said.help) return {help_text(), "", 0};
  if (const auto extras = app.remaining(true); !extras.empty()) {
    return wrong_usage("unknown word " + printable(extras.front(), 60) + ".");
  }
  Reader reader;
  std::vector<const Source*> chosen;
  if (said.experiment.empty()) {
    for (const Source& source : sources()) chosen.push_back(&source);
  } else {
    read_experiments(said.experiment, reader, chosen);
  }
  Format format = Format::table;
  reader.word<Format>("--format", said.format,
                      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}},
                      format);
  std::uint64_t seeds = 10000;
  reader.number("--seeds", said.seeds, 1, 10000, seeds);
  const bool reads_traces =
      std::any_of(chosen.begin(), chosen.end(), [](const Source* source) { return source->reads; });
  if (!said.traces.empty() && !reads_traces) {
    reader.complain("--trace: none of these experiments reads a table; leave it out");
  }
  if (said.traces.empty() && !said.experiment.empty() && reads_traces) {
    reader.complain("elastic and estimate need a table: --trace FILE");
  }
  if (!reader.problem().empty()) return wrong_usage(reader.problem());
  std::vector<TraceFile> traces;
  for (const std::string& path : said.traces) {
    Result<std::string> text = world.read(path);
    if (!text) return {"", text.error().message(), 1};
    traces.push_back({path, std::move(*text)});
  }
  if (const std::string problem = check_traces(chosen, traces, !said.experiment.empty());
      !problem.empty()) {
    return {"", problem, 1};
  }
  Rows rows;
  for (const Source* source : chosen) {
    Result<Rows> more = source->rows({traces, seeds, world.progress});
    if (!more) return {"", more.error().message(), 1};
    append(rows, std::move(*more));
  }
  return {render(rows, format), "", 0};
}

}  // namespace flowcon::sim
