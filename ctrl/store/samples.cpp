// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/samples.h"

#include <algorithm>
#include <cstring>

namespace flowcon::ctrl::store {
namespace {

constexpr std::size_t kMostInRow = 256;
constexpr std::size_t kBytes = 2 * sizeof(double);  // time, value

std::string packed(const Sample* samples, std::size_t count) {
  std::string bytes(count * kBytes, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&bytes[i * kBytes], &samples[i].time, sizeof(double));
    std::memcpy(&bytes[i * kBytes + sizeof(double)], &samples[i].value, sizeof(double));
  }
  return bytes;
}

struct Row {
  std::int64_t number;
  std::int64_t run;
  std::vector<Sample> samples;
};

}  // namespace

Result<void> SampleWriter::add(std::int64_t run, const std::vector<Sample>& samples, double after,
                               const std::string& doing) {
  std::vector<Sample> row;
  const auto write = [&]() -> Result<void> {
    if (row.empty()) return {};
    put_.bind(run).bind(row.front().time).bind(row.back().time);
    put_.bind(static_cast<std::int64_t>(row.size())).bind_bytes(packed(row.data(), row.size()));
    row.clear();
    return put_.run(doing);
  };
  for (const Sample& sample : samples) {
    if (sample.time <= after) continue;
    row.push_back(sample);
    if (row.size() < kMostInRow) continue;
    if (auto done = write(); !done) return done;
  }
  return write();
}

std::vector<Sample> unpacked(std::string_view packed) {
  std::vector<Sample> samples(packed.size() / kBytes);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::memcpy(&samples[i].time, &packed[i * kBytes], sizeof(double));
    std::memcpy(&samples[i].value, &packed[i * kBytes + sizeof(double)], sizeof(double));
  }
  return samples;
}

Result<void> thin_samples(sqlite3* db, double from, double until, int kept_of,
                          const std::string& doing) {
  Statement ask(db,
                "SELECT rowid,run,packed FROM samples WHERE time>=? AND time<? ORDER BY "
                "run,time,rowid");
  ask.bind(from).bind(until);
  const auto rows = ask.collect<std::vector<Row>>(doing, [&] {
    return Row{ask.integer(0), ask.integer(1), unpacked(ask.bytes(2))};
  });
  if (!rows) return rows.error();
  Statement drop(db, "DELETE FROM samples WHERE rowid=?");
  Statement put(db, "UPDATE samples SET count=?,packed=? WHERE rowid=?");
  std::int64_t run = -1;
  int place = 0;
  for (const Row& row : *rows) {
    if (row.run != run) place = 0;
    run = row.run;
    std::vector<Sample> kept;
    for (const Sample& sample : row.samples) {
      if (place++ % kept_of == 0) kept.push_back(sample);
    }
    Result<void> done;
    if (kept.empty()) {
      done = drop.bind(row.number).run(doing);
    } else {
      put.bind(static_cast<std::int64_t>(kept.size())).bind_bytes(packed(kept.data(), kept.size()));
      done = put.bind(row.number).run(doing);
    }
    if (!done) return done;
  }
  return {};
}

}  // namespace flowcon::ctrl::store
