// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/explain.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <ostream>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/policy/algorithms.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/text/raw_json.h"
#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/times.h"
#include "ctrl/model.h"

namespace flowcon::plugin {
namespace {

constexpr unsigned kMostDecisions = 1000;
constexpr unsigned kRecent = 50;  // where the latest of each resource are looked for
constexpr std::size_t kSentenceBytes = 1000;
constexpr std::size_t kWordBytes = 32;
// The name of an algorithm becomes part of a command to type, so it is one that flowcon-sim has.
std::string algorithm_of(const boost::json::value& decision) {
  const std::string name = text_of(member(decision, "algorithm"));
  const bool is_known = cluster::policy::find_algorithm(name) != nullptr;
  return is_known ? name : ctrl::policy::ExecutorState::kAlgorithm;
}

int say_nothing_recorded(const Session& session, const ExplainOptions& options, bool is_cut) {
  session.terminal.err << "no decision about " << printable(options.container)
                       << (is_cut ? " is in the 16 MiB of records that flowcond has searched\n"
                                  : " is recorded yet; the first comes within seconds\n");
  return kFailed;
}

// The latest of each resource, the CPU's first, as flowcond orders its resources.
boost::json::array latest_of_each(const boost::json::array& decisions) {
  boost::json::array latest;
  const auto take = [&](std::string_view resource) {
    for (auto it = decisions.rbegin(); it != decisions.rend(); ++it) {
      if (text_of(member(*it, "resource")) != resource) continue;
      latest.push_back(*it);
      return;
    }
  };
  for (const ctrl::ResourceKind& kind : ctrl::kResourceKinds) take(kind.name);
  take("");  // about hosts
  return latest;
}

// `algorithm`: of the state that --state prints.
std::string explain_text(const boost::json::array& decisions, const std::string& container,
                         const std::string& algorithm) {
  std::string rows;
  for (const boost::json::value& decision : decisions) {
    // What is about hosts is about no resource of one.
    const std::string resource = text_of(member(decision, "resource"));
    rows += moment_text(real_of(member(decision, "time"))) + "\t" +
            printable(resource.empty() ? "host" : resource, kWordBytes) + "\t" +
            printable(text_of(member(decision, "sentence")), kSentenceBytes) + "\n";
  }
  const std::string which = decisions.size() == 1 ? "Decide it" : "Decide the last one";
  return align_columns(rows) + "\n" + which + " again by hand:\n  docker flowcon explain " +
         container + " --state | flowcon-sim decide " + algorithm + "\n";
}

int print_state(const Session& session, const ExplainOptions& options, std::string_view answer,
                const boost::json::value& decision) {
  // parse_json() keeps the last of several members of one name, and so do these.
  const std::string_view last = last_element_text(member_text(answer, "decisions"));
  const std::string_view state = member_text(last, "state");
  if (state.empty()) return say_nothing_recorded(session, options, false);
  session.terminal.out << (session.terminal.is_interactive ? safe_json(state) : std::string(state))
                       << "\n";
  session.terminal.out.flush();
  session.terminal.err << "decided by " << algorithm_of(decision) << ": flowcon-sim decide "
                       << algorithm_of(decision) << "\n";
  return kDone;
}

// Of a job of the queue also what was decided about it there, in order of time; some of it the
// host itself tells as well. The last ones; 0: all.
std::string with_queue(const boost::json::value& answer, const boost::json::value& queued,
                       std::size_t last) {
  boost::json::array all = list_of(member(answer, "decisions"));
  for (const boost::json::value& one : list_of(member(queued, "decisions"))) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  const auto time = [](const boost::json::value& one) {
    return real_of(member(one, "time")).value_or(0);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return time(a) < time(b); });
  if (last > 0 && all.size() > last) {
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  }
  const bool is_cut = is_true(answer, "cut") || is_true(queued, "cut");
  return render_json(boost::json::object{{"id", member(answer, "id")},
                                         {"name", member(answer, "name")},
                                         {"decisions", std::move(all)},
                                         {"cut", is_cut}});
}

// When something was decided about it last.
double latest_in(const boost::json::value& answer) {
  const boost::json::array& decisions = list_of(member(answer, "decisions"));
  return decisions.empty() ? 0 : real_of(member(decisions.back(), "time")).value_or(0);
}

// flowcond's answer, of so many decisions of the host and of the queue; `most` together, 0: all.
// Errors: it knows neither such a container nor a decision about such a job.
Result<std::string> ask_daemon(const DaemonClient& daemon, const std::string& name,
                               const std::string& target, unsigned last, unsigned most) {
  const std::string query = "?last=" + std::to_string(last);
  bool is_missing = false;
  Result<std::string> answer = daemon.get_text(target + query, &is_missing);
  const Result<std::string> job = job_target(name, "explain");
  if ((!answer && !is_missing) || !job) return answer;
  Result<std::string> queued = daemon.get_text(*job + query, nullptr);
  const Result<boost::json::value> more = parse_json(queued ? *queued : "");
  const bool is_told = more && !list_of(member(*more, "decisions")).empty();
  if (!answer && is_told) return queued;
  if (!answer) return or_job(daemon, name, answer.error());
  const Result<boost::json::value> own = parse_json(*answer);
  if (!own || !is_told) return answer;
  // Of two that had the name one after the other the later one.
  if (member(*own, "id") != member(*more, "id")) {
    return latest_in(*own) < latest_in(*more) ? queued : answer;
  }
  return with_queue(*own, *more, most);
}

}  // namespace

void declare_explain(CLI::App& app, ExplainOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  app.add_option("--format", options.format,
                 "Output as text, or as json: flowcond's answer with the recorded states and "
                 "decisions (default: text)")
      ->type_name("string")
      ->check([](const std::string& text) {
        return text == "text" || text == "json" ? std::string() : "has to be text or json";
      });
  app.add_option("-n,--last", options.last,
                 "Number of decisions to show, 1 to 1000 (default: the latest of each resource)")
      ->type_name("number")
      ->check(CLI::Range(1U, kMostDecisions));
  app.add_flag("--state", options.state,
               "Print only the last recorded state, for flowcon-sim decide ALGORITHM; explain "
               "without --state prints the whole command");
}

std::string check_explain(const ExplainOptions& options) {
  return options.state && options.last > 1 ? "--state shows one decision; leave out --last" : "";
}

int run_explain(const Session& session, const ExplainOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "explain");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<std::string> target = container_target(options.container, "explain");
  if (!target) return report(session.terminal, target.error());
  const bool is_text = options.format != "json" && !options.state;
  const unsigned last = options.last > 0 ? options.last : is_text ? kRecent : 1;
  const unsigned most = options.last > 0 || !is_text ? last : 0;
  const Result<std::string> answer = ask_daemon(*daemon, options.container, *target, last, most);
  if (!answer) return report(session.terminal, answer.error());
  if (options.format == "json" && !options.state) {
    print_json(session.terminal, *answer);
    return kDone;
  }
  const Result<boost::json::value> read = parse_json(*answer);
  if (!read) return report(session.terminal, read.error());
  const boost::json::array& decisions = list_of(member(*read, "decisions"));
  const bool is_cut = is_true(*read, "cut");
  if (decisions.empty()) return say_nothing_recorded(session, options, is_cut);
  if (options.state) return print_state(session, options, *answer, decisions.back());
  session.terminal.out << explain_text(options.last > 0 ? decisions : latest_of_each(decisions),
                                       options.container, algorithm_of(decisions.back()));
  session.terminal.out.flush();
  if (is_cut && options.last > 0) session.terminal.err << "There may be older decisions.\n";
  return kDone;
}

}  // namespace flowcon::plugin
