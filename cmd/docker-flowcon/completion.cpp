// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/completion.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "cmd/docker-flowcon/control.h"
#include "cmd/docker-flowcon/run.h"
#include "cmd/docker-flowcon/status_view.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kCall = "__complete";
constexpr std::string_view kCallWithoutDescriptions = "__completeNoDesc";

// Cobra's directives: 0 = the shell's own completion may follow, 4 = no names of files.
constexpr const char* kDefault = ":0\n";
constexpr const char* kNoFiles = ":4\n";

// A shell waits for us at each press of a key.
constexpr std::chrono::milliseconds kPatience{300};

// Values of options, separated by blanks; the first line that fits counts.
struct Choice {
  std::string_view option;
  std::string_view command;  // "" = any
  std::string_view words;
};

constexpr std::array<Choice, 11> kChoices{{{"goal", "", "min max"},
                                           {"format", "extract", "json table"},
                                           {"format", "doctor", "json table"},
                                           {"format", "explain", "json text"},
                                           {"format", "history", "csv json table"},
                                           {"what", "", "cpu limit loss memory"},
                                           {"format", "", "json table {{"},
                                           {"input", "", "json-file raw"},
                                           {"weight", "set", "none"},
                                           {"floor", "set", "none"},
                                           {"ceiling", "set", "none"}}};

// Commands whose arguments are containers under control.
constexpr std::array<std::string_view, 10> kOfContainers{
    "explain", "history", "pause", "pin", "plot", "release", "resume", "set", "status", "unpin"};

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Completer {
 public:
  Completer(const Command& command, Words before, std::string typed)
      : command_(command), before_(std::move(before)), typed_(std::move(typed)) {}

  // The option whose value the last word is, or begins ("--goal=m").
  const CLI::Option* option_of_value() {
    const std::size_t equals = typed_.find('=');
    if (begins_with(typed_, "--") && equals != std::string::npos) {
      prefix_ = typed_.substr(0, equals + 1);
      return command_.app->get_option_no_throw(typed_.substr(0, equals));
    }
    if (before_.empty() || before_.back().size() < 2 || before_.back()[0] != '-') return nullptr;
    // A value that looks like an option ("--metric --goal") is followed by a value of neither.
    const Scan scan = scan_words(*command_.app, before_, command_.style);
    if (scan.problem.empty()) return nullptr;
    const CLI::Option* option = command_.app->get_option_no_throw(before_.back());
    return option != nullptr && takes_value(*option) ? option : nullptr;
  }

  void offer_values(const CLI::Option& option, Completion& completion) const {
    const std::string name = long_name(option);
    const std::string command = command_.app->get_name();
    for (const Choice& choice : kChoices) {
      const bool is_here = choice.command.empty() || choice.command == command;
      if (choice.option != name || !is_here) continue;
      std::string_view rest = choice.words;
      while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        offer(completion, std::string(word));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      }
      break;
    }
    completion.offers_files = name == "socket";
  }

  void offer_options(Completion& completion) const {
    std::vector<const CLI::Option*> options =
        std::as_const(*command_.app).get_options([](const CLI::Option* option) {
          return !option->get_positional();
        });
    std::sort(options.begin(), options.end(), [](const CLI::Option* a, const CLI::Option* b) {
      return long_name(*a) < long_name(*b);
    });
    for (const CLI::Option* option : options) {
      const std::string text = first_line(option->get_description());
      offer(completion, "--" + long_name(*option), text);
      if (!short_name(*option).empty()) offer(completion, "-" + short_name(*option), text);
    }
    offer(completion, "--help", "Print usage");
  }

  void offer(Completion& completion, const std::string& word, const std::string& text = "") const {
    if (!begins_with(prefix_ + word, typed_)) return;
    completion.candidates.push_back(prefix_ + word + (text.empty() ? "" : "\t" + text));
  }

  void offer_all(Completion& completion, const Words& words) const {
    for (const std::string& word : words) offer(completion, word);
  }

 private:
  const Command& command_;
  Words before_;
  std::string typed_;
  std::string prefix_;
};

