// SPDX-License-Identifier: Apache-2.0
// A configuration file, and each of its values shown and taken again.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cmd/flowcond/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon;
  const std::string path = "/tmp/flowcon-fuzz-" + std::to_string(::getpid()) + ".conf";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  ctrl::Config config;
  std::map<std::string, std::string> said_at;
  const auto read = cmd::read_config_file(path, config, said_at);
  ::unlink(path.c_str());
  if (!read) return 0;
  (void)ctrl::check(config, said_at);
  for (const ctrl::Option& option : ctrl::options()) {
    ctrl::Config copy = config;
    const std::string shown = option.show(config);
    if (!shown.empty() && !option.apply(copy, shown)) std::abort();
    if (option.show(copy) != shown) std::abort();
  }
  return 0;
}
