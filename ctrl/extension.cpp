// SPDX-License-Identifier: Apache-2.0
#include "ctrl/extension.h"

#include <boost/asio/awaitable.hpp>

namespace flowcon::ctrl {

Async<std::optional<api::Response>> Extension::answer_first(api::Request) {
  co_return std::nullopt;
}

}  // namespace flowcon::ctrl
