// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tune/tune.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <ostream>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/files.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/text/format.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/tune/history.h"
#include "cmd/docker-flowcon/tune/view.h"

namespace flowcon::plugin {
namespace {

constexpr std::chrono::seconds kTimeout{30};
constexpr std::size_t kMostFileBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostFetched = 1000;
constexpr const char* kDropIn = "/90-tune.conf";

sim::Objective objective_of(const std::string& word) {
  return word == "t90"        ? sim::Objective::t90
         : word == "makespan" ? sim::Objective::makespan
                              : sim::Objective::mean;
}

// Told on a terminal, on one line that is gone at the end.
class Progress {
 public:
  explicit Progress(Terminal& terminal) : terminal_(terminal) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (last_ >= 0) terminal_.err << "\r\033[K" << std::flush;
  }

  void show(const char* what, double share) {
    const int percent = static_cast<int>(std::floor(share * 100));
    if (!terminal_.is_err_interactive || percent == last_) return;
    last_ = percent;
    terminal_.err << "\r\033[K" << what << ": " << percent << " %" << std::flush;
  }

 private:
  Terminal& terminal_;
  int last_ = -1;
};

Result<TuneHistory> fetch_history(const Session& session, const TuneOptions& options) {
  const Result<DaemonClient> found = find_daemon(session, "tune");
  if (!found) return found.error();
  const DaemonClient daemon = found->with_timeout(kTimeout);
  const Result<json::value> status = daemon.get("/v1/status");
  if (!status) return status.error();
  Result<TuneHistory> history = begin_tune_history(*status);
  if (!history) return history;
  const double now = wall_seconds();
  const double since = parse_moment(options.since, now).value_or(now);
  const Result<json::array> recorded_runs =
      daemon.get_parts("/v1/runs", "since=" + render_number(since), "runs");
  if (!recorded_runs) return recorded_runs.error();
  const json::array& runs = *recorded_runs;
  const std::size_t first = runs.size() - std::min(runs.size(), kMostFetched);
  Progress progress(session.terminal);
  for (std::size_t i = first; i < runs.size(); ++i) {
    progress.show("Reading",
                  static_cast<double>(i - first) / static_cast<double>(runs.size() - first));
    // What still runs has much to read and is not replayed.
    if (!real_of(member(runs[i], "finished"))) {
      add_tune_run(*history, runs[i], runs[i]);
      continue;
    }
    const Result<std::string> target = container_target(text_of(member(runs[i], "id")), "history");
    if (!target) continue;
    const auto recorded = daemon.find(*target);
    if (!recorded) return recorded.error();
    // It may be forgotten by now.
    if (*recorded) add_tune_run(*history, runs[i], **recorded);
  }
  finish_tune_history(*history);
  return history;
}

Result<TuneHistory> load_history(const Session& session, const TuneOptions& options) {
  if (options.from.empty()) return fetch_history(session, options);
  const Result<std::string> text = read_file(options.from, kMostFileBytes);
  if (!text) return text.error();
  return parse_tune_history(*text, options.from);
}

// Before a minute of work whose result could not be written.
Result<void> check_folder(const std::string& folder) {
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  const int number = errno;
  std::string doing = "writing to " + printable(folder, 400);
  if (number == EACCES) doing += " (sudo docker flowcon tune --apply)";
  if (number == ENOENT) doing += " (flowcond's package makes it; --config-dir names another)";
  return errno_error(number, doing);
}

int apply_best(const Session& session, const TuneOptions& options, const TuneHistory& history,
               const sim::Tuning& tuning) {
  std::ostream& err = session.terminal.err;
  if (!tuning.best) {
    err << "Nothing is written.\n";
    return kDone;
  }
  const std::string path = options.config_dir + kDropIn;
  const std::string text =
      render_drop_in(history, tuning.others[*tuning.best], path, wall_seconds());
  const Result<void> written = replace_file(path, text, 0644);
  if (!written) return report(session.terminal, written.error());
  err << "Written: " << printable(path, 400)
      << "\napply it with: sudo systemctl reload flowcond\n"
         "(later files, the environment and the command line override it: flowcond "
         "--print-config)\n";
  return kDone;
}

}  // namespace

