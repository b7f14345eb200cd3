// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/server.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/caller.h"
#include "base/json.h"
#include "ctrl/api/listener.h"
#include "ctrl/api/peer.h"
#include "ctrl/await.h"
#include "ctrl/service.h"
#include "ctrl/spawn.h"
#include "ctrl/wire/stream_buffer.h"

namespace flowcon::ctrl::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using Local = asio::local::stream_protocol;
using Stream = Listener<Local>::Stream;

constexpr auto kIdleTime = 60s;
// Who sends a body may have to look for it: a layer among many that are not sent.
constexpr auto kPieceTime = 300s;
constexpr std::size_t kMaxConnections = 128;
// Where callers are told apart there may be more, as none can take them all.
constexpr std::size_t kMaxPeerConnections = 1024;
constexpr std::size_t kMaxOfCaller = 16;
constexpr std::size_t kMaxOfUser = 32;  // and where they are not; root alone may have more
constexpr auto kAnnouncementTime = 5s;
constexpr std::size_t kPiece = 64U << 10;
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

// Takes the announcement off the beginning of a connection. Errors: it ended, or took too long.
Async<Result<std::string>> read_caller(std::shared_ptr<Stream> stream, StreamBuffer* buffer) {
  stream->expires_after(kAnnouncementTime);
  for (;;) {
    const asio::const_buffer bytes = buffer->data();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    Announced announced = read_announcement(text);
    if (announced.kind != Announced::Kind::half) {
      buffer->consume(announced.bytes);
      co_return std::move(announced.name);
    }
    auto [code, count] =
        co_await stream->async_read_some(buffer->prepare(kLongestAnnouncement), kAwait);
    if (code) co_return Error{code, "reading who calls"};
    buffer->commit(count);
  }
}

// Is it sent?
Async<bool> send(std::shared_ptr<Stream> stream, Response answer, bool keep_alive, bool is_head) {
  http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
  response.set(http::field::content_type, answer.type);
  response.set(http::field::server, "flowcond/" FLOWCON_VERSION);
  response.keep_alive(keep_alive);
  response.body() = std::move(answer.body) + "\n";
  response.prepare_payload();
  // Its length stays that of the answer to GET.
  if (is_head) response.body().clear();
  stream->expires_after(kIdleTime);
  auto [code, written] = co_await http::async_write(*stream, response, kAwait);
  co_return !code;
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

// The answer to whoever has too many connections, whatever it wants to ask: nothing is read, and
// nobody waits. What does not fit into the empty buffer of a socket is not sent.
void turn_away(Stream& stream) {
  const Response why = failure(503, "this caller has too many connections open");
  const std::string body = why.body + "\n";
  const std::string answer =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: "
      "close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  boost::system::error_code ignored;
  stream.socket().non_blocking(true, ignored);
  stream.socket().write_some(asio::buffer(answer), ignored);
  stream.close();
}

// The answer to bytes that are no request; empty: the caller is gone, or was silent.
std::optional<Response> complaint_of(const beast::error_code& code) {
  const bool is_http = code.category() == beast::error_code(http::error::bad_method).category();
  if (!is_http || code == http::error::end_of_stream || code == http::error::partial_message) {
    return std::nullopt;
  }
  if (code == http::error::header_limit) {
    return failure(431, "the request's head is larger than 8 KiB");
  }
  return failure(400, "this is no HTTP request: " + code.message());
}

// Does the caller send the body only when it is told to?
bool waits_with_body(const http::request_header<>& head) {
  return head.version() >= 11 && beast::iequals(head[http::field::expect], "100-continue");
}

Async<void> say_continue(std::shared_ptr<Stream> stream) {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  (void)co_await asio::async_write(*stream, asio::buffer(kContinue), kAwait);
}

// A caller and what it has sent so far. Shared with the pieces of a body that a handler may keep.
struct Connection {
  std::shared_ptr<Stream> stream;
  StreamBuffer buffer;
};

using Head = http::request_parser<http::empty_body>;

struct Body {
  Body(std::shared_ptr<Connection> from, Head&& head)
      : connection(std::move(from)),
        parser(std::move(head)),
        is_awaited(waits_with_body(parser.get())) {
    // As much is read at a time as it has room for, and 512 bytes if it has none.
    connection->buffer.reserve(kPiece);
  }

  std::shared_ptr<Connection> connection;
  http::request_parser<http::buffer_body> parser;
  bool is_awaited;         ///< it comes when the caller is told to send it
  bool is_closed = false;  ///< it has been answered, or failed
};

Async<Result<std::string>> next_piece(std::shared_ptr<Body> body) {
  const Error answered = bad_input("reading the request's body: it has been answered");
  if (body->is_closed) co_return answered;
  std::string piece;
  while (piece.empty() && !body->parser.is_done()) {
    if (body->is_closed) co_return answered;
    piece.resize(kPiece);
    auto& into = body->parser.get().body();
    into.data = piece.data();
    into.size = piece.size();
    // Kept: it may be answered meanwhile.
    const std::shared_ptr<Connection> connection = body->connection;
    connection->stream->expires_after(kPieceTime);
    if (std::exchange(body->is_awaited, false)) co_await say_continue(connection->stream);
    if (body->is_closed) co_return answered;
    auto [code, count] = co_await http::async_read_some(*connection->stream, connection->buffer,
                                                        body->parser, kAwait);
    if (code && code != http::error::need_buffer) {
      body->is_closed = true;
      if (code == beast::error::timeout) co_return errno_error(ETIMEDOUT, "nothing more came");
      co_return Error{code, "reading the request's body"};
    }
    piece.resize(piece.size() - into.size);
  }
  co_return piece;
}

struct Answer {
  Response response;
  bool is_read = false;  ///< the request, to its end
  bool is_gone = false;  ///< the caller
};

// What a request asks for, before its body.
Request request_of(const http::request_header<>& head, uid_t user) {
  Request request;
  // What answers GET answers HEAD.
  request.method = head.method() == http::verb::head ? "GET" : std::string(head.method_string());
  request.target = std::string(head.target());
  request.user = user;
  return request;
}

}  // namespace

