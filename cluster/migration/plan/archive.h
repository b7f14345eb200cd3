// SPDX-License-Identifier: Apache-2.0
// Whether a tar archive from a peer may be unpacked into a folder: a checker that is fed the bytes
// as they come and says no before the bytes that are wrong are handed on. Pure: it unpacks nothing,
// opens nothing, and keeps of the archive only the tree of its names. It is right for a folder that
// is empty, or whose links nobody but its owner made; an unpacker must not follow links in it.
//
// Understood: ustar, GNU long names, pax; what GNU tar, Python, Go (Docker) and bsdtar write. All
// else is refused: sparse files, volumes, global pax headers, and what two readers could read in
// two ways: a name twice, a file with a slash at its end, one header's name given by two others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/tar_reader.h"

namespace flowcon::cluster::migration {

/// Which devices an archive may hold. A whiteout, the character device 0:0, is how overlay says
/// that a file of a lower layer is deleted; with it comes the attribute that hides a whole folder.
enum class DeviceRule { none, whiteouts, any };

/// Memory for the names of several archives that are checked at once. Units: bytes.
struct TreeBudget {
  std::size_t left = 0;
};

/// What an archive may be at most. Units: bytes.
struct ArchiveRules {
  std::uint64_t max_entries = 1'000'000;
  std::uint64_t max_content_bytes = 1ULL << 40;  ///< of all files together
  std::uint64_t max_archive_bytes = (1ULL << 40) + (4ULL << 30);
  std::size_t max_path_bytes = 4096;
  /// Of the names that are kept to compare with: the memory, about.
  std::size_t max_tree_bytes = 256U << 20;
  std::shared_ptr<TreeBudget> memory;  ///< from which it comes; none: there is enough
  std::size_t max_pax_bytes = 1U << 20;
  DeviceRule devices = DeviceRule::none;
  /// For folders in which links are only ever followed inside a container, whose root they cannot
  /// leave: any symlink is let through, by several names too. Otherwise one that is absolute or
  /// could leave the folder is refused.
  bool any_symlink = false;
  bool has_links = true;  ///< false: neither symlinks nor hard links
};

/// The names seen so far, as a tree, so that a name is looked up in time linear in its length.
class ArchiveTree {
 public:
  enum class Kind { none, folder, file, symlink, other };

  explicit ArchiveTree(std::size_t max_bytes, std::shared_ptr<TreeBudget> memory = nullptr)
      : max_bytes_(max_bytes), memory_(std::move(memory)), nodes_(1) {
    nodes_[0].kind = Kind::folder;
  }
  ArchiveTree(const ArchiveTree&) = delete;
  ArchiveTree& operator=(const ArchiveTree&) = delete;
  /// Gives its memory back to the others.
  ~ArchiveTree();

  /// Adds `parts` as `kind`. Errors: the name is there already (folders may be), one of its folders
  /// is none, the tree grows beyond its limit.
  [[nodiscard]] Result<void> add(const std::vector<std::string_view>& parts, Kind kind);
  /// What a name was added as; none where it was not, or one of its folders is none.
  [[nodiscard]] Kind find(const std::vector<std::string_view>& parts) const;

 private:
  struct Node {
    Kind kind = Kind::none;  ///< none: is only the folder of others
    std::map<std::string, std::uint32_t, std::less<>> children;
  };

  std::size_t max_bytes_;
  std::shared_ptr<TreeBudget> memory_;
  std::size_t bytes_ = 0;
  std::deque<Node> nodes_;  ///< which stay where they are
};

/// Checks one archive. After an error it accepts nothing more.
class ArchiveChecker {
 public:
  explicit ArchiveChecker(const ArchiveRules& rules)
      : rules_(rules),
        tree_(rules.max_tree_bytes, rules.memory),
        reader_(TarExtensions::pax_and_gnu, {rules.max_pax_bytes, rules.max_path_bytes + 1}) {}

  /// The next bytes, as many as there are. If it says yes they may be handed on. Errors: what is
  /// wrong with the archive, with the name where one is to blame.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  /// Errors: the archive is not whole.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::uint64_t entries() const { return entries_; }

 private:
  [[nodiscard]] Result<void> take(std::string_view bytes);
  [[nodiscard]] Result<void> check_records(const std::vector<PaxRecord>& records) const;
  [[nodiscard]] Result<void> check_attribute(std::string_view name) const;
  [[nodiscard]] Result<void> begin_entry(const TarStep& entry);
  [[nodiscard]] Result<void> check_type(const TarStep& entry, const std::string& shown) const;
  [[nodiscard]] Result<void> check_symlink(std::size_t depth, const std::string& link,
                                           const std::string& shown) const;
  [[nodiscard]] Result<void> add(const TarHeader& header, const std::string& shown);

  ArchiveRules rules_;
  ArchiveTree tree_;
  TarReader reader_;
  bool has_failed_ = false;
  std::uint64_t entries_ = 0;
  std::uint64_t content_bytes_ = 0;
  std::uint64_t archive_bytes_ = 0;
};

}  // namespace flowcon::cluster::migration
