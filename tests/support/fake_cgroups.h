// SPDX-License-Identifier: Apache-2.0
// A cgroup file system in memory. The tree is a literal in the test; writes are recorded in order;
// the n-th write can fail; groups can vanish, now or just before a write. It refuses the names that
// the real one refuses and holds text as written, except where the kernel's answer differs from the
// question in a way that our code has to read back: v1 cpu.shares is clamped, soft memory limits
// are whole pages and "-1" is a huge number, weights are spelt "default N", and lists of devices
// keep one line a device. It knows no other kernel rule: those are tested in tests/host/.
#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
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
    return {{"cpu.shares", "1024"},
            {"cpu.cfs_quota_us", "-1"},
            {"cpu.cfs_period_us", "100000"},
            {"cpuacct.usage", "0"},
            {"memory.usage_in_bytes", "0"},
            {"memory.stat", "cache 0\ntotal_inactive_file 0"},
            {"memory.limit_in_bytes", "9223372036854771712"},
            {"memory.soft_limit_in_bytes", "9223372036854771712"},
            {"blkio.bfq.weight", "100"},
            {"blkio.throttle.read_bps_device", ""},
            {"blkio.throttle.write_bps_device", ""},
            {"blkio.throttle.read_iops_device", ""},
            {"blkio.throttle.write_iops_device", ""},
            {"blkio.throttle.io_service_bytes_recursive", "Total 0"}};
  }
  /// The files of a fresh v2 container without limits.
  static Files v2_group() {
    return {{"cpu.weight", "100"},
            {"cpu.max", "max 100000"},
            {"cpu.stat", "usage_usec 0\nuser_usec 0"},
            {"memory.current", "0"},
            {"memory.stat", "anon 0\ninactive_file 0"},
            {"memory.max", "max"},
            {"memory.high", "max"},
            {"io.weight", "default 100"},
            {"io.bfq.weight", "default 100"},
            {"io.max", ""},
            {"io.stat", ""},
            {"cpu.pressure",
             "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0"},
            {"memory.pressure",
             "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0"},
            {"io.pressure",
             "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0"}};
  }

  /// Another program's doing: not recorded.
  void set(const std::string& group, const std::string& file, const std::string& text) {
    tree_[group][file] = text;
  }
  void add(const std::string& group, Files files) {
    tree_[group] = std::move(files);
    ++lives_[group];
  }
  void remove(const std::string& group) { tree_.erase(group); }
  void remove_file(const std::string& group, const std::string& file) { tree_[group].erase(file); }
  [[nodiscard]] std::string text(const std::string& group, const std::string& file) const {
    const auto found = tree_.find(group);
    if (found == tree_.end() || found->second.count(file) == 0) return "";
    return found->second.at(file);
  }

  /// The n-th write from now on (1 is the next) fails with `number`, once.
  void fail_write(int n, int number) { failures_[attempts_ + n] = number; }
  /// Writes to that file of `group` fail with `number`; 0: no longer.
  void refuse(const std::string& group, const std::string& file, int number) {
    refused_[{group, file}] = number;
  }
  /// Files of that name cannot be read, with `number`; 0: they can again.
  void fail_reads(const std::string& file, int number) {
    unread_[file] = number;
    if (number == 0) unread_.erase(file);
  }
  /// `group` vanishes just before the n-th write from now on.
  void remove_before_write(int n, const std::string& group) { removals_[attempts_ + n] = group; }
  /// Writes report success and change nothing, as a kernel that holds something else.
  void ignore_writes(bool ignore) { ignores_ = ignore; }

  /// Called before each read.
  std::function<void(const std::string& group, const std::string& file)> at_read;
  /// Called before each write.
  std::function<void(const std::string& group, const std::string& file)> at_write;

  /// What was written, in order, failed writes left out.
  [[nodiscard]] const std::vector<Written>& writes() const { return writes_; }
  void forget_writes() { writes_.clear(); }

  cgroups::Mode mode() const override { return mode_; }
  bool is_v2(const std::string&) const override { return mode_ == cgroups::Mode::v2; }

  Result<std::string> read(const std::string& controller, const std::string& group,
                           const std::string& file) const override {
    if (at_read) at_read(group, file);
    if (const auto good = check(controller, group, file); !good) return good.error();
    const auto failure = unread_.find(file);
    if (failure != unread_.end()) return errno_error(failure->second, group + "/" + file);
    return tree_.at(group).at(file);
  }

  Result<void> write(const std::string& controller, const std::string& group,
                     const std::string& file, const std::string& value) override {
    if (at_write) at_write(group, file);
    ++attempts_;
    if (const auto gone = removals_.find(attempts_); gone != removals_.end()) remove(gone->second);
    if (const auto good = check(controller, group, file); !good) return good.error();
    if (const auto good = cgroups::check_text(value); !good) return good.error();
    if (const auto failure = failures_.find(attempts_); failure != failures_.end()) {
      return errno_error(failure->second, "write \"" + value + "\" to " + group + "/" + file);
    }
    if (const auto refused = refused_.find({group, file});
        refused != refused_.end() && refused->second != 0) {
      return errno_error(refused->second, "write \"" + value + "\" to " + group + "/" + file);
    }
    writes_.push_back({group, file, value});
    if (ignores_) return {};
    std::string& text = tree_[group][file];
    text = held(file, text, value);
    return {};
  }

  bool exists(const std::string&, const std::string& group) const override {
    return tree_.count(group) > 0;
  }

  /// Another one after each add().
  std::string life(const std::string&, const std::string& group) const override {
    if (tree_.count(group) == 0) return "";
    const auto found = lives_.find(group);
    return group + "#" + std::to_string(found == lives_.end() ? 0 : found->second);
  }

 private:
  /// What the kernel shows of `file` after `value` was written to it.
  static std::string held(const std::string& file, const std::string& before,
                          const std::string& value) {
    if (file == "cpu.shares") return std::to_string(std::clamp(std::stoll(value), 2LL, 262144LL));
    if (file == "memory.soft_limit_in_bytes" && value == "-1") return "9223372036854771712";
    if (file == "memory.soft_limit_in_bytes" || file == "memory.high") {
      return value == "max" ? value : std::to_string(std::stoull(value) / 4096 * 4096);
    }
    if (file == "io.weight" || file == "io.bfq.weight") {
      return value.rfind("default ", 0) == 0 ? value : "default " + value;
    }
    const bool is_list = file == "io.max" || file.rfind("blkio.throttle.", 0) == 0;
    return is_list ? with_device(file, before, value) : value;
  }

  /// The list `before` after "8:0 …" was written: a line of the same device is merged (io.max has
  /// keys) or replaced (v1 has one number), and left out where it limits nothing any more.
  static std::string with_device(const std::string& file, const std::string& before,
                                 const std::string& value) {
    std::map<std::string, std::map<std::string, std::string>> devices;
    const auto take = [&devices](const std::string& line) {
      std::istringstream words(line);
      std::string device;
      words >> device;
      for (std::string word; words >> word;) {
        const auto equal = word.find('=');
        const bool has_key = equal != std::string::npos;
        devices[device][has_key ? word.substr(0, equal) : ""] =
            word.substr(has_key ? equal + 1 : 0);
      }
    };
    std::istringstream lines(before);
    for (std::string line; std::getline(lines, line);) take(line);
    take(value);
    std::string text;
    for (auto& [device, keys] : devices) {
      std::string row;
      bool limits = false;
      for (const char* key : {"rbps", "wbps", "riops", "wiops"}) {
        if (file != "io.max") break;
        const std::string number = keys.count(key) > 0 ? keys[key] : "max";
        limits = limits || number != "max";
        row += std::string(" ") + key + "=" + number;
      }
      if (file != "io.max") {
        limits = keys[""] != "0";
        row = " " + keys[""];
      }
      if (limits) text += (text.empty() ? "" : "\n") + device + row;
    }
    return text;
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
  std::map<std::string, int> lives_;
  std::vector<Written> writes_;
  std::map<int, int> failures_;
  std::map<std::string, int> unread_;
  std::map<int, std::string> removals_;
  int attempts_ = 0;
  std::map<std::pair<std::string, std::string>, int> refused_;
  bool ignores_ = false;
};

}  // namespace flowcon::test
