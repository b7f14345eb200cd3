// SPDX-License-Identifier: Apache-2.0
// Folders of the host as tar archives. tar and not the engine reads and writes volumes: engines
// refuse to unpack relative symlinks that lead out of the volume, write nothing into a volume that
// the container may only read, and drop the attributes user.*.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <utility>

#include "cluster/migration/plan/gzip.h"
#include "cluster/migration/run/parts_internal.h"
#include "ctrl/wire/child.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Child;
using ctrl::Joined;
using ctrl::Pull;

// A file of a folder may need as much at least.
constexpr std::uint64_t kNoRoom = 1U << 20;
constexpr double kPatience = 300;  // seconds in which tar does something

struct PackState {
  explicit PackState(Pull pull) : inner(std::move(pull)) {}
  Pull inner;
  Packer packer;
  bool has_ended = false;

  static Async<Result<std::string>> next(std::shared_ptr<PackState> self) {
    std::string out;
    while (out.empty() && !self->has_ended) {
      Result<std::string> piece = co_await self->inner();
      if (!piece) co_return piece;
      self->has_ended = piece->empty();
      out = self->has_ended ? self->packer.finish() : self->packer.feed(*piece);
    }
    co_return out;
  }
};

struct UnpackState {
  explicit UnpackState(Pull pull) : inner(std::move(pull)) {}
  Pull inner;
  Unpacker unpacker;
  std::string piece;
  std::string_view rest;

  static Async<Result<std::string>> next(std::shared_ptr<UnpackState> self) {
    for (;;) {
      if (!self->unpacker.is_at_end()) {
        // Also with nothing new: a small piece may hold more than one answer does.
        Result<std::string_view> plain = self->unpacker.next(self->rest);
        if (!plain) co_return plain.error();
        if (!plain->empty()) co_return std::string(*plain);
        if (!self->rest.empty()) continue;
      } else if (!self->rest.empty()) {
        co_return bad_input("the archive goes on after its end");
      }
      Result<std::string> piece = co_await self->inner();
      if (!piece) co_return piece;
      if (piece->empty()) {
        if (!self->unpacker.is_at_end()) co_return bad_input("the archive is not whole");
        co_return std::string();
      }
      self->piece = std::move(*piece);
      self->rest = self->piece;
    }
  }
};

struct CheckState {
  CheckState(Pull pull, const ArchiveRules& rules) : inner(std::move(pull)), checker(rules) {}
  Pull inner;
  ArchiveChecker checker;

  static Async<Result<std::string>> next(std::shared_ptr<CheckState> self) {
    Result<std::string> piece = co_await self->inner();
    if (!piece) co_return piece;
    const Result<void> right = piece->empty() ? self->checker.finish() : self->checker.feed(*piece);
    if (!right) co_return right.error();
    co_return piece;
  }
};

// Its words are shown and its patterns are plain, whatever the daemon's own surroundings.
Async<Result<std::shared_ptr<Child>>> start(std::vector<std::string> argv, Joined joined) {
  ctrl::Command command;
  command.argv = std::move(argv);
  command.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "LC_ALL=C"};
  command.joined = joined;
  co_return Child::start(co_await boost::asio::this_coro::executor, command);
}

Async<Result<void>> run_child(std::vector<std::string> argv) {
  auto child = co_await start(std::move(argv), Joined::none);
  if (!child) co_return child.error();
  co_return co_await (*child)->succeed(kPatience);
}

Async<Result<std::string>> next_of(std::shared_ptr<Child> tar) {
  Result<std::string> piece = co_await tar->read(kPatience);
  if (!piece || !piece->empty()) co_return piece;
  const Result<void> ended = co_await tar->succeed(kPatience);
  if (!ended) co_return ended.error();
  co_return std::string();
}

// The folder itself, not what a link leads to.
Result<void> check_folder(const std::string& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return errno_error(errno, "opening " + folder);
  if (!S_ISDIR(info.st_mode)) return errno_error(ENOTDIR, "opening " + folder);
  return {};
}

}  // namespace

Pull packed(Pull plain) {
  return [state = std::make_shared<PackState>(std::move(plain))] { return PackState::next(state); };
}

Pull unpacked(Pull packed) {
  return [state = std::make_shared<UnpackState>(std::move(packed))] {
    return UnpackState::next(state);
  };
}

Pull checked(Pull archive, const ArchiveRules& rules) {
  return [state = std::make_shared<CheckState>(std::move(archive), rules)] {
    return CheckState::next(state);
  };
}

Error told_of_disk(Error error, const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return error;
  if (std::uint64_t{disk.f_bavail} * disk.f_frsize > kNoRoom && disk.f_favail > 0) return error;
  return errno_error(ENOSPC, "writing to " + folder);
}

