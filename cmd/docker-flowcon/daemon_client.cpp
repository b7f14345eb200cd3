// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/daemon_client.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/json/object.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/reply.h"
#include "ctrl/wire/http.h"
#include "ctrl/wire/run_alone.h"

namespace flowcon::plugin {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using ctrl::Reply;

constexpr std::size_t kMaxAnswerBytes = 64ULL << 20;

std::optional<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

std::string connect_advice(int number, const std::string& path) {
  std::string text = "Cannot connect to flowcond at unix://" + printable(path, 200) + ": " +
                     std::strerror(number) + ". ";
  if (number == EACCES || number == EPERM) {
    const std::string group = socket_group(path);
    return text + "This needs root" +
           (group.empty() ? "" : " or group " + group + ": " + join_advice(group));
  }
  return text + "Is it running? Start it with: systemctl start flowcond (or run: sudo flowcond)";
}

Error exchange_error(const error_code& code, const std::string& path,
                     std::chrono::milliseconds timeout) {
  const std::string who = "flowcond at unix://" + printable(path, 200);
  if (code == boost::system::errc::timed_out) {
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

Result<boost::json::value> read_body(const Reply& answer, const std::string& path) {
  const unsigned status = answer.status;
  Result<boost::json::value> body = parse_json(answer.body);
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

std::string socket_group(const std::string& path) {
  struct stat state {};
  if (stat(path.c_str(), &state) != 0) return kDefaultGroup;
  if (state.st_gid == 0 || (state.st_mode & S_IWGRP) == 0) return "";
  const group* members = getgrgid(state.st_gid);
  return members != nullptr ? printable(members->gr_name) : "";
}

std::string join_advice(const std::string& group) {
  return "sudo usermod -aG " + group + " $USER, then log in again";
}

DaemonClient::DaemonClient(std::string path, std::chrono::milliseconds timeout)
    : path_(std::move(path)), timeout_(timeout) {}

static Async<Result<Reply>> ask(std::string path, ctrl::HttpRequest request,
                                std::chrono::milliseconds timeout) {
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  const auto connected = co_await ctrl::Http::connect(path, seconds);
  if (!connected && ctrl::is_timeout(connected.error().code)) {
    co_return exchange_error(errno_error(ETIMEDOUT, "").code, path, timeout);
  }
  if (!connected) co_return bad_input(connect_advice(connected.error().code.value(), path));
  const ctrl::Patience patience;  // what connect() began
  Result<Reply> reply = co_await (*connected)->ask(std::move(request), patience, kMaxAnswerBytes);
  if (!reply) co_return exchange_error(reply.error().code, path, timeout);
  co_return reply;
}

Result<Reply> DaemonClient::exchange(const char* method, const std::string& target,
                                     const std::string& body) const {
  if (!socket_address(path_)) {
    return bad_input("\"" + printable(path_, 200) +
                     "\" cannot be a socket: its path has to have 1 to 107 bytes");
  }
  ctrl::HttpRequest request;
  request.method = method;
  request.target = target;
  request.body = body;
  request.agent = "docker-flowcon/" FLOWCON_VERSION;
  return ctrl::run_alone([&] { return ask(path_, std::move(request), timeout_); });
}

Result<boost::json::value> DaemonClient::read(const Result<Reply>& answer, bool* is_missing) const {
  if (is_missing != nullptr) *is_missing = answer && answer->status == 404;
  if (!answer) return answer.error();
  Result<boost::json::value> body = read_body(*answer, path_);
  const std::string host = body ? text_of(*body, "forwarded_to") : "";
  if (!host.empty() && told_) told_(host);
  return body;
}

Result<boost::json::value> DaemonClient::get(const std::string& target, bool* is_missing) const {
  return read(exchange("GET", target, ""), is_missing);
}

Result<std::optional<boost::json::value>> DaemonClient::find(const std::string& target) const {
  const Result<Reply> answer = exchange("GET", target, "");
  if (answer && answer->status == 404) return std::optional<boost::json::value>();
  Result<boost::json::value> body = read(answer);
  if (!body) return body.error();
  return std::optional(std::move(*body));
}

Result<boost::json::array> DaemonClient::get_parts(const std::string& path, std::string query,
                                                   const std::string& name) const {
  constexpr std::size_t kMostElements = 200'000;
  boost::json::array all;
  for (;;) {
    const Result<boost::json::value> part = get(path + (query.empty() ? "" : "?" + query));
    if (!part) return part.error();
    const boost::json::array& elements = list_of(*part, name);
    all.insert(all.end(), elements.begin(), elements.end());
    std::string next = text_of(*part, "next");
    if (next.empty() || next == query || all.size() > kMostElements) return all;
    query = std::move(next);
  }
}

Result<boost::json::value> DaemonClient::post(const std::string& target, const std::string& body,
                                              bool* is_missing) const {
  return read(exchange("POST", target, body), is_missing);
}

Result<std::string> DaemonClient::get_text(const std::string& target, bool* is_missing) const {
  Result<Reply> answer = exchange("GET", target, "");
  const Result<boost::json::value> body = read(answer, is_missing);
  if (!body) return body.error();
  return std::move(answer->body);
}

}  // namespace flowcon::plugin
