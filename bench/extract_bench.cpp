// SPDX-License-Identifier: Apache-2.0
// Speed of `extract` on a large json-file log, beside `wc -l` and `grep -F -c loss` on the same
// file in the same run: extract_bench [MIB] [FOLDER] [ROUNDS]. Makes the file (1024 MiB in /tmp
// by default), reads it once so that it is in the page cache, takes the three in turn,
// and removes it. Then what hostile lines cost beside ordinary ones. Uses the code of the command,
// without printing the result.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/extract/extract.h"
#include "ctrl/metrics/extractor.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kHostileLines = 50;

/// One record of the log, as Docker writes it.
void append_record(std::string& out, const char* text, unsigned long line) {
  char time[64];
  std::snprintf(time, sizeof time, "2024-03-04T%02lu:%02lu:%02lu.%09luZ", line / 360000 % 24,
                line / 6000 % 60, line / 100 % 60, line * 7919 % 1000000000);
  out.append("{\"log\":\"")
      .append(text)
      .append("\\n\",\"stream\":\"stdout\",\"time\":\"")
      .append(time)
      .append("\"}\n");
}

/// Every fifth line is a training step; the others are what frameworks print around it.
void append_line(std::string& out, unsigned long line) {
  char text[256];
  const unsigned long step = line / 5;
  switch (line % 5) {
    case 0:
      std::snprintf(
          text, sizeof text,
          "epoch %lu step %lu/2000000 | loss %.4f | lr %.3e | grad_norm %.3f | %.1f samples/s",
          step / 20000, step,
          0.3 + 3 * std::exp(-static_cast<double>(step) / 200000) +
              static_cast<double>(step * 7919 % 1000) / 10000,
          3e-4, 1 + static_cast<double>(step % 97) / 50, 1900 + static_cast<double>(step % 89));
      break;
    case 1:
      std::snprintf(text, sizeof text,
                    "[INFO] [timer.py:199:stop] micro_step=%lu, RunningAvgSamplesPerSec=%.10f, "
                    "MemAllocated=3.96GB, MaxMemAllocated=22.95GB",
                    step, 173.4455644119 + static_cast<double>(step % 13));
      break;
    case 2:
      std::snprintf(text, sizeof text,
                    "worker %lu: read shard-%05lu.tar in %.1f ms, queue %lu of 64", step % 8,
                    step % 4096, static_cast<double>(step % 400) / 10, step % 64);
      break;
    case 3:
      std::snprintf(text, sizeof text,
                    "NCCL INFO Channel %02lu/32 : %lu[1b0] -> %lu[1c0] via P2P/IPC/read", step % 32,
                    step % 8, (step + 1) % 8);
      break;
    default:
      std::snprintf(text, sizeof text, "data loader: batch %lu collated in %.2f ms", step,
                    static_cast<double>(step % 700) / 100);
  }
  append_record(out, text, line);
}

bool make_log(const std::string& path, double mebibytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  std::string block;
  double written = 0;
  unsigned long line = 0;
  bool good = true;
  while (good && written < mebibytes * kMiB) {
    block.clear();
    for (int i = 0; i < 4096; ++i) append_line(block, line++);
    good = std::fwrite(block.data(), 1, block.size(), file) == block.size();
    written += static_cast<double>(block.size());
  }
  return (std::fclose(file) == 0) && good;
}

