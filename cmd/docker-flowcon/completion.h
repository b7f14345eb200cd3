// SPDX-License-Identifier: Apache-2.0
// Shell completion of `docker flowcon`: commands, options, their values, containers.
// Speaks the protocol of docker's own completion (Cobra).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/completion_names.h"

namespace flowcon::plugin {

/// Completions of the last word.
struct Completion {
  /// Candidates that begin with the typed text, with a description behind a tab if there is one.
  std::vector<std::string> candidates;
  bool offers_files = false;  ///< the shell may add the names of files
  /// Words for docker to complete, its command first: run or create.
  std::optional<std::vector<std::string>> of_docker;
};

/// Completes the last of `words`, which follow `docker flowcon`. `names` is asked where a name of
/// its kind may stand. Of "--goal=m" it completes only the value, as all shells expect.
[[nodiscard]] Completion complete(const Command& root, const std::vector<Command>& commands,
                                  const std::vector<std::string>& words,
                                  const CompletionNames& names);

/// The words of docker's script for bash, which takes "--goal=m" apart: "--goal", "=", "m".
[[nodiscard]] std::vector<std::string> join_at_equals(const std::vector<std::string>& words);

/// The answer in Cobra's protocol: one candidate a line, then the directive.
[[nodiscard]] std::string render_completion(const Completion& completion, bool descriptions);

/// True if `words` is a call for completion.
[[nodiscard]] bool is_completion_call(const std::vector<std::string>& words);

/// Answers such a call. docker calls with `__complete flowcon WORD...`, docker's script for bash
/// with `__completeNoDesc WORD...`. Never fails: a shell has no use for an error.
[[nodiscard]] int run_completion(const Session& session, const Command& root,
                                 const std::vector<Command>& commands);

}  // namespace flowcon::plugin
