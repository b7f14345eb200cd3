// SPDX-License-Identifier: Apache-2.0
// What a move asks the file systems of this host. Any of them may hang or take minutes: each
// question waits on a thread of its own, most with a deadline.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/accept.h"
#include "cluster/migration/run/move_plan.h"
#include "cluster/migration/run/parts.h"
#include "ctrl/async.h"

namespace flowcon::cluster::migration {

/// What there is below a folder, as far as it was looked at. Units: bytes, files and folders.
struct Tree {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;  ///< no more than one above `most`
  /// Stands for names, sizes, owners and moments of the last change of all that is in it: another
  /// one, and something was changed. "" = not all of it was looked at.
  std::string content;
};

/// A copy of data (plan/data_volume.h) that is whole. Units: bytes; seconds since the epoch.
struct DataMark {
  std::uint64_t bytes = 0;
  double used = 0;  ///< when it was wanted last
};

/// Files of the writable layer that would not travel: that count, and that may be lost.
struct LeftBehind {
  std::vector<std::string> files;
  std::vector<std::string> passing;
  bool is_cut = false;  ///< there are more changes than were looked at
};

class HostFiles {
 public:
  virtual ~HostFiles() = default;
  /// Waits until what was written below `folder` is on its disk.
  virtual Async<Result<void>> sync(std::string folder) = 0;
  /// Errors: ENOSPC moves may write no more below `folder`; it cannot be looked at.
  virtual Async<Result<void>> look_for_room(std::string folder) = 0;
  /// As why_no_room(). Errors: it does not answer.
  virtual Async<Result<std::string>> why_no_room(std::string folder, std::uint64_t bytes) = 0;
  /// As unfit_paths(), with the sentence where the file systems do not answer.
  virtual Async<std::vector<std::string>> unfit_paths(boost::json::object body,
                                                      AcceptPolicy policy) = 0;
  /// As measure(). Errors: they do not answer.
  virtual Async<Result<std::vector<Tree>>> measure(std::vector<std::string> folders,
                                                   std::uint64_t most) = 0;
  /// As mark_whole(). Errors: those of it, it does not answer.
  virtual Async<Result<void>> mark_whole(std::string folder) = 0;
  /// As mark_of(), of each. Errors: they do not answer.
  virtual Async<Result<std::vector<std::optional<DataMark>>>> marks_of(
      std::vector<std::string> folders) = 0;
  /// The data in `folder` is wanted now.
  virtual Async<void> mark_used(std::string folder) = 0;
  /// Of the engine's list of `changes` what would not travel. `upper`: the folder of the writable
  /// layer, "" for none; `asked`: what was written since is what the job saved.
  virtual Async<LeftBehind> left_behind(std::string changes, std::string upper,
                                        boost::json::object body,
                                        std::optional<timespec> asked) = 0;
  /// Has the job written to what it saves to since then? Also where that cannot be looked at.
  virtual Async<bool> has_saved_since(Plan plan, CopyPlace place, timespec since) = 0;
  /// The clock of file times.
  [[nodiscard]] virtual timespec now() const = 0;
};

class LocalFiles : public HostFiles {
 public:
  LocalFiles();
  ~LocalFiles() override;
  Async<Result<void>> sync(std::string folder) override;
  Async<Result<void>> look_for_room(std::string folder) override;
  Async<Result<std::string>> why_no_room(std::string folder, std::uint64_t bytes) override;
  Async<std::vector<std::string>> unfit_paths(boost::json::object body,
                                              AcceptPolicy policy) override;
  Async<Result<std::vector<Tree>>> measure(std::vector<std::string> folders,
                                           std::uint64_t most) override;
  Async<Result<void>> mark_whole(std::string folder) override;
  Async<Result<std::vector<std::optional<DataMark>>>> marks_of(
      std::vector<std::string> folders) override;
  Async<void> mark_used(std::string folder) override;
  Async<LeftBehind> left_behind(std::string changes, std::string upper, boost::json::object body,
                                std::optional<timespec> asked) override;
  Async<bool> has_saved_since(Plan plan, CopyPlace place, timespec since) override;
  [[nodiscard]] timespec now() const override;

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

/// Does a file in one of `places`, files or folders, that is at least as new as `since` show that
/// something was saved? Links are not followed. True also where there are too many to look at all.
[[nodiscard]] bool is_written_since(const std::vector<std::string>& places, timespec since);

[[nodiscard]] std::vector<Tree> measure(const std::vector<std::string>& folders,
                                        std::uint64_t most);

/// All that was to come into `folder`, a volume's, is there, on the disk. Says so in a file beside
/// it, which goes when the engine removes the volume. Errors: the kernel's.
[[nodiscard]] Result<void> mark_whole(const std::string& folder);
/// Empty: not all of it has come.
[[nodiscard]] std::optional<DataMark> mark_of(const std::string& folder);

/// For people, rounded up: "12 MiB".
[[nodiscard]] std::string mebibytes(double bytes);

/// Why `bytes` more do not fit below `folder`; empty: they do.
[[nodiscard]] std::string why_no_room(const std::string& folder, std::uint64_t bytes);

/// Paths of this host that `body` has and that are not there, or that links lead out of all of
/// `policy.mounts`: the engine follows links, and a job that writes to such a folder can make them.
/// One sentence for both, or a peer would learn what else is on this host. Asks of nothing but what
/// is accepted as it is written.
[[nodiscard]] std::vector<std::string> unfit_paths(const boost::json::object& body,
                                                   const AcceptPolicy& policy);

}  // namespace flowcon::cluster::migration
