// SPDX-License-Identifier: Apache-2.0
// The words around counters, and counters in any order: the first byte of a line chooses what it
// is, its numbers are the counts. The same lines as a command, a value of the environment, and as
// what says the time left.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ctrl/metrics/counters.h"
#include "ctrl/metrics/hash.h"
#include "ctrl/metrics/progress.h"
#include "ctrl/metrics/told.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::ctrl::metrics;

void take(Progress& progress, std::string_view line, const LineFacts& facts) {
  const Role role = line.front() % 3 == 0   ? Role::epoch
                    : line.front() % 3 == 1 ? Role::step
                                            : Role::unknown;
  progress.begin_line(facts.bar.present);
  for (const Field& field : facts.fields) {
    const std::uint64_t name = letters_hash(line.substr(0, field.at));
    (void)role_of_ratio(line, field);
    (void)is_aside(line, field);
    if (is_progress(line, field)) progress.ratio(name, Role::step, field.value, 100);
    if (const auto stated = stated_total(line, field)) {
      if (!(stated->total > 1)) std::abort();
      progress.total(name, stated->of_epochs, stated->total);
    }
    if (field.has_total) {
      progress.ratio(name, role, field.value, field.total);
    } else if (line.front() % 5 == 0) {
      progress.total(name, role == Role::epoch, field.value);
    } else {
      progress.counter(name, role, field.value, field.integer);
    }
  }
  if (line.front() % 2 == 0) progress.values();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  LineScanner scanner;
  Progress progress;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t bar = percent_of_bar(line);
    if (bar != std::string_view::npos && (bar >= line.size() || line[bar] < '0' || line[bar] > '9'))
      std::abort();
    for (const ToldTotal& told : told_totals(line, {{"EPOCHS", std::string(line)}})) {
      if (!(told.total >= 1)) std::abort();
    }
    if (const auto left = time_left_in(line); left && !(*left >= 0)) std::abort();
    if (!line.empty()) take(progress, line, scanner.scan(line));
    const auto counter = progress.result();
    if (counter && (!(counter->done >= 0) || !(counter->within >= 0) || counter->within > 1 ||
                    (counter->total > 0 && counter->done > counter->total))) {
      std::abort();
    }
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return 0;
}
