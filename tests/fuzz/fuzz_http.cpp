// SPDX-License-Identifier: Apache-2.0
// Requests to the daemon's socket: the bytes through the server's parser with its limits, then the
// address and the body as the daemon reads them.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ctrl/api/routes.h"
#include "ctrl/control.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon::ctrl;
  namespace http = boost::beast::http;
  http::request_parser<http::string_body> parser;
  parser.body_limit(api::kMaxBody);
  parser.eager(true);
  boost::system::error_code code;
  std::size_t at = 0;
  while (at < size && !parser.is_done()) {
    const std::size_t used = parser.put(boost::asio::buffer(data + at, size - at), code);
    if (code || used == 0) return 0;
    at += used;
  }
  if (!parser.is_done()) return 0;
  const auto request = parser.release();
  if (request.body().size() > api::kMaxBody) std::abort();
  static const api::Routes routes{
      {"GET", "/v1/containers/NAME/explain", "", {api::Parameter{"last", true, 1, 1000}}, {}},
      {"POST", "/v1/containers/NAME/set", "", {}, {}}};
  const auto found =
      api::find_route(routes, std::string(request.method_string()), std::string(request.target()));
  if (!found) return 0;
  const auto last = found->second.number<int>("last", 1);
  if (last < 1 || last > 1000) std::abort();
  Control control;
  (void)parse_choice(request.body());
  (void)parse_pin(request.body(), 1000);
  (void)merge_values(control, request.body());
  return 0;
}