Async<Result<Pull>> send_folder(std::string folder, std::vector<std::string> without) {
  if (const Result<void> there = check_folder(folder); !there) co_return there.error();
  // Overlay's attributes that say where a folder's content is are sent for the receiver to refuse:
  // without them the folder would be another.
  std::vector<std::string> words{"tar",
                                 "--create",
                                 "--file=-",
                                 "--format=posix",
                                 "--pax-option=delete=atime,delete=ctime",
                                 "--numeric-owner",
                                 "--acls",
                                 "--xattrs",
                                 "--xattrs-include=user.*",
                                 "--xattrs-include=security.capability",
                                 "--xattrs-include=trusted.overlay.opaque",
                                 "--xattrs-include=trusted.overlay.redirect",
                                 "--xattrs-include=trusted.overlay.metacopy",
                                 "--warning=no-file-ignored",
                                 "--anchored",
                                 "--no-wildcards"};
  for (const std::string& path : without) words.push_back("--exclude=./" + path);
  words.insert(words.end(), {"--directory=" + folder, "."});
  auto tar = co_await start(std::move(words), Joined::out);
  if (!tar) co_return tar.error();
  co_return Pull([child = std::move(*tar)] { return next_of(child); });
}

Async<Result<void>> sync_folder(std::string folder) {
  std::vector<std::string> words{"sync", "--file-system", std::move(folder)};
  co_return co_await run_child(std::move(words));
}

namespace {

// An empty folder beside `folder`, with its owner and mode.
Async<Result<void>> make_beside(std::string folder, std::string beside) {
  struct stat info {};
  const bool is_there = ::lstat(folder.c_str(), &info) == 0;
  if (is_there && !S_ISDIR(info.st_mode)) co_return errno_error(ENOTDIR, "opening " + folder);
  std::vector<std::string> clear{"rm", "-rf", "--one-file-system", "--", beside};
  if (Result<void> cleared = co_await run_child(std::move(clear)); !cleared) co_return cleared;
  if (::mkdir(beside.c_str(), 0700) != 0) co_return errno_error(errno, "making " + beside);
  if (!is_there) co_return Result<void>();
  const bool is_same = ::lchown(beside.c_str(), info.st_uid, info.st_gid) == 0 &&
                       ::chmod(beside.c_str(), info.st_mode & 07777) == 0;
  co_return is_same ? Result<void>() : errno_error(errno, "making " + beside);
}

// At once: whoever is killed in between leaves one of both whole.
Result<void> put_in_place(const std::string& beside, const std::string& folder) {
  if (::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  const bool is_new = errno == ENOENT;
  if (is_new && ::rename(beside.c_str(), folder.c_str()) == 0) return {};
  return errno_error(errno, "putting " + folder + " in place");
}

Async<Result<void>> extract(std::string folder, Pull archive) {
  std::vector<std::string> words{"tar",
                                 "--extract",
                                 "--file=-",
                                 "--numeric-owner",
                                 "--same-owner",
                                 "--same-permissions",
                                 "--acls",
                                 "--xattrs",
                                 "--xattrs-include=user.*",
                                 "--xattrs-include=security.capability",
                                 "--xattrs-include=trusted.overlay.opaque",
                                 "--warning=no-timestamp",
                                 "--directory=" + folder};
  auto tar = co_await start(std::move(words), Joined::in);
  if (!tar) co_return tar.error();
  bool is_taking = true;
  for (;;) {
    Result<std::string> piece = co_await archive();
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    if (!is_taking) continue;
    const Result<void> written = co_await (*tar)->write(std::move(*piece), kPatience);
    if (written) continue;
    // It needs nothing behind the archive's end, or it has failed.
    is_taking = false;
    const Result<void> ended = co_await (*tar)->succeed(kPatience);
    if (!ended) co_return told_of_disk(ended.error(), folder);
  }
  if (is_taking) {
    const Result<void> ended = co_await (*tar)->succeed(kPatience);
    if (!ended) co_return told_of_disk(ended.error(), folder);
  }
  co_return co_await sync_folder(std::move(folder));
}

}  // namespace

Async<Result<void>> take_folder(std::string folder, Pull archive) {
  const std::string beside = folder + ".coming";
  std::string into = beside;
  Result<void> taken = co_await make_beside(folder, beside);
  if (taken) taken = co_await extract(std::move(into), std::move(archive));
  if (taken) taken = put_in_place(beside, folder);
  std::vector<std::string> clear{"rm", "-rf", "--one-file-system", "--", beside};
  const Result<void> cleared = co_await run_child(std::move(clear));
  if (!taken || !cleared) co_return taken ? cleared : taken;
  co_return co_await sync_folder(std::move(folder));
}

}  // namespace flowcon::cluster::migration
