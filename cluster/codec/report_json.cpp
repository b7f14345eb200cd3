// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/report_json.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kMostContainers = 10'000;
constexpr std::size_t kLongestId = 128;
constexpr std::size_t kLongestName = 255;
constexpr double kLongestAge = 100 * 366 * 86400.0;
constexpr const char* kAmountRule = "must be above 0 and at most 1e12";

// It goes into addresses and into records that are searched for it.
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId &&
         std::all_of(text.begin(), text.end(), is_alnum);
}

bool is_amount(double number) { return number > 0 && number <= kMostWork; }

bool is_age(double seconds) { return seconds >= 0 && seconds <= kLongestAge; }

std::optional<double> read_age(FieldReader& reader, const char* name) {
  const std::optional<double> age = reader.number_or_null(name);
  reader.require(!age || is_age(*age), name, "must be an age in seconds");
  return age;
}

std::uint32_t read_moves(FieldReader& reader) {
  const std::int64_t moves = reader.count("moves");
  reader.require(moves <= kMostMoves, "moves", "must be at most 1000000");
  return static_cast<std::uint32_t>(std::min<std::int64_t>(moves, kMostMoves));
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
  job.category = read_category(reader);
  job.value = reader.number_or_null("value");
  job.converged_age = read_age(reader, "converged_age");
  job.migrated_age = read_age(reader, "migrated_age");
  job.rebalanced = reader.boolean("rebalanced");
  job.movable = reader.boolean("movable");
  job.left = read_amount(reader, "left");
  job.width = read_amount(reader, "width");
  job.moves = read_moves(reader);
  job.beginning = reader.boolean("beginning");
  return job;
}

HostReport read_report(FieldReader& reader) {
  HostReport report;
  report.id = reader.text("id");
  reader.require(is_id(report.id), "id", "must be letters and digits");
  report.name = printable(reader.text("name"), kLongestName);
  report.draining = reader.boolean("draining");
  report.moves = reader.count("moves");
  // Older hosts do not tell them apart.
  report.moves_here = reader.has("moves_here") ? reader.count("moves_here") : report.moves;
  report.cores = reader.number("cores");
  reader.require(is_amount(report.cores), "cores", kAmountRule);
  report.move_seconds = read_age(reader, "move_seconds");
  reader.require(reader.array("containers").size() <= kMostContainers, "containers",
                 "must be at most 10000");
  report.containers = reader.each("containers", read_job);
  reader.require_unique_ids("containers", report.containers);
  return report;
}

}  // namespace

Category read_category(FieldReader& reader) {
  const std::optional<Category> category = parse_category(reader.text("category"));
  reader.require(category.has_value(), "category", "must be PC, WC or CC");
  return category.value_or(Category::pc);
}

json::object to_json(const CategoryState& state, double now) {
  const auto age = [now](const std::optional<double>& time) {
    return number_or_null(time ? std::optional(std::max(now - *time, 0.0)) : std::nullopt);
  };
  return {{"category", name(state.category)},       {"value", number_or_null(state.value)},
          {"growth", number_or_null(state.growth)}, {"seen_age", age(state.seen)},
          {"converged_age", age(state.converged)},  {"migrated_age", age(state.migrated)},
          {"rebalanced", state.rebalanced},         {"moves", state.moves}};
}

Result<CategoryState> category_state_from(const json::object& from, double now) {
  const json::value whole(from);
  FieldReader reader(whole, "");
  const auto read_time = [&](const char* name) {
    const std::optional<double> age = read_age(reader, name);
    return age ? std::optional(now - *age) : std::nullopt;
  };
  CategoryState state;
  state.category = read_category(reader);
  state.value = reader.number_or_null("value");
  state.growth = reader.number_or_null("growth");
  state.seen = read_time("seen_age").value_or(now);
  state.converged = read_time("converged_age");
  state.migrated = read_time("migrated_age");
  state.rebalanced = reader.boolean("rebalanced");
  state.moves = read_moves(reader);
  if (reader.failed()) return reader.error();
  return state;
}

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
                                  {"moves_here", report.moves_here},
                                  {"cores", report.cores},
                                  {"move_seconds", number_or_null(report.move_seconds)},
                                  {"containers", std::move(containers)}});
}

Result<HostReport> parse_report(std::string_view text) { return read_fields(text, read_report); }

}  // namespace flowcon::cluster::policy
