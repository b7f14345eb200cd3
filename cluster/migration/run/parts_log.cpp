// SPDX-License-Identifier: Apache-2.0
// The log: read through the engine, whatever its driver, and written where the copy's engine will
// go on writing it, or kept beside where its driver has no such file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/seconds.h"
#include "cluster/migration/plan/log_lines.h"
#include "cluster/migration/run/parts_internal.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
namespace engine = ctrl::engine;

constexpr std::size_t kPiece = 64U << 10;
constexpr std::size_t kBuffered = 256U << 10;  // before a write

std::string past_log_of(const std::string& lives, const std::string& id) {
  return lives + "/" + id + ".log";
}

class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  [[nodiscard]] int get() const { return file_; }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

 private:
  int file_;
};

Result<void> write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(errno, "writing " + path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// --------------------------------------------------------------------------------- the sender

constexpr int kMostFiles = 1000;      // of one log; packed ones are not counted
constexpr off_t kNewest = 256 << 10;  // bytes; the last record of a file is within these

// What the driver json-file has written, oldest first.
std::deque<std::string> files_of(const CopyPlace& place) {
  if (place.log_driver != "json-file") return {};
  const std::string path = place.folder + "/" + place.id + "-json.log";
  std::deque<std::string> files{path};
  for (int number = 1; number < kMostFiles; ++number) {
    std::string older = path + "." + std::to_string(number);
    if (::access(older.c_str(), F_OK) != 0) break;
    files.push_front(std::move(older));
  }
  return files;
}

// Whether the engine has told of all records. Some versions end at a torn one without a word.
bool has_newer(const std::deque<std::string>& files, std::int64_t than_ns) {
  bool is_newer = false;
  const LogSink sink = [&is_newer](const LogRecord&) { is_newer = true; };
  for (auto path = files.rbegin(); path != files.rend(); ++path) {
    const File file(::open(path->c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const off_t size = file.is_open() ? ::lseek(file.get(), 0, SEEK_END) : 0;
    if (size <= 0) continue;  // rotated a moment ago
    std::string end(static_cast<std::size_t>(std::min(size, kNewest)), '\0');
    const ssize_t count =
        ::pread(file.get(), end.data(), end.size(), size - std::min(size, kNewest));
    TornRecords records(than_ns);
    if (count > 0)
      records.feed(std::string_view(end).substr(0, static_cast<std::size_t>(count)), sink);
    break;
  }
  return is_newer;
}

struct SendState {
  SendState(Pull pull, const CopyPlace& from, bool does_end_line, int past_file)
      : engine(std::move(pull)),
        frames(from.has_terminal),
        past(past_file),
        ends_line(does_end_line),
        files(files_of(from)) {}
  Pull engine;  ///< none where the driver keeps nothing
  LogFrames frames;
  File past;  ///< what is kept of earlier hosts
  bool ends_line;
  LogRecord last;
  bool has_begun = false;
  bool has_given_up = false;  ///< the engine, at a torn record
  bool has_ended = false;
  std::deque<std::string> files;  ///< of the driver, oldest first, for where the engine gives up
  std::optional<TornRecords> torn;
  File file{-1};

  // What the engine cannot read any more, a piece at a time. Errors: it said so, and the driver's
  // files are not known.
  Result<void> read_torn(const LogSink& sink) {
    if (!torn) {
      if (files.empty()) return bad_input(frames.why_broken());
      torn.emplace(frames.last_ns());
    }
    if (!file.is_open()) {
      file = File(::open(files.front().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (!file.is_open()) return errno_error(errno, "opening " + files.front());
      files.pop_front();
    }
    std::string piece(kPiece, '\0');
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) return errno_error(errno, "reading the container's log");
    torn->feed(std::string_view(piece).substr(0, static_cast<std::size_t>(count)), sink);
    if (count == 0) file.close();
    has_ended = count == 0 && files.empty();
    return {};
  }

  // "" where that has ended.
  Result<std::string> next_past() {
    std::string piece(kPiece, '\0');
    const ssize_t count = ::read(past.get(), piece.data(), piece.size());
    if (count < 0) return errno_error(errno, "reading the log of earlier hosts");
    piece.resize(static_cast<std::size_t>(count));
    if (piece.empty()) past.close();
    return piece;
  }

  static Async<Result<std::string>> next(std::shared_ptr<SendState> self) {
    if (!std::exchange(self->has_begun, true)) co_return render_log_head(wall_seconds());
    if (self->past.is_open()) {
      Result<std::string> piece = self->next_past();
      if (!piece || !piece->empty()) co_return piece;
    }
    std::string out;
    const LogSink sink = [&out, &last = self->last](LogRecord record) {
      out += render_record(record);
      last = std::move(record);
    };
    while (out.empty() && !self->has_ended && self->engine) {
      Result<void> taken;
      if (self->has_given_up) {
        taken = self->read_torn(sink);
        // There may be much of it that is known already.
        co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                                   boost::asio::use_awaitable);
      } else {
        Result<std::string> piece = co_await self->engine();
        if (!piece) co_return piece;
        const bool is_end = piece->empty();
        taken = is_end ? self->frames.finish(sink) : self->frames.feed(*piece, sink);
        self->has_given_up = !self->frames.why_broken().empty() ||
                             (is_end && has_newer(self->files, self->frames.last_ns()));
        self->has_ended = is_end && !self->has_given_up;
      }
      if (!taken) co_return taken.error();
      const bool is_half = !self->last.text.empty() && self->last.text.back() != '\n';
      if (self->has_ended && self->ends_line && is_half) {
        LogRecord end = self->last;
        end.text = "\n";
        out += render_record(end);
      }
    }
    co_return out;
  }
};

// ------------------------------------------------------------------------------- the receiver

struct Destination {
  std::string path;
  mode_t mode = 0640;
};

Result<Destination> destination_of(const CopyPlace& place) {
  if (place.log_driver == "json-file") {
    // The engine goes on in a file of this name, as it does after its own restart.
    return Destination{place.folder + "/" + place.id + "-json.log", 0640};
  }
  if (::mkdir(place.lives.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error(errno, "making " + place.lives);
  }
  return Destination{past_log_of(place.lives, place.id), 0600};
}

// Reads the lines of `body` and writes them anew.
Async<Result<void>> write_lines(Pull body, int file, std::string path, std::uint64_t max_bytes) {
  std::string out;
  const LogSink sink = [&out](LogRecord record) { out += render_record(record); };
  LogLines lines(wall_seconds);
  std::uint64_t taken_bytes = 0;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    const bool has_ended = piece->empty();
    if (piece->size() > max_bytes - taken_bytes) co_return bad_input("the log is too large");
    taken_bytes += piece->size();
    const Result<void> taken = has_ended ? lines.finish() : lines.feed(*piece, sink);
    if (!taken) co_return taken;
    if (!has_ended && out.size() < kBuffered) continue;
    if (const Result<void> written = write_all(file, out, path); !written) co_return written;
    out.clear();
    if (has_ended) co_return Result<void>();
  }
}

}  // namespace

Async<Result<Pull>> send_log(engine::Client& client, CopyPlace from, bool ends_line) {
  Pull pull;
  if (from.log_driver != "none") {
    Result<Pull> asked = co_await client.download(
        "/containers/" + from.id + "/logs?stdout=1&stderr=1&timestamps=1", kEnginePatience);
    if (!asked) co_return wrap(asked.error(), "reading the container's log");
    pull = std::move(*asked);
  }
  const int past = ::open(past_log_of(from.lives, from.id).c_str(),
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (past < 0 && errno != ENOENT) co_return errno_error(errno, "opening the log of earlier hosts");
  auto state = std::make_shared<SendState>(std::move(pull), from, ends_line, past);
  co_return Pull([state] { return SendState::next(state); });
}

Async<Result<void>> take_log(CopyPlace into, Pull body, std::uint64_t max_bytes) {
  const Result<Destination> destination = destination_of(into);
  if (!destination) co_return destination.error();
  const std::string path = destination->path;
  const std::string part = path + ".part";
  (void)::unlink(part.c_str());
  File file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   destination->mode));
  if (!file.is_open()) co_return errno_error(errno, "making " + part);
  (void)::fchmod(file.get(), destination->mode);  // whatever the umask
  Result<void> written = co_await write_lines(std::move(body), file.get(), path, max_bytes);
  file.close();
  const std::string folder = path.substr(0, path.rfind('/'));
  if (written) written = co_await sync_folder(folder);
  if (written && ::rename(part.c_str(), path.c_str()) != 0) {
    written = errno_error(errno, "renaming " + part);
  }
  if (!written) {
    (void)::unlink(part.c_str());
    co_return written;
  }
  co_return co_await sync_folder(folder);
}

Result<void> forget_past_log(const std::string& lives, const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos) return bad_input("no container's id");
  for (const char* end : {"", ".part"}) {
    const std::string path = past_log_of(lives, id) + end;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      return errno_error(errno, "removing " + path);
  }
  return {};
}

}  // namespace flowcon::cluster::migration
