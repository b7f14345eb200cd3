// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/hosts_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/architecture.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kMaxMessage = 1U << 20;  // bytes
constexpr std::size_t kMaxText = 300;          // bytes
constexpr std::size_t kMostTotals = 200;
constexpr std::size_t kMostBirthsTold = 1000;
constexpr std::size_t kMostAvoided = 64;
constexpr std::size_t kMostWords = 1000;
constexpr std::size_t kMostShared = 64;
constexpr std::size_t kMostRates = 256;
constexpr std::int64_t kMostPlaced = 256;  // tasks of a job
constexpr std::size_t kShortImage = 16;    // hexadecimal digits
constexpr double kMostBytes = 1e15;
constexpr double kMostSeconds = 1e12;
constexpr double kMostAmount = 1e18;
constexpr double kLeastPace = 1e-12;  // of a job in a second

constexpr std::array<const char*, 4> kSpans{"none", "overlay", "host", "ports"};
constexpr std::array<const char*, 4> kOps{"start", "park", "send", "resize"};

// Only what the queue counts: cores and bytes.
policy::Amounts amounts_in(FieldReader& outer, const char* name, double least) {
  return outer.object(name, [least](FieldReader& reader) {
    return policy::Amounts{{"cpu", reader.number("cpu", least, kMostAmount)},
                           {"mem", reader.number("mem", least, kMostAmount)}};
  });
}

json::object amounts_json(const policy::Amounts& amounts) {
  const auto of = [&](const char* kind) {
    return std::clamp(policy::amount_of(amounts, kind), -kMostAmount, kMostAmount);
  };
  return {{"cpu", of("cpu")}, {"mem", of("mem")}};
}

std::vector<std::string> ids_in(FieldReader& reader, const char* name, std::size_t most) {
  std::vector<std::string> ids;
  for (const json::value& one : reader.array(name)) {
    ids.push_back(reader.text_of(one, name));
    reader.require(is_random_id(ids.back()), name, "must be 32 hexadecimal digits each");
    if (reader.failed()) break;
  }
  reader.require(ids.size() <= most, name, "has too many");
  return ids;
}

std::string id_in(FieldReader& reader, const char* name) {
  std::string id = reader.text(name);
  reader.require(id.empty() || is_random_id(id), name, "must be 32 hexadecimal digits");
  return id;
}

bool is_short_image(const std::string& text) { return is_hex(text, kShortImage); }

// Of a Docker Swarm.
bool is_node_id(const std::string& text) { return !text.empty() && text.size() <= 64; }

bool is_volume_name(const std::string& text) { return !text.empty() && text.size() <= 255; }

Freight freight_in(FieldReader& reader) {
  Freight freight;
  freight.image = reader.text("image");
  reader.require(is_short_image(freight.image), "image", "must be 16 hexadecimal digits");
  const auto bytes = [&](const char* name) {
    return static_cast<std::uint64_t>(std::max(0.0, reader.number(name, 0, kMostBytes)));
  };
  freight.image_bytes = bytes("image_bytes");
  freight.data_bytes = bytes("data_bytes");
  const json::value* said = reader.find("architecture");
  freight.architecture = migration::architecture_of(said != nullptr ? text_of(*said) : "");
  const json::array& shared = reader.array("shared");
  reader.require(shared.size() <= kMostShared, "shared", "must be 64 at most");
  for (const json::value& one : shared) {
    if (reader.failed()) break;
    FieldReader volume(one, reader.place("shared"));
    const std::string name = volume.text("name");
    volume.require(is_volume_name(name), "name", "must be the name of a volume");
    freight.shared[name] =
        static_cast<std::uint64_t>(std::max(0.0, volume.number("bytes", 0, kMostBytes)));
    reader.take_complaint(volume);
  }
  return freight;
}