struct Series {
  const char* name;
  std::function<bool()> run;
  std::vector<double> speeds;  ///< MB/s, 1 MB = 10^6 bytes
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

bool extract_once(const std::string& path, std::size_t& values) {
  flowcon::plugin::ExtractOptions options;
  options.input = "json-file";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const auto found = flowcon::plugin::extract_from(descriptor, options);
  ::close(descriptor);
  if (!found) return false;
  values = found->report.samples.size();
  return values > 0;
}

std::string repeated(const std::string& part, std::size_t bytes) {
  std::string line;
  while (line.size() < bytes) line += part;
  return line;
}

double seconds_for(const std::string& line, const std::string& pattern) {
  flowcon::ctrl::metrics::Spec spec;
  spec.pattern = pattern;
  auto extractor = flowcon::ctrl::metrics::Extractor::create(spec, 64);
  if (!extractor) return 0;
  const auto from = Clock::now();
  for (int i = 0; i < kHostileLines; ++i) extractor->feed(line, i);
  return std::chrono::duration<double>(Clock::now() - from).count();
}

/// Lines that a container could print to make reading them slow, beside an ordinary one as long:
/// before they were bounded some took a thousand times as long.
void measure_hostile() {
  constexpr std::size_t longest = 64000;
  const double plain = seconds_for(repeated("step 12 loss 0.5 ", longest), "");
  struct Hostile {
    const char* name;
    std::string line;
    std::string pattern;
  };
  const Hostile all[] = {
      {"digits", std::string(longest, '1'), ""},
      {"open quotes", "{" + repeated("\\\"\\'", longest), ""},
      {"ratios", repeated("1/2 ", 1000) + std::string(longest - 1000, '%'), ""},
      {"percentages", repeated("5% ", 1000) + std::string(longest - 1000, '%'), ""},
      {"bars", repeated("s/it]a", longest), ""},
      {"options", repeated(" --epochs 3", longest), ""},
      {"matches", std::string(longest, '1'), "(?P<value>1)(?:.*b)?"},
  };
  for (const Hostile& one : all) {
    std::printf("%-16s %9.2f times an ordinary line\n", one.name,
                seconds_for(one.line, one.pattern) / plain);
  }
}

/// Through a pipe: grep stops at the first match where its output is /dev/null.
int measure(const std::string& path, double bytes, int rounds) {
  std::size_t values = 0;
  Series all[] = {
      {"extract", [&] { return extract_once(path, values); }, {}},
      {"wc -l",
       [&] { return std::system(("wc -l < '" + path + "' | cat > /dev/null").c_str()) == 0; },
       {}},
      {"grep -F -c loss",
       [&] {
         return std::system(("grep -F -c loss '" + path + "' | cat > /dev/null").c_str()) == 0;
       },
       {}},
  };
  if (!all[1].run()) return 1;  // into the page cache
  for (int round = 0; round < rounds; ++round) {
    for (Series& series : all) {
      const auto from = Clock::now();
      if (!series.run()) {
        std::fprintf(stderr, "extract_bench: %s failed\n", series.name);
        return 1;
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
      series.speeds.push_back(bytes / 1e6 / seconds);
    }
  }
  std::printf("%-16s %3s %9s %9s %9s  MB/s, %zu values in %.0f MiB\n", "program", "n", "min",
              "mean", "max", values, bytes / kMiB);
  for (const Series& series : all) {
    std::printf("%-16s %3d %9.0f %9.0f %9.0f\n", series.name, rounds,
                *std::min_element(series.speeds.begin(), series.speeds.end()), mean(series.speeds),
                *std::max_element(series.speeds.begin(), series.speeds.end()));
  }
  std::printf("extract / wc    %.2f\nextract / grep  %.2f (aim: at least 0.5)\n",
              mean(all[0].speeds) / mean(all[1].speeds), mean(all[0].speeds) / mean(all[2].speeds));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const double mebibytes = argc > 1 ? std::atof(argv[1]) : 1024;
  const std::string folder = argc > 2 ? argv[2] : "/tmp";
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  if (!(mebibytes > 0) || rounds < 1 || folder.find('\'') != std::string::npos) {
    std::fprintf(stderr, "usage: extract_bench [MIB] [FOLDER] [ROUNDS]\n");
    return 2;
  }
  const std::string path = folder + "/flowcon-extract-" + std::to_string(::getpid()) + ".log";
  if (!make_log(path, mebibytes)) {
    std::fprintf(stderr, "extract_bench: cannot write %s: is there room?\n", path.c_str());
    ::unlink(path.c_str());
    return 1;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const double bytes = static_cast<double>(::lseek(descriptor, 0, SEEK_END));
  ::close(descriptor);
  const int status = measure(path, bytes, rounds);
  measure_hostile();
  ::unlink(path.c_str());
  return status;
}
