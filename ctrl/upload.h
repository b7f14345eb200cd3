// SPDX-License-Identifier: Apache-2.0
// One HTTP request whose body is pulled piece by piece, and its answer, on a connection that is
// there. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace flowcon::ctrl {

using LocalStream =
    boost::beast::basic_stream<boost::asio::local::stream_protocol, boost::asio::any_io_executor>;

/// Units: max_answer in bytes.
struct Upload {
  std::string host;
  std::string method;
  std::string target;
  std::string content_type;
  Pull body;
  std::chrono::nanoseconds idle{};  ///< for each piece to be taken, and for each of the answer
  std::uint64_t max_answer = 0;
  std::string doing;  ///< for the sentences of errors
};

struct Uploaded {
  unsigned status = 0;
  std::string answer;
};

/// The other side may answer before it has all, with an error: then no more is pulled, and that is
/// the answer. The connection serves this request only. Errors: ETIMEDOUT; the connection's; those
/// of the body, after which the other side sees a request that is cut, not one that ends.
Async<Result<Uploaded>> send_upload(std::shared_ptr<LocalStream> stream, Upload upload);

/// ETIMEDOUT with a sentence where the code says that it took too long, else the code.
[[nodiscard]] Error stream_error(const boost::system::error_code& code, const std::string& doing);

/// Seconds as a stream counts them.
[[nodiscard]] std::chrono::nanoseconds nanoseconds(double seconds);

}  // namespace flowcon::ctrl
