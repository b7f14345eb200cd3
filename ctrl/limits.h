// SPDX-License-Identifier: Apache-2.0
// Carries settings out: saves the original before the first change, writes, reads back,
// reports to systemd, restores. A container whose original cannot be saved is left as it is, but
// for its CPU where that was limited before.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "cgroups/disks.h"
#include "cgroups/setting.h"
#include "ctrl/async.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

class Effects;

/// One setting to be made real.
struct Target {
  store::Original container;  ///< who, where, and what it had
  bool is_original_saved = false;
  bool is_cpu_saved = false;  ///< where it is not: what is saved does for a limit of the CPU alone
  cgroups::Setting present;   ///< as known
  cgroups::Setting setting;
};

/// What became of a target.
struct Outcome {
  std::string id;
  bool is_written = false;
  bool is_original_saved = false;
  bool is_gone = false;       ///< the container died meanwhile; its end will be reported
  bool is_cpu_alone = false;  ///< memory and I/O were left alone, since no original was saved
  /// Its memory was left as it was: by now it needs more than the soft limit that was planned, too
  /// many blocking calls wait, or flowcond ends.
  bool is_memory_kept = false;
  std::vector<std::string> gone_disks;  ///< by number; their caps went with them
  std::string problem;                  ///< "" = none
};

/// True if an error of cgroups means that the container is gone.
[[nodiscard]] bool is_gone(const Error& error);

class Limits {
 public:
  Limits(cgroups::CgroupFs& fs, Effects& effects, store::Store& store);
  /// Finds how block I/O is limited on this host, by one container's group.
  void find_mechanism(const cgroups::Group& group);
  void find_mechanism(const cgroups::Group& group,
                      const std::vector<cgroups::BlockDevice>& devices);
  [[nodiscard]] bool is_mechanism_known() const { return is_mechanism_known_; }
  [[nodiscard]] const cgroups::IoMechanism& mechanism() const { return mechanism_; }

  /// Writes every target, each on its own: one failure does not keep another from being written.
  Async<std::vector<Outcome>> apply(std::vector<Target> targets);
  /// flowcond ends: from now on apply() leaves memory as it is. It waits but a moment for a write
  /// of a memory limit that is under way; when that ends the original is written after it.
  void stop();
  /// What containers had is put back: from now on apply() writes nothing, whatever it waits for.
  void end() { is_ended_ = true; }
  /// An original in the kernel again, with what was never limited as it was there, and what was
  /// there.
  struct PutBack {
    store::Original original;
    Result<cgroups::Setting> before;
  };
  /// Writes it. Blocks nowhere, and waits for nobody.
  [[nodiscard]] PutBack put_back(store::Original original) const;
  /// Reports it to systemd, and forgets it; what was written here since is written over. Errors: as
  /// restore().
  Async<Result<void>> finish(PutBack done);
  /// Puts the original back, in systemd too, and forgets it. A group that is gone needs nothing,
  /// nor does one of a container that was started again: it has originals of its own.
  /// Errors: it could not be put back; that the state cannot be written is no error, it is tried
  /// again.
  Async<Result<void>> restore(store::Original original);
  /// For a container that the engine says has ended, at once: an engine that restarts may forget
  /// one that lives on, and then our limit must not stay and be taken for its own. Where the group
  /// is gone nothing is written. The original is forgotten.
  void undo(const store::Original& original);
  /// systemd did not take the last restore of that container: a daemon-reload may bring back any
  /// limit that it had before.
  [[nodiscard]] bool is_untold(const std::string& id) const { return untold_.contains(id); }
  /// The container has ended, and its scope with it.
  void forget(const std::string& id) { untold_.erase(id); }
  struct Leftovers {
    std::size_t restored = 0;
    std::vector<store::Original> failed;  ///< still limited, and what they had
  };
  /// Undoes what an earlier daemon left behind, so that control begins from what users gave, except
  /// of the containers in `but`. Errors: the state cannot be read.
  Async<Result<Leftovers>> restore_leftovers(std::set<std::string> but);

 private:
  [[nodiscard]] bool is_over(const store::Original& original) const;
  Async<Outcome> write(Target target);
  Async<Result<bool>> write_memory(Target target);
  Result<bool> write_memory_now(const Target& target);
  void tell_systemd(Target target, const Outcome& outcome);
  Async<bool> tell_systemd_for_good(store::Original original, cgroups::Setting present);

  cgroups::CgroupFs& fs_;
  Effects& effects_;
  store::Store& store_;
  cgroups::IoMechanism mechanism_;
  bool is_mechanism_known_ = false;
  std::set<std::string> untold_;          ///< ids, see is_untold()
  std::atomic<bool> is_stopping_{false};  ///< read on the effects thread, too
  std::atomic<bool> is_ended_{false};     ///< as is_stopping_
  struct MemoryWrite;
  std::shared_ptr<MemoryWrite> under_way_;  ///< null: none is waited for
  class Systemd;
  std::shared_ptr<Systemd> systemd_;  ///< used on the effects thread alone
};

}  // namespace flowcon::ctrl