json::value freight_json(const std::optional<Freight>& freight) {
  if (!freight || !is_short_image(freight->image)) return nullptr;
  const auto bytes = [](std::uint64_t number) {
    return std::min(static_cast<double>(number), kMostBytes);
  };
  json::array shared;
  for (const auto& [name, size] : freight->shared) {
    if (shared.size() < kMostShared) shared.push_back({{"name", name}, {"bytes", bytes(size)}});
  }
  return {{"image", freight->image},
          {"image_bytes", bytes(freight->image_bytes)},
          {"data_bytes", bytes(freight->data_bytes)},
          {"shared", std::move(shared)},
          {"architecture", freight->architecture}};
}

TaskPlace place_in(FieldReader& reader) {
  const TaskPlace place{reader.text("host"), reader.count("workers", kMostPlaced),
                        reader.count("ps", kMostPlaced)};
  reader.require(is_random_id(place.host), "host", "must be 32 hexadecimal digits");
  return place;
}

HeldPlace held_place_in(FieldReader& reader) { return {place_in(reader), id_in(reader, "birth")}; }

json::object place_json(const TaskPlace& place) {
  return {{"host", place.host}, {"workers", place.workers}, {"ps", place.ps}};
}

json::array places_json(const std::vector<HeldPlace>& places) {
  return rendered(places, [](const HeldPlace& place) {
    json::object one = place_json(place);
    one["birth"] = place.birth;
    return one;
  });
}

Pace pace_in(FieldReader& reader) {
  const Pace pace{reader.count("workers", ctrl::kMostWorkers),
                  reader.number("share_per_s", 0, kMostAmount)};
  reader.require(pace.workers >= 1, "workers", "must be at least 1");
  reader.require(pace.rate >= kLeastPace, "share_per_s", "must be above 0");
  return pace;
}

// A job of one container is one worker.
GroupShape group_in(FieldReader& reader, policy::WaitingTask& task) {
  GroupShape group;
  task.workers = reader.count("workers", kMostPlaced);
  task.ps = reader.count("ps", kMostPlaced);
  task.ps_request = amounts_in(reader, "ps_request", 0);
  const std::string span = reader.text("span");
  const auto* const found_span = std::find(kSpans.begin(), kSpans.end(), span);
  reader.require(found_span != kSpans.end(), "span", "must be none, overlay, host or ports");
  if (found_span != kSpans.end()) group.span = static_cast<Span>(found_span - kSpans.begin());
  task.may_spread = group.span != Span::none;
  group.is_bound = task.may_spread && reader.boolean("bound");
  group.range = {reader.count("least", ctrl::kMostWorkers),
                 reader.count("most", ctrl::kMostWorkers)};
  reader.require(task.workers >= 1, "workers", "must be at least 1");
  reader.require(group.range.least >= 1 && group.range.least <= group.range.most, "least",
                 "must be from 1 to most");
  const std::optional<ctrl::Elastic> elastic = ctrl::parse_elastic(reader.text("elastic"));
  reader.require(elastic.has_value(), "elastic", "must be no, join, restart or torchrun");
  group.elastic = elastic.value_or(ctrl::Elastic::no);
  group.is_leaving = reader.optional_bool("leaving");
  group.open = reader.optional_number("open");
  reader.require(!group.open || (*group.open >= 0 && *group.open <= 1), "open",
                 "must be from 0 to 1");
  if (reader.find("paces") != nullptr) group.paces = reader.each("paces", pace_in);
  reader.require(group.paces.size() <= static_cast<std::size_t>(ctrl::kMostWorkers), "paces",
                 "are too many");
  group.traffic = reader.optional_number("traffic");
  reader.require(!group.traffic || (*group.traffic >= 0 && *group.traffic <= kMostBytes), "traffic",
                 "must be bytes a second");
  return group;
}

