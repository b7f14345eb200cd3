// SPDX-License-Identifier: Apache-2.0
// Threads for what may keep its asker waiting for good: the files of one network or FUSE file
// system. Nobody waits for such a thread, not even the end of the process; a thread that the
// kernel holds is left alone and found again when it comes back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace flowcon::ctrl::logs {

/// An owner's part of one thread. Work is done in its order; what is queued when the last owner has
/// gone is still done, then the thread ends.
class Helper {
 public:
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  /// Queues `work`, which must not throw.
  void post(std::function<void()> work);

 private:
  friend class Helpers;
  struct State;
  explicit Helper(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// At most kMost of them, one a file system. Used on one thread.
class Helpers {
 public:
  static constexpr std::size_t kMost = 8;
  Helpers();
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  /// The one for `file_system`, begun where there is none. Null: there are kMost, those that the
  /// kernel holds counted in, or no thread can be had.
  [[nodiscard]] std::shared_ptr<Helper> get(const std::string& file_system);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How many such threads this process has. While it is not 0 the process must not end by exit(),
/// whose clean-up they could still use: _exit() does not wait for them either.
[[nodiscard]] std::size_t living_helpers();

}  // namespace flowcon::ctrl::logs
