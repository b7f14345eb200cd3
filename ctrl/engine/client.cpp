// SPDX-License-Identifier: Apache-2.0
#include "ctrl/engine/client.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cstdio>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/log.h"
#include "ctrl/wire/http.h"

namespace flowcon::ctrl::engine {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostImages = 256;  // whose labels are remembered
constexpr std::size_t kMaxEvent = 1U << 20;
constexpr std::size_t kMaxBody = 64U << 20;  // a list of 1,000 containers has about 2 MiB
constexpr std::size_t kMaxRefusal = 64U << 10;
constexpr std::size_t kMaxTargetShown = 120;

Error connect_error(const boost::system::error_code& code, const std::string& socket) {
  if (code == boost::system::errc::permission_denied) {
    return {code, "no right to use the engine's socket " + socket +
                      " (run flowcond as root or in the group docker)"};
  }
  // An engine that ends may take its socket away. That is not the answer that something is not
  // there.
  const bool is_gone = code == boost::system::errc::no_such_file_or_directory;
  const boost::system::error_code told =
      is_gone ? boost::system::errc::make_error_code(boost::system::errc::connection_refused)
              : code;
  return {told, "no Docker engine answers at " + socket +
                    " (is it running? systemctl start docker; another socket: --engine)"};
}

Async<Result<std::shared_ptr<Http>>> connect(std::string socket, double seconds) {
  auto connected = co_await Http::connect(socket, seconds);
  if (!connected) co_return connect_error(connected.error().code, socket);
  co_return connected;
}

HttpRequest request_for(std::string method, std::string target, std::string doing) {
  HttpRequest request;
  request.host = "docker";
  request.method = std::move(method);
  request.target = std::move(target);
  request.doing = std::move(doing);
  return request;
}

// The connection ends with the body.
Async<Result<Incoming>> open_stream(std::string socket, std::string target, std::string doing,
                                    Patience patience) {
  const auto http = co_await connect(socket, std::max(patience.whole, patience.piece));
  if (!http) co_return http.error();
  HttpRequest request = request_for("GET", std::move(target), std::move(doing));
  patience.whole = 0;  // connect() began it
  co_return co_await (*http)->open(std::move(request), patience);
}

}  // namespace

Error engine_error(const Reply& reply, const std::string& doing) {
  const std::string said = printable(text_in(reply.body, "message"));
  const std::string sentence =
      doing + ": " + (said.empty() ? "status " + std::to_string(reply.status) : said);
  return reply.status == 404 ? errno_error(ENOENT, sentence) : bad_input(sentence);
}

Client::Client(asio::io_context& io, std::string socket) : io_(io), socket_(std::move(socket)) {}

std::string Client::versioned(const std::string& path) const {
  return api_.empty() ? path : "/v" + api_ + path;
}

Async<Result<Reply>> Client::call(std::string method, std::string path, std::string body,
                                  double seconds) {
  HttpRequest request = request_for(std::move(method), versioned(path), "asking the engine");
  request.body = std::move(body);
  const auto http = co_await connect(socket_, seconds);
  if (!http) co_return http.error();
  const Patience patience;  // what connect() began
  co_return co_await (*http)->ask(std::move(request), patience, kMaxBody);
}

Async<Result<Version>> Client::ping() {
  Patience patience;
  patience.whole = kPingTime;
  Result<Incoming> answer = co_await open_stream(socket_, "/_ping", "asking the engine", patience);
  if (is_timeout(answer)) {
    co_return errno_error(ETIMEDOUT,
                          "the Docker engine at " + socket_ +
                              " does not answer (is it frozen? systemctl status docker)");
  }
  if (!answer) co_return answer.error();
  Result<std::string> body = co_await all_of(std::move(answer->body), kMaxRefusal);
  if (!body) co_return body.error();
  if (answer->status != 200) {
    const Reply reply{answer->status, *body};
    co_return engine_error(reply, "the engine is not well");
  }
  Result<std::string> api = negotiate(std::string(answer->fields["Api-Version"]));
  if (!api) co_return api.error();
  api_ = *api;
  Version version;
  version.api = api_;
  // "Docker/20.10.24 (linux)"; absent behind some socket proxies.
  const std::string server(answer->fields["Server"]);
  if (const auto slash = server.find('/'); slash != std::string::npos) {
    version.engine = printable(server.substr(slash + 1, server.find(' ') - slash - 1), 40);
  }
  co_return version;
}

Async<Result<std::string>> Client::get(std::string path, std::string doing, double seconds) {
  Result<Reply> reply = co_await call("GET", std::move(path), "", seconds);
  if (!reply) co_return reply.error();
  if (reply->status != 200) co_return engine_error(*reply, doing);
  co_return std::move(reply->body);
}

Async<Result<json::value>> Client::get_json(std::string path, std::string doing, double seconds) {
  const Result<std::string> body = co_await get(std::move(path), doing, seconds);
  if (!body) co_return body.error();
  Result<json::value> parsed = parse_json(*body);
  if (!parsed) co_return bad_input(doing + ": the engine's answer is no JSON");
  co_return parsed;
}

