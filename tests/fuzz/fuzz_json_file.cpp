// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return flowcon::fuzz::decode(flowcon::ctrl::logs::Format::json_file, data, size);
}
