// SPDX-License-Identifier: Apache-2.0
// Damaged logs: whatever the bytes, the pipeline ends, keeps its bounds and reports numbers that
// belong together. The mutations are seeded, so a failure repeats.
#include <filesystem>
#include <random>

#include "ctrl/metrics/collector.h"
#include "tests/ctrl/metrics/log_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::metrics::test {
namespace {

constexpr std::size_t kKeep = 16;

std::vector<std::string> corpus() {
  std::vector<std::string> logs;
  const std::string folder = flowcon::test::source_path("tests/ctrl/metrics/data");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".log")
      logs.push_back(read_all(entry.path().string()).substr(0, 6000));
  }
  return logs;
}

/// Flips, inserts, copies and cuts at random places; pieces of the marks that the scanner looks
/// for.
std::string mutated(std::string bytes, std::mt19937& random) {
  const char* const pieces[] = {"{",
                                "}",
                                "\"",
                                "'",
                                "[",
                                "]",
                                "(",
                                ")",
                                ":",
                                "=",
                                "/",
                                "|",
                                "%|",
                                "@",
                                "\x1b[",
                                "\b\b",
                                "\r",
                                "\n",
                                "#015",
                                "#010",
                                "nan",
                                "1e999",
                                "-",
                                "9999999999",
                                "\xFF",
                                "\xE2\x94\x81",
                                "best iteration is:\n",
                                "1/0",
                                "0/0",
                                "of ",
                                "it/s]a",
                                " --epochs 3",
                                "Epoch 1/2\n",
                                "100%|##| 3/3 [00:01<00:00, 1s/it]",
                                "[CV"};
  for (int i = 0; i < 60 && !bytes.empty(); ++i) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.insert(at, pieces[random() % std::size(pieces)]);
        break;
      case 2:
        bytes.erase(at, random() % 20);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
    }
  }
  return bytes;
}

void check_report(const Report& report) {
  CHECK(report.samples.size() <= kKeep);
  CHECK(report.head.size() <= 8);
  CHECK(report.samples.size() <= report.count);
  CHECK(report.confidence >= 0);
  CHECK(report.confidence <= 1);
  CHECK(report.candidates.size() <= SeriesSet::kMost);
  CHECK(report.low <= report.high);
  if (report.counter) {
    CHECK(report.counter->done >= 0);
    CHECK((report.counter->total == 0 || report.counter->done <= report.counter->total));
    CHECK(report.counter->within >= 0);
    CHECK(report.counter->within <= 1);
  }
}

}  // namespace

TEST_CASE("damaged logs are read without harm") {
  std::mt19937 random(20240304);
  for (const std::string& log : corpus()) {
    for (int round = 0; round < 4; ++round) {
      const std::string bytes = mutated(log, random);
      check_report(report_on(bytes, {}, kKeep, 1 + random() % 3000));
      Spec spec;
      spec.metric = "loss";
      check_report(report_on(bytes, spec, kKeep));
    }
  }
}

TEST_CASE("noise is read without harm") {
  std::mt19937 random(7);
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes.push_back(static_cast<char>(random()));
  check_report(report_on(bytes, {}, kKeep));
  std::string text;
  const std::string alphabet = "01.:=/|{}[]()\"'%@,- \n\tabeloss";
  for (int i = 0; i < 300000; ++i) text.push_back(alphabet[random() % alphabet.size()]);
  check_report(report_on(text, {}, kKeep));
}

}  // namespace flowcon::ctrl::metrics::test
