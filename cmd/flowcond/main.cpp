// SPDX-License-Identifier: Apache-2.0
// flowcond: arguments, the daemon with its cluster part, exit codes. 0 done, 1 failed, 2 wrong
// usage or configuration.
#include <cstdio>
#include <optional>

#include "cluster/cluster.h"
#include "cmd/flowcond/options.h"
#include "ctrl/daemon/daemon.h"

int main(int argc, char** argv) {
  using flowcon::cmd::Invocation;
  std::optional<flowcon::ctrl::Config> readable;
  const auto invocation = flowcon::cmd::parse_command_line(argc, argv, &readable);
  if (!invocation) {
    std::fprintf(stderr, "flowcond: %s\n", invocation.error().message().c_str());
    // systemd does not start it again, so nobody else would.
    const auto restored =
        readable ? flowcon::ctrl::restore_leftovers(*readable) : flowcon::Result<void>();
    if (!restored) {
      std::fprintf(stderr, "flowcond: limits of an earlier run may still be in place: %s\n",
                   restored.error().message().c_str());
    }
    return 2;
  }
  switch (invocation->action) {
    case Invocation::Action::show_and_exit:
      std::fputs(invocation->output.c_str(), stdout);
      return 0;
    case Invocation::Action::check_config:
      std::puts("the configuration is good");
      return 0;
    case Invocation::Action::print_config:
      std::fputs(flowcon::cmd::render_config(*invocation).c_str(), stdout);
      return 0;
    case Invocation::Action::run:
      break;
  }
  const auto read_again = [&]() -> flowcon::Result<flowcon::ctrl::Config> {
    auto again = flowcon::cmd::parse_command_line(argc, argv);
    if (!again) return again.error();
    return again->config;
  };
  const auto ended =
      flowcon::ctrl::run_daemon(invocation->config, read_again, flowcon::cluster::make_cluster);
  if (!ended) {
    std::fprintf(stderr, "flowcond: %s\n", ended.error().message().c_str());
    flowcon::ctrl::end_process(1);
  }
  flowcon::ctrl::end_process(0);
}
