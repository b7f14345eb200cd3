// SPDX-License-Identifier: Apache-2.0
#include "cluster/solver/cbc.h"

#include <boost/asio/awaitable.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/codec/horizon_lp.h"
#include "ctrl/wire/child.h"
#include "ctrl/wire/run_alone.h"

namespace flowcon::cluster::solver {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFound = 127;              // of nice, where there is no such program
constexpr double kGrace = 5;                // seconds to write its solution in
constexpr std::size_t kMostCells = 50'000;  // of jobs and steps: a program of some 20 MB

// A folder of our own for its files, removed with all in it.
class Folder {
 public:
  [[nodiscard]] static Result<Folder> make() {
    std::error_code failed;
    std::string path = (fs::temp_directory_path(failed) / "flowcon-cbc-XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr) {
      return errno_error(failed ? failed.value() : errno, "making a folder for cbc's files");
    }
    return Folder(std::move(path));
  }
  Folder() = default;
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Folder& operator=(Folder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<void> write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return bad_input("writing " + path + ": is there room?");
  return {};
}

// "" where it wrote none.
std::string read_solution(const std::string& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed || size > policy::LpSolution::kMostBytes) return "";
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return in ? text : "";
}

ctrl::Command command_of(const Folder& folder, bool has_start, int seconds) {
  ctrl::Command command;
  // 2.10.8 has called plans optimal, after its preprocessing, that are not.
  command.argv = {"nice",
                  "cbc",
                  folder.file("plan.lp"),
                  "timeMode",
                  "elapsed",
                  "seconds",
                  std::to_string(seconds),
                  "ratioGap",
                  "0",
                  "allowableGap",
                  "1e-9",
                  "preprocess",
                  "off"};
  if (has_start) {
    command.argv.insert(command.argv.end(), {"mips", folder.file("start")});
  }
  command.argv.insert(command.argv.end(), {"solve", "solution", folder.file("solution")});
  return command;
}

}  // namespace

Result<policy::LpSolution> run_cbc(const std::string& lp, const std::string& start, int seconds) {
  const Result<Folder> folder = Folder::make();
  if (!folder) return folder.error();
  if (Result<void> done = write(folder->file("plan.lp"), lp); !done) return done.error();
  if (!start.empty()) {
    if (Result<void> done = write(folder->file("start"), start); !done) return done.error();
  }
  const ctrl::Command command = command_of(*folder, !start.empty(), seconds);
  const Result<ctrl::Ran> ran =
      ctrl::run_alone([&] { return ctrl::run(command, seconds + kGrace); });
  if (!ran) return ran.error();
  if (ran->status == kNotFound) {
    return bad_input("cbc is not installed: apt-get install coinor-cbc");
  }
  const std::string text = read_solution(folder->file("solution"));
  if (!text.empty()) return policy::read_lp_solution(text);
  return bad_input("cbc wrote no solution within " + std::to_string(seconds) + " s (status " +
                   std::to_string(ran->status) + "): " + printable(ran->err, 200));
}

Result<policy::HorizonDecision> improve_by_cbc(const policy::HorizonState& state,
                                               policy::HorizonDecision decision, int seconds) {
  if (decision.bound <= decision.objective * (1 + kGap)) return decision;
  if (decision.plan.size() * static_cast<std::size_t>(state.steps) > kMostCells) {
    return bad_input("too many jobs and steps for cbc; at most " + std::to_string(kMostCells));
  }
  const Result<policy::LpSolution> solution =
      run_cbc(policy::horizon_lp(state), policy::lp_start(state, decision), seconds);
  if (!solution) return solution.error();
  return policy::better_plan(state, std::move(decision), *solution);
}

}  // namespace flowcon::cluster::solver
