// SPDX-License-Identifier: Apache-2.0
// What peers ask (the verbs of docs/peers.md, and nothing else) and what people ask (docs/api.md).
#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/peers/peers.h"
#include "cluster/policy/speculate.h"

namespace flowcon::cluster::peers {
namespace {

using ctrl::api::failure;
using ctrl::api::Response;

constexpr std::size_t kMostPeers = 1000;

Response done(const std::string& name) {
  return ctrl::api::answer_with({{"name", valid_utf8(name)}});
}

Response no_such_peer(const std::string& name) {
  return failure(
      404, "there is no peer " + printable(name, 80) + "; docker flowcon peer ls lists the peers");
}

// {"host":"h2","user":"","port":22}; user and port may be missing.
Result<SshAddress> read_address(const std::string& body) {
  const Result<SshAddress> address = read_fields(body, [](FieldReader& reader) {
    SshAddress read;
    read.host = reader.text("host");
    if (reader.find("user") != nullptr) read.user = reader.text("user");
    const std::int64_t port = reader.find("port") != nullptr ? reader.count("port") : 22;
    reader.require(port >= 1 && port <= 65535, "port", "must be from 1 to 65535");
    read.port = static_cast<unsigned>(port);
    return read;
  });
  if (!address) return address.error();
  Result<SshAddress> checked = parse_ssh_address(render_ssh_address(*address));
  if (!checked) return checked.error();
  if (!(*checked == *address)) return bad_input("host or user has characters that it may not have");
  return checked;
}

// Names of the peers that `link` does not know; null where it does not tell.
json::value strangers_of(const Link& link, const Links& links) {
  if (!link.state || !link.state->knows) return nullptr;
  const std::vector<std::string>& known = *link.state->knows;
  json::array names;
  for (const LinkPtr& other : links.all()) {
    const bool is_other = other.get() != &link && other->unused.empty() && other->hello;
    if (!is_other || other->hello->id == link.state->id) continue;
    const bool is_known = std::find(known.begin(), known.end(), other->hello->id) != known.end();
    if (!is_known) names.emplace_back(other->name);
  }
  return names;
}

}  // namespace

// --- peers
// -----------------------------------------------------------------------------------------

Async<Response> Peers::answer_peer(ctrl::api::Request request) {
  const Result<LinkPtr> speaker = links_.known_speaker(request.from);
  if (!speaker) co_return failure(403, speaker.error().message());
  request.from = (*speaker)->name;
  const bool is_reached = (*speaker)->hello && (*speaker)->unused.empty();
  std::string id = is_reached ? (*speaker)->hello->id : "";
  co_return co_await ctrl::api::answer_peer(&verbs_, std::move(request), std::move(id));
}

Async<Response> Peers::answer_long(ctrl::api::Request head, ctrl::Pull body) {
  const LinkPtr link = links_.speaker_of(head.from);
  Result<std::string> id = speaker_id(*this, link ? link->name : "");
  if (!id) co_return failure(403, id.error().message());
  co_return co_await ctrl::api::answer_peer(&verbs_, std::move(head), std::move(*id),
                                            std::move(body));
}

ctrl::api::Routes Peers::peer_routes() {
  using ctrl::api::at_once, ctrl::api::Call, ctrl::api::get, ctrl::api::post;
  ctrl::api::Routes all{
      get("/v1/peer/hello", "Who this host is; the first request of a connection.",
          [this](const Call& call) {
            const LinkPtr speaker = links_.find(call.from);
            // It has just come: no need to wait until this host tries it again.
            if (speaker && !speaker->is_reachable(present(), patience())) speaker->wake(true);
            return at_once(
                {200, render(Hello{
                          {}, FLOWCON_VERSION, own_name(), identity_.id, identity_.incarnation})});
          }),
      post("/v1/peer/state", "State of the caller, in exchange for that of this host.",
           [this](const Call& call) { return at_once(take_state(call.body, call.from)); }),
      post("/v1/peer/drain", "Starts or stops draining this host.", [this](const Call& call) {
        const Result<bool> is_draining = parse_drain(call.body);
        if (!is_draining) return at_once(failure(422, is_draining.error().message()));
        ctrl::log::info("peer " + call.from + " asks this host to drain" +
                        (*is_draining ? "" : " no more"));
        return drain_here(*is_draining);
      })};
  // The others believe the id of whoever asks.
  for (const ctrl::api::Route& row : rest_.verbs) {
    all.push_back(row);
    if (row.long_answer) continue;  // answer_long() asks for the id
    all.back().answer = [answer = row.answer](Call call) {
      if (!call.peer.empty()) return answer(std::move(call));
      return at_once(failure(503, call.from + " has not been reached from here yet"));
    };
  }
  return all;
}

Response Peers::take_state(const std::string& body, const std::string& from) {
  const Result<LinkPtr> known = links_.known_speaker(from);
  if (!known) return failure(403, known.error().message());
  const LinkPtr speaker = *known;
  Result<State> state = parse_state(body);
  if (!state) return failure(422, state.error().message());
  if (state->id == identity_.id) {
    return failure(409, "that is the id of this host itself: was /var/lib/flowcon copied?");
  }
  // A key speaks for its own host alone.
  const bool is_known = speaker->hello && speaker->unused.empty();
  const LinkPtr link = is_known ? speaker : nullptr;
  const std::string expected = is_known ? speaker->hello->id : speaker->known_id;
  if (expected.empty() ? links_.find_id(state->id) != nullptr : state->id != expected) {
    return failure(403, "this key is that of " + speaker->name + ", and the state of another host");
  }
  switch (ledger_.take(state->id, state->incarnation, state->sequence, link != nullptr)) {
    case Ledger::Verdict::stale:
      return failure(409, "this state is older than one that came before");
    case Ledger::Verdict::full:
      return failure(503, "too many hosts that are no peers of this one");
    case Ledger::Verdict::fresh:
      break;
  }
  // What a stranger tells is answered and forgotten: whom to believe is decided by our own list.
  if (link) {
    // Who coordinates goes by names: by the one that it said where this host reaches it.
    state->name = link->hello->host;
    link->state = std::move(*state);
    link->pushed = present();
    if (rest_.hear) rest_.hear();
  }
  return {200, render(next_state())};
}

// --- people
// ----------------------------------------------------------------------------------------

ctrl::api::Routes Peers::routes() {
  using ctrl::api::Call, ctrl::api::get, ctrl::api::post;
  const auto drains = [this](bool is_draining) {
    return [this, is_draining](Call call) { return drain(std::move(call.name), is_draining); };
  };
  return {get("/v1/peers", "The other hosts.", [this](const Call&) { return list(); }),
          post("/v1/peers", "Adds a peer.",
               [this](Call call) { return add_by_command(std::move(call.body)); }),
          post("/v1/peers/NAME/remove", "Removes a peer.",
               [this](Call call) { return remove(std::move(call.name), std::move(call.body)); }),
          post("/v1/peers/NAME/drain", "Starts draining a host.", drains(true)),
          post("/v1/peers/NAME/undrain", "Stops draining a host.", drains(false))};
}

Async<Response> Peers::list() {
  const Instant now = present();
  json::array all;
  for (const LinkPtr& link : links_.all()) {
    link->look(now, patience());
    json::object one = link->describe(now, patience());
    one["score"] =
        link->state ? json::value(policy::score_of(link->state->counts, {})) : json::value(nullptr);
    one["strangers"] = strangers_of(*link, links_);
    all.push_back(std::move(one));
  }
  const State own = own_state();
  json::object here;
  here["name"] = own.name;
  here["id"] = own.id;
  here["scores"] =
      json::object{{"pc", own.counts.pc}, {"wc", own.counts.wc}, {"cc", own.counts.cc}};
  here["score"] = policy::score_of(own.counts, {});
  here["usage"] = own.usage;
  here["containers"] = own.containers;
  here["draining"] = own.draining;
  here["ssh"] = ssh_folder_;
  here["socket"] = host_.config().peer_socket_path();
  here["group"] = host_.config().peers.group;
  json::object body;
  body["heartbeat"] = heartbeat_;
  body["here"] = std::move(here);
  body["peers"] = std::move(all);
  co_return ctrl::api::answer_with(body);
}

Async<Response> Peers::add_by_command(std::string body) {
  Result<SshAddress> address = read_address(body);
  if (!address) co_return failure(422, address.error().message());
  // The group may have been made together with the peer's user, a moment ago.
  if (server_) {
    const Result<void> given = server_->give_to(host_.config().peers.group);
    if (!given) ctrl::log::warning(given.error().message() + ": no peer can reach this host");
  }
  const std::string name = host_and_port(*address);
  if (const LinkPtr known = links_.find(name)) {
    // Who adds it once more has its host key, and says that this is the host that is meant.
    const bool is_named = known->is_from_config && !known->is_leaving();
    const bool is_it = is_named || known->address == *address;
    if (is_it && !known->is_reachable(present(), patience())) {
      known->may_be_another = true;
      known->wake(true);
    }
    // What a swarm names, or nothing any more, is kept from now on as if it was added.
    const bool is_passing = known->is_from_swarm || known->is_leaving();
    const bool is_new = is_passing && known->address == *address;
    if (!is_new && is_it) co_return done(name);
    if (!is_new) {
      co_return failure(409, name + " is a peer already, as user " + known->address.user +
                                 "; docker flowcon peer rm takes it away");
    }
  }
  if (links_.all().size() >= kMostPeers) co_return failure(409, "there are 1000 peers already");
  const ctrl::store::Peer peer{name, address->user, address->host,
                               static_cast<std::int64_t>(address->port)};
  auto save = [&store = host_.store(), peer] { return store.save_peer(peer); };
  const Result<void> saved = co_await host_.effects().run(std::move(save));
  if (!saved) co_return failure(507, saved.error().message());
  const LinkPtr there = links_.find(name);
  if (there) there->take_as_added();
  if (!there && !is_ended_) add(std::move(*address), false);
  ctrl::log::info("peer " + name + " is added");
  co_return done(name);
}

Result<std::string> Rest::moving_with(const Link& link) const {
  if (!moving) return std::string();
  Result<std::vector<std::string>> names = moving(link.known_id);
  if (names && link.hello && link.hello->id != link.known_id) {
    const Result<std::vector<std::string>> more = moving(link.hello->id);
    if (!more) return more.error();
    names->insert(names->end(), more->begin(), more->end());
  }
  if (!names) return names.error();
  return joined(*names, ", ", [](const std::string& one) { return printable(one, 80); });
}

// {"force":true}, which may be missing.
Async<Response> Peers::remove(std::string name, std::string body) {
  bool is_forced = false;
  if (!body.empty()) {
    const Result<bool> force =
        read_fields(body, [](FieldReader& reader) { return reader.optional_bool("force"); });
    if (!force) co_return failure(422, force.error().message());
    is_forced = *force;
  }
  const LinkPtr link = links_.find(name);
  if (!link) co_return no_such_peer(name);
  if (link->is_from_config && !link->is_leaving()) {
    co_return failure(409, name +
                               " is a peer by the configuration: remove its line there, then: "
                               "systemctl reload flowcond");
  }
  if (link->is_from_swarm && !link->is_leaving()) {
    co_return failure(409, name + " is a peer as a member of the swarm (option peers-from)");
  }
  // Afterwards neither host could ask the other what became of them.
  const Result<std::string> open = rest_.moving_with(*link);
  if (!open && !is_forced) {
    co_return failure(503, open.error().message() + "; docker flowcon peer rm --force " + name +
                               " does not wait for it");
  }
  if (open && !open->empty()) {
    if (!is_forced) {
      co_return failure(
          409, "migrations from or to " + name + " are open: " + *open +
                   "; wait for them, or finish them by hand after docker flowcon peer rm --force");
    }
    host_.warn(name + " is removed with open migrations: " + *open +
               "; make sure that one copy of each runs, then end them with docker flowcon migrate "
               "--take-back or --keep");
  }
  auto forget = [&store = host_.store(), name] { return store.forget_peer(name); };
  const Result<void> forgotten = co_await host_.effects().run(std::move(forget));
  if (!forgotten) co_return failure(507, forgotten.error().message());
  if (link->is_leaving()) configured_.clear();  // whom it stood in the way of is added
  if (!link->is_ended) drop(link);
  co_await ids_.forget(name);
  co_return done(name);
}

Async<Response> Peers::drain(std::string name, bool is_draining) {
  const LinkPtr link = links_.find(name);
  if (!link) {
    if (name != host_.view().name) co_return no_such_peer(name);
    co_return co_await drain_here(is_draining);
  }
  if (!link->is_reachable(present(), patience())) {
    const std::string why = link->unused.empty() ? link->error : link->unused;
    co_return failure(502,
                      name + " cannot be notified: " + (why.empty() ? "not connected yet" : why));
  }
  const Result<Reply> reply =
      co_await link->ask("POST", "/v1/peer/drain", render_drain(is_draining), patience());
  if (!reply) co_return failure(502, name + " cannot be notified: " + reply.error().message());
  if (reply->status != 200) {
    co_return failure(502, name + " refuses: status " + std::to_string(reply->status));
  }
  link->is_due = true;  // its state is another one now
  link->wake(false);
  co_return done(name);
}

Async<Response> Peers::drain_here(bool is_draining) {
  auto save = [&store = host_.store(), is_draining] { return store.save_draining(is_draining); };
  const Result<void> saved = co_await host_.effects().run(std::move(save));
  if (!saved) co_return failure(507, saved.error().message());
  identity_.is_draining = is_draining;
  tell();
  co_return done(host_.view().name);
}

}  // namespace flowcon::cluster::peers
