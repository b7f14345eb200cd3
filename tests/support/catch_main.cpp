// SPDX-License-Identifier: Apache-2.0
// Catch2 2.13 wants its main() in one file of ours; 3 brings its own.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
