// SPDX-License-Identifier: Apache-2.0
// Precompiled for tests in the dev preset, where FLOWCON_PCH is on. A header still includes what it
// uses: release, clang and asan builds have no such help.
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cmath>
#include <coroutine>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/catch.h"
