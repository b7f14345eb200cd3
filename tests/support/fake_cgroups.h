// SPDX-License-Identifier: Apache-2.0
// A cgroup file system in memory. The tree is a literal in the test; writes are recorded in order;
// the n-th write can fail; groups can vanish, now or just before a write. It refuses the names that
// the real one refuses, holds text as written (v1 cpu.shares is clamped as the kernel does), and
// knows no other kernel rule: those are tested in tests/host/.
#pragma once

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "cgroups/names.h"

namespace flowcon::test {

class FakeCgroups final : public cgroups::CgroupFs {
 public:
  using Files = std::map<std::string, std::string>;
  using Tree = std::map<std::string, Files>;  ///< group -> file -> text, all controllers together

  struct Written {
    std::string group;
    std::string file;
    std::string text;
    bool operator==(const Written&) const = default;
  };

  explicit FakeCgroups(cgroups::Mode mode, Tree tree = {}) : mode_(mode), tree_(std::move(tree)) {}

  /// The files of a fresh v1 container without limits.
  static Files v1_group() {
    return {{"cpu.shares", "1024"},          {"cpu.cfs_quota_us", "-1"},
            {"cpu.cfs_period_us", "100000"}, {"cpuacct.usage", "0"},
            {"memory.usage_in_bytes", "0"},  {"memory.stat", "cache 0\ntotal_inactive_file 0"}};
  }
  /// The files of a fresh v2 container without limits.
  static Files v2_group() {
    return {{"cpu.weight", "100"},
            {"cpu.max", "max 100000"},
            {"cpu.stat", "usage_usec 0\nuser_usec 0"},
            {"memory.current", "0"},
            {"memory.stat", "anon 0\ninactive_file 0"}};
  }

  /// Another program's doing: not recorded.
  void set(const std::string& group, const std::string& file, const std::string& text) {
    tree_[group][file] = text;
  }
  void add(const std::string& group, Files files) { tree_[group] = std::move(files); }
  void remove(const std::string& group) { tree_.erase(group); }
  void remove_file(const std::string& group, const std::string& file) { tree_[group].erase(file); }
  [[nodiscard]] std::string text(const std::string& group, const std::string& file) const {
    const auto found = tree_.find(group);
    if (found == tree_.end() || found->second.count(file) == 0) return "";
    return found->second.at(file);
  }

  /// The n-th write from now on (1 is the next) fails with `number`, once.
  void fail_write(int n, int number) { failures_[attempts_ + n] = number; }
  /// `group` vanishes just before the n-th write from now on.
  void remove_before_write(int n, const std::string& group) { removals_[attempts_ + n] = group; }
  /// Writes report success and change nothing, as a kernel that holds something else.
  void ignore_writes(bool ignore) { ignores_ = ignore; }

  /// What was written, in order, failed writes left out.
  [[nodiscard]] const std::vector<Written>& writes() const { return writes_; }
  void forget_writes() { writes_.clear(); }

  cgroups::Mode mode() const override { return mode_; }
  bool is_v2(const std::string&) const override { return mode_ == cgroups::Mode::v2; }

  Result<std::string> read(const std::string& controller, const std::string& group,
                           const std::string& file) const override {
    if (const auto good = check(controller, group, file); !good) return good.error();
    return tree_.at(group).at(file);
  }

  Result<void> write(const std::string& controller, const std::string& group,
                     const std::string& file, const std::string& value) override {
    ++attempts_;
    if (const auto gone = removals_.find(attempts_); gone != removals_.end()) remove(gone->second);
    if (const auto good = check(controller, group, file); !good) return good.error();
    if (const auto good = cgroups::check_text(value); !good) return good.error();
    if (const auto failure = failures_.find(attempts_); failure != failures_.end()) {
      return errno_error(failure->second, "write \"" + value + "\" to " + group + "/" + file);
    }
    writes_.push_back({group, file, value});
    if (ignores_) return {};
    tree_[group][file] = file == "cpu.shares" ? clamped_shares(value) : value;
    return {};
  }

  bool exists(const std::string&, const std::string& group) const override {
    return tree_.count(group) > 0;
  }

 private:
  static std::string clamped_shares(const std::string& value) {
    return std::to_string(std::clamp(std::stoll(value), 2LL, 262144LL));
  }

  Result<void> check(const std::string& controller, const std::string& group,
                     const std::string& file) const {
    if (const auto good = cgroups::check_file(controller); !good) return good.error();
    if (const auto good = cgroups::check_group(group); !good) return good.error();
    if (const auto good = cgroups::check_file(file); !good) return good.error();
    const auto found = tree_.find(group);
    if (found == tree_.end()) return errno_error(ESTALE, group + ": the cgroup is gone");
    if (found->second.count(file) == 0) return errno_error(ENOENT, group + "/" + file);
    return {};
  }

  cgroups::Mode mode_;
  Tree tree_;
  std::vector<Written> writes_;
  std::map<int, int> failures_;
  std::map<int, std::string> removals_;
  int attempts_ = 0;
  bool ignores_ = false;
};

}  // namespace flowcon::test
