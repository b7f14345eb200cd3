// SPDX-License-Identifier: Apache-2.0
// How long the store takes to open, empty and with many records, closed and not:
// store_start_bench [SAMPLES] [ROUNDS]. Makes a state of SAMPLES (1,000,000) in /tmp, opens it
// ROUNDS (5) times, and prints n, minimum, mean and maximum of each, and the ratios to the empty
// one.
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ctrl/store/store.h"

namespace {

using flowcon::ctrl::store::Look;
using flowcon::ctrl::store::Store;
using Clock = std::chrono::steady_clock;

constexpr int kPerLook = 10000;

void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void fill(const std::string& path, int samples) {
  std::string notice;
  auto store = Store::open(path, &notice);
  if (!store) fail(store.error().message());
  for (int i = 0; i < samples; i += kPerLook) {
    Look look;
    look.run.id = "a";
    look.run.name = "vae";
    look.run.started = 1;
    for (int j = 0; j < kPerLook; ++j) look.samples.push_back({1e9 + i + j, 0.0431289});
    if (auto done = (*store)->record({look}, {}); !done) fail(done.error().message());
  }
}

// As after a kill.
void forget_that_it_was_closed(const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, "UPDATE state SET clean=0", nullptr, nullptr, nullptr);
  sqlite3_close(db);
}

double measure(const char* what, const std::string& path, int rounds, bool is_closed) {
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    if (!is_closed) forget_that_it_was_closed(path);
    std::string notice;
    const auto begin = Clock::now();
    auto store = Store::open(path, &notice);
    all.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!store || !notice.empty()) fail(store ? notice : store.error().message());
  }
  double sum = 0;
  for (const double one : all) sum += one;
  std::sort(all.begin(), all.end());
  std::printf("%-34s n %d  min %.2f ms  mean %.2f ms  max %.2f ms\n", what, rounds, all.front(),
              sum / rounds, all.back());
  return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int samples = argc > 1 ? std::atoi(argv[1]) : 1000000;
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  char name[] = "/tmp/flowcon-start-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  std::filesystem::create_directory(folder + "/empty");
  const std::string empty = folder + "/empty/flowcon.db", full = folder + "/flowcon.db";
  fill(empty, 0);
  fill(full, samples);
  std::printf("%d samples: %.0f MB\n", samples,
              static_cast<double>(std::filesystem::file_size(full)) / 1e6);
  const double none = measure("no records", empty, rounds, true);
  const double closed = measure("records, closed", full, rounds, true);
  const double killed = measure("records, not closed: checked", full, rounds, false);
  std::printf("median, records against none: closed %.2f, not closed %.2f\n", closed / none,
              killed / none);
  std::filesystem::remove_all(folder);
  return 0;
}