Async<Result<std::vector<Listed>>> Client::running() {
  const Result<std::string> list =
      co_await get("/containers/json", "listing containers", kAnswerTime);
  if (!list) co_return list.error();
  Result<std::vector<Listed>> all = parse_list(*list);
  if (all) std::reverse(all->begin(), all->end());
  co_return all;
}

Async<Result<std::vector<Listed>>> Client::list(double seconds) {
  const Result<std::string> list =
      co_await get("/containers/json?all=1", "listing all containers", seconds);
  if (!list) co_return list.error();
  co_return parse_list(*list);
}

Async<Result<Container>> Client::inspect(std::string name, double seconds) {
  const std::string path = "/containers/" + percent_encoded(name) + "/json";
  Result<Reply> reply = co_await call("GET", path, "", seconds);
  if (!reply) co_return reply.error();
  if (reply->status == 404) {
    co_return errno_error(ENOENT, "No such container: " + printable(name, 80));
  }
  if (reply->status != 200) {
    co_return engine_error(*reply, "inspecting container " + printable(name, 80));
  }
  co_return parse_container(reply->body);
}

Async<Result<std::map<std::string, std::string>>> Client::image_labels(std::string id,
                                                                       double seconds) {
  if (const auto known = image_labels_.find(id); known != image_labels_.end()) {
    co_return known->second;
  }
  const Result<std::string> image = co_await get("/images/" + percent_encoded(id) + "/json",
                                                 "inspecting image " + printable(id, 80), seconds);
  if (!image) co_return image.error();
  Result<std::map<std::string, std::string>> labels = parse_image_labels(*image);
  if (!labels) co_return labels.error();
  if (image_labels_.size() >= kMostImages) image_labels_.clear();
  image_labels_[id] = *labels;
  co_return labels;
}

Async<Error> Client::events(std::int64_t since_ns,
                            std::function<void(std::function<void()> end)> connected,
                            std::function<void(EngineEvent)> sink, std::string actions) {
  std::string target = versioned("/events") + "?filters=" +
                       percent_encoded(R"({"type":["container"],"event":)" + actions + "}");
  if (since_ns > 0) {
    char since[40];
    std::snprintf(since, sizeof since, "&since=%lld.%09lld",
                  static_cast<long long>(since_ns / 1000000000),
                  static_cast<long long>(since_ns % 1000000000));
    target += since;
  }
  const auto http = co_await connect(socket_, kPingTime);
  if (!http) co_return http.error();
  HttpRequest request = request_for("GET", std::move(target), "asking the engine for events");
  const Patience patience;
  Result<Incoming> answer = co_await (*http)->open(std::move(request), patience);
  if (!answer) co_return answer.error();
  if (answer->status != 200) {
    co_return bad_input("the engine refuses its events: status " + std::to_string(answer->status));
  }
  connected([connection = std::weak_ptr<Http>(*http)] {
    if (const auto open = connection.lock()) open->cancel();
  });
  (*http)->wait_for_ever();
  std::string pending;
  bool is_skipping = false;
  for (;;) {
    const Result<std::string> piece = co_await answer->body();
    if (!piece) co_return wrap(piece.error(), "the engine's event stream ended");
    if (piece->empty()) co_return bad_input("the engine's event stream ended");
    pending += *piece;
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      if (std::exchange(is_skipping, false)) {
        log::warning("an event of the engine is left out: it has more than 1 MiB of labels");
      } else if (Result<EngineEvent> event =
                     parse_event(std::string_view(pending).substr(0, end))) {
        sink(std::move(*event));
      } else {
        log::debug(event.error().message());
      }
      pending.erase(0, end + 1);
    }
    is_skipping = is_skipping || pending.size() > kMaxEvent;
    if (is_skipping) pending.clear();
  }
}

Async<Result<Pull>> Client::download(std::string path, double idle_seconds) {
  const std::string doing = "reading " + printable(path, kMaxTargetShown) + " from the engine";
  Patience patience;
  patience.piece = idle_seconds;
  Result<Incoming> answer = co_await open_stream(socket_, versioned(path), doing, patience);
  if (!answer) co_return answer.error();
  if (answer->status == 200) co_return std::move(answer->body);
  Result<std::string> said = co_await all_of(std::move(answer->body), kMaxRefusal);
  if (!said) co_return said.error();
  const Reply reply{answer->status, *said};
  co_return engine_error(reply, doing);
}

Async<Result<Reply>> Client::upload(std::string method, std::string path, std::string content_type,
                                    Pull body, double idle_seconds) {
  HttpRequest request =
      request_for(std::move(method), versioned(path),
                  "sending " + printable(path, kMaxTargetShown) + " to the engine");
  request.content_type = std::move(content_type);
  request.pieces = std::move(body);
  const auto http = co_await connect(socket_, idle_seconds);
  if (!http) co_return http.error();
  Patience patience;
  patience.piece = idle_seconds;
  co_return co_await (*http)->ask(std::move(request), patience, kMaxBody);
}

}  // namespace flowcon::ctrl::engine
