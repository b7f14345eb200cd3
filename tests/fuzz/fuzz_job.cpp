// SPDX-License-Identifier: Apache-2.0
// Entries of the queue's journal: what can be read is written so that it reads the same, and any
// step from it leaves one that does.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cluster/queue/job_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::queue;

std::string written(const JobEntry& entry) {
  const std::string text = render_entry(entry);
  const auto again = parse_entry(text);
  if (text.size() > kMaxEntryBytes || !again || render_entry(*again) != text) std::abort();
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entry = parse_entry(text);
  if (!entry) return 0;
  (void)written(*entry);
  for (int copy = 0; copy <= static_cast<int>(TicketCopy::ended); ++copy) {
    JobFacts facts;
    facts.now = entry->since + 1;
    facts.copy = static_cast<TicketCopy>(copy);
    facts.life = entry->note;
    facts.status = entry->attempt;
    const Step step = next_step(*entry, facts);
    if (!step.entry) continue;
    if (is_closed(entry->state) || step.entry->version != entry->version + 1) std::abort();
    (void)written(*step.entry);
  }
  return 0;
}