json::value group_json(const ReportedJob& job) {
  if (!job.group) return nullptr;
  json::array paces;
  for (const Pace& pace : job.group->paces) {
    if (pace.rate < kLeastPace) continue;
    paces.push_back({{"workers", pace.workers}, {"share_per_s", pace.rate}});
  }
  std::optional<double> traffic = job.group->traffic;
  if (traffic) traffic = std::clamp(*traffic, 0.0, kMostBytes);
  return {{"workers", job.task.workers},
          {"ps", job.task.ps},
          {"ps_request", amounts_json(job.task.ps_request)},
          {"span", kSpans.at(static_cast<std::size_t>(job.group->span))},
          {"bound", job.group->is_bound},
          {"least", job.group->range.least},
          {"most", job.group->range.most},
          {"elastic", ctrl::name(job.group->elastic)},
          {"leaving", job.group->is_leaving},
          {"open", number_or_null(job.group->open)},
          {"paces", std::move(paces)},
          {"traffic", number_or_null(traffic)}};
}

// Each as `is_one` says, in words `what`.
template <class IsOne>
std::set<std::string> words_in(FieldReader& reader, const char* name, IsOne is_one,
                               const char* what) {
  std::set<std::string> words;
  const json::array& all = reader.array(name);
  reader.require(all.size() <= kMostWords, name, "must be 1000 at most");
  for (const json::value& one : all) {
    if (reader.failed()) break;
    std::string word = reader.text_of(one, name);
    reader.require(is_one(word), name, what);
    words.insert(std::move(word));
  }
  return words;
}

// What a reader takes.
template <class Words>
json::array first_of(const Words& words, std::size_t most) {
  json::array all;
  for (const std::string& word : words) {
    if (all.size() < most) all.push_back(json::value(word));
  }
  return all;
}

std::map<std::string, double> rates_in(FieldReader& reader) {
  struct Rate {
    std::string host;
    double rate = 0;
  };
  const auto rate_in = [](FieldReader& one) {
    Rate rate{one.text("host"), one.number("bytes_per_s", 0, kMostBytes)};
    one.require(is_random_id(rate.host), "host", "must be 32 hexadecimal digits");
    one.require(rate.rate > 0, "bytes_per_s", "must be above 0");
    return rate;
  };
  const std::vector<Rate> all = reader.each("rates", rate_in);
  reader.require(all.size() <= kMostRates, "rates", "must be 256 at most");
  std::map<std::string, double> rates;
  for (const Rate& one : all) rates.emplace(one.host, one.rate);
  return rates;
}

ReportedJob job_in(FieldReader& reader) {
  ReportedJob job;
  job.task.id = reader.text("id");
  reader.require(is_container_id(job.task.id), "id", "must be 64 hexadecimal digits");
  job.task.since = reader.number("age", 0, kMostSeconds);
  job.task.waited = reader.number("waited", 0, kMostSeconds);
  job.task.served = reader.number("served", 0, kMostSeconds);
  job.task.left = reader.optional_number("left");
  reader.require(!job.task.left || (*job.task.left > 0 && *job.task.left <= kMostSeconds), "left",
                 "must be above 0");
  job.task.priority = reader.number("priority", 0.1, 10);
  job.task.weight = reader.number("weight", 0, 1);
  job.task.is_starved = reader.boolean("starved");
  job.task.request = amounts_in(reader, "request", 0);
  job.task.is_parkable = reader.boolean("parkable");
  job.version = reader.count("version");
  job.places = reader.each("places", held_place_in);
  reader.require(job.places.size() <= static_cast<std::size_t>(kMostPlaced), "places",
                 "must be 256 at most");
  std::int64_t tasks = 0;
  for (const HeldPlace& place : job.places) tasks += place.workers + place.ps;
  reader.require(tasks <= kMostPlaced, "places", "must have 256 tasks at most");
  job.sent_to = id_in(reader, "sent_to");
  job.is_parking = reader.boolean("parking");
  job.launch = reader.optional_number("launch");
  reader.require(!job.launch || (*job.launch >= 0 && *job.launch <= kMostSeconds), "launch",
                 "must be seconds");
  job.avoided = ids_in(reader, "avoided", kMostAvoided);
  job.freight = reader.optional_object("freight", freight_in);
  job.group = reader.optional_object(
      "group", [&job](FieldReader& group) { return group_in(group, job.task); });
  return job;
}

