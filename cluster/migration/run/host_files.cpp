// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/host_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/plan/names.h"
#include "cluster/migration/plan/refusals.h"
#include "ctrl/await.h"
#include "ctrl/helper_threads.h"

namespace flowcon::cluster::migration {
namespace {

namespace files = std::filesystem;

constexpr double kPathTime = 5;                  // seconds for an answer of a file system
constexpr double kDiskTime = 10;                 // and for one while a move arrives
constexpr double kMeasureTime = 300;             // seconds, for a million files on a busy disk
constexpr std::chrono::milliseconds kTurn{200};  // between two looks whether a thread is free
constexpr double kWrittenTime = 60;              // seconds to look for what was saved
constexpr std::size_t kMostLooked = 2'000'000;   // files, for the newest of them
constexpr std::size_t kMostChanged = 200'000;    // paths of one layer that are looked at
constexpr std::uint64_t kMostWeighed = 500'000;  // files whose size is asked for

bool is_at_least(timespec time, timespec since) {
  // A file system that counts whole seconds, or pairs of them, rounds down.
  if (time.tv_nsec == 0) return time.tv_sec + 1 >= since.tv_sec;
  return time.tv_sec != since.tv_sec ? time.tv_sec > since.tv_sec : time.tv_nsec >= since.tv_nsec;
}

// Of `paths` those that are files with something in them; all where the layer is no folder here.
std::vector<std::string> with_content(const std::string& upper, std::vector<std::string> paths) {
  if (upper.empty()) return paths;
  std::erase_if(paths, [&](const std::string& path) {
    struct stat status {};
    return ::lstat((upper + path).c_str(), &status) == 0 &&
           (!S_ISREG(status.st_mode) || status.st_size == 0);
  });
  return paths;
}

// The folders and files on this host that hold what a job saves; none: that cannot be said of all.
std::vector<std::string> saved_places(const Plan& plan, const CopyPlace& place) {
  std::vector<std::string> places;
  std::size_t wanted = 0;
  for (const Part& part : plan.parts) {
    if (part.kind == PartKind::path || part.kind == PartKind::volume) ++wanted;
    if (part.kind == PartKind::path) {
      std::error_code code;
      const std::string real = files::weakly_canonical(place.upper + part.where, code).string();
      if (!place.upper.empty() && !code && is_within(real, place.upper)) places.push_back(real);
    } else if (part.kind == PartKind::volume) {
      for (const VolumePlace& volume : place.volumes) {
        if (volume.destination == part.where) places.push_back(volume.folder);
      }
    }
  }
  if (places.size() < wanted) places.clear();
  return places;
}

// By the change, which a file that is renamed into its place has too.
bool is_new_file(const std::string& path, timespec since) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         is_at_least(status.st_ctim, since);
}

// Waits until what was written below `folder` is on its disk.
Result<void> flush_disk(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno_error(errno, "opening " + folder);
  const int code = ::syncfs(file);
  const int why = errno;
  ::close(file);
  return code == 0 ? Result<void>() : errno_error(why, "writing to the disk of " + folder);
}

std::optional<Disk> measure_disk(const std::string& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  const std::uint64_t unit = found.f_frsize;
  return Disk{unit * found.f_blocks, unit * found.f_bavail, found.f_files, found.f_favail};
}

std::string resolved(const std::string& path) {
  std::error_code failure;
  const auto real = files::canonical(path, failure);
  return failure ? std::string() : real.string();
}

bool is_inside(const std::string& source, const AcceptPolicy& policy) {
  const auto is_above = [&](const std::string& prefix) { return is_within(source, prefix); };
  if (std::none_of(policy.mounts.begin(), policy.mounts.end(), is_above)) return false;
  const std::string real = resolved(source);
  return !real.empty() &&
         std::any_of(policy.mounts.begin(), policy.mounts.end(), [&](const std::string& prefix) {
           const std::string folder = resolved(prefix);
           return !folder.empty() && is_within(real, folder);
         });
}

LeftBehind look_at_changes(const std::string& changes, const std::string& upper,
                           const json::object& body, std::optional<timespec> asked) {
  auto [paths, is_cut] = changed_paths(changes);
  std::erase_if(paths, [&](const std::string& path) {
    return is_of_engine(path) || is_of_mount(body, path);
  });
  LeftBehind left;
  left.is_cut = is_cut || paths.size() > kMostChanged;
  if (paths.size() > kMostChanged) paths.resize(kMostChanged);
  for (std::string& path : with_content(upper, std::move(paths))) {
    // What it has written last is what it saves, wherever that is.
    const bool has_saved = asked && !upper.empty() && is_new_file(upper + path, *asked);
    const bool passes = !has_saved && is_passing(path);
    (passes ? left.passing : left.files).push_back(std::move(path));
  }
  return left;
}

}  // namespace

