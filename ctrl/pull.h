// SPDX-License-Identifier: Apache-2.0
// Bytes that are asked for piece by piece, so that whoever takes them sets the pace.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::ctrl {

/// The next bytes of a stream; empty: it has ended. Not asked again after that or after an error.
using Pull = std::function<Async<Result<std::string>>()>;

}  // namespace flowcon::ctrl
