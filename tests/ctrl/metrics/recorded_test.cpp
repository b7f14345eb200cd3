// SPDX-License-Identifier: Apache-2.0
// Recorded logs of real trainings, which are not part of the tree: FLOWCON_SHARED names the folder
// that holds logs/, by default ../shared beside the tree. Skipped, with a message, where it is not.
#include <cstdlib>
#include <filesystem>

#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

namespace fs = std::filesystem;

constexpr int kLogs = 41;

std::string recorded_folder() { return flowcon::test::shared_path("logs/"); }

struct Counts {
  int logs = 0;
  int found = 0;
  int named = 0;
  std::string missed;
};

Counts count_recorded(const std::string& folder) {
  Counts counts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const std::string suffix = ".truth.json";
    if (!path.ends_with(suffix)) continue;
    const std::string stem = path.substr(0, path.size() - suffix.size());
    const auto truth = parse_json(read_all(path));
    const std::string bytes = read_all(stem + ".log");
    std::vector<Expected> right{expected_of(*truth)};
    if (const auto* others = truth->as_object().if_contains("alternatives")) {
      for (const Expected& other : expected_list(*others)) right.push_back(other);
    }
    Spec spec;
    spec.metric = right.front().metric;
    const bool found = is_any_series(report_on(bytes, {}), right);
    const bool named = is_series(report_on(bytes, spec), right.front());
    ++counts.logs;
    counts.found += found;
    counts.named += named;
    if (!found) counts.missed += " " + stem;
    if (!named) counts.missed += " " + stem + " (named)";
  }
  return counts;
}

}  // namespace

TEST_CASE("the metrics of recorded trainings are found exactly") {
  const std::string folder = recorded_folder();
  if (!fs::is_directory(folder)) {
    WARN("skipped: no recorded logs in " << folder << "; FLOWCON_SHARED can name another folder");
    return;
  }
  const Counts counts = count_recorded(folder);
  WARN("recorded logs: " << counts.logs << ", found without a name: " << counts.found
                         << ", found by name: " << counts.named);
  INFO("missed:" << counts.missed);
  CHECK(counts.logs == kLogs);
  CHECK(counts.found == kLogs);
  CHECK(counts.named == kLogs);
}

}  // namespace flowcon::ctrl::metrics::test