bool is_written_since(const std::vector<std::string>& places, timespec since) {
  std::size_t looked = 0;
  const auto is_new = [&](const std::string& path) { return is_new_file(path, since); };
  for (const std::string& place : places) {
    if (is_new(place)) return true;
    std::error_code code;
    const auto options = files::directory_options::skip_permission_denied;
    for (auto at = files::recursive_directory_iterator(place, options, code);
         !code && at != files::recursive_directory_iterator(); at.increment(code)) {
      if (++looked > kMostLooked || is_new(at->path().string())) return true;
    }
    if (code && code != std::errc::no_such_file_or_directory &&
        code != std::errc::not_a_directory) {
      return true;  // what cannot be looked at may be it
    }
  }
  return false;
}

namespace {

// Of one file or folder, for Tree::content: what a change of it cannot leave as it was.
std::string trace_of(const std::string& path, const struct stat& status) {
  std::string trace = path + std::string(1, '\0');
  for (const auto number :
       {static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_mode),
        static_cast<std::int64_t>(status.st_uid), static_cast<std::int64_t>(status.st_gid),
        static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(status.st_ctim.tv_sec),
        static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
    trace += std::to_string(number) + ' ';
  }
  return trace;
}

// Whatever order a folder is read in: a sum of all traces.
class ContentSum {
 public:
  void add(const std::string& trace) {
    Sha256 sum;
    sum.feed(trace);
    const std::string digits = sum.finish();
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      std::uint64_t part = 0;
      std::from_chars(digits.data() + 16 * i, digits.data() + 16 * (i + 1), part, 16);
      sum_[i] += part;
    }
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::uint64_t part : sum_) text += std::to_string(part) + ' ';
    return text;
  }

 private:
  std::array<std::uint64_t, 4> sum_{};
};

Tree measure_tree(const std::string& folder, std::uint64_t most, std::uint64_t& weighed) {
  Tree tree;
  ContentSum content;
  bool is_whole = true;
  std::error_code code;
  const auto options = files::directory_options::skip_permission_denied;
  for (auto at = files::recursive_directory_iterator(folder, options, code);
       !code && at != files::recursive_directory_iterator() && tree.entries <= most;
       at.increment(code)) {
    ++tree.entries;
    struct stat status {};
    const std::string path = at->path().string();
    if (++weighed > kMostWeighed || ::lstat(path.c_str(), &status) != 0) {
      is_whole = false;
      continue;
    }
    content.add(trace_of(path.substr(folder.size()), status));
    if (!S_ISREG(status.st_mode)) continue;
    // Holes travel, and are none on the other side.
    const auto there = static_cast<std::uint64_t>(status.st_blocks) * 512;
    tree.bytes += std::max(there, static_cast<std::uint64_t>(status.st_size));
  }
  if (is_whole && !code && tree.entries <= most) tree.content = content.text();
  return tree;
}

std::string mark_beside(const std::string& folder) {
  return files::path(folder).parent_path().string() + "/flowcon-whole";
}

}  // namespace