Response answer_with(const boost::json::object& body, unsigned status) {
  return {status, render_json(body)};
}

Response failure(unsigned status, const std::string& sentence) {
  return answer_with({{"error", sentence}}, status);
}

Response failure(unsigned status, const Error& error) {
  const bool is_unknown = is_absent(error);
  return is_unknown ? failure(404, error.what) : failure(status, error.message());
}

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  Impl(asio::io_context& context, std::string socket_path)
      : listener(context, kMaxConnections), path(std::move(socket_path)) {}

  Async<void> serve_one(std::shared_ptr<Stream> stream);
  Async<Answer> answer_one(std::shared_ptr<Connection> connection, std::shared_ptr<Head> head,
                           Request request);

  class Seat;

  Listener<Local> listener;
  std::string path;
  bool is_passed = false;  ///< systemd's: it outlives us
  gid_t group = 0;         ///< whose members may call
  Handler handler;
  std::function<bool(const Request&)> wants_body = [](const Request&) { return false; };
  BodyHandler body_handler;
  bool has_callers = false;
  std::map<std::string, std::size_t> callers;  ///< their connections
};

// One connection of a caller's, as long as this lives.
class Server::Impl::Seat {
 public:
  Seat(std::shared_ptr<Impl> server, std::string caller)
      : server_(std::move(server)), at_(server_->callers.emplace(std::move(caller), 0).first) {
    ++at_->second;
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat() {
    if (--at_->second == 0) server_->callers.erase(at_);
  }
  [[nodiscard]] std::size_t taken() const { return at_->second; }

 private:
  std::shared_ptr<Impl> server_;
  std::map<std::string, std::size_t>::iterator at_;
};

Async<Answer> Server::Impl::answer_one(std::shared_ptr<Connection> connection,
                                       std::shared_ptr<Head> head, Request request) {
  Answer answer;
  if (wants_body(request)) {
    auto body = std::make_shared<Body>(connection, std::move(*head));
    Pull pull = [body] { return next_piece(body); };
    answer.response = co_await body_handler(std::move(request), std::move(pull));
    answer.is_read = body->parser.is_done();
    body->is_closed = true;
    // Who keeps the body keeps no connection open.
    body->connection.reset();
    co_return answer;
  }
  boost::system::error_code failed;
  http::request_parser<http::string_body> parser(std::move(*head));
  parser.body_limit(kMaxBody);
  // The limit is looked at with the headers, which have been read without one.
  if (parser.content_length().value_or(0) > kMaxBody) {
    failed = http::error::body_limit;
  } else if (!parser.is_done()) {
    if (waits_with_body(parser.get())) co_await say_continue(connection->stream);
    auto [code, count] =
        co_await http::async_read(*connection->stream, connection->buffer, parser, kAwait);
    failed = code;
  }
  answer.is_read = !failed;
  if (failed == http::error::body_limit) {
    answer.response = failure(413, "the request's body is larger than 64 KiB");
  } else if (failed) {
    std::optional<Response> why = complaint_of(failed);
    answer.is_gone = !why;
    if (why) answer.response = std::move(*why);
  } else {
    request.body = std::move(parser.get().body());
    answer.response = co_await handler(std::move(request));
  }
  co_return answer;
}

Async<void> Server::Impl::serve_one(std::shared_ptr<Stream> stream) {
  auto self = shared_from_this();
  const Result<uid_t> user = check_peer(stream->socket().native_handle(), group);
  auto connection = std::make_shared<Connection>();
  connection->stream = stream;
  std::string from;
  std::unique_ptr<Seat> seat;
  if (has_callers) {
    Result<std::string> caller = co_await read_caller(stream, &connection->buffer);
    if (!caller) co_return;
    from = std::move(*caller);
    listener.name(stream, from);
    seat = std::make_unique<Seat>(self, from);
    if (seat->taken() > kMaxOfCaller) co_return turn_away(*stream);
  } else if (user && *user != 0) {
    seat = std::make_unique<Seat>(self, std::to_string(*user));
    if (seat->taken() > kMaxOfUser) co_return turn_away(*stream);
  }
  for (;;) {
    stream->expires_after(kIdleTime);
    auto head = std::make_shared<Head>();
    head->body_limit(boost::none);
    auto [read_code, read] =
        co_await http::async_read_header(*stream, connection->buffer, *head, kAwait);
    if (read_code) {
      std::optional<Response> why = complaint_of(read_code);
      if (!why) co_return;
      const bool is_sent = co_await send(stream, std::move(*why), false, false);
      if (is_sent) co_await drain(stream);
      co_return;
    }
    const bool may_go_on = head->get().keep_alive() && user;
    const bool is_head = head->get().method() == http::verb::head;
    Answer answer;
    if (!user) {
      answer.response = failure(403, user.error().what);
      answer.is_read = head->is_done();
    } else {
      Request request = request_of(head->get(), *user);
      request.from = from;
      answer = co_await answer_one(connection, head, std::move(request));
    }
    if (answer.is_gone) co_return;
    const bool keep_alive = may_go_on && answer.is_read;
    const bool is_sent = co_await send(stream, std::move(answer.response), keep_alive, is_head);
    if (is_sent && !answer.is_read) co_await drain(stream);
    if (!is_sent || !keep_alive) co_return;
  }
}

Result<std::unique_ptr<Server>> Server::listen(asio::io_context& io, const std::string& path,
                                               const std::string& group, std::string* notice) {
  const std::string doing = "listening at " + path;
  if (const int passed = service::take_socket(path); passed >= 0) {
    return take_over(io, path, passed, group, notice);
  }
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
  Local::acceptor& acceptor = impl->listener.acceptor;
  boost::system::error_code code;
  acceptor.open(Local(), code);
  // The socket must never be open to all, not even between bind and chmod.
  const mode_t mask = ::umask(0117);
  if (!code) acceptor.bind(Local::endpoint(path), code);
  ::umask(mask);
  if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code) return Error{code, doing};
  std::unique_ptr<Server> server(new Server(std::move(impl)));
  if (!group.empty() && !server->give_to(group)) {
    *notice = "the group " + group + " cannot be given the socket " + path;
  }
  return server;
}

