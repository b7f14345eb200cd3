// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/report_json.h"

#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
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

void age(auto& io, std::string_view name, auto& seconds) {
  io(name, seconds);
  io.require(!seconds || is_age(*seconds), name, "must be an age in seconds");
}

void amount(auto& io, std::string_view name, auto& number) {
  io(name, number);
  io.require(!number || is_amount(*number), name, kAmountRule);
}

// What the engine calls it, or its host.
void identity(auto& io, auto& of) {
  const auto name_in = [](FieldReader& reader, std::string_view name) {
    return printable(reader.text(name), kLongestName);
  };
  io("id", of.id);
  io.require(is_id(of.id), "id", "must be letters and digits");
  io.as("name", of.name, name_in, valid_utf8);
}

void category(auto& io, auto& of) {
  io.one_of("category", of, parse_category, "must be PC, WC or CC");
}

// Times as ages at `now`.
void fields_at(double now, auto& io, auto& state) {
  const auto time_in = [now](FieldReader& reader, std::string_view name) {
    std::optional<double> seconds;
    age(reader, name, seconds);
    return seconds ? std::optional(now - *seconds) : std::nullopt;
  };
  const auto seen_in = [&](FieldReader& reader, std::string_view name) {
    return time_in(reader, name).value_or(now);
  };
  const auto age_of = [now](const std::optional<double>& time) {
    return number_or_null(time ? std::optional(std::max(now - *time, 0.0)) : std::nullopt);
  };
  category(io, state.category);
  io("value", state.value);
  io("growth", state.growth);
  io.as("seen_age", state.seen, seen_in, age_of);
  io.as("converged_age", state.converged, time_in, age_of);
  io.as("migrated_age", state.migrated, time_in, age_of);
  io("rebalanced", state.rebalanced);
  io("moves", state.moves, kMostMoves);
}

}  // namespace

static void fields(auto& io, Is<JobReport> auto& job) {
  identity(io, job);
  category(io, job.category);
  io("value", job.value);
  age(io, "converged_age", job.converged_age);
  age(io, "migrated_age", job.migrated_age);
  io("rebalanced", job.rebalanced);
  io("movable", job.movable);
  amount(io, "left", job.left);
  amount(io, "width", job.width);
  io("moves", job.moves, kMostMoves);
  io("beginning", job.beginning);
  // Older hosts do not say.
  if (io.has("queued")) io("queued", job.queued);
  if (io.has("saves_itself")) io("saves_itself", job.saves_itself);
}

static void fields(auto& io, Is<HostReport> auto& report) {
  // Older hosts do not tell them apart.
  const auto moves_here_in = [&report](FieldReader& reader, std::string_view name) {
    return reader.has(name) ? reader.count(name) : report.moves;
  };
  identity(io, report);
  io("draining", report.draining);
  io("moves", report.moves);
  io.as("moves_here", report.moves_here, moves_here_in);
  io("cores", report.cores);
  io.require(is_amount(report.cores), "cores", kAmountRule);
  age(io, "move_seconds", report.move_seconds);
  io.require(!io.is_longer("containers", kMostContainers), "containers", "must be at most 10000");
  io("containers", report.containers);
  io.require_unique_ids("containers", report.containers);
}

json::object to_json(const CategoryState& state, double now) {
  FieldWriter writer;
  fields_at(now, writer, state);
  return writer.take();
}

Result<CategoryState> category_state_from(const json::object& from, double now) {
  const json::value whole(from);
  FieldReader reader(whole, "");
  CategoryState state;
  fields_at(now, reader, state);
  if (reader.failed()) return reader.error();
  return state;
}

std::string render_report(const HostReport& report) { return render_json(fields_json(report)); }

Result<HostReport> parse_report(std::string_view text) {
  return read_fields(text, value_in<HostReport>);
}

std::string render_order(const OrderedMove& order) {
  std::string text = render_json(json::object{
      {"container", order.container}, {"target", order.target}, {"cause", order.cause}});
  if (order.state.empty()) return text;
  text.pop_back();
  // As it is rendered: read and rendered again it would be the same.
  return text + ",\"state\":" + order.state + "}";
}

Result<OrderedMove> parse_order(std::string_view text, const std::vector<Cause>& causes) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  FieldReader reader(*parsed, "");
  OrderedMove order{reader.text("container"), reader.text("target"), reader.text("cause"), ""};
  if (std::find(causes.begin(), causes.end(), order.cause) == causes.end()) {
    std::string rule;
    for (const Cause& one : causes) rule += (rule.empty() ? "must be " : " or ") + one;
    reader.complain("cause", rule);
  }
  if (reader.failed()) return reader.error();
  if (const json::value* said = reader.find("state")) order.state = render_json(*said);
  return order;
}

}  // namespace flowcon::cluster::policy