std::vector<Tree> measure(const std::vector<std::string>& folders, std::uint64_t most) {
  std::vector<Tree> trees;
  std::uint64_t weighed = 0;
  for (const std::string& folder : folders) trees.push_back(measure_tree(folder, most, weighed));
  return trees;
}

Result<void> mark_whole(const std::string& folder) {
  const Tree tree = measure({folder}, std::numeric_limits<std::uint64_t>::max()).front();
  const std::string path = mark_beside(folder);
  std::ofstream file(path, std::ios::trunc);
  file << tree.bytes << '\n';
  return file.flush() ? Result<void>() : errno_error(errno, "writing " + path);
}

std::optional<DataMark> mark_of(const std::string& folder) {
  const std::string path = mark_beside(folder);
  struct stat status {};
  std::ifstream file(path);
  DataMark mark;
  if (!(file >> mark.bytes) || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  mark.used = static_cast<double>(status.st_mtim.tv_sec);
  return mark;
}

std::string mebibytes(double bytes) { return render_number(std::ceil(bytes / 1048576)) + " MiB"; }

std::string why_no_room(const std::string& folder, std::uint64_t bytes) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return "";
  const double spare = static_cast<double>(spare_of(std::uint64_t{disk.f_frsize} * disk.f_blocks));
  const double free = static_cast<double>(disk.f_frsize) * static_cast<double>(disk.f_bavail);
  if (static_cast<double>(bytes) + spare <= free) return "";
  return std::string(kDiskFull) + ": " + mebibytes(static_cast<double>(bytes)) + " are to come, " +
         mebibytes(free) + " are free";
}

std::vector<std::string> unfit_paths(const json::object& body, const AcceptPolicy& policy) {
  std::vector<std::string> reasons;
  const json::value whole(body);
  const json::value& host = member(whole, "HostConfig");
  for (const json::value& mount : list_of(host, "Mounts")) {
    const std::string source = text_of(mount, "Source");
    if (text_of(mount, "Type") != "bind" || is_inside(source, policy)) continue;
    reasons.push_back("'" + printable(source, 200) +
                      "' is not there, or links lead out of the folders that are accepted");
    if (reasons.size() >= kMaxRefusals) break;
  }
  for (const json::value& device : list_of(host, "Devices")) {
    const std::string path = text_of(device, "PathOnHost");
    const auto& known = policy.devices;
    const bool is_accepted = std::find(known.begin(), known.end(), path) != known.end();
    struct stat ignored {};
    if (is_accepted && ::stat(path.c_str(), &ignored) == 0) continue;
    reasons.push_back("there is no " + printable(path, 200) + " there");
    if (reasons.size() >= kMaxRefusals) break;
  }
  return reasons;
}

// -------------------------------------------------------------------------------- on threads

struct LocalFiles::Threads {
  boost::asio::thread_pool disk{1};  // waits for the disk
  ctrl::HelperThreads helpers{4};    // ask file systems
  ctrl::HelperThreads measurers{4};  // the same, of what may take minutes
};

LocalFiles::LocalFiles() : threads_(std::make_unique<Threads>()) {}
LocalFiles::~LocalFiles() = default;

Async<Result<void>> LocalFiles::sync(std::string folder) {
  auto sync = [folder]() -> Async<Result<void>> { co_return flush_disk(folder); };
  auto synced = boost::asio::co_spawn(threads_->disk.get_executor(), std::move(sync),
                                      boost::asio::use_awaitable);
  co_return co_await std::move(synced);
}

Async<Result<void>> LocalFiles::look_for_room(std::string folder) {
  auto look = [folder] { return measure_disk(folder); };
  const Result<std::optional<Disk>> found =
      co_await threads_->helpers.ask(std::move(look), kDiskTime);
  if (!found) co_return found.error();
  if (!*found) co_return bad_input("the disk of " + folder + " cannot be measured");
  if (is_full(**found)) co_return errno_error(ENOSPC, "migrations leave the rest of the disk free");
  co_return Result<void>();
}