void complete_root(const Command& root, const std::vector<Command>& commands, const Words& before,
                   const std::string& typed, Completion& completion) {
  Completer completer(root, before, typed);
  if (const CLI::Option* option = completer.option_of_value()) {
    completer.offer_values(*option, completion);
    return;
  }
  if (begins_with(typed, "-")) {
    completer.offer_options(completion);
    return;
  }
  for (const Command& command : commands) {
    completer.offer(completion, command.app->get_name(), command.app->get_description());
  }
  completer.offer(completion, "help", "Help about any command");
}

void complete_command(const Command& command, const Words& before, const std::string& typed,
                      const std::function<Words()>& containers, Completion& completion) {
  Completer completer(command, before, typed);
  const Scan scan = scan_words(*command.app, before, command.style);
  const bool is_run = command.style == WordStyle::until_unknown;
  Words of_docker(before.begin() + static_cast<std::ptrdiff_t>(scan.taken), before.end());
  of_docker.push_back(typed);
  if (is_run && scan.problem.empty() && of_docker.size() > 1) {
    completion.of_docker_run = of_docker;
    return;
  }
  if (const CLI::Option* option = completer.option_of_value()) {
    completer.offer_values(*option, completion);
    return;
  }
  const bool options_ended = std::find(before.begin(), before.end(), "--") != before.end();
  if (begins_with(typed, "-") && !options_ended) completer.offer_options(completion);
  if (is_run && completion.candidates.empty()) completion.of_docker_run = of_docker;
  if (begins_with(typed, "-")) return;
  const std::string name = command.app->get_name();
  if (std::find(kOfContainers.begin(), kOfContainers.end(), name) != kOfContainers.end()) {
    completer.offer_all(completion, containers());
  }
  completion.offers_files = name == "extract";
}

Words container_names(const Session& session) {
  const Result<DaemonClient> daemon = find_daemon(session, "status");
  if (!daemon) return {};
  const auto answer = DaemonClient(daemon->path(), kPatience).get("/v1/status");
  if (!answer) return {};
  const Result<StatusView> view = read_status(*answer, true);
  if (!view) return {};
  Words names;
  for (const ContainerView& container : view->containers) {
    // bash expands what completion offers, "$(...)" too.
    const std::string name(container.shown.at("Name").get_string());
    if (is_container_name(name)) names.push_back(name);
  }
  return names;
}

}  // namespace

Completion complete(const Command& root, const std::vector<Command>& commands, const Words& words,
                    const std::function<Words()>& containers) {
  Completion completion;
  if (words.empty()) return completion;
  const Words before(words.begin(), words.end() - 1);
  const Scan scan = scan_words(*root.app, before, root.style);
  auto next = before.begin() + static_cast<std::ptrdiff_t>(scan.taken);
  if (next == before.end() || !scan.problem.empty()) {
    complete_root(root, commands, before, words.back(), completion);
    return completion;
  }
  if (*next == "help") {
    if (next + 1 == before.end()) complete_root(root, commands, {}, words.back(), completion);
    return completion;
  }
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& c) { return c.app->get_name() == *next; });
  if (command != commands.end()) {
    complete_command(*command, Words(next + 1, before.end()), words.back(), containers, completion);
  }
  return completion;
}

std::string render_completion(const Completion& completion, bool descriptions) {
  std::string out;
  for (const std::string& candidate : completion.candidates) {
    out += (descriptions ? candidate : candidate.substr(0, candidate.find('\t'))) + "\n";
  }
  return out + (completion.offers_files ? kDefault : kNoFiles);
}

bool is_completion_call(const Words& words) {
  return !words.empty() && (words.front() == kCall || words.front() == kCallWithoutDescriptions);
}

int run_completion(const Session& session, const Command& root,
                   const std::vector<Command>& commands) {
  const std::string call = session.invocation.words.front();
  Words words(session.invocation.words.begin() + 1, session.invocation.words.end());
  // A word that is still being typed is never the plugin's name.
  if (words.size() > 1 && words.front() == "flowcon") words.erase(words.begin());
  const Completion completion =
      complete(root, commands, words, [&session] { return container_names(session); });
  if (completion.of_docker_run) {
    return complete_docker_run(session, call, *completion.of_docker_run);
  }
  const std::string off = lookup(session.environment, "DOCKER_CLI_DISABLE_COMPLETION_DESCRIPTION");
  const bool descriptions = call == kCall && (off.empty() || off == "0" || off == "false");
  session.terminal.out << render_completion(completion, descriptions);
  return kDone;
}

}  // namespace flowcon::plugin
