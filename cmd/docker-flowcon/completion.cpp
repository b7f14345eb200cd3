// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/completion.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "cmd/docker-flowcon/job/run.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kCall = "__complete";
constexpr std::string_view kCallWithoutDescriptions = "__completeNoDesc";

// Cobra's directives: 0 = the shell's own completion may follow, 4 = no names of files.
constexpr const char* kDefault = ":0\n";
constexpr const char* kNoFiles = ":4\n";

// Values of options, separated by blanks; the first line that fits counts.
struct Choice {
  std::string_view option;
  std::string_view command;  // behind `docker flowcon`; "" = any
  std::string_view words;
};

constexpr std::string_view kSorts = "arrival cpu growth host io limit list memory name";

constexpr std::array<Choice, 20> kChoices{{{"goal", "", "min max"},
                                           {"method", "", "app criu"},
                                           {"format", "extract", "json table"},
                                           {"format", "doctor", "json table"},
                                           {"format", "explain", "json text"},
                                           {"format", "estimate", "json table"},
                                           {"format", "history", "csv json table"},
                                           {"format", "queue show", "json text"},
                                           {"what", "", "cpu limit loss memory"},
                                           {"sort", "top", kSorts},
                                           {"format", "", "json table {{"},
                                           {"objective", "", "mean t90 makespan"},
                                           {"input", "", "json-file raw"},
                                           {"elastic", "submit", "no join restart torchrun"},
                                           {"weight", "set", "none"},
                                           {"floor", "set", "none"},
                                           {"ceiling", "set", "none"},
                                           {"priority", "queue set", "none"},
                                           {"request", "queue set", "none"},
                                           {"retries", "queue set", "none"}}};

using Ask = CompletionNames::Ask CompletionNames::*;

// What the arguments of a command, behind `docker flowcon`, are. A command that is not here takes
// none that are known.
struct Arguments {
  std::string_view command;
  std::array<Ask, 2> kinds;  // of the first argument and of the second
  bool is_many = false;      // the first kind may be repeated
};

