// SPDX-License-Identifier: Apache-2.0
// What is read of a connection and not taken yet. For .cpp files only: it includes Asio.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

namespace flowcon::ctrl {

/// Of at most 256 KiB, beyond which reading fails: HTTP bounds neither what stands behind the size
/// of a chunk nor the fields behind a body, and Beast neither.
class StreamBuffer : public boost::beast::flat_buffer {
 public:
  StreamBuffer() : boost::beast::flat_buffer(256U << 10) {}
};

}  // namespace flowcon::ctrl
