// SPDX-License-Identifier: Apache-2.0
// Precompiled for tests of rooms with an event loop in the dev preset, where FLOWCON_PCH is on. A
// header still includes what it uses: release, clang and asan builds have no such help.
#include "cmake/pch/asio.h"
#include "tests/support/catch.h"
