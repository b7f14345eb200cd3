// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/completion_names.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <sstream>
#include <utility>

#include "base/caller.h"
#include "base/json_reader.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/job/run.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

// A shell waits for us at each press of a key.
constexpr std::chrono::milliseconds kPatience{300};
constexpr const char* kPatienceOfDocker = "1";

boost::json::value ask_daemon(const Session& session, const char* target) {
  const Result<DaemonClient> daemon = find_daemon(session, "status");
  if (!daemon) return nullptr;
  auto answer = daemon->with_timeout(kPatience).get(target);
  return answer ? std::move(*answer) : boost::json::value();
}

// The member of each element of a list, where `is_good` says that it can be offered.
Words names_in(const boost::json::value& list, std::string_view name,
               bool (*is_good)(std::string_view)) {
  Words names;
  for (const boost::json::value& element : list_of(list)) {
    const std::string text = text_of(member(element, name));
    const bool is_new = std::find(names.begin(), names.end(), text) == names.end();
    if (is_new && is_good(text)) names.push_back(text);
  }
  return names;
}

Words controlled(const Session& session, std::string_view name, bool (*is_good)(std::string_view)) {
  return names_in(member(ask_daemon(session, "/v1/status"), "containers"), name, is_good);
}

Words uncontrolled(const Session& session) {
  const ExecPlan plan =
      plan_docker(session.invocation, session.environment, {"ps", "--format", "{{.Names}}"});
  Words words{"timeout", kPatienceOfDocker, plan.program};
  words.insert(words.end(), plan.arguments.begin() + 1, plan.arguments.end());
  const Result<ToolResult> listed = run_tool(words);
  if (!listed || listed->status != 0) return {};
  const Words known = controlled(session, "name", is_object_name);
  Words names;
  std::istringstream lines(listed->out);
  for (std::string line; std::getline(lines, line);) {
    const bool is_known = std::find(known.begin(), known.end(), line) != known.end();
    if (!is_known && is_object_name(line)) names.push_back(line);
  }
  return names;
}

Words members_by_command(const Session& session) {
  boost::json::array added;
  const boost::json::value answer = ask_daemon(session, "/v1/peers");
  for (const boost::json::value& peer : list_of(member(answer, "peers"))) {
    if (text_of(member(peer, "source")) == "command") added.push_back(peer);
  }
  return names_in(added, "name", is_caller_name);
}

Words jobs_of(const Session& session, bool (*is_wanted)(std::string_view state)) {
  boost::json::array wanted;
  const boost::json::value answer = ask_daemon(session, "/v1/queue");
  for (const boost::json::value& job : list_of(member(answer, "jobs"))) {
    if (is_wanted(text_of(job, "state"))) wanted.push_back(job);
  }
  return names_in(wanted, "name", is_object_name);
}

Words all_hosts(const Session& session) {
  const boost::json::value answer = ask_daemon(session, "/v1/peers");
  Words names = names_in(member(answer, "peers"), "name", is_caller_name);
  const std::string here = text_of(member(member(answer, "here"), "name"));
  if (is_caller_name(here)) names.insert(names.begin(), here);
  return names;
}

}  // namespace

bool is_plain_metric(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), is_plain);
}

CompletionNames ask_names(const Session& session) {
  CompletionNames names;
  names.containers = [&session] { return controlled(session, "name", is_object_name); };
  names.others = [&session] { return uncontrolled(session); };
  names.metrics = [&session] { return controlled(session, "metric", is_plain_metric); };
  names.peers = [&session] {
    return names_in(member(ask_daemon(session, "/v1/peers"), "peers"), "name", is_caller_name);
  };
  names.members = [&session] { return members_by_command(session); };
  names.hosts = [&session] { return all_hosts(session); };
  names.jobs = [&session] { return jobs_of(session, [](std::string_view) { return true; }); };
  names.open_jobs = [&session] { return jobs_of(session, is_open_state); };
  return names;
}

}  // namespace flowcon::plugin
