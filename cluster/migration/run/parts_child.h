// SPDX-License-Identifier: Apache-2.0
// A child process, started without a shell, that gives bytes or takes them: tar. It inherits no
// open file but its own three, and ends with whoever holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::cluster::migration {

class Child {
 public:
  enum class Flow { gives, takes, neither };

  /// The first of `words` is looked for on the PATH. Errors: it cannot be started.
  static ctrl::Async<Result<std::shared_ptr<Child>>> start(std::vector<std::string> words,
                                                           Flow flow);
  /// Kills what finish() has not ended.
  ~Child();

  /// The next bytes it gives, at most 64 KiB; "" at their end. Errors: the kernel's; ETIMEDOUT it
  /// did nothing for five minutes, and is killed.
  ctrl::Async<Result<std::string>> read();
  /// Errors: as read(); EPIPE it takes no more, and finish() says why.
  ctrl::Async<Result<void>> write(std::string bytes);
  /// Says that no more comes, and waits for its end. Errors: it failed, with its last words;
  /// ETIMEDOUT.
  ctrl::Async<Result<void>> finish();

 private:
  struct Impl;
  explicit Child(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// Runs `words` to their end. Errors: as Child's.
ctrl::Async<Result<void>> run_child(std::vector<std::string> words);

}  // namespace flowcon::cluster::migration
