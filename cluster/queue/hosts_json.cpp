// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/hosts_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_fields.h"
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
constexpr double kLeastLeft = 1e-6;   // seconds: above 0 for whoever reads it

constexpr std::array<const char*, 4> kSpans{"none", "overlay", "host", "ports"};
constexpr std::array<const char*, 4> kOps{"start", "park", "send", "resize"};

// Only what the queue counts: cores and bytes, and GPUs where they are counted.
void amounts(auto& io, const char* field, auto& of, double least) {
  const auto read = [least](FieldReader& inner) {
    policy::Amounts all{{"cpu", inner.number("cpu", least, kMostAmount)},
                        {"mem", inner.number("mem", least, kMostAmount)}};
    if (inner.find("gpu") != nullptr) {
      all.emplace_back("gpu", inner.number("gpu", least, kMostAmount));
    }
    return all;
  };
  const auto kind_of = [&of](const char* kind) {
    return std::clamp(policy::amount_of(of, kind), -kMostAmount, kMostAmount);
  };
  const auto read_all = [&](FieldReader& reader, auto name) { return reader.object(name, read); };
  io.as(field, of, read_all, [&](const auto&) {
    json::object told{{"cpu", kind_of("cpu")}, {"mem", kind_of("mem")}};
    const auto is_gpu = [](const auto& one) { return one.first == "gpu"; };
    if (std::any_of(of.begin(), of.end(), is_gpu)) told["gpu"] = kind_of("gpu");
    return told;
  });
}

void id(auto& io, const char* field, auto& of, bool may_be_none = true) {
  io(field, of);
  const bool is_right = (may_be_none && of.empty()) || is_random_id(of);
  io.require(is_right, field, "must be 32 hexadecimal digits");
}

void container_id(auto& io, const char* field, auto& of) {
  io(field, of);
  io.require(is_container_id(of), field, "must be 64 hexadecimal digits");
}

std::string shown(const std::string& text) { return printable(text, kMaxText); }

void seconds(auto& io, const char* field, auto& of) {
  const auto clean = [](double number) { return std::clamp(number, 0.0, kMostSeconds); };
  io.cleaned(field, of, clean, 0, kMostSeconds);
}

// A number that may be missing, as it can be read. `least` goes by what is written.
void maybe(auto& io, const char* field, auto& of, double least, double most, const char* rule) {
  io.as(field, of, &FieldReader::optional_number, [&](const std::optional<double>& number) {
    return json_of(number ? std::optional(std::clamp(*number, least, most)) : std::nullopt);
  });
  io.require(!of || (*of >= 0 && *of <= most), field, rule);
}

// What a reader takes.
template <class Items>
json::array first_of(const Items& items, std::size_t most) {
  json::array all;
  for (const auto& item : items) {
    if (all.size() < most) all.push_back(json_of(item));
  }
  return all;
}

template <class Ids>
void ids(auto& io, const char* field, Ids& of, std::size_t most) {
  const auto read = [most](FieldReader& reader, std::string_view name) {
    std::remove_const_t<Ids> ids;
    for (const json::value& one : reader.array(name)) {
      const std::string id = reader.text_of(one, name);
      reader.require(is_random_id(id), name, "must be 32 hexadecimal digits each");
      if (reader.failed()) break;
      ids.insert(ids.end(), id);
    }
    reader.require(reader.array(name).size() <= most, name, "has too many");
    return ids;
  };
  io.as(field, of, read, [most](const Ids& all) { return first_of(all, most); });
}

// Each as `is_one` says, in words `what`.
void words(auto& io, const char* field, auto& of, bool (*is_one)(const std::string&),
           const char* what) {
  const auto read = [&](FieldReader& reader, std::string_view name) {
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
  };
  io.as(field, of, read, [](const auto& all) { return first_of(all, kMostWords); });
}

