// SPDX-License-Identifier: Apache-2.0
#include "ctrl/engine/client.h"

#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/engine/connection.h"
#include "ctrl/log.h"

namespace flowcon::ctrl::engine {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kMostImages = 256;  // whose labels are remembered
constexpr std::size_t kMaxEvent = 1U << 20;

}  // namespace

Client::Client(asio::io_context& io, std::string socket) : io_(io), socket_(std::move(socket)) {}

std::string Client::versioned(const std::string& path) const {
  return api_.empty() ? path : "/v" + api_ + path;
}

Async<Result<Reply>> Client::call(std::string method, std::string path, std::string body,
                                  double seconds) {
  const std::string target = versioned(path);
  auto response = co_await exchange(socket_, method, target, std::move(body), seconds);
  if (!response) co_return response.error();
  Reply reply;
  reply.status = response->result_int();
  reply.body = std::move(response->body());
  co_return reply;
}

Async<Result<Version>> Client::ping() {
  auto response = co_await exchange(socket_, "GET", "/_ping", "", kPingTime);
  if (!response && response.error().code == boost::system::errc::timed_out) {
    co_return errno_error(ETIMEDOUT,
                          "the Docker engine at " + socket_ +
                              " does not answer (is it frozen? systemctl status docker)");
  }
  if (!response) co_return response.error();
  if (response->result_int() != 200) {
    const Reply reply{response->result_int(), response->body()};
    co_return engine_error(reply, "the engine is not well");
  }
  Result<std::string> api = negotiate(std::string((*response)["Api-Version"]));
  if (!api) co_return api.error();
  api_ = *api;
  Version version;
  version.api = api_;
  // "Docker/20.10.24 (linux)"; absent behind some socket proxies.
  const std::string server((*response)[http::field::server]);
  if (const auto slash = server.find('/'); slash != std::string::npos) {
    version.engine = printable(server.substr(slash + 1, server.find(' ') - slash - 1), 40);
  }
  co_return version;
}

Async<Result<std::vector<Listed>>> Client::running() {
  Result<Reply> reply = co_await call("GET", "/containers/json", "", kAnswerTime);
  if (!reply) co_return reply.error();
  if (reply->status != 200) co_return engine_error(*reply, "listing containers");
  co_return parse_list(reply->body);
}

Async<Result<Container>> Client::inspect(std::string name, double seconds) {
  const std::string path = "/containers/" + percent_encoded(name) + "/json";
  Result<Reply> reply = co_await call("GET", path, "", seconds);
  if (!reply) co_return reply.error();
  if (reply->status == 404) {
    co_return errno_error(ENOENT, "No such container: " + printable(name, 80));
  }
  if (reply->status != 200) {
    co_return engine_error(*reply, "looking at container " + printable(name, 80));
  }
  co_return parse_container(reply->body);
}

Async<Result<std::map<std::string, std::string>>> Client::image_labels(std::string id,
                                                                       double seconds) {
  if (const auto known = image_labels_.find(id); known != image_labels_.end()) {
    co_return known->second;
  }
  const std::string path = "/images/" + percent_encoded(id) + "/json";
  Result<Reply> reply = co_await call("GET", path, "", seconds);
  if (!reply) co_return reply.error();
  if (reply->status != 200) {
    co_return engine_error(*reply, "looking at image " + printable(id, 80));
  }
  Result<std::map<std::string, std::string>> labels = parse_image_labels(reply->body);
  if (!labels) co_return labels.error();
  if (image_labels_.size() >= kMostImages) image_labels_.clear();
  image_labels_[id] = *labels;
  co_return labels;
}

Async<Error> Client::events(std::int64_t since_ns,
                            std::function<void(std::function<void()> end)> connected,
                            std::function<void(Event)> sink, std::string actions) {
  Result<std::shared_ptr<Stream>> connection = co_await connect(socket_, nanoseconds(kPingTime));
  if (!connection) co_return connection.error();
  Stream& stream = **connection;

  std::string target = versioned("/events") + "?filters=" +
                       percent_encoded(R"({"type":["container"],"event":)" + actions + "}");
  if (since_ns > 0) {
    char since[40];
    std::snprintf(since, sizeof since, "&since=%lld.%09lld",
                  static_cast<long long>(since_ns / 1000000000),
                  static_cast<long long>(since_ns % 1000000000));
    target += since;
  }
  auto request = request_for<http::empty_body>("GET", target);
  auto [write_code, written] = co_await http::async_write(stream, request, kAwait);
  if (write_code) co_return Error{write_code, "asking the engine for events"};

  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  auto [header_code, header] = co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (header_code) co_return Error{header_code, "asking the engine for events"};
  if (parser.get().result() != http::status::ok) {
    co_return bad_input("the engine refuses its events: status " +
                        std::to_string(parser.get().result_int()));
  }
  connected([stream = std::weak_ptr<Stream>(*connection)] {
    if (const auto open = stream.lock()) open->cancel();
  });
  stream.expires_never();

  std::string pending;
  while (!parser.is_done()) {
    auto [code, count] = co_await http::async_read_some(stream, buffer, parser, kAwait);
    pending += parser.get().body();
    parser.get().body().clear();
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      if (Result<Event> event = parse_event(std::string_view(pending).substr(0, end))) {
        sink(std::move(*event));
      } else {
        log::debug(event.error().message());
      }
      pending.erase(0, end + 1);
    }
    if (pending.size() > kMaxEvent) co_return bad_input("the engine sent an endless event");
    if (code) co_return Error{code, "the engine's event stream ended"};
  }
  co_return bad_input("the engine's event stream ended");
}

}  // namespace flowcon::ctrl::engine
