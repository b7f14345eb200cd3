// SPDX-License-Identifier: Apache-2.0
// A container's program for bench/overhead: prints a training's lines at a steady rate and does
// nothing else, so that the bench measures the cost of reading them. Static, so that a tar of this
// one file is an image.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

namespace {

struct Options {
  double rate = 10;       ///< lines per second
  double seconds = 3600;  ///< then it ends
  double seed = 1;        ///< another seed is another training
};

constexpr int kWrongUsage = 125;
constexpr int kStepsPerEpoch = 200;
constexpr int kEpochs = 100;
constexpr double kLearningTime = 120;  // seconds until the loss has lost 63 % of what it can lose

int usage(const char* problem) {
  std::fprintf(
      stderr,
      "chatter: %s\nusage: chatter [--rate LINES-PER-SECOND] [--seconds N] [--seed N]\n"
      "Prints lines as a training does: step and loss, and a line of validation per epoch.\n",
      problem);
  return kWrongUsage;
}

bool parse_positive(const char* text, double* value) {
  char* end = nullptr;
  *value = std::strtod(text, &end);
  return end != text && *end == '\0' && std::isfinite(*value) && *value > 0;
}

// Sleeps until `at` seconds after `begin`, whatever the lines before took.
void sleep_until(const timespec& begin, double at) {
  const double whole = std::floor(at);
  timespec due = begin;
  due.tv_sec += static_cast<time_t>(whole);
  due.tv_nsec += static_cast<long>((at - whole) * 1e9);
  if (due.tv_nsec >= 1000000000L) {
    due.tv_nsec -= 1000000000L;
    ++due.tv_sec;
  }
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

bool print_line(long step, double time, double loss) {
  const long epoch = step / kStepsPerEpoch % kEpochs + 1;
  const long batch = step % kStepsPerEpoch + 1;
  if (batch == kStepsPerEpoch) {
    std::printf("epoch %ld/%d finished in %.1fs val_loss: %.4f val_acc: %.4f\n", epoch, kEpochs,
                time, loss * 1.1, 1 / (1 + loss));
  } else {
    std::printf("epoch %ld/%d step %ld/%d loss: %.4f lr: 0.001 %.1f samples/s\n", epoch, kEpochs,
                batch, kStepsPerEpoch, loss, 1500 + 100 * loss);
  }
  // A line at a time, as an unbuffered training writes.
  return std::fflush(stdout) == 0;
}

int chat(const Options& options) {
  std::minstd_rand random(static_cast<unsigned>(options.seed));
  std::uniform_real_distribution<double> noise(-0.05, 0.05);
  const double first = 1.5 + noise(random) * 10;
  timespec begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long step = 0;; ++step) {
    const double time = static_cast<double>(step) / options.rate;
    if (time >= options.seconds) return 0;
    sleep_until(begin, time);
    const double loss = (0.1 + first * std::exp(-time / kLearningTime)) * (1 + noise(random));
    if (!print_line(step, time, loss)) return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    double* target = nullptr;
    if (std::strcmp(argv[i], "--rate") == 0) target = &options.rate;
    if (std::strcmp(argv[i], "--seconds") == 0) target = &options.seconds;
    if (std::strcmp(argv[i], "--seed") == 0) target = &options.seed;
    if (!target) return usage("unknown option");
    if (i + 1 >= argc) return usage("an option needs a value");
    if (!parse_positive(argv[i + 1], target)) return usage("a value must be a number above 0");
  }
  return chat(options);
}
