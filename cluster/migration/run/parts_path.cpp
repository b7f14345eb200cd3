// SPDX-License-Identifier: Apache-2.0
// A file or folder of a container's own file system, by its engine: that knows every storage driver
// and resolves names with the container's root as the root. Engines unpack only below folders that
// are there, so the folders above travel too, and the links on the way.
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"
#include "cluster/migration/plan/tar_rename.h"
#include "cluster/migration/run/parts_internal.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
namespace engine = ctrl::engine;

constexpr int kMostLinks = 40;  // as the kernel follows
constexpr std::size_t kMostParts = 256;

using Parts = std::deque<std::string>;

Parts parts_of(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

std::string joined(const Parts& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

std::string archive_of(const std::string& id, const std::string& path) {
  return "/containers/" + id + "/archive?path=" + percent_encoded(path);
}

// Where a path really is, and the headers of what leads there.
struct Way {
  std::string path;  ///< without the slash at its beginning
  bool is_folder = false;
  std::string headers;
};

struct Entry {
  TarHeader header;
  std::string bytes;  ///< its header, with the whole path for a name
};

Async<Result<Entry>> first_entry(engine::Client& client, std::string id, std::string path) {
  Result<Pull> pull = co_await client.download(archive_of(id, "/" + path), kEnginePatience);
  if (!pull) co_return pull.error();
  TarRenamer renamer(path.substr(path.rfind('/') + 1), path, true);
  Entry entry;
  while (!renamer.first()) {
    Result<std::string> piece = co_await (*pull)();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return bad_input("the engine's archive of /" + path + " is empty");
    if (auto taken = renamer.feed(*piece, entry.bytes); !taken) co_return taken.error();
  }
  entry.header = *renamer.first();
  co_return entry;
}

Async<Result<Way>> find_way(engine::Client& client, std::string id, std::string path) {
  Parts ahead = parts_of(path);
  Parts done;
  Way way;
  std::set<std::string> sent;
  for (int links = 0; !ahead.empty();) {
    std::string part = std::move(ahead.front());
    ahead.pop_front();
    if (part == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(std::move(part));
    if (done.size() + ahead.size() > kMostParts) break;
    Result<Entry> entry = co_await first_entry(client, id, joined(done));
    if (!entry) co_return entry.error();
    const bool is_link = entry->header.type == TarType::symlink;
    way.is_folder = entry->header.type == TarType::directory;
    if (ahead.empty() && !is_link) {
      way.path = joined(done);
      co_return way;
    }
    if (sent.insert(joined(done)).second) way.headers += entry->bytes;
    if (is_link) {
      if (++links > kMostLinks) break;
      if (entry->header.link.starts_with('/')) {
        done.clear();
      } else {
        done.pop_back();
      }
      const Parts there = parts_of(entry->header.link);
      ahead.insert(ahead.begin(), there.begin(), there.end());
    } else if (!way.is_folder) {
      co_return errno_error(ENOTDIR, "/" + printable(joined(done)) + " in the container");
    }
  }
  co_return bad_input(printable(path) + " leads to no file or folder that could migrate alone");
}

struct PathState {
  PathState(Pull pull, TarRenamer made, std::string headers)
      : inner(std::move(pull)), renamer(std::move(made)), ready(std::move(headers)) {}
  Pull inner;
  TarRenamer renamer;
  std::string ready;
  bool has_ended = false;

  static Async<Result<std::string>> next(std::shared_ptr<PathState> self) {
    while (self->ready.empty() && !self->has_ended) {
      Result<std::string> piece = co_await self->inner();
      if (!piece) co_return piece;
      Result<void> taken;
      if (piece->empty()) {
        self->has_ended = true;
        taken = self->renamer.finish();
        self->ready = end_of_archive();
      } else {
        taken = self->renamer.feed(*piece, self->ready);
      }
      if (!taken) co_return taken.error();
    }
    co_return std::exchange(self->ready, "");
  }
};

}  // namespace

Async<Result<Pull>> send_path(engine::Client& client, CopyPlace from, std::string path) {
  const std::string doing = "reading " + printable(path) + " of the container";
  if (!path.starts_with('/')) co_return bad_input(doing + ": the path is not absolute");
  Result<Way> way = co_await find_way(client, from.id, path);
  if (!way) co_return wrap(way.error(), doing);
  // A folder's "." is named so, however deep it lies.
  const std::string asked = "/" + way->path + (way->is_folder ? "/." : "");
  Result<Pull> pull = co_await client.download(archive_of(from.id, asked), kEnginePatience);
  if (!pull) co_return wrap(pull.error(), doing);
  const std::string named = way->is_folder ? "." : way->path.substr(way->path.rfind('/') + 1);
  auto state = std::make_shared<PathState>(std::move(*pull), TarRenamer(named, way->path),
                                           std::move(way->headers));
  co_return Pull([state] { return PathState::next(state); });
}

Async<Result<void>> take_path(engine::Client& client, CopyPlace into, Pull archive) {
  // The body's own error says more than the engine's about half a body.
  auto failure = std::make_shared<Error>();
  auto has_failed = std::make_shared<bool>(false);
  const auto next = [](Pull inner, std::shared_ptr<Error> error,
                       std::shared_ptr<bool> failed) -> Async<Result<std::string>> {
    Result<std::string> piece = co_await inner();
    if (!piece) {
      *error = piece.error();
      *failed = true;
    }
    co_return piece;
  };
  Pull body = [next, archive, failure, has_failed] { return next(archive, failure, has_failed); };
  std::string method = "PUT", type = "application/x-tar";
  std::string target = archive_of(into.id, "/");
  Result<engine::Reply> reply =
      co_await client.upload(method, target, type, std::move(body), kEnginePatience);
  if (*has_failed) co_return *failure;
  if (!reply) co_return told_of_disk(reply.error(), into.folder);
  if (reply->status != 200) {
    co_return told_of_disk(engine::engine_error(*reply, "unpacking into the copy"), into.folder);
  }
  co_return co_await sync_folder(into.folder);
}

}  // namespace flowcon::cluster::migration