Result<std::unique_ptr<Server>> Server::take_over(asio::io_context& io, const std::string& path,
                                                  int socket, const std::string& group,
                                                  std::string* notice) {
  auto impl = std::make_shared<Impl>(io, path);
  boost::system::error_code code;
  impl->listener.acceptor.assign(Local(), socket, code);
  if (code) return Error{code, "listening at " + path + ", which systemd has passed on"};
  impl->is_passed = true;
  std::unique_ptr<Server> server(new Server(std::move(impl)));
  if (!group.empty() && !server->give_to(group)) {
    *notice = "the group " + group + " cannot be given the socket " + path;
  }
  return server;
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { close(); }

void Server::serve(Handler handler) {
  impl_->handler = std::move(handler);
  const auto serve_one = [impl = impl_](std::shared_ptr<Stream> stream) {
    spawn(impl->listener.io, "api connection", impl->serve_one(std::move(stream)));
  };
  spawn(impl_->listener.io, "api", impl_->listener.accept_all(serve_one));
}

void Server::expect_callers() {
  impl_->has_callers = true;
  impl_->listener.most = kMaxPeerConnections;
}

void Server::serve_bodies(std::function<bool(const Request&)> wants, BodyHandler handler) {
  impl_->wants_body = std::move(wants);
  impl_->body_handler = std::move(handler);
}

Result<void> Server::give_to(const std::string& group) {
  if (impl_->group != 0) return {};
  const struct group* entry = ::getgrnam(group.c_str());
  if (entry == nullptr) return bad_input("there is no group " + group);
  struct stat status {};
  const bool is_theirs = ::lstat(impl_->path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) &&
                         status.st_gid == entry->gr_gid;
  if (!is_theirs && ::chown(impl_->path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
    return errno_error(errno, "giving " + impl_->path + " to the group " + group);
  }
  impl_->group = entry->gr_gid;
  return {};
}

void Server::drop_connections(const std::string& caller) {
  if (impl_->has_callers) {
    impl_->listener.drop_connections(caller);
  } else {
    impl_->listener.drop_connections();
  }
}

void Server::close() {
  if (impl_->listener.close() && !impl_->is_passed) ::unlink(impl_->path.c_str());
}

}  // namespace flowcon::ctrl::api
