// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/server.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <list>

#include "base/json.h"
#include "ctrl/api/call.h"
#include "ctrl/api/peer.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using Local = asio::local::stream_protocol;
using Stream = beast::basic_stream<Local, asio::any_io_executor>;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr auto kIdleTime = 60s;
constexpr std::size_t kMaxConnections = 128;
constexpr auto kDrainTime = 2s;
constexpr std::size_t kMostDrained = 16U << 20;

// True if a process answers at `path`.
bool is_answered(const std::string& path) {
  asio::io_context io;
  Local::socket probe(io);
  boost::system::error_code code;
  probe.connect(Local::endpoint(path), code);
  return !code;
}

// Reads what a caller goes on sending, or it would fail at that and not see the answer.
Async<void> drain(std::shared_ptr<Stream> stream) {
  stream->expires_after(kDrainTime);
  beast::error_code is_gone;
  stream->socket().shutdown(Local::socket::shutdown_send, is_gone);
  std::array<char, 16384> ignored;
  const asio::mutable_buffer buffer = asio::buffer(ignored);
  for (std::size_t drained = 0; drained < kMostDrained;) {
    auto [code, count] = co_await stream->async_read_some(buffer, kAwait);
    if (code) co_return;
    drained += count;
  }
}

}  // namespace

Response failure(unsigned status, const std::string& sentence) {
  boost::json::object body;
  body["error"] = sentence;
  return {status, render_json(body)};
}

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  Impl(asio::io_context& context, std::string socket_path)
      : io(context), acceptor(context), path(std::move(socket_path)) {}

  Async<void> accept_all();
  Async<void> serve_one(std::shared_ptr<Stream> stream);

  asio::io_context& io;
  Local::acceptor acceptor;
  std::string path;
  gid_t group = 0;  ///< whose members may call
  Handler handler;
  std::list<std::weak_ptr<Stream>> open;
};

Async<void> Server::Impl::accept_all() {
  auto self = shared_from_this();  // close() may drop the server while this waits
  for (;;) {
    auto [code, socket] = co_await acceptor.async_accept(kAwait);
    if (code == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    open.remove_if([](const std::weak_ptr<Stream>& s) { return s.expired(); });
    if (code || open.size() >= kMaxConnections) {
      // Out of descriptors or too many callers: breathe instead of spinning.
      asio::steady_timer pause(io, 50ms);
      co_await pause.async_wait(kAwait);
      continue;
    }
    auto stream = std::make_shared<Stream>(std::move(socket));
    open.push_back(stream);
    spawn(io, "api connection", serve_one(stream));
  }
}

Async<void> Server::Impl::serve_one(std::shared_ptr<Stream> stream) {
  auto self = shared_from_this();
  const Result<uid_t> user = check_peer(stream->socket().native_handle(), group);
  beast::flat_buffer buffer;
  for (;;) {
    stream->expires_after(kIdleTime);
    http::request_parser<http::string_body> parser;
    parser.body_limit(kMaxBody);
    auto [read_code, read] = co_await http::async_read(*stream, buffer, parser, kAwait);
    if (read_code && read_code != http::error::body_limit) co_return;
    Response answer;
    bool keep_alive = false;
    if (read_code) {
      answer = failure(413, "the request's body is larger than 64 KiB");
    } else if (!user) {
      answer = failure(403, user.error().what);
    } else {
      http::request<http::string_body> message = parser.release();
      Request request;
      request.method = std::string(message.method_string());
      request.target = std::string(message.target());
      request.body = std::move(message.body());
      request.user = *user;
      keep_alive = message.keep_alive();
      answer = co_await handler(std::move(request));
    }
    http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
    response.set(http::field::content_type, "application/json");
    response.set(http::field::server, "flowcond/" FLOWCON_VERSION);
    response.keep_alive(keep_alive);
    response.body() = std::move(answer.body) + "\n";
    response.prepare_payload();
    stream->expires_after(kIdleTime);
    auto [write_code, written] = co_await http::async_write(*stream, response, kAwait);
    if (!write_code && read_code) co_await drain(stream);
    if (write_code || !keep_alive) co_return;
  }
}

Result<std::unique_ptr<Server>> Server::listen(asio::io_context& io, const std::string& path,
                                               const std::string& group, std::string* notice) {
  const std::string doing = "listening at " + path;
  // /run is empty after a boot, and without a service manager nobody else makes the folder.
  const std::string folder = path.substr(0, path.rfind('/'));
  if (!folder.empty() && ::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return errno_error(errno, doing + ": making its folder");
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return bad_input(doing + ": a file that is no socket is there");
    if (is_answered(path)) {
      return bad_input(doing + ": another flowcond answers there (stop it, or give --socket)");
    }
    ::unlink(path.c_str());
  }
  auto impl = std::make_shared<Impl>(io, path);
  boost::system::error_code code;
  impl->acceptor.open(Local(), code);
  // The socket must never be open to all, not even between bind and chmod.
  const mode_t mask = ::umask(0117);
  if (!code) impl->acceptor.bind(Local::endpoint(path), code);
  ::umask(mask);
  if (!code) impl->acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code) return Error{code, doing};
  const struct group* entry = group.empty() ? nullptr : ::getgrnam(group.c_str());
  if (entry == nullptr || ::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
    if (!group.empty()) *notice = "the group " + group + " cannot be given the socket " + path;
  } else {
    impl->group = entry->gr_gid;
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { close(); }

void Server::serve(Handler handler) {
  impl_->handler = std::move(handler);
  spawn(impl_->io, "api", impl_->accept_all());
}

void Server::close() {
  if (!impl_->acceptor.is_open()) return;
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
  ::unlink(impl_->path.c_str());
  for (const auto& weak : impl_->open) {
    if (auto stream = weak.lock()) stream->close();
  }
}

}  // namespace flowcon::ctrl::api
