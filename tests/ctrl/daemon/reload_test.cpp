// SPDX-License-Identifier: Apache-2.0
// A configuration that is read again while flowcond runs.
#include <string>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;
using test::StandardError;

TEST_CASE("a reload that contradicts what only a restart changes changes nothing") {
  Host host;
  host.begin();
  ctrl::Config config = host.config;
  config.cores = 8;  // of 2
  config.queue.offer.cpu = 4;
  config.policy = "free";
  REQUIRE(ctrl::check(config, {}).has_value());
  const StandardError error;
  host.daemon->reload(config);
  const std::string text = error.text();
  CHECK(text.find("configuration not reloaded: offer = ") != std::string::npos);
  CHECK(text.find("restart flowcond to apply all of it") != std::string::npos);
  CHECK_FALSE(host.daemon->config().queue.offer.cpu);
  CHECK(host.daemon->config().policy == host.config.policy);
}

TEST_CASE("a reload tells that the webhook has changed, and not to what") {
  Host host;
  host.begin();
  ctrl::Config config = host.config;
  config.hooks.url = "https://chat.example/hooks/secret";
  config.observe = 7;
  const StandardError error;
  host.daemon->reload(config);
  const std::string text = error.text();
  CHECK(text.find("observe = 7") != std::string::npos);
  CHECK(text.find("webhook") != std::string::npos);
  CHECK(text.find("secret") == std::string::npos);
  CHECK(host.daemon->config().hooks.url == config.hooks.url);
}
