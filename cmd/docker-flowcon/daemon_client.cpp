// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/daemon_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/object.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::plugin {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr std::uint64_t kMaxAnswerBytes = 64ULL << 20;

error_code system_error(int number) { return {number, boost::system::system_category()}; }

std::optional<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A connected socket as Beast's streams want it, where the whole call has one deadline: Asio's own
// blocking reads wait for ever.
class DeadlineSocket {
 public:
  explicit DeadlineSocket(Clock::time_point deadline) : deadline_(deadline) {}
  DeadlineSocket(const DeadlineSocket&) = delete;
  DeadlineSocket& operator=(const DeadlineSocket&) = delete;
  ~DeadlineSocket() {
    if (file_ >= 0) close(file_);
  }

  [[nodiscard]] error_code connect(const sockaddr_un& address) {
    file_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file_ < 0) return system_error(errno);
    // A full backlog lets a unix socket's connect() wait; this is the limit it knows.
    const auto left = milliseconds_left();
    const timeval limit{left / 1000, (left % 1000) * 1000};
    setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int result = 0;
    do {
      result = ::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } while (result < 0 && errno == EINTR);
    if (result == 0) return {};
    return system_error(errno == EAGAIN ? ETIMEDOUT : errno);
  }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, error_code& failed) {
    for (const boost::asio::mutable_buffer buffer : range_of(buffers)) {
      if (buffer.size() == 0) continue;
      return transfer(POLLIN, failed,
                      [&] { return recv(file_, buffer.data(), buffer.size(), MSG_DONTWAIT); });
    }
    return 0;
  }

  // All buffers in one call: a request in pieces may meet a daemon that has already answered.
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, error_code& failed) {
    std::array<iovec, 16> pieces{};
    msghdr message{};
    message.msg_iov = pieces.data();
    for (const boost::asio::const_buffer buffer : range_of(buffers)) {
      if (buffer.size() == 0 || message.msg_iovlen == pieces.size()) continue;
      pieces[message.msg_iovlen++] = {const_cast<void*>(buffer.data()), buffer.size()};
    }
    return transfer(POLLOUT, failed,
                    [&] { return sendmsg(file_, &message, MSG_DONTWAIT | MSG_NOSIGNAL); });
  }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    return throwing([&](error_code& failed) { return read_some(buffers, failed); });
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    return throwing([&](error_code& failed) { return write_some(buffers, failed); });
  }

 private:
  template <class Buffers>
  struct BufferRange {
    const Buffers& buffers;
    auto begin() const { return boost::asio::buffer_sequence_begin(buffers); }
    auto end() const { return boost::asio::buffer_sequence_end(buffers); }
  };
  template <class Buffers>
  static BufferRange<Buffers> range_of(const Buffers& buffers) {
    return {buffers};
  }

  template <class Step>
  static std::size_t throwing(Step step) {
    error_code failed;
    const std::size_t done = step(failed);
    if (failed) throw boost::system::system_error(failed);
    return done;
  }

  [[nodiscard]] long milliseconds_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    return left > 0 ? static_cast<long>(left) : 0;
  }

  template <class Step>
  std::size_t transfer(short events, error_code& failed, Step step) {
    while (true) {
      const ssize_t done = step();
      if (done > 0) {
        failed = {};
        return static_cast<std::size_t>(done);
      }
      if (done == 0) {
        failed = boost::asio::error::eof;
        return 0;
      }
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        failed = system_error(errno);
        return 0;
      }
      pollfd waiting{file_, events, 0};
      const long left = milliseconds_left();
      if (left == 0 || poll(&waiting, 1, static_cast<int>(left)) == 0) {
        failed = system_error(ETIMEDOUT);
        return 0;
      }
    }
  }

  Clock::time_point deadline_;
  int file_ = -1;
};

std::string connect_advice(int number, const std::string& path) {
  std::string text = "Cannot connect to flowcond at unix://" + printable(path, 200) + ": " +
                     std::strerror(number) + ". ";
  if (number == EACCES || number == EPERM) {
    return text +
           "This needs root or group docker: sudo usermod -aG docker $USER, then "
           "log in again";
  }
  return text + "Is it running? Start it with: systemctl start flowcond (or run: sudo flowcond)";
}

