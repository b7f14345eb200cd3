// SPDX-License-Identifier: Apache-2.0
#include "ctrl/companion.h"

#include <boost/asio/awaitable.hpp>

namespace flowcon::ctrl {

Async<std::optional<api::Response>> Companion::answer_first(api::Request) {
  co_return std::nullopt;
}

}  // namespace flowcon::ctrl
