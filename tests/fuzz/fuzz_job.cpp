// SPDX-License-Identifier: Apache-2.0
// Entries of the queue's journal, and what its hosts tell each other: what can be read is written
// so that it reads the same, and any step from an entry leaves one that does.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cluster/queue/all_jobs.h"
#include "cluster/queue/job_json.h"
#include "cluster/queue/task_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::queue;

std::string written(const JobEntry& entry) {
  const std::string text = render_entry(entry);
  const auto again = parse_entry(text);
  if (text.size() > kMaxEntryBytes || !again || render_entry(*again) != text) std::abort();
  return text;
}

template <class Parse>
auto same_again(std::string_view text, Parse parse) {
  auto read = parse(text);
  if (!read) return read;
  const std::string once = render(*read);
  const auto again = parse(once);
  if (!again || render(*again) != once) std::abort();
  return read;
}

void check_messages(std::string_view text) {
  (void)same_again(text, parse_task_call);
  (void)same_again(text, parse_task_view);
  (void)same_again(text, parse_orders);
  const auto jobs = same_again(text, parse_host_jobs);
  if (!jobs) return;
  const AllJobs all = all_jobs({*jobs}, 2e9, 1800);
  if (all.known.size() != all.view.jobs.size()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_messages(text);
  const auto entry = parse_entry(text);
  if (!entry) return 0;
  (void)written(*entry);
  for (int copy = 0; copy <= static_cast<int>(TicketCopy::ended); ++copy) {
    JobFacts facts;
    facts.now = entry->since + 1;
    facts.copy = static_cast<TicketCopy>(copy);
    facts.life = entry->note;
    facts.status = entry->attempt;
    facts.task.next_id = std::string(32, 'c');
    facts.task.copy = facts.copy;
    for (int stage = 0; stage <= static_cast<int>(Stage::undone); ++stage) {
      facts.task.birth = facts.task.back = static_cast<Stage>(stage);
      const Step step = next_step(*entry, facts);
      if (!step.entry) continue;
      if (is_closed(entry->state) || step.entry->version != entry->version + 1) std::abort();
      (void)written(*step.entry);
    }
  }
  return 0;
}
