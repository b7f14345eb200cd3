// SPDX-License-Identifier: Apache-2.0
// The plugin beside a daemon that knows canned answers.
#pragma once

#include <string>
#include <vector>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {

class DaemonFixture {
 public:
  /// `docker flowcon WORDS`.
  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "flowcon");
    return run_words(words, {{"FLOWCON_SOCKET", folder.path() + "/s"}});
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

}  // namespace flowcon::plugin