void architecture(auto& io, auto& of) {
  io.as("architecture", of, [](FieldReader& reader, std::string_view name) {
    const json::value* said = reader.find(name);
    return migration::architecture_of(said != nullptr ? text_of(*said) : "");
  });
}

bool is_short_image(const std::string& text) { return is_hex(text, kShortImage); }

// Of a Docker Swarm.
bool is_node_id(const std::string& text) { return !text.empty() && text.size() <= 64; }

bool is_volume_name(const std::string& text) { return !text.empty() && text.size() <= 255; }

Freight read_freight(FieldReader& reader) {
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
  const json::value* bound = reader.find("bound");
  freight.bound = shown(bound != nullptr ? text_of(*bound) : "");
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

std::optional<Freight> freight_in(FieldReader& reader, std::string_view field) {
  return reader.optional_object(field, read_freight);
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
          {"architecture", freight->architecture},
          {"bound", shown(freight->bound)}};
}

void place_fields(auto& io, auto& place) {
  io("host", place.host);
  io("workers", place.workers, kMostPlaced);
  io("ps", place.ps, kMostPlaced);
  io.require(is_random_id(place.host), "host", "must be 32 hexadecimal digits");
}

std::map<std::string, double> rates_in(FieldReader& reader, std::string_view field) {
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
  const std::vector<Rate> all = reader.each(field, rate_in);
  reader.require(all.size() <= kMostRates, field, "must be 256 at most");
  std::map<std::string, double> rates;
  for (const Rate& one : all) rates.emplace(one.host, one.rate);
  return rates;
}

std::map<std::string, std::string> owners_in(FieldReader& reader, std::string_view field) {
  using Owner = std::pair<std::string, std::string>;
  const std::vector<Owner> all = reader.each(field, [](FieldReader& one) {
    Owner owner;
    id(one, "birth", owner.first);
    id(one, "host", owner.second);
    return owner;
  });
  reader.require(all.size() <= kMostBirthsTold, field, "must be 1000 at most");
  return {all.begin(), all.end()};
}

json::array owners_told(const std::map<std::string, std::string>& all) {
  json::array owners;
  for (const auto& [birth, host] : all) {
    if (owners.size() < kMostBirthsTold) owners.push_back({{"birth", birth}, {"host", host}});
  }
  return owners;
}

json::array rates_told(const std::map<std::string, double>& all) {
  json::array rates;
  for (const auto& [id, rate] : all) {
    if (rates.size() == kMostRates) break;
    rates.push_back({{"host", id}, {"bytes_per_s", std::min(rate, kMostBytes)}});
  }
  return rates;
}

std::vector<double> totals_in(FieldReader& reader, std::string_view field) {
  std::vector<double> totals;
  for (const json::value& one : reader.array(field)) {
    reader.require(one.is_number() && one.to_number<double>() >= 0, field, "must be seconds each");
    if (reader.failed()) break;
    totals.push_back(std::min(one.to_number<double>(), kMostSeconds));
  }
  reader.require(totals.size() <= kMostTotals, field, "must be 200 at most");
  return totals;
}

std::vector<Pace> paces_in(FieldReader& reader, std::string_view field) {
  std::vector<Pace> paces;
  if (reader.find(field) != nullptr) paces = reader.each(field, value_in<Pace>);
  reader.require(paces.size() <= static_cast<std::size_t>(ctrl::kMostWorkers), field,
                 "are too many");
  return paces;
}

std::vector<Pace> paces_told(std::vector<Pace> paces) {
  std::erase_if(paces, [](const Pace& pace) { return pace.rate < kLeastPace; });
  return paces;
}

}  // namespace

static void fields(auto& io, Is<TaskPlace> auto& place) { place_fields(io, place); }

static void fields(auto& io, Is<HeldPlace> auto& place) {
  place_fields(io, place);
  id(io, "birth", place.birth);
}

