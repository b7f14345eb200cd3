// SPDX-License-Identifier: Apache-2.0
#include "cluster/elsewhere.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "ctrl/await.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster {

using ctrl::api::failure;
using ctrl::api::Request;
using ctrl::api::Response;

namespace {

constexpr double kMeasureTime = 600;   // seconds, to find out whether a container can migrate
constexpr std::int64_t kMostHops = 4;  // hosts that a container may have gone through
constexpr std::size_t kMostAnswer = 900'000;  // bytes; a connection to a peer takes 1 MiB
constexpr std::size_t kLongestTarget = 8192;  // bytes
// Calls of one peer that were given up and go on here. Those that it waits for have a connection
// each, of which it has few.
constexpr std::size_t kMostLate = 4;

constexpr const char* kStatus = "/v1/status";
constexpr const char* kQueueList = "/v1/queue";
constexpr const char* kMoves = "/v1/moves";
constexpr std::string_view kProfiles = "/v1/profiles";
constexpr std::string_view kContainers = "/v1/containers/";
constexpr std::array<std::string_view, 3> kLooks{"history", "explain", "log"};
// Not take-back and keep, which may make two copies: for people on that host.
constexpr std::array<std::string_view, 7> kChanges{"pause", "resume",  "pin",        "unpin",
                                                   "set",   "migrate", "cancel-move"};

template <class Words>
bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Is it only for the host that the container came from? All others see what people may see.
bool is_private(const std::string& method, std::string_view target) {
  return method != "GET" || target.substr(0, target.find('?')).ends_with("/log");
}

// The name in "/v1/containers/NAME/VERB?QUERY", as it stands there, where such a call may be passed
// on.
std::optional<std::string> name_in(const std::string& method, std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (!target.starts_with(kContainers)) return std::nullopt;
  target.remove_prefix(kContainers.size());
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view verb = target.substr(slash + 1);
  const bool is_known =
      method == "GET" ? has(kLooks, verb) : method == "POST" && has(kChanges, verb);
  return is_known ? std::optional(std::string(target.substr(0, slash))) : std::nullopt;
}

bool is_measured(std::string_view target) { return target.ends_with("/migrate"); }

std::string cannot_be_asked(const Neighbour& one) {
  return one.name + " cannot be asked: " + one.error;
}

// An answer that is waited for, but not for ever.
template <class T>
struct Awaited {
  explicit Awaited(boost::asio::io_context& io) : timer(io) {}
  boost::asio::steady_timer timer;
  std::optional<T> answer;
};

template <class T>
Async<void> let_answer(std::shared_ptr<Awaited<T>> awaited, Async<T> work) {
  T answer = co_await std::move(work);
  awaited->answer.emplace(std::move(answer));
  awaited->timer.cancel();
}

// What `work` gives within so many seconds. What takes longer goes on, as long as `late` lives, and
// is dropped in the end.
template <class T>
Async<std::optional<T>> within(boost::asio::io_context* io, double seconds, Async<T> work,
                               std::weak_ptr<void>* late) {
  auto awaited = std::make_shared<Awaited<T>>(*io);
  awaited->timer.expires_after(nanoseconds(seconds));
  ctrl::spawn(*io, "peer call", let_answer(awaited, std::move(work)));
  while (!awaited->answer) {
    auto [code] = co_await awaited->timer.async_wait(kAwait);
    if (!code) break;
  }
  if (!awaited->answer) *late = awaited;
  co_return std::move(awaited->answer);
}

}  // namespace

struct Elsewhere::Wanted {
  std::string method;
  std::string target;
  std::string body;
  std::int64_t hops = 1;  ///< hosts that it was passed on to, this one among them

  [[nodiscard]] std::string render() const { return passed_call(method, target, body, hops); }
  [[nodiscard]] static Result<Wanted> parse(const std::string& text) {
    return read_fields(text, [](FieldReader& reader) {
      Wanted wanted{reader.text("method"), reader.text("target"), reader.text("body"),
                    reader.count("hops", kMostHops)};
      reader.require(wanted.target.size() <= kLongestTarget, "target", "is too long");
      return wanted;
    });
  }
};

// How the container of that name went last, if it went from here and none of that name is here.
std::optional<Way> Elsewhere::way_of(const std::string& name) const {
  if (!host_.find(name).empty()) return std::nullopt;
  for (const Way& way : moves_.ways()) {
    const bool is_named =
        way.name == name || (name.size() >= 12 && way.container.starts_with(name));
    if (!is_named) continue;
    if (way.is_open) return std::nullopt;  // the migrator answers
    return way.source == network_.own_id() ? std::optional(way) : std::nullopt;
  }
  return std::nullopt;
}

std::string Elsewhere::id_of(const std::string& name) const {
  const std::string id = host_.find(name);
  if (!id.empty()) return id;
  for (const Way& way : moves_.ways()) {
    if (way.is_open && way.name == name) return way.container;
  }
  return "";
}

bool Elsewhere::has_from(const std::string& id, const std::string& speaker) const {
  const std::vector<Way> ways = moves_.ways();
  return std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    return !id.empty() && way.container == id && way.target == network_.own_id() &&
           way.source == speaker;
  });
}