HostJobs host_in(FieldReader& reader) {
  HostJobs host;
  host.id = reader.text("id");
  reader.require(is_random_id(host.id), "id", "must be 32 hexadecimal digits");
  host.name = printable(reader.text("name"), kMaxText);
  host.offer = amounts_in(reader, "offer", 0);
  host.free = amounts_in(reader, "free", -kMostAmount);
  host.most = amounts_in(reader, "most", -kMostAmount);
  host.takes_early = reader.optional_bool("takes_early");
  host.has_early = reader.optional_bool("has_early");
  const std::vector<std::string> births = ids_in(reader, "births", kMostBirthsTold);
  host.births.insert(births.begin(), births.end());
  host.jobs = reader.each("jobs", job_in);
  reader.require(host.jobs.size() <= kMostReported, "jobs", "must be 1000 at most");
  if (!reader.failed())
    reader.require_unique_ids("jobs", [&] {
      std::vector<policy::WaitingTask> tasks;
      for (const ReportedJob& job : host.jobs) tasks.push_back(job.task);
      return tasks;
    }());
  for (const json::value& one : reader.array("totals")) {
    reader.require(one.is_number() && one.to_number<double>() >= 0, "totals",
                   "must be seconds each");
    if (reader.failed()) break;
    host.totals.push_back(std::min(one.to_number<double>(), kMostSeconds));
  }
  reader.require(host.totals.size() <= kMostTotals, "totals", "must be 200 at most");
  host.pause = reader.optional_number("pause");
  reader.require(!host.pause || (*host.pause >= 0 && *host.pause <= kMostSeconds), "pause",
                 "must be seconds");
  host.images = words_in(reader, "images", is_short_image, "must be 16 hexadecimal digits each");
  host.shared = words_in(reader, "shared", is_volume_name, "must be names of volumes");
  host.rates = rates_in(reader);
  if (const json::value* said = reader.find("architecture")) {
    host.architecture = migration::architecture_of(text_of(*said));
  }
  host.has_address = reader.boolean("address");
  host.is_open = reader.boolean("open");
  host.swarm = words_in(reader, "swarm", is_node_id, "must be ids of nodes");
  return host;
}

constexpr double kLeastLeft = 1e-6;  // seconds: above 0 for whoever reads it

json::object job_json(const ReportedJob& job) {
  const auto seconds = [](double number) { return std::clamp(number, 0.0, kMostSeconds); };
  json::object out{{"id", job.task.id},
                   {"age", seconds(job.task.since)},
                   {"waited", seconds(job.task.waited)},
                   {"served", seconds(job.task.served)},
                   {"priority", job.task.priority},
                   {"weight", job.task.weight},
                   {"starved", job.task.is_starved},
                   {"request", amounts_json(job.task.request)},
                   {"parkable", job.task.is_parkable},
                   {"version", job.version},
                   {"places", places_json(job.places)},
                   {"sent_to", job.sent_to},
                   {"parking", job.is_parking},
                   {"avoided", first_of(job.avoided, kMostAvoided)},
                   {"freight", freight_json(job.freight)},
                   {"group", group_json(job)}};
  out["left"] = number_or_null(job.task.left);
  if (job.task.left) out["left"] = std::clamp(*job.task.left, kLeastLeft, kMostSeconds);
  if (job.launch) out["launch"] = std::clamp(*job.launch, 0.0, kMostSeconds);
  return out;
}