static void fields(auto& io, Is<Pace> auto& pace) {
  io("workers", pace.workers, ctrl::kMostWorkers);
  io("share_per_s", pace.rate, 0, kMostAmount);
  io.require(pace.workers >= 1, "workers", "must be at least 1");
  io.require(pace.rate >= kLeastPace, "share_per_s", "must be above 0");
}

// A job of one container is one worker.
template <class Io>
static void group_fields(Io& io, auto& group, auto& task) {
  io("workers", task.workers, kMostPlaced);
  io("ps", task.ps, kMostPlaced);
  amounts(io, "ps_request", task.ps_request, 0);
  io.one_of("span", group.span, kSpans, "must be none, overlay, host or ports");
  if constexpr (Io::kReads) task.may_spread = group.span != Span::none;
  io.as("bound", group.is_bound, [&task](FieldReader& reader, auto name) {
    return task.may_spread && reader.boolean(name);
  });
  io("least", group.range.least, ctrl::kMostWorkers);
  io("most", group.range.most, ctrl::kMostWorkers);
  io.require(task.workers >= 1, "workers", "must be at least 1");
  io.require(group.range.least >= 1 && group.range.least <= group.range.most, "least",
             "must be from 1 to most");
  io.one_of("elastic", group.elastic, ctrl::parse_elastic, "must be no, join, restart or torchrun");
  if (io.has("leaving")) io("leaving", group.is_leaving);
  io.nullable("open", group.open);
  io.require(!group.open || (*group.open >= 0 && *group.open <= 1), "open", "must be from 0 to 1");
  io.as("paces", group.paces, paces_in,
        [](const std::vector<Pace>& paces) { return json_of(paces_told(paces)); });
  maybe(io, "traffic", group.traffic, 0, kMostBytes, "must be bytes a second");
}

template <class Io>
static void fields(Io& io, Is<ReportedJob> auto& job) {
  auto& task = job.task;
  const auto left = [&] {
    maybe(io, "left", task.left, kLeastLeft, kMostSeconds, "must be above 0");
    io.require(task.left.value_or(1) > 0, "left", "must be above 0");
  };
  const auto read_group = [&task](auto& reader, auto name) {
    return reader.optional_object(name, [&task](auto& inner) {
      GroupShape group;
      group_fields(inner, group, task);
      return group;
    });
  };
  const auto group_told = [&task](const std::optional<GroupShape>& group) {
    FieldWriter writer;
    if (group) group_fields(writer, *group, task);
    return group ? json::value(writer.take()) : json::value();
  };
  container_id(io, "id", task.id);
  seconds(io, "age", task.since);
  seconds(io, "waited", task.waited);
  seconds(io, "served", task.served);
  if constexpr (Io::kReads) left();
  io("priority", task.priority, 0.1, 10);
  io("weight", task.weight, 0, 1);
  io("starved", task.is_starved);
  amounts(io, "request", task.request, 0);
  io("parkable", task.is_parkable);
  io("version", job.version);
  io("places", job.places);
  io.require(job.places.size() <= static_cast<std::size_t>(kMostPlaced), "places",
             "must be 256 at most");
  if constexpr (Io::kReads) {
    std::int64_t tasks = 0;
    for (const HeldPlace& place : job.places) tasks += place.workers + place.ps;
    io.require(tasks <= kMostPlaced, "places", "must have 256 tasks at most");
  }
  id(io, "sent_to", job.sent_to);
  io("parking", job.is_parking);
  if constexpr (Io::kReads) maybe(io, "launch", job.launch, 0, kMostSeconds, "must be seconds");
  ids(io, "avoided", job.avoided, kMostAvoided);
  io.as("freight", job.freight, freight_in, freight_json);
  io.optional("weighing", job.is_weighing, false);
  io.as("group", job.group, read_group, group_told);
  if constexpr (!Io::kReads) {  // later than they are read
    left();
    if (job.launch) maybe(io, "launch", job.launch, 0, kMostSeconds, "");
  }
}

