// SPDX-License-Identifier: Apache-2.0
// Another program, run beside the loop: no shell, no open file of ours but its own three.
// For .cpp files only: it includes Asio.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/ran.h"
#include "ctrl/wire/launch.h"
#include "ctrl/wire/stream.h"

namespace flowcon::ctrl {

/// Seconds that never pass.
inline constexpr double kForever = 1e9;

/// Which of a child's files are our stream to it; the others are /dev/null.
enum class Joined { none, in, out, both };

struct Command {
  std::vector<std::string> argv;         ///< the first is looked for on the PATH
  std::vector<std::string> environment;  ///< all of it; none = this process's
  std::optional<std::string> input;      ///< all of its stdin
  Joined joined = Joined::none;
  Rights rights = Rights::ours;
  bool is_ours = false;            ///< in our process group: ^C and the terminal's input reach it
  bool goes_on = false;            ///< where it is not held any more; else it is killed
  bool joins_errors = false;       ///< its stderr goes where its stdout goes
  bool passes_errors = false;      ///< its stderr is ours; else its last bytes are kept
  std::size_t most_errors = 4096;  ///< bytes of it
  std::size_t most_output = 1U << 20;  ///< bytes of stdout that run() keeps
};

class Child : public std::enable_shared_from_this<Child> {
 public:
  /// Errors: there is no program; it cannot be started.
  [[nodiscard]] static Result<std::shared_ptr<Child>> start(boost::asio::any_io_executor executor,
                                                            const Command& command);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills what has not ended, if it may not go on.
  ~Child();

  /// What is joined to it; closed by finish(), close() and abandon().
  [[nodiscard]] const std::shared_ptr<LocalStream>& stream() const { return stream_; }
  /// The last that it wrote to stderr.
  [[nodiscard]] const std::string& said() const;

  /// The next bytes of its stdout, at most 64 KiB; "" at their end. Errors: the kernel's; ETIMEDOUT
  /// nothing came for `seconds`: it is killed.
  Async<Result<std::string>> read(double seconds);
  /// Errors: as read(); EPIPE it takes no more, and succeed() says why.
  Async<Result<void>> write(std::string bytes, double seconds);
  /// Says that no more comes, and waits for its end. After `seconds` its group is killed, and what
  /// is left of that at its end. Returns the status as a shell has it: 128 + n where signal n ended
  /// it, and 137 also where it goes on for two seconds after it was killed.
  Async<int> finish(double seconds);
  /// The same. Errors: a status other than 0, with its last words; ETIMEDOUT.
  Async<Result<void>> succeed(double seconds);
  /// Ends it within a second and a half. Returns said().
  Async<std::string> close();
  /// Kills it, and reads no more of it.
  void abandon();

 private:
  struct Files;
  struct Errors;
  Child(const boost::asio::any_io_executor& executor, const Files& files, pid_t pid,
        const Command& command);

  [[nodiscard]] static Result<Files> open_files(const Command& command);
  [[nodiscard]] bool has_ended() const;
  Async<bool> has_ended_within(double seconds);
  Async<bool> is_seen_ended_within(double seconds);
  Async<void> take_status();
  Error failure(const boost::system::error_code& code, const char* doing);
  void kill(int signal) const;
  void reap();

  boost::asio::any_io_executor executor_;
  std::shared_ptr<LocalStream> stream_;
  std::shared_ptr<Errors> errors_;
  pid_t pid_;
  pid_t killed_;  ///< its group, or it alone
  int status_ = 0;
  bool goes_on_;
  std::string name_;
  bool has_given_all_ = false;
  bool is_late_ = false;
};

/// Runs a program to its end; after `seconds` its group is killed. Errors: it cannot be started.
Async<Result<Ran>> run(Command command, double seconds);

}  // namespace flowcon::ctrl