Error exchange_error(const error_code& code, const std::string& path,
                     std::chrono::milliseconds timeout) {
  const std::string who = "flowcond at unix://" + printable(path, 200);
  if (code == system_error(ETIMEDOUT)) {
    return {code, who + " did not answer within " +
                      render_number(static_cast<double>(timeout.count()) / 1000) +
                      " s; its log may say why: journalctl -u flowcond"};
  }
  if (code == http::error::body_limit) {
    return bad_input(who + " sent an answer above " + std::to_string(kMaxAnswerBytes >> 20) +
                     " MiB");
  }
  return {code, "talking to " + who};
}

Result<boost::json::value> read_body(const Answer& answer, const std::string& path) {
  const unsigned status = answer.status;
  Result<boost::json::value> body = parse_json(answer.text);
  const boost::json::object* object = body ? body->if_object() : nullptr;
  if (status >= 400 && object != nullptr && member(*object, "error").is_string()) {
    return bad_input(printable(text_of(*object, "error"), 1000));
  }
  if (status >= 300 || object == nullptr) {
    return bad_input("unix://" + printable(path, 200) + " answered with status " +
                     std::to_string(status) +
                     " and no JSON that flowcond would send; is another "
                     "program listening there?");
  }
  return body;
}

}  // namespace

SocketState probe_socket(const std::string& path) {
  const std::optional<sockaddr_un> address = socket_address(path);
  if (!address) return SocketState::unknown;
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return SocketState::unknown;
  const int result = connect(file, reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int number = errno;
  close(file);
  if (result == 0) return SocketState::answers;
  return number == ENOENT || number == ECONNREFUSED ? SocketState::absent : SocketState::unknown;
}

DaemonClient::DaemonClient(std::string path, std::chrono::milliseconds timeout)
    : path_(std::move(path)), timeout_(timeout) {}

static Result<Answer> exchange(const http::request<http::string_body>& request,
                               const std::string& path, std::chrono::milliseconds timeout) {
  const std::optional<sockaddr_un> address = socket_address(path);
  if (!address) {
    return bad_input("\"" + printable(path, 200) +
                     "\" cannot be a socket: its path has to have 1 to 107 bytes");
  }
  DeadlineSocket socket(Clock::now() + timeout);
  error_code failed = socket.connect(*address);
  if (failed) return bad_input(connect_advice(failed.value(), path));
  http::write(socket, request, failed);
  // A daemon that refuses a request may say so before it has read all of it.
  if (failed && failed != system_error(EPIPE)) return exchange_error(failed, path, timeout);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswerBytes);
  http::read(socket, buffer, parser, failed);
  if (failed) return exchange_error(failed, path, timeout);
  return Answer{parser.get().result_int(), std::move(parser.get().body())};
}

static http::request<http::string_body> make_request(bool is_post, const std::string& target,
                                                     const std::string& body) {
  http::request<http::string_body> request(is_post ? http::verb::post : http::verb::get, target,
                                           11);
  request.set(http::field::host, "flowcon");
  request.set(http::field::user_agent, "docker-flowcon/" FLOWCON_VERSION);
  request.set(http::field::connection, "close");
  if (is_post) {
    request.set(http::field::content_type, "application/json");
    request.body() = body;
    request.prepare_payload();
  }
  return request;
}

Result<boost::json::value> DaemonClient::get(const std::string& target) const {
  const Result<Answer> answer = exchange(make_request(false, target, ""), path_, timeout_);
  if (!answer) return answer.error();
  return read_body(*answer, path_);
}

Result<boost::json::value> DaemonClient::post(const std::string& target,
                                              const std::string& body) const {
  const Result<Answer> answer = exchange(make_request(true, target, body), path_, timeout_);
  if (!answer) return answer.error();
  return read_body(*answer, path_);
}

Result<std::string> DaemonClient::get_text(const std::string& target) const {
  Result<Answer> answer = exchange(make_request(false, target, ""), path_, timeout_);
  if (!answer) return answer.error();
  const Result<boost::json::value> read = read_body(*answer, path_);
  if (!read) return read.error();
  return std::move(answer->text);
}

}  // namespace flowcon::plugin
