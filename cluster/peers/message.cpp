// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/message.h"

#include <algorithm>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace flowcon::cluster::peers {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestVersion = 64;
constexpr std::int64_t kMostContainers = 1'000'000;
constexpr double kMostCores = 1'000'000;
constexpr double kMostMemory = 1e18;
constexpr double kMostGpus = 1024;
constexpr double kUsageNews = 0.05;
constexpr std::size_t kMostKnown = 1000;

template <class Read>
auto read_message(std::string_view text, Read read) -> decltype(read_fields(text, read)) {
  if (text.size() > kMaxMessage) return bad_input("the message is longer than 64 KiB");
  return read_fields(text, read);
}

// A text that is shown to people and to nobody else.
void words(auto& io, std::string_view field, auto& text, std::size_t most) {
  io.as(field, text, [most](FieldReader& reader, std::string_view name) {
    const std::string said = reader.text(name);
    reader.require(!said.empty() && said.size() <= most, name, "is empty or too long");
    return printable(said, most);
  });
}

void host_id(auto& io, std::string_view name, auto& id) {
  io(name, id);
  io.require(is_random_id(id), name, "must be 32 hexadecimal digits");
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

void from_one(auto& io, std::string_view name, auto& number) {
  io(name, number);
  io.require(number >= 1, name, "must be at least 1");
}

std::int64_t read_version(FieldReader& reader) {
  std::int64_t version = 0;
  from_one(reader, "protocol", version);
  return version;
}

}  // namespace

static void fields(auto& io, Is<Protocol> auto& protocol) {
  from_one(io, "min", protocol.min);
  from_one(io, "max", protocol.max);
  io.require(protocol.min <= protocol.max, "max", "must be at least min");
}

static void fields(auto& io, Is<Hello> auto& hello) {
  io("protocol", hello.protocol);
  words(io, "version", hello.version, kLongestVersion);
  words(io, "host", hello.host, kLongestName);
  host_id(io, "id", hello.id);
  from_one(io, "incarnation", hello.incarnation);
}

template <class Io>
static void fields(Io& io, Is<State> auto& state) {
  from_one(io, "protocol", state.protocol);
  host_id(io, "id", state.id);
  words(io, "name", state.name, kLongestName);
  from_one(io, "incarnation", state.incarnation);
  from_one(io, "sequence", state.sequence);
  io("pc", state.counts.pc, kMostContainers);
  io("wc", state.counts.wc, kMostContainers);
  io("cc", state.counts.cc, kMostContainers);
  io("usage", state.usage, 0, 1);
  io("cores", state.cores, 0, kMostCores);
  io.require(state.cores > 0, "cores", "must be above 0");
  io("memory", state.memory);
  io("containers", state.containers, kMostContainers);
  io("draining", state.draining);
  if (io.has("jobs")) io("jobs", state.runs_jobs);
  io.optional("queue_waits", state.queue_waits, false);
  io.optional("offer_cpu", state.offer_cpu, 0, kMostCores);
  io.optional("offer_mem", state.offer_mem, 0, kMostMemory);
  io.optional("offer_gpu", state.offer_gpu, 0, kMostGpus);
  if constexpr (!Io::kReads) {
    io.optional("knows", state.knows);
  } else if (io.find("knows") != nullptr) {
    state.knows = host_ids(io, "knows");
  }
}

Result<Hello> parse_hello(std::string_view text) { return read_message(text, value_in<Hello>); }

Result<State> parse_state(std::string_view text) {
  // Only where its version is spoken do the other members mean what they do here.
  const auto version = read_message(text, read_version);
  if (!version) return version.error();
  const auto common = choose_protocol({}, {*version, *version});
  if (!common) return common.error();
  return read_message(text, value_in<State>);
}

Result<bool> parse_drain(std::string_view text) {
  return read_message(text, [](FieldReader& reader) { return reader.boolean("draining"); });
}

std::string render(const Hello& hello) { return render_json(fields_json(hello)); }
std::string render(const State& state) { return render_json(fields_json(state)); }

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
         before.offer_cpu != now.offer_cpu || before.offer_mem != now.offer_mem ||
         before.offer_gpu != now.offer_gpu || std::abs(before.usage - now.usage) >= kUsageNews;
}

}  // namespace flowcon::cluster::peers