Async<Result<std::string>> LocalFiles::why_no_room(std::string folder, std::uint64_t bytes) {
  auto look = [folder, bytes] { return migration::why_no_room(folder, bytes); };
  co_return co_await threads_->helpers.ask(std::move(look), kPathTime);
}

Async<std::vector<std::string>> LocalFiles::unfit_paths(json::object body, AcceptPolicy policy) {
  auto look = [body = std::move(body), policy = std::move(policy)] {
    return migration::unfit_paths(body, policy);
  };
  Result<std::vector<std::string>> found =
      co_await threads_->helpers.ask(std::move(look), kPathTime);
  if (found) co_return std::move(*found);
  std::vector<std::string> reasons{"the folders that it mounts cannot be checked there: " +
                                   found.error().what};
  co_return reasons;
}

Async<Result<std::vector<Tree>>> LocalFiles::measure(std::vector<std::string> folders,
                                                     std::uint64_t most) {
  boost::asio::steady_timer turn(co_await boost::asio::this_coro::executor);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kMeasureTime);
  // Of many that are to be measured at once one waits for the other.
  for (;;) {
    auto look = [folders, most] { return migration::measure(folders, most); };
    Result<std::vector<Tree>> trees =
        co_await threads_->measurers.ask(std::move(look), kMeasureTime);
    const bool is_busy = !trees && trees.error().code.value() == EBUSY;
    if (!is_busy || std::chrono::steady_clock::now() >= end) co_return trees;
    turn.expires_after(kTurn);
    (void)co_await turn.async_wait(kAwait);
  }
}

Async<Result<void>> LocalFiles::mark_whole(std::string folder) {
  auto mark = [folder] {
    const Result<void> marked = migration::mark_whole(folder);
    return marked ? 0 : marked.error().code.value();
  };
  const Result<int> failure = co_await threads_->measurers.ask(std::move(mark), kMeasureTime);
  if (!failure) co_return failure.error();
  co_return *failure == 0 ? Result<void>() : errno_error(*failure, "writing beside " + folder);
}

Async<Result<std::vector<std::optional<DataMark>>>> LocalFiles::marks_of(
    std::vector<std::string> folders) {
  auto look = [folders = std::move(folders)] {
    std::vector<std::optional<DataMark>> marks;
    for (const std::string& folder : folders) marks.push_back(mark_of(folder));
    return marks;
  };
  co_return co_await threads_->helpers.ask(std::move(look), kPathTime);
}

Async<void> LocalFiles::mark_used(std::string folder) {
  auto mark = [folder] { return ::utimensat(AT_FDCWD, mark_beside(folder).c_str(), nullptr, 0); };
  (void)co_await threads_->helpers.ask(std::move(mark), kPathTime);
}

Async<LeftBehind> LocalFiles::left_behind(std::string changes, std::string upper, json::object body,
                                          std::optional<timespec> asked) {
  auto look = [changes, upper, body, asked]() -> Async<LeftBehind> {
    co_return look_at_changes(changes, upper, body, asked);
  };
  auto looked = boost::asio::co_spawn(threads_->disk.get_executor(), std::move(look),
                                      boost::asio::use_awaitable);
  LeftBehind left = co_await std::move(looked);
  co_return left;
}

Async<bool> LocalFiles::has_saved_since(Plan plan, CopyPlace place, timespec since) {
  // A link that the job has made may lead to what never answers.
  auto look = [plan = std::move(plan), place = std::move(place), since] {
    const std::vector<std::string> places = saved_places(plan, place);
    return places.empty() || is_written_since(places, since);
  };
  const Result<bool> has_saved = co_await threads_->measurers.ask(std::move(look), kWrittenTime);
  co_return !has_saved || *has_saved;  // what cannot be looked at may be it
}

timespec LocalFiles::now() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

}  // namespace flowcon::cluster::migration
