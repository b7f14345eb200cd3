// SPDX-License-Identifier: Apache-2.0
#include "cluster/balance/report.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <tuple>
#include <unordered_set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/balance/marks.h"

namespace flowcon::cluster::balance {
namespace {

namespace json = boost::json;
using policy::Category;

constexpr std::size_t kMostContainers = 10'000;
constexpr std::size_t kLongestId = 128;
constexpr std::size_t kLongestName = 255;
constexpr double kLongestAge = 100 * 366 * 86400.0;
// Steer looks at all pairs of a host's containers.
constexpr std::size_t kMostSteered = 1000;
constexpr const char* kAmountRule = "must be above 0 and at most 1e12";
constexpr double kMoveSeconds = 5;  // where none was measured

// It goes into addresses and into records that are searched for it.
bool is_id(std::string_view text) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kLongestId &&
         std::all_of(text.begin(), text.end(), is_good);
}

bool is_amount(double number) { return number > 0 && number <= kMostWork; }

bool is_age(double seconds) { return seconds >= 0 && seconds <= kLongestAge; }

std::optional<double> read_age(FieldReader& reader, const char* name) {
  const std::optional<double> age = reader.number_or_null(name);
  reader.require(!age || is_age(*age), name, "must be an age in seconds");
  return age;
}

std::optional<double> read_amount(FieldReader& reader, const char* name) {
  const std::optional<double> amount = reader.number_or_null(name);
  reader.require(!amount || is_amount(*amount), name, kAmountRule);
  return amount;
}

JobReport read_job(FieldReader& reader) {
  JobReport job;
  job.id = reader.text("id");
  reader.require(is_id(job.id), "id", "must be letters and digits");
  job.name = printable(reader.text("name"), kLongestName);
  const std::string category = reader.text("category");
  job.category = category == name(Category::cc)   ? Category::cc
                 : category == name(Category::wc) ? Category::wc
                                                  : Category::pc;
  reader.require(category == name(job.category), "category", "must be PC, WC or CC");
  job.value = reader.number_or_null("value");
  job.converged_age = read_age(reader, "converged_age");
  job.migrated_age = read_age(reader, "migrated_age");
  job.rebalanced = reader.boolean("rebalanced");
  job.movable = reader.boolean("movable");
  job.left = read_amount(reader, "left");
  job.width = read_amount(reader, "width");
  const std::int64_t moves = reader.count("moves");
  reader.require(moves <= kMostMoves, "moves", "must be at most 1000000");
  job.moves = static_cast<std::uint32_t>(std::min<std::int64_t>(moves, kMostMoves));
  job.beginning = reader.boolean("beginning");
  return job;
}

// As of hosts that all see alike, whatever the order of their answers.
void sort_by_name(std::vector<HostReport>& reports) {
  std::sort(reports.begin(), reports.end(), [](const HostReport& a, const HostReport& b) {
    return std::tie(a.name, a.id) < std::tie(b.name, b.id);
  });
}

Error on_two_hosts(const std::string& id) {
  return bad_input("two hosts say that they have the container " + id.substr(0, 12));
}

std::optional<double> time_of(const std::optional<double>& age) {
  return age ? std::optional(0 - *age) : std::nullopt;
}

}  // namespace

std::string render_report(const HostReport& report) {
  json::array containers;
  for (const JobReport& job : report.containers) {
    containers.push_back(json::object{{"id", job.id},
                                      {"name", valid_utf8(job.name)},
                                      {"category", name(job.category)},
                                      {"value", number_or_null(job.value)},
                                      {"converged_age", number_or_null(job.converged_age)},
                                      {"migrated_age", number_or_null(job.migrated_age)},
                                      {"rebalanced", job.rebalanced},
                                      {"movable", job.movable},
                                      {"left", number_or_null(job.left)},
                                      {"width", number_or_null(job.width)},
                                      {"moves", job.moves},
                                      {"beginning", job.beginning}});
  }
  return render_json(json::object{{"id", report.id},
                                  {"name", valid_utf8(report.name)},
                                  {"draining", report.draining},
                                  {"moves", report.moves},
                                  {"cores", report.cores},
                                  {"move_seconds", number_or_null(report.move_seconds)},
                                  {"containers", std::move(containers)}});
}

