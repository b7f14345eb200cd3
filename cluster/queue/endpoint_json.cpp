// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/endpoint_json.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/text.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::size_t kMaxMessage = 64U << 10;  // bytes
constexpr std::size_t kMaxText = 300;           // bytes
constexpr std::size_t kMostEndpoints = 256;
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

std::vector<Endpoint> endpoints_in(FieldReader& reader) {
  std::vector<Endpoint> endpoints = reader.each("endpoints", endpoint_in);
  reader.require(endpoints.size() <= kMostEndpoints, "endpoints", "must be 256 at most");
  return endpoints;
}

PortCall call_in(FieldReader& reader) {
  PortCall call;
  const std::string verb = reader.text("verb");
  const auto* const found = std::find(kVerbs.begin(), kVerbs.end(), verb);
  reader.require(found != kVerbs.end(), "verb", "must be lease, hush, drop or reach");
  if (reader.failed()) return call;
  call.verb = static_cast<PortCall::Verb>(found - kVerbs.begin());
  call.count = reader.count("count", static_cast<std::int64_t>(kMostEndpoints));
  call.is_published = reader.optional_bool("published");
  call.endpoints = endpoints_in(reader);
  return call;
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

Endpoint endpoint_in(FieldReader& reader) {
  Endpoint endpoint{reader.text("address"), reader.count("port", 65535), reader.text("interface")};
  reader.require(looks_like_address(endpoint.address), "address", "must be an IP address");
  reader.require(endpoint.port >= 1, "port", "must be at least 1");
  reader.require(is_interface(endpoint.interface), "interface", "must be a name of an interface");
  return endpoint;
}

json::value endpoint_json(const Endpoint& endpoint) {
  return {
      {"address", endpoint.address}, {"port", endpoint.port}, {"interface", endpoint.interface}};
}

Result<PortCall> parse_port_call(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the call is too long");
  return read_fields(text, call_in);
}

std::string render(const PortCall& call) {
  return render_json({{"verb", kVerbs.at(static_cast<std::size_t>(call.verb))},
                      {"count", call.count},
                      {"published", call.is_published},
                      {"endpoints", rendered(call.endpoints, endpoint_json)}});
}

Result<std::vector<Endpoint>> parse_endpoints(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, endpoints_in);
}

std::string render(const std::vector<Endpoint>& endpoints) {
  return render_json({{"endpoints", rendered(endpoints, endpoint_json)}});
}

Result<std::vector<std::string>> parse_failures(std::string_view text) {
  if (text.size() > kMaxMessage) return bad_input("the answer is too long");
  return read_fields(text, failures_in);
}

std::string render_failures(const std::vector<std::string>& failures) {
  return render_json({{"failures", json::array(failures.begin(), failures.end())}});
}

}  // namespace flowcon::cluster::queue