JobOrder order_in(FieldReader& reader) {
  JobOrder order;
  order.job = reader.text("job");
  reader.require(is_container_id(order.job), "job", "must be 64 hexadecimal digits");
  order.weight = reader.number("weight", 0, 1);
  order.is_starved = reader.boolean("starved");
  order.place = static_cast<std::size_t>(reader.count("place", 1'000'000));
  order.obstacle = printable(reader.text("obstacle"), kMaxText);
  const std::string op = reader.text("op");
  if (op.empty()) return order;
  const auto* const found = std::find(kOps.begin(), kOps.end(), op);
  reader.require(found != kOps.end(), "op", "must be start, park, send or resize");
  if (reader.failed()) return order;
  order.order = Order{static_cast<Order::Op>(found - kOps.begin()),
                      reader.count("version"),
                      id_in(reader, "host"),
                      "",
                      reader.each("places", place_in),
                      reader.count("workers", kMostPlaced),
                      reader.optional_bool("early")};
  reader.require(order.order->places.size() <= static_cast<std::size_t>(kMostPlaced), "places",
                 "must be 256 at most");
  return order;
}

}  // namespace

std::string short_image(const std::string& id) {
  constexpr std::string_view kSha256 = "sha256:";
  return id.substr(id.starts_with(kSha256) ? kSha256.size() : 0, kShortImage);
}

Result<HostJobs> parse_host_jobs(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the report is too long");
  return read_fields(text, host_in);
}

std::string render_some(const HostJobs& host, std::size_t most) {
  json::array jobs, totals;
  for (const ReportedJob& job : host.jobs) {
    if (jobs.size() < most) jobs.push_back(job_json(job));
  }
  for (const double total : host.totals) {
    if (totals.size() < kMostTotals) totals.push_back(total);
  }
  json::array rates;
  for (const auto& [id, rate] : host.rates) {
    if (rates.size() < kMostRates) {
      rates.push_back({{"host", id}, {"bytes_per_s", std::min(rate, kMostBytes)}});
    }
  }
  json::object out{{"id", host.id},
                   {"name", printable(host.name, kMaxText)},
                   {"offer", amounts_json(host.offer)},
                   {"free", amounts_json(host.free)},
                   {"most", amounts_json(host.most)},
                   {"takes_early", host.takes_early},
                   {"has_early", host.has_early},
                   {"births", first_of(host.births, kMostBirthsTold)},
                   {"jobs", std::move(jobs)},
                   {"totals", std::move(totals)},
                   {"images", first_of(host.images, kMostWords)},
                   {"shared", first_of(host.shared, kMostWords)},
                   {"rates", std::move(rates)},
                   {"architecture", host.architecture},
                   {"address", host.has_address},
                   {"open", host.is_open},
                   {"swarm", first_of(host.swarm, kMostWords)}};
  if (host.pause) out["pause"] = *host.pause;
  return render_json(out);
}

std::string render(const HostJobs& host) {
  std::size_t most = kMostReported;
  std::string text = render_some(host, most);
  while (text.size() > kMaxMessage && most > 0) text = render_some(host, most /= 2);
  return text;
}

Result<std::vector<JobOrder>> parse_orders(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the orders are too long");
  return read_fields(text, [](FieldReader& reader) {
    std::vector<JobOrder> orders = reader.each("orders", order_in);
    reader.require(orders.size() <= kMostOrders, "orders", "must be 100 at most");
    return orders;
  });
}

std::string render(const std::vector<JobOrder>& orders) {
  json::array all;
  for (const JobOrder& one : orders) {
    json::array places;
    for (const TaskPlace& place : one.order ? one.order->places : std::vector<TaskPlace>()) {
      places.push_back(place_json(place));
    }
    all.push_back({{"job", one.job},
                   {"weight", one.weight},
                   {"starved", one.is_starved},
                   {"place", one.place},
                   {"obstacle", printable(one.obstacle, kMaxText)},
                   {"op", one.order ? kOps.at(static_cast<std::size_t>(one.order->op)) : ""},
                   {"version", one.order ? one.order->version : 0},
                   {"host", one.order ? one.order->host : ""},
                   {"places", std::move(places)},
                   {"workers", one.order ? one.order->workers : 0},
                   {"early", one.order && one.order->is_early}});
  }
  return render_json({{"orders", std::move(all)}});
}

}  // namespace flowcon::cluster::queue