Result<HostReport> parse_report(std::string_view text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  FieldReader reader(*parsed, "");
  HostReport report;
  report.id = reader.text("id");
  reader.require(is_id(report.id), "id", "must be letters and digits");
  report.name = printable(reader.text("name"), kLongestName);
  report.draining = reader.boolean("draining");
  report.moves = reader.count("moves");
  report.cores = reader.number("cores");
  reader.require(is_amount(report.cores), "cores", kAmountRule);
  report.move_seconds = read_age(reader, "move_seconds");
  reader.require(reader.array("containers").size() <= kMostContainers, "containers",
                 "must be at most 10000");
  if (reader.failed()) return reader.error();
  report.containers = reader.each("containers", read_job);
  reader.require_unique_ids("containers", report.containers);
  if (reader.failed()) return reader.error();
  return report;
}

std::optional<double> median(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

const Member& coordinator_of(const std::vector<Member>& members) {
  return *std::min_element(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.name, a.id) < std::tie(b.name, b.id);
  });
}

Result<RebalanceQuestion> rebalance_question(
    std::vector<HostReport> reports, bool when_idle,
    const std::function<bool(const std::string& container)>& is_barred) {
  sort_by_name(reports);
  RebalanceQuestion question;
  question.state.guard = true;
  std::vector<policy::Activity> activities;
  std::unordered_set<std::string_view> ids;
  for (const HostReport& report : reports) {
    if (report.draining) continue;
    policy::WorkerLoad worker;
    worker.id = report.id;
    policy::Activity activity;
    for (const JobReport& job : report.containers) {
      if (!ids.insert(job.id).second) {
        return on_two_hosts(job.id);
      }
      const bool is_candidate = job.movable && !is_barred(job.id);
      policy::SettledContainer container{job.id, {}, {}, job.rebalanced};
      if (is_candidate) {
        container.converged_at = time_of(job.converged_age);
        container.migrated_at = time_of(job.migrated_age);
      }
      worker.containers.push_back(std::move(container));
      ++activity.containers;
      if (job.category == Category::cc || job.migrated_age) ++activity.settled;
    }
    question.state.workers.push_back(std::move(worker));
    activities.push_back(activity);
  }
  question.is_due = policy::is_rebalance_due(activities, when_idle);
  return question;
}

Result<policy::SteerState> steer_question(
    std::vector<HostReport> reports, std::uint32_t max_moves,
    const std::function<bool(const std::string& container)>& is_barred) {
  sort_by_name(reports);
  policy::SteerState state;
  state.max_moves = max_moves;
  std::vector<double> works;
  std::vector<double> costs;
  for (const HostReport& report : reports) {
    for (const JobReport& job : report.containers) {
      if (job.left) works.push_back(*job.left);
    }
    if (report.move_seconds) costs.push_back(*report.move_seconds);
  }
  state.move_seconds = median(std::move(costs)).value_or(kMoveSeconds);
  const double usual = median(std::move(works)).value_or(policy::SteeredJob().left);
  std::unordered_set<std::string_view> ids;
  for (const HostReport& report : reports) {
    if (report.draining) continue;
    if (report.containers.size() > kMostSteered) {
      return bad_input(report.name + " has more than " + std::to_string(kMostSteered) +
                       " containers: cluster-policy = balance is for fewer");
    }
    policy::SteeredHost host{report.id, report.cores, {}};
    for (const JobReport& job : report.containers) {
      if (!ids.insert(job.id).second) return on_two_hosts(job.id);
      const bool is_candidate = job.movable && job.left && !job.beginning && !is_barred(job.id);
      host.jobs.push_back({job.id, job.left.value_or(usual), job.width.value_or(report.cores),
                           job.moves, is_candidate});
    }
    state.hosts.push_back(std::move(host));
  }
  return state;
}

}  // namespace flowcon::cluster::balance