void declare_tune(CLI::App& app, TuneOptions& options) {
  app.add_flag("--apply", options.apply,
               "Write the best setting to 90-tune.conf if it beats the current one (needs root)");
  app.add_option("--config-dir", options.config_dir, "Folder for --apply")
      ->type_name("path")
      ->capture_default_str();
  app.add_option("--format", options.format, format_help())->type_name("string");
  app.add_option("--from", options.from,
                 "Replay the history in a file from --save instead of asking flowcond")
      ->type_name("file");
  app.add_option("--objective", options.objective,
                 "What to minimise: mean (job completion time, JCT), t90 (time to 90 % of the "
                 "improvement) or makespan")
      ->type_name("string")
      ->check([](const std::string& text) {
        const bool is_known = text == "mean" || text == "t90" || text == "makespan";
        return is_known ? std::string() : "has to be mean, t90 or makespan";
      })
      ->capture_default_str();
  app.add_option("--save", options.save, "Only write the history to a file for --from")
      ->type_name("file");
  app.add_option("--since", options.since,
                 "Replay records since a timestamp (e.g. \"2013-01-02T13:23:37Z\") or "
                 "relative (e.g. \"42m\" for 42 minutes)")
      ->type_name("string")
      ->check(check_moment)
      ->capture_default_str();
}

std::string check_tune(const TuneOptions& options) {
  if (!options.save.empty() && !options.from.empty()) {
    return "--save and --from cannot be used together";
  }
  if (!options.save.empty() && options.apply) return "--save and --apply cannot be used together";
  return "";
}

int run_tune(const Session& session, const TuneOptions& options) {
  const Result<Format> format = Format::parse(options.format, tune_table());
  if (!format) return report(session.terminal, format.error());
  if (options.apply) {
    const Result<void> checked = check_folder(options.config_dir);
    if (!checked) return report(session.terminal, checked.error());
  }
  const Result<TuneHistory> history = load_history(session, options);
  if (!history) return report(session.terminal, history.error());
  std::ostream& err = session.terminal.err;
  if (!options.save.empty()) {
    const std::string text = render_tune_history(*history);
    const bool is_shown = is_stdout(options.save);
    const Result<void> written = is_shown ? Result<void>() : write_file(options.save, text);
    if (!written) return report(session.terminal, written.error());
    err << history_text(*history) << "\n";
    session.terminal.out << (is_shown ? text : options.save + "\n");
    return kDone;
  }
  err << history_text(*history) << "\n";
  if (history->runs.size() < sim::kLeastRuns) {
    return report(session.terminal, bad_input("too few to compare settings: it takes " +
                                              std::to_string(sim::kLeastRuns) +
                                              " ended runs, better thirty. Run more trainings "
                                              "under control, or go further back with --since"));
  }
  const sim::Objective objective = objective_of(options.objective);
  sim::Tuning tuning;
  {
    Progress progress(session.terminal);
    tuning = sim::tune(history->runs, history->cores, history->base, objective,
                       [&](double share) { progress.show("Simulating", share); });
  }
  const Result<std::string> text =
      format->render(tune_rows(*history, tuning, format->is_json()), tune_headings());
  if (!text) return report(session.terminal, text.error());
  session.terminal.out << *text;
  session.terminal.out.flush();
  err << verdict_text(*history, tuning, objective) << "\n" << caveat_text() << "\n";
  if (options.apply) return apply_best(session, options, *history, tuning);
  if (tuning.best) err << "Write it with: sudo docker flowcon tune --apply\n";
  return kDone;
}

}  // namespace flowcon::plugin
