// SPDX-License-Identifier: Apache-2.0
// Archives from peers. The first byte says how the input is cut and what may be in it, the rest is
// the archive, plain and as gzip. Cut or whole, the verdict is the same. Sums are set right, so
// that more than the first header is seen.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cluster/migration/plan/archive.h"
#include "cluster/migration/plan/gzip.h"
#include "tests/fuzz/tar_sums.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::migration;

template <class Checker>
std::string verdict(Checker&& checker, std::string_view bytes, std::size_t cut) {
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    const auto taken = checker.feed(bytes.substr(at, cut));
    if (!taken) return taken.error().message();
  }
  const auto whole = checker.finish();
  return whole ? "" : whole.error().message();
}

// As a part of a move that arrives: unpacked as it comes, and checked.
class Packed {
 public:
  explicit Packed(const ArchiveRules& rules) : checker_(rules) {}

  flowcon::Result<void> feed(std::string_view bytes) {
    for (;;) {
      if (unpacker_.is_at_end()) {
        if (!bytes.empty()) return flowcon::bad_input("more");
        return {};
      }
      const auto plain = unpacker_.next(bytes);
      if (!plain) return plain.error();
      if (auto taken = checker_.feed(*plain); !taken) return taken;
      if (plain->empty() && bytes.empty()) return {};
    }
  }
  flowcon::Result<void> finish() {
    if (!unpacker_.is_at_end()) return flowcon::bad_input("not whole");
    return checker_.finish();
  }

 private:
  Unpacker unpacker_;
  ArchiveChecker checker_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t cut = static_cast<std::size_t>(data[0] & 0x3FU) * 9 + 1;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ArchiveRules rules;
  rules.any_symlink = (data[0] & 0x40U) != 0;
  rules.devices = (data[0] & 0x80U) != 0 ? DeviceRule::whiteouts : DeviceRule::none;
  rules.max_tree_bytes = 1U << 20;

  const bool is_right = verdict(Packed(rules), bytes, bytes.size()).empty();
  if (is_right != verdict(Packed(rules), bytes, cut).empty()) std::abort();

  set_sums(bytes);
  const std::string whole = verdict(ArchiveChecker(rules), bytes, bytes.size());
  if (whole != verdict(ArchiveChecker(rules), bytes, cut)) std::abort();
  if (whole.empty() && bytes.size() % kTarBlock != 0) std::abort();
  return 0;
}
