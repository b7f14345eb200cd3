// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/endpoint_json.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kMaxMessage = 64U << 10;  // bytes
constexpr std::size_t kMaxText = 300;           // bytes
constexpr std::int64_t kMostEndpoints = 256;
constexpr std::size_t kMaxInterface = 15;  // bytes, IFNAMSIZ less its 0

constexpr std::array<const char*, 4> kVerbs{"lease", "hush", "drop", "reach"};

// Whether it is one is seen when it is used; it cannot be anything else.
bool looks_like_address(const std::string& text) {
  return !text.empty() && text.size() <= 45 &&
         text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos;
}

bool is_interface(const std::string& text) {
  const auto is_plain = [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kMaxInterface &&
         std::all_of(text.begin(), text.end(), is_plain);
}

void endpoint_fields(auto& io, auto& endpoint) {
  io("address", endpoint.address);
  io("port", endpoint.port, 65535);
  io("interface", endpoint.interface);
  io.require(looks_like_address(endpoint.address), "address", "must be an IP address");
  io.require(endpoint.port >= 1, "port", "must be at least 1");
  io.require(is_interface(endpoint.interface), "interface", "must be a name of an interface");
}

std::vector<Endpoint> endpoints_in(FieldReader& reader, std::string_view name) {
  std::vector<Endpoint> endpoints = reader.each(name, value_in<Endpoint>);
  reader.require(endpoints.size() <= kMostEndpoints, name, "must be 256 at most");
  return endpoints;
}

std::vector<std::string> failures_in(FieldReader& reader) {
  std::vector<std::string> failures;
  for (const json::value& one : reader.array("failures")) {
    if (reader.failed() || failures.size() >= kMostEndpoints) break;
    failures.push_back(printable(reader.text_of(one, "failures"), kMaxText));
  }
  return failures;
}

}  // namespace

void fields(FieldReader& io, Endpoint& endpoint) { endpoint_fields(io, endpoint); }
void fields(FieldWriter& io, const Endpoint& endpoint) { endpoint_fields(io, endpoint); }

static void fields(auto& io, Is<PortCall> auto& call) {
  io.one_of("verb", call.verb, kVerbs, "must be lease, hush, drop or reach");
  io("count", call.count, kMostEndpoints);
  if (io.has("published")) io("published", call.is_published);
  io.as("endpoints", call.endpoints, endpoints_in);
}

Result<PortCall> parse_port_call(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the call is too long");
  return read_fields(text, value_in<PortCall>);
}

std::string render(const PortCall& call) { return render_json(fields_json(call)); }

Result<std::vector<Endpoint>> parse_endpoints(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, [](FieldReader& reader) { return endpoints_in(reader, "endpoints"); });
}

std::string render(const std::vector<Endpoint>& endpoints) {
  return render_json({{"endpoints", json_of(endpoints)}});
}

Result<std::vector<std::string>> parse_failures(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, failures_in);
}

std::string render_failures(const std::vector<std::string>& failures) {
  return render_json({{"failures", json::array(failures.begin(), failures.end())}});
}

}  // namespace flowcon::cluster::queue
