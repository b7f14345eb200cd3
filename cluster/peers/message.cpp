// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/message.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::peers {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestVersion = 64;
constexpr std::int64_t kMostContainers = 1'000'000;
constexpr double kMostCores = 1'000'000;
constexpr double kUsageNews = 0.05;
constexpr std::size_t kMostKnown = 1000;

template <class Read>
auto read_message(std::string_view text, Read read) -> decltype(read_fields(text, read)) {
  if (text.size() > kMaxMessage) return bad_input("the message is longer than 64 KiB");
  return read_fields(text, read);
}

// A text that is shown to people and to nobody else.
std::string words(FieldReader& reader, std::string_view name, std::size_t most) {
  const std::string text = reader.text(name);
  reader.require(!text.empty() && text.size() <= most, name, "is empty or too long");
  return printable(text, most);
}

std::string host_id(FieldReader& reader, std::string_view name) {
  std::string id = reader.text(name);
  reader.require(is_random_id(id), name, "must be 32 hexadecimal digits");
  return id;
}

std::vector<std::string> host_ids(FieldReader& reader, std::string_view name) {
  const json::array& listed = reader.array(name);
  reader.require(listed.size() <= kMostKnown, name, "must have at most 1000 ids");
  std::vector<std::string> ids;
  for (const json::value& one : listed) {
    if (reader.failed()) break;
    ids.push_back(text_of(one));
    reader.require(is_random_id(ids.back()), name, "must have ids of 32 hexadecimal digits");
  }
  return ids;
}

std::int64_t from_one(FieldReader& reader, std::string_view name) {
  const std::int64_t number = reader.count(name);
  reader.require(number >= 1, name, "must be at least 1");
  return number;
}

Protocol read_protocol(FieldReader& reader) {
  const Protocol protocol{from_one(reader, "min"), from_one(reader, "max")};
  reader.require(protocol.min <= protocol.max, "max", "must be at least min");
  return protocol;
}

Hello read_hello(FieldReader& reader) {
  Hello hello;
  hello.protocol = reader.object("protocol", read_protocol);
  hello.version = words(reader, "version", kLongestVersion);
  hello.host = words(reader, "host", kLongestName);
  hello.id = host_id(reader, "id");
  hello.incarnation = from_one(reader, "incarnation");
  return hello;
}

State read_state(FieldReader& reader) {
  State state;
  state.protocol = from_one(reader, "protocol");
  state.id = host_id(reader, "id");
  state.name = words(reader, "name", kLongestName);
  state.incarnation = from_one(reader, "incarnation");
  state.sequence = from_one(reader, "sequence");
  state.counts.pc = reader.count("pc", kMostContainers);
  state.counts.wc = reader.count("wc", kMostContainers);
  state.counts.cc = reader.count("cc", kMostContainers);
  state.usage = reader.number("usage", 0, 1);
  state.cores = reader.number("cores", 0, kMostCores);
  reader.require(state.cores > 0, "cores", "must be above 0");
  state.memory = reader.count("memory");
  state.containers = reader.count("containers", kMostContainers);
  state.draining = reader.boolean("draining");
  state.runs_jobs = reader.optional_bool("jobs");
  state.queue_waits = reader.optional_bool("queue_waits");
  if (reader.find("knows") != nullptr) state.knows = host_ids(reader, "knows");
  return state;
}

}  // namespace

Result<Hello> parse_hello(std::string_view text) { return read_message(text, read_hello); }

Result<State> parse_state(std::string_view text) {
  // Only where its version is spoken do the other members mean what they do here.
  const auto version = read_message(text, [](FieldReader& r) { return from_one(r, "protocol"); });
  if (!version) return version.error();
  const auto common = choose_protocol({}, {*version, *version});
  if (!common) return common.error();
  return read_message(text, read_state);
}

Result<bool> parse_drain(std::string_view text) {
  return read_message(text, [](FieldReader& reader) { return reader.boolean("draining"); });
}

std::string render(const Hello& hello) {
  json::object out;
  out["protocol"] = json::object{{"min", hello.protocol.min}, {"max", hello.protocol.max}};
  out["version"] = hello.version;
  out["host"] = hello.host;
  out["id"] = hello.id;
  out["incarnation"] = hello.incarnation;
  return render_json(out);
}

std::string render(const State& state) {
  json::object out;
  out["protocol"] = state.protocol;
  out["id"] = state.id;
  out["name"] = state.name;
  out["incarnation"] = state.incarnation;
  out["sequence"] = state.sequence;
  out["pc"] = state.counts.pc;
  out["wc"] = state.counts.wc;
  out["cc"] = state.counts.cc;
  out["usage"] = state.usage;
  out["cores"] = state.cores;
  out["memory"] = state.memory;
  out["containers"] = state.containers;
  out["draining"] = state.draining;
  out["jobs"] = state.runs_jobs;
  if (state.queue_waits) out["queue_waits"] = true;
  if (state.knows) out["knows"] = texts(*state.knows);
  return render_json(out);
}

std::string render_drain(bool is_draining) {
  return is_draining ? R"({"draining":true})" : R"({"draining":false})";
}

Result<std::int64_t> choose_protocol(const Protocol& ours, const Protocol& theirs) {
  const std::int64_t best = std::min(ours.max, theirs.max);
  if (best >= ours.min && best >= theirs.min) return best;
  const auto range = [](const Protocol& p) {
    return std::to_string(p.min) + (p.min == p.max ? "" : " to " + std::to_string(p.max));
  };
  const bool is_theirs_newer = theirs.min > ours.max;
  return bad_input("the peer speaks version " + range(theirs) +
                   " of the peer protocol, this host " + range(ours) + ": update docker-flowcon " +
                   (is_theirs_newer ? "here" : "on the peer"));
}

bool is_news(const State& before, const State& now) {
  return before.counts.pc != now.counts.pc || before.counts.wc != now.counts.wc ||
         before.counts.cc != now.counts.cc || before.containers != now.containers ||
         before.draining != now.draining || before.cores != now.cores ||
         before.memory != now.memory || before.name != now.name || before.knows != now.knows ||
         std::abs(before.usage - now.usage) >= kUsageNews;
}

}  // namespace flowcon::cluster::peers
