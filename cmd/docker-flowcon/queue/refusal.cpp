// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/refusal.h"

#include <array>
#include <string_view>

#include "base/text.h"
#include "cmd/docker-flowcon/job/run_words.h"

namespace flowcon::plugin {
namespace {

// As docker reads the values of its switches.
bool is_off(const RunOption& option) {
  constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "false", "FALSE", "False"};
  for (const std::string_view word : kFalse) {
    if (option.value == word) return true;
  }
  return false;
}

// The letter or the name, alone or among other letters ("t" in "-it"), and not switched off.
bool is_switch(const RunOption& option, char letter, std::string_view name) {
  if (option.letters.empty()) return option.name == name && !is_off(option);
  const std::size_t at = option.letters.find(letter);
  if (at == std::string::npos) return false;
  const bool is_last = at + 1 == option.letters.size();
  return !is_last || !is_off(option);
}

bool is_either(const RunOption& option, std::string_view letter, std::string_view name) {
  return option.name == letter || option.name == name;
}

// The port of the host in "[IP:]HOST:CONTAINER" or "published=HOST,target=CONTAINER"; "" where
// docker picks one.
std::string host_port(const std::string& text) {
  constexpr std::string_view kPublished = "published=";
  if (text.find('=') != std::string::npos) {
    const std::size_t at = ("," + text).find("," + std::string(kPublished));
    if (at == std::string::npos) return "";
    const std::size_t first = at + kPublished.size();
    return text.substr(first, text.find(',', first) - first);
  }
  const std::size_t container = text.rfind(':');
  if (container == std::string::npos) return "";
  const std::string before = text.substr(0, container);
  const std::size_t address = before.rfind(':');
  return address == std::string::npos ? before : before.substr(address + 1);
}

std::string refusal_of(const RunOption& option) {
  const std::string said = option.name + " " + printable(option.value, 100);
  if (is_switch(option, '\0', "--rm"))
    return "a job's container stays after its end, so that its status and log can be read: leave "
           "out --rm, and remove it with docker rm";
  if (is_switch(option, 'i', "--interactive") || is_switch(option, 't', "--tty"))
    return "a job has no terminal: leave out -i and -t";
  if (is_switch(option, 'd', "--detach")) return "submit never waits: leave out -d";
  if (is_either(option, "-p", "--publish")) {
    const std::string port = host_port(option.value);
    if (!port.empty() && port != "0")
      return said +
             ": a job cannot have a fixed port of the host; name only the container's, as "
             "in -p 80, and docker picks one";
  }
  const bool is_pinned = option.name == "--cpuset-cpus" || option.name == "--cpuset-mems";
  if (is_pinned && !option.value.empty())
    return said +
           ": flowcond shares the processors of all jobs; ask for cores with --request cpu=2";
  if (option.name == "--restart" && !option.value.empty() && option.value != "no")
    return said + ": the queue starts a job, and again if it fails: use --retries";
  return "";
}

}  // namespace

std::string submit_refusal(const std::vector<std::string>& docker_arguments) {
  for (const RunOption& option : read_run_options(docker_arguments)) {
    std::string refusal = refusal_of(option);
    if (!refusal.empty()) return refusal;
  }
  return "";
}

}  // namespace flowcon::plugin
