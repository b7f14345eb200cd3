// SPDX-License-Identifier: Apache-2.0
// A stream of a unix socket with a time limit. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <string>

#include "base/result.h"

namespace flowcon::ctrl {

using LocalStream =
    boost::beast::basic_stream<boost::asio::local::stream_protocol, boost::asio::any_io_executor>;

/// ETIMEDOUT where the code says that it took too long, else the code.
[[nodiscard]] Error stream_error(const boost::system::error_code& code, const std::string& doing);

/// Does the code say that it took too long?
[[nodiscard]] bool is_timeout(const boost::system::error_code& code);

/// Does the code say that the other side is gone?
[[nodiscard]] bool is_end(const boost::system::error_code& code);

}  // namespace flowcon::ctrl
