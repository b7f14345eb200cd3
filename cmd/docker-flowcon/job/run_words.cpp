// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/run_words.h"

#include <algorithm>
#include <string_view>

namespace flowcon::plugin {
namespace {

// docker 28's, with the hidden ones. One that is newer ends what flowcon reads, and docker says so.
constexpr std::string_view kLongWithValue =
    " add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent "
    "cgroupns cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime "
    "cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule "
    "device-read-bps device-read-iops device-write-bps device-write-iops dns dns-opt dns-option "
    "dns-search domainname entrypoint env env-file expose gpus group-add health-cmd "
    "health-interval health-retries health-start-interval health-start-period health-timeout "
    "hostname io-maxbandwidth io-maxiops ip ip6 ipc isolation kernel-memory label label-file link "
    "link-local-ip log-driver log-opt mac-address memory memory-reservation memory-swap "
    "memory-swappiness mount name net net-alias network network-alias oom-score-adj pid pids-limit "
    "platform publish pull restart runtime security-opt shm-size stop-signal stop-timeout "
    "storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir ";
constexpr std::string_view kLettersWithValue = "acehlmpuvw";

}  // namespace

RunOption read_run_option(const std::vector<std::string>& words, std::size_t at) {
  const std::string& word = words[at];
  RunOption option;
  std::size_t end = word.size();  // of the name
  if (word.starts_with("--")) {
    end = std::min(word.find('='), end);
    option.name = word.substr(0, end);
    option.takes_value =
        end > 2 && option.name.find(' ') == std::string::npos &&
        kLongWithValue.find(" " + option.name.substr(2) + " ") != std::string_view::npos;
  } else {
    const std::size_t letter = word.find_first_of(kLettersWithValue, 1);
    end = std::min(word.find('=', 2), end);
    option.takes_value = letter < end;
    end = option.takes_value ? letter + 1 : end;
    option.name = std::string("-") + word[end - 1];
    option.letters = word.substr(1, end - 1);
  }
  if (end < word.size()) {
    option.value = word.substr(end + (word[end] == '=' ? 1 : 0));
  } else if (option.takes_value && at + 1 < words.size()) {
    option.value = words[at + 1];
    option.words = 2;
  }
  return option;
}

std::vector<RunOption> read_run_options(const std::vector<std::string>& words) {
  std::vector<RunOption> options;
  for (std::size_t at = 0; at < words.size() && words[at].size() > 1 && words[at][0] == '-';
       at += options.back().words) {
    if (words[at] == "--") break;
    options.push_back(read_run_option(words, at));
  }
  return options;
}

}  // namespace flowcon::plugin