// The first `most` jobs are told.
template <class Io>
static void host_fields(Io& io, auto& host, std::size_t most) {
  const auto jobs_in = [](auto& reader, auto field) {
    return reader.each(field, value_in<ReportedJob>);
  };
  id(io, "id", host.id, false);
  io.cleaned("name", host.name, shown);
  amounts(io, "offer", host.offer, 0);
  amounts(io, "free", host.free, -kMostAmount);
  amounts(io, "most", host.most, -kMostAmount);
  if (io.has("takes_early")) io("takes_early", host.takes_early);
  if (io.has("has_early")) io("has_early", host.has_early);
  if (io.has("draining")) io("draining", host.is_draining);
  if (io.has("accepts_gpus", host.accepts_gpus)) io("accepts_gpus", host.accepts_gpus);
  ids(io, "births", host.births, kMostBirthsTold);
  if (io.has("owners")) io.as("owners", host.owners, owners_in, owners_told);
  io.as("jobs", host.jobs, jobs_in, [most](const auto& jobs) { return first_of(jobs, most); });
  io.require(host.jobs.size() <= kMostReported, "jobs", "must be 1000 at most");
  io.require_unique_ids("jobs", host.jobs,
                        [](const auto& job) { return std::string_view(job.task.id); });
  io.as("totals", host.totals, totals_in,
        [](const auto& totals) { return first_of(totals, kMostTotals); });
  const auto pause = [&] {
    io.optional("pause", host.pause);
    const double said = host.pause.value_or(0);
    io.require(said >= 0 && said <= kMostSeconds, "pause", "must be seconds");
  };
  if constexpr (Io::kReads) pause();
  words(io, "images", host.images, is_short_image, "must be 16 hexadecimal digits each");
  words(io, "shared", host.shared, is_volume_name, "must be names of volumes");
  io.as("rates", host.rates, rates_in, rates_told);
  architecture(io, host.architecture);
  io("address", host.has_address);
  io("open", host.is_open);
  words(io, "swarm", host.swarm, is_node_id, "must be ids of nodes");
  if constexpr (!Io::kReads) pause();  // later than it is read
}

static void fields(FieldReader& reader, HostJobs& host) { host_fields(reader, host, 0); }

template <class Io>
static void fields(Io& io, Is<JobOrder> auto& said) {
  Order order = said.order.value_or(Order());
  std::string op = said.order ? kOps.at(static_cast<std::size_t>(order.op)) : "";
  container_id(io, "job", said.job);
  io("weight", said.weight, 0, 1);
  io("starved", said.is_starved);
  io("place", said.place, 1'000'000);
  io.cleaned("obstacle", said.obstacle, shown);
  io("op", op);
  if (Io::kReads && op.empty()) return;
  if (Io::kReads) io.one_of("op", order.op, kOps, "must be start, park, send or resize");
  io("version", order.version);
  id(io, "host", order.host);
  io("places", order.places);
  io("workers", order.workers, kMostPlaced);
  if (io.has("early")) io("early", order.is_early);
  io.require(order.places.size() <= static_cast<std::size_t>(kMostPlaced), "places",
             "must be 256 at most");
  if constexpr (Io::kReads) said.order = order;
}

std::string short_image(const std::string& id) {
  constexpr std::string_view kSha256 = "sha256:";
  return id.substr(id.starts_with(kSha256) ? kSha256.size() : 0, kShortImage);
}

Result<HostJobs> parse_host_jobs(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the report is too long");
  return read_fields(text, value_in<HostJobs>);
}

std::string render_some(const HostJobs& host, std::size_t most) {
  FieldWriter writer;
  host_fields(writer, host, most);
  return render_json(writer.take());
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
    std::vector<JobOrder> orders = reader.each("orders", value_in<JobOrder>);
    reader.require(orders.size() <= kMostOrders, "orders", "must be 100 at most");
    return orders;
  });
}

std::string render(const std::vector<JobOrder>& orders) {
  return render_json({{"orders", json_of(orders)}});
}

}  // namespace flowcon::cluster::queue
