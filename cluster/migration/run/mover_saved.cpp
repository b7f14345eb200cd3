// SPDX-License-Identifier: Apache-2.0
// What is known of a job around its move: whether all that it saved travels, whether it saved or
// ended by itself, and whether its copy runs on.
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/run/mover_state.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
namespace files = std::filesystem;
using ctrl::Async;

constexpr double kProof = 1;                     // seconds that a copy has to run on, at the least
constexpr int kSweepTime = 60;                   // seconds, and after each move
constexpr int kSweepAgain = 5;                   // seconds, while something could not be removed
constexpr double kWrittenTime = 60;              // seconds to look for what was saved
constexpr std::size_t kMostLooked = 2'000'000;   // files, for the newest of them
constexpr std::size_t kMostChanged = 200'000;    // paths of one layer that are looked at
constexpr std::uint64_t kMostWeighed = 500'000;  // files whose size is asked for

bool is_at_least(timespec time, timespec since) {
  // A file system that counts whole seconds, or pairs of them, rounds down.
  if (time.tv_nsec == 0) return time.tv_sec + 1 >= since.tv_sec;
  return time.tv_sec != since.tv_sec ? time.tv_sec > since.tv_sec : time.tv_nsec >= since.tv_nsec;
}

bool has_writable_bind(const json::object& body) {
  const json::value whole(body);
  const json::array& mounts = list_of(member(whole, "HostConfig"), "Mounts");
  return std::any_of(mounts.begin(), mounts.end(), [](const json::value& mount) {
    return text_of(mount, "Type") == "bind" && !is_true(mount, "ReadOnly");
  });
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

Measured measure(const std::vector<std::string>& folders, std::uint64_t most) {
  Measured measured;
  std::uint64_t weighed = 0;
  for (const std::string& folder : folders) {
    std::uint64_t& entries = measured.entries.emplace_back(0);
    std::error_code code;
    const auto options = files::directory_options::skip_permission_denied;
    for (auto at = files::recursive_directory_iterator(folder, options, code);
         !code && at != files::recursive_directory_iterator() && entries <= most;
         at.increment(code)) {
      ++entries;
      struct stat status {};
      if (++weighed <= kMostWeighed && ::lstat(at->path().c_str(), &status) == 0 &&
          S_ISREG(status.st_mode)) {
        measured.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
      }
    }
  }
  return measured;
}

Async<Result<Movers::LeftBehind>> Movers::left_behind(std::string container, std::string upper,
                                                      json::object body,
                                                      std::optional<timespec> asked) {
  const Result<std::string> answer = co_await engine_.changes(std::move(container));
  if (!answer) co_return answer.error();
  auto look = [list = *answer, upper, body, asked]() -> Async<LeftBehind> {
    std::vector<std::string> paths = changed_paths(list);
    std::erase_if(paths, [&](const std::string& path) {
      return is_of_engine(path) || is_of_mount(body, path);
    });
    if (paths.size() > kMostChanged) paths.resize(kMostChanged);
    LeftBehind left;
    for (std::string& path : with_content(upper, std::move(paths))) {
      // What it has written last is what it saves, wherever that is.
      const bool has_saved = asked && !upper.empty() && is_new_file(upper + path, *asked);
      const bool passes = !has_saved && is_passing(path);
      (passes ? left.passing : left.files).push_back(std::move(path));
    }
    co_return left;
  };
  auto looked =
      boost::asio::co_spawn(disk_.get_executor(), std::move(look), boost::asio::use_awaitable);
  LeftBehind left = co_await std::move(looked);
  co_return left;
}

// The job ended with status 0, or its command did. `asked`: when it got the signal.
Async<Result<void>> Movers::believe_saved(MovePtr move, std::optional<timespec> asked) {
  std::string id = move->entry.container, state = host_.config().state_dir;
  const Result<CopyPlace> place = co_await find_place(client_, std::move(id), std::move(state));
  if (!place) co_return place.error();
  if (move->plan.checkpoint.path.empty()) {
    std::string again = move->entry.container, upper = place->upper;
    json::object body = move->plan.body;
    const Result<LeftBehind> left =
        co_await left_behind(std::move(again), std::move(upper), std::move(body), asked);
    if (!left) co_return left.error();
    if (!left->files.empty()) {
      co_return bad_input("it has written files that would not travel: " + some_of(left->files) +
                          " (flowcon.checkpoint.path says where it saves to)");
    }
  }
  if (!asked || has_writable_bind(move->plan.body)) co_return Result<void>();
  // A link that the job has made may lead to what never answers.
  auto look = [plan = move->plan, place = *place, since = *asked] {
    const std::vector<std::string> places = saved_places(plan, place);
    return places.empty() || is_written_since(places, since);
  };
  const Result<bool> has_saved = co_await measurers_.ask(std::move(look), kWrittenTime);
  if (!has_saved || *has_saved) co_return Result<void>();  // what cannot be looked at may be it
  move->has_ended = true;
  co_return bad_input(
      "it ended with status 0 and wrote nothing to its checkpoint after it had been asked to save: "
      "it has ended by itself");
}

// A job that was not told to end and has ended, ended by itself.
Async<void> Movers::note_end(MovePtr move) {
  if (move->was_told_to_end) co_return;
  std::string id = move->entry.container;
  const Result<Seen> seen = co_await engine_.look(std::move(id));
  move->has_ended = seen && (seen->copy == Copy::finished || seen->copy == Copy::failed);
}

// Has it ended by itself, and would its engine have left it so?
bool Movers::ended_by_itself(const Move& move, const Seen& seen) const {
  const bool is_at = move.entry.step == Step::save || move.entry.step == Step::undo;
  if (!move.is_source() || !is_at) return false;
  const bool is_over = seen.copy == Copy::finished || seen.copy == Copy::failed;
  // What was asked by a flowcond before this one is not known.
  const bool by_itself = move.has_ended || (!move.was_asked && !move.was_restored);
  return is_over && by_itself && !restarts_after(move.plan.restart_policy, seen.exit_code);
}

// One that prints values has to print one; of others a line says that they are past their start.
// What it printed has to be a moment old: the last words of a job that fails are lines as well.
Async<bool> Movers::has_proven(MovePtr move, Seen seen) {
  if (seen.copy != Copy::running) {
    move->shown_at.reset();
    co_return false;
  }
  const double now = steady_now();
  if (!move->running_since) move->running_since = now;
  if (!move->shown_at) {
    double started = 0;
    const char* end = seen.started.data() + seen.started.size();
    (void)std::from_chars(seen.started.data(), end, started);
    const std::optional<double> value = host_.last_value_at(seen.id);
    bool has_shown = value && started > 0 && *value >= started;
    if (!has_shown && !move->plan.awaits_value) has_shown = co_await engine_.has_printed(seen);
    if (has_shown) move->shown_at = steady_now();
  }
  const double ran = now - *move->running_since;
  const bool has_gone_on = move->shown_at && now - *move->shown_at >= kProof;
  if (ran >= kProof && (has_gone_on || ran >= move->plan.confirm)) co_return true;
  move->rest = std::min(move->rest, kProof / 4);  // it is looked at again soon
  co_return false;
}

std::set<std::string> Movers::images_of_moves() const {
  std::set<std::string> images;
  for (const auto& [id, move] : moves_) images.insert(move->plan.image.id);
  return images;
}

// Images without a name, or a full disk kept them.
Async<void> Movers::remove_leftovers(std::set<std::string> kept) {
  const std::map<std::string, bool> left = std::exchange(leftovers_, {});
  for (const auto& [id, must_be_moved] : left) {
    std::string image = id;
    bool is_gone = false;
    if (!kept.contains(id)) {
      const Result<void> removed = co_await remove_image(client_, std::move(image), must_be_moved);
      is_gone = removed.has_value();
    }
    if (!is_gone) leftovers_[id] = must_be_moved;
  }
}

// What moves have brought and no container uses any more: a person removed it, or it was replaced.
Async<void> Movers::sweep_images() {
  while (!is_ended_) {
    std::set<std::string> kept = images_of_moves();
    co_await remove_leftovers(std::move(kept));
    kept = images_of_moves();
    const Result<void> swept = co_await remove_moved_images(client_, std::move(kept));
    if (!swept) ctrl::log::debug("images of moves stay: " + swept.error().message());
    if (is_ended_) co_return;
    const int rest = leftovers_.empty() ? kSweepTime : kSweepAgain;
    sweep_timer_.expires_after(std::chrono::seconds(rest));
    (void)co_await sweep_timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
}

}  // namespace flowcon::cluster::migration
