// SPDX-License-Identifier: Apache-2.0
// /metrics over TCP on the loopback address, for a Prometheus on this host. Reads nothing but the
// request's head, knows no other address, changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::ctrl::api {

/// The type of what /metrics answers.
inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

class Scrape {
 public:
  /// Listens and answers until close(); `render` gives the text. Errors: the port is taken.
  [[nodiscard]] static Result<std::unique_ptr<Scrape>> listen(boost::asio::io_context& io,
                                                              const std::string& where,
                                                              std::function<std::string()> render);
  ~Scrape();
  /// The port, also where 0 was asked for.
  [[nodiscard]] std::uint16_t port() const;
  void close();

 private:
  struct Impl;
  explicit Scrape(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::api
