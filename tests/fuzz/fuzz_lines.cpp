// SPDX-License-Identifier: Apache-2.0
// A job's output, line by line, into the detector of metrics and into one with a name.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ctrl/metrics/extractor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon::ctrl;
  constexpr std::size_t kKept = 16;
  metrics::Spec named;
  named.metric = "loss";
  for (const metrics::Spec& spec : {metrics::Spec(), named}) {
    auto extractor = metrics::Extractor::create(spec, kKept);
    if (!extractor) std::abort();
    std::string_view text(reinterpret_cast<const char*>(data), size);
    for (double time = 1; !text.empty(); ++time) {
      const std::size_t end = text.find('\n');
      extractor->feed(text.substr(0, end), time);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    const metrics::Report report = extractor->report();
    if (report.samples.size() > kKept || report.samples.size() > report.count) std::abort();
    const auto& counter = report.counter;
    if (counter && counter->total > 0 && !(counter->done <= counter->total)) std::abort();
    if (!std::isfinite(report.low) || !std::isfinite(report.high)) std::abort();
  }
  return 0;
}
