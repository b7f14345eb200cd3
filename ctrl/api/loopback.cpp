// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/loopback.h"

#include <boost/asio/ip/address.hpp>

#include "base/digits.h"
#include "base/text.h"

namespace flowcon::ctrl::api {

Result<Loopback> parse_loopback(const std::string& text) {
  const Error wrong = bad_input("\"" + printable(text, 60) +
                                "\" is not a loopback address with a port, such as "
                                "127.0.0.1:9469");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  const auto port = parse_number<std::uint16_t>(std::string_view(text).substr(colon + 1));
  if (!port) return wrong;
  Loopback loopback;
  loopback.port = *port;
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  boost::system::error_code code;
  const auto address = boost::asio::ip::make_address(host, code);
  if (code || !address.is_loopback() || address.is_v6() != is_bracketed) return wrong;
  loopback.address = host;
  return loopback;
}

}  // namespace flowcon::ctrl::api