Async<Response> Elsewhere::ask(std::string host, Wanted wanted) {
  const std::string there = name_of_host(network_, host);
  for (const Neighbour& one : network_.neighbours()) {
    if (one.id == host && !one.is_reachable) co_return failure(502, cannot_be_asked(one));
  }
  const bool is_forwarded = name_in(wanted.method, wanted.target).has_value();
  // On the way through other hosts each has a little less.
  const double patience = (is_measured(wanted.target) ? kMeasureTime : answer_time_) + kMostHops -
                          static_cast<double>(wanted.hops);
  Result<Answer> reply =
      co_await network_.ask(std::move(host), "POST", "/v1/peer/call", wanted.render(), patience);
  if (!reply) co_return failure(502, reply.error().message());
  co_return passed_answer(*reply, there, is_forwarded);
}

Async<std::optional<Response>> Elsewhere::answer(Request request) {
  const std::optional<std::string> name = name_in(request.method, request.target);
  if (!name) co_return std::nullopt;
  const std::optional<Way> way = way_of(*name);
  if (!way) co_return std::nullopt;
  // What it prints is not known here.
  const bool is_log = is_private("GET", request.target);
  const bool is_look = request.method == "GET";
  Wanted wanted{std::move(request.method), std::move(request.target), std::move(request.body)};
  const std::string there = name_of_host(network_, way->target);
  Response response = co_await ask(way->target, std::move(wanted));
  // 503: it is busy.
  const bool is_unheard = response.status == 502 || (response.status == 503 && !is_log);
  if (is_unheard && is_look) co_return std::nullopt;
  if (response.status == 502) {
    const std::string why = text_in(response.body, "error");
    response = failure(502, *name + " migrated to " + there + ": " + why);
  }
  co_return response;
}

Async<Response> Elsewhere::look(std::string peer, std::string target) {
  for (const Neighbour& one : network_.neighbours()) {
    if (one.name != peer) continue;
    if (!one.is_reachable) return ctrl::api::at_once(failure(502, cannot_be_asked(one)));
    Wanted wanted{"GET", std::move(target), "", 1};
    return ask(one.id, std::move(wanted));
  }
  return ctrl::api::at_once(failure(404, "there is no peer " + printable(peer, 80)));
}

ctrl::api::Routes Elsewhere::routes() {
  const auto looks = [this](const char* target) {
    return [this, target](const ctrl::api::Call& call) { return look(call.name, target); };
  };
  return {ctrl::api::get("/v1/peers/NAME/status", "The status of another host.", looks(kStatus)),
          ctrl::api::get("/v1/peers/NAME/queue", "The queue of another host.", looks(kQueueList)),
          ctrl::api::get("/v1/peers/NAME/moves", "Migrations of another host.", looks(kMoves))};
}

ctrl::api::Routes Elsewhere::peer_routes() {
  return {ctrl::api::post(
      "/v1/peer/call", "A person's call that is passed on to this host.",
      [this](ctrl::api::Call call) { return take(std::move(call.body), std::move(call.peer)); })};
}

Async<Response> Elsewhere::take(std::string body, std::string speaker) {
  Result<Wanted> wanted = Wanted::parse(body);
  if (!wanted) co_return failure(422, wanted.error().message());
  const std::optional<std::string> name = name_in(wanted->method, wanted->target);
  const std::string_view path =
      std::string_view(wanted->target).substr(0, wanted->target.find('?'));
  const bool is_look =
      wanted->method == "GET" && (wanted->target == kStatus || wanted->target == kQueueList ||
                                  wanted->target == kMoves || path == kProfiles);
  if (!name && !is_look) co_return failure(403, "peers may not call that");
  if (path == kProfiles && !host_.config().queue.estimate_share) {
    co_return failure(403, "this host shares no profiles: estimate-share is off");
  }
  if (name) {
    const std::optional<Way> way = way_of(*name);
    const bool goes_on = way && wanted->hops < kMostHops;
    if (is_private(wanted->method, wanted->target)) {
      const std::string id = goes_on ? way->container : id_of(*name);
      if (id.empty()) co_return failure(404, "No such container: " + printable(*name, 80));
      if (!has_from(id, speaker)) {
        co_return failure(
            403, "the container " + printable(*name, 80) + " did not come from the host that asks");
      }
      if (wanted->method != "GET" && !goes_on) {
        ctrl::log::info("peer " + printable(name_of_host(network_, speaker), 80) +
                        " passes on: " + printable(wanted->target, 200));
      }
      // What was judged is what is asked, whatever else the engine knows by that name.
      if (!goes_on) wanted->target.replace(kContainers.size(), name->size(), id);
    }
    if (goes_on) {
      Wanted further = *wanted;
      ++further.hops;
      co_return co_await ask(way->target, std::move(further));
    }
  }
  std::vector<std::weak_ptr<void>>& late = late_[speaker];
  std::erase_if(late, [](const std::weak_ptr<void>& one) { return one.expired(); });
  // What waits for nothing is answered all the same.
  if (late.size() >= kMostLate && wanted->target != kStatus) {
    co_return failure(503, "this host still works on earlier calls: ask again later");
  }
  const double seconds = is_measured(wanted->target) ? kMeasureTime : answer_time_;
  Request request;
  request.method = wanted->method;
  request.target = wanted->target;
  request.body = wanted->body;
  Async<Response> work = host_.answer(std::move(request));
  std::weak_ptr<void> unfinished;
  std::optional<Response> response =
      co_await within(&host_.io(), seconds, std::move(work), &unfinished);
  if (!response) {
    late_[speaker].push_back(std::move(unfinished));
    co_return failure(502, "it takes too long to answer");
  }
  if (response->body.size() > kMostAnswer) {
    co_return failure(413, "the answer is longer than peers pass on: ask on that host");
  }
  co_return std::move(*response);
}

}  // namespace flowcon::cluster