constexpr std::array<Arguments, 27> kArguments{
    {{"adopt", {&CompletionNames::others, nullptr}},
     {"explain", {&CompletionNames::containers, nullptr}},
     {"fetch", {&CompletionNames::jobs, nullptr}},
     {"history", {&CompletionNames::containers, nullptr}},
     {"logs", {&CompletionNames::containers, nullptr}},
     {"migrate", {&CompletionNames::containers, &CompletionNames::peers}},
     {"pause", {&CompletionNames::containers, nullptr}, true},
     {"peer drain", {&CompletionNames::hosts, nullptr}},
     {"peer rm", {&CompletionNames::members, nullptr}},
     {"peer undrain", {&CompletionNames::hosts, nullptr}},
     {"pin", {&CompletionNames::containers, nullptr}, true},
     {"plot", {&CompletionNames::containers, nullptr}},
     {"queue cancel", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue hold", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue park", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue release", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue restart", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue scale", {&CompletionNames::open_jobs, nullptr}},
     {"queue set", {&CompletionNames::open_jobs, nullptr}, true},
     {"queue show", {&CompletionNames::jobs, nullptr}},
     {"release", {&CompletionNames::containers, nullptr}, true},
     {"report", {&CompletionNames::containers, nullptr}, true},
     {"resume", {&CompletionNames::containers, nullptr}, true},
     {"set", {&CompletionNames::containers, nullptr}, true},
     {"status", {&CompletionNames::containers, nullptr}, true},
     {"unpin", {&CompletionNames::containers, nullptr}, true},
     {"wait", {&CompletionNames::jobs, nullptr}, true}}};

// Who knows the names for the argument behind `before` others of a command; null: nobody.
Ask kind_of_argument(std::string_view command, std::size_t before) {
  for (const Arguments& arguments : kArguments) {
    if (arguments.command != command) continue;
    if (arguments.is_many) return arguments.kinds[0];
    return before < arguments.kinds.size() ? arguments.kinds[before] : nullptr;
  }
  return nullptr;
}

Words ask(const CompletionNames& names, Ask kind) {
  return kind != nullptr && names.*kind ? (names.*kind)() : Words();
}

// "queue show" of `docker flowcon queue show`.
std::string_view words_of(const Command& command) {
  constexpr std::string_view kRoot = "docker flowcon ";
  const std::string_view path = command.path;
  return path.substr(std::min(kRoot.size(), path.size()));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Completer {
 public:
  Completer(const Command& command, Words before, std::string typed)
      : command_(command), before_(std::move(before)), typed_(std::move(typed)) {}

  // The option whose value the last word is, or begins ("--goal=m").
  const CLI::Option* option_of_value() {
    const std::size_t equals = typed_.find('=');
    if (typed_.starts_with("--") && equals != std::string::npos) {
      const CLI::Option* option = command_.app->get_option_no_throw(typed_.substr(0, equals));
      typed_.erase(0, equals + 1);
      return option;
    }
    if (before_.empty() || before_.back().size() < 2 || before_.back()[0] != '-') return nullptr;
    // A value that looks like an option ("--metric --goal") is followed by a value of neither.
    const Scan scan = scan_words(*command_.app, before_, command_.style);
    if (scan.problem.empty()) return nullptr;
    const CLI::Option* option = command_.app->get_option_no_throw(before_.back());
    return option != nullptr && takes_value(*option) ? option : nullptr;
  }

  void offer_values(const CLI::Option& option, const CompletionNames& names,
                    Completion& completion) const {
    const std::string name = long_name(option);
    if (name == "metric") offer_all(completion, ask(names, &CompletionNames::metrics));
    if (name == "without") offer_all(completion, ask(names, &CompletionNames::peers));
    const std::string_view command = words_of(command_);
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
    completion.offers_files = name == "socket" || name == "output" || name == "from" ||
                              name == "save" || name == "config-dir";
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
    if (!word.starts_with(typed_)) return;
    completion.candidates.push_back(word + (text.empty() ? "" : "\t" + text));
  }

  void offer_all(Completion& completion, const Words& words) const {
    for (const std::string& word : words) offer(completion, word);
  }

 private:
  const Command& command_;
  Words before_;
  std::string typed_;
};

void complete_root(const Command& root, const std::vector<Command>& commands, const Words& before,
                   const std::string& typed, Completion& completion) {
  Completer completer(root, before, typed);
  if (const CLI::Option* option = completer.option_of_value()) {
    completer.offer_values(*option, {}, completion);
    return;
  }
  if (typed.starts_with("-")) {
    completer.offer_options(completion);
    return;
  }
  for (const Command& command : commands) {
    if (command.is_hidden) continue;
    completer.offer(completion, command.app->get_name(), command.app->get_description());
  }
  completer.offer(completion, "help", "Help about any command");
}

void complete_command(const Command& command, const Words& before, const std::string& typed,
                      const CompletionNames& names, Completion& completion) {
  Completer completer(command, before, typed);
  const Scan scan = scan_words(*command.app, before, command.style);
  const bool is_dockers = command.style == WordStyle::before_image;
  Words of_docker{command.docker_command};
  of_docker.insert(of_docker.end(), scan.positionals.begin(), scan.positionals.end());
  of_docker.push_back(typed);
  if (is_dockers && scan.problem.empty() && !scan.positionals.empty()) {
    completion.of_docker = of_docker;
    return;
  }
  if (const CLI::Option* option = completer.option_of_value()) {
    completer.offer_values(*option, names, completion);
    return;
  }
  const bool options_ended = std::find(before.begin(), before.end(), "--") != before.end();
  if (typed.starts_with("-") && !options_ended) completer.offer_options(completion);
  if (is_dockers && completion.candidates.empty()) completion.of_docker = of_docker;
  if (typed.starts_with("-")) return;
  const std::string_view name = words_of(command);
  completer.offer_all(completion, ask(names, kind_of_argument(name, scan.positionals.size())));
  if (name == "queue scale" && scan.positionals.size() == 1) completer.offer(completion, "none");
  completion.offers_files = name == "extract";
}

}  // namespace

Completion complete(const Command& root, const std::vector<Command>& commands, const Words& words,
                    const CompletionNames& names) {
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
  if (command != commands.end() && !command->below.empty()) {
    const auto rest = words.begin() + (next - before.begin()) + 1;
    return complete(*command, command->below, Words(rest, words.end()), names);
  }
  if (command != commands.end()) {
    complete_command(*command, Words(next + 1, before.end()), words.back(), names, completion);
  }
  return completion;
}

Words join_at_equals(const Words& words) {
  Words joined;
  bool is_value = false;  // the next word belongs to the option before it
  for (const std::string& word : words) {
    const bool is_equals = word == "=" && !joined.empty() && joined.back().starts_with("--");
    if (is_equals || is_value) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    is_value = is_equals;
  }
  return joined;
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
  if (call == kCallWithoutDescriptions) words = join_at_equals(words);
  const Completion completion = complete(root, commands, words, ask_names(session));
  if (completion.of_docker) return complete_docker(session, call, *completion.of_docker);
  const std::string off = lookup(session.environment, "DOCKER_CLI_DISABLE_COMPLETION_DESCRIPTION");
  const bool descriptions = call == kCall && (off.empty() || off == "0" || off == "false");
  session.terminal.out << render_completion(completion, descriptions);
  return kDone;
}

}  // namespace flowcon::plugin
