// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/peers.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/random_id.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cluster/peers/ssh.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::peers {
namespace {

namespace asio = boost::asio;

constexpr double kLeastGap = 0.2;    // seconds between two messages to one peer
constexpr double kConnectTime = 20;  // ssh's own limit for the connection is 10 s
constexpr double kUnusedAgain = 60;  // until a peer that is of no use is looked at again

// False in a service without network, which is what the package's is until a peer is added.
bool may_connect() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return errno != EAFNOSUPPORT;
  ::close(file);
  return true;
}

// A refusal's own sentence, else its status.
Error refusal(const Reply& reply) {
  const std::string sentence = text_in(reply.body, "error");
  if (!sentence.empty()) return bad_input("it refuses: " + printable(sentence, 300));
  return bad_input("it answers with status " + std::to_string(reply.status));
}

}  // namespace

Peers::Peers(ctrl::LocalHost& host, std::unique_ptr<ctrl::api::Server> server)
    : host_(host),
      server_(std::move(server)),
      heartbeat_(host.config().peers.heartbeat),
      ssh_folder_(host.config().state_dir + "/ssh"),
      ids_(host),
      chance_(std::random_device()()),
      swarm_(host) {}

Async<void> Peers::begin() {
  const std::string fresh_id = random_id();
  auto begin_one = [&store = host_.store(), fresh_id] { return store.begin_incarnation(fresh_id); };
  Result<ctrl::store::Identity> identity = co_await host_.effects().run(std::move(begin_one));
  if (!identity) {
    // A sequence that could repeat is worse than none.
    host_.warn(identity.error().message() + ": this host publishes nothing to others");
    if (server_) server_->close();
    co_return;
  }
  identity_ = *identity;
  has_identity_ = true;
  told_ = own_state();
  co_await ids_.read();
  if (server_) {
    server_->expect_callers();
    verbs_ = peer_routes();
    server_->serve_bodies(
        [this](const ctrl::api::Request& head) { return ctrl::api::has_long_body(verbs_, head); },
        [this](ctrl::api::Request head, ctrl::Pull body) {
          return answer_long(std::move(head), std::move(body));
        });
    server_->serve([this](ctrl::api::Request request) { return answer_peer(std::move(request)); });
  }
  follow_config();
  auto read = [&store = host_.store()] { return store.peers(); };
  Result<std::vector<ctrl::store::Peer>> saved = co_await host_.effects().run(std::move(read));
  if (!saved) {
    host_.warn(saved.error().message());
    co_return;
  }
  for (const ctrl::store::Peer& peer : *saved) {
    SshAddress address{peer.user, peer.host, static_cast<unsigned>(peer.port)};
    // The file is ours, and yet what goes to ssh is checked each time.
    Result<SshAddress> checked = parse_ssh_address(render_ssh_address(address));
    if (checked && !links_.find(host_and_port(*checked))) add(std::move(*checked), false);
  }
  if (links_.all().empty()) co_return;
  if (!may_connect()) {
    host_.warn(
        "other hosts cannot be reached: the service has no network. Link "
        "/usr/share/docker-flowcon/peers.conf into /etc/systemd/system/flowcond.service.d, as it "
        "says itself");
  }
  if (!server_) co_return;
  if (const Result<void> given = server_->give_to(host_.config().peers.group); !given) {
    host_.warn(given.error().message() + ": no peer can reach this host");
  }
}

Async<void> Peers::settle(double) { co_return; }

void Peers::end() {
  is_ended_ = true;
  if (server_) server_->close();
  for (const LinkPtr& link : links_.all()) {
    link->end();
  }
}

void Peers::look(double now) {
  if (has_identity_ && !is_ended_) {
    follow_config();
    const auto added = [this] {
      std::vector<SshAddress> all;
      for (const LinkPtr& link : links_.all()) {
        if (!link->is_from_swarm) all.push_back(link->address);
      }
      return all;
    };
    swarm_.look(now, added, [this] { follow_swarm(); });
  }
  tell();
}

// The configuration may be read again at any time. Whoever leaves it is looked at until it may go.
void Peers::follow_config() {
  const bool is_read_again = configured_ != host_.config().peers.hosts;
  const bool is_any_leaving =
      std::any_of(links_.all().begin(), links_.all().end(),
                  [](const LinkPtr& link) { return link->is_from_config && link->is_leaving(); });
  if (!is_read_again && !is_any_leaving) return;
  configured_ = host_.config().peers.hosts;
  std::vector<SshAddress> wanted;
  for (const std::string& text : configured_) {
    if (Result<SshAddress> address = parse_ssh_address(text)) wanted.push_back(*address);
  }
  const std::vector<LinkPtr> before = links_.all();
  for (const LinkPtr& link : before) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), link->address) != wanted.end();
    if (is_wanted && link->is_from_swarm && link->is_leaving()) {
      link->is_from_swarm = false;
      link->is_from_config = true;
    }
    if (!link->is_from_config) continue;
    if (is_wanted) link->leaving = Link::Leaving::no;
    if (is_wanted || !may_go(*link, "in the configuration")) continue;
    ctrl::spawn(host_.io(), "peer " + link->name, ids_.forget(link->name));
    drop(link);
  }
  for (SshAddress& address : wanted) {
    const LinkPtr known = links_.find(host_and_port(address));
    // By another user now; the id stays.
    const bool is_replaced = known && known->is_leaving() && !(known->address == address);
    if (is_replaced) drop(known);
    if (!known || is_replaced) add(std::move(address), true);
  }
  if (is_read_again && server_ && !links_.all().empty()) {
    (void)server_->give_to(host_.config().peers.group);
  }
}

// Afterwards neither host could ask the other what became of a migration between them.
bool Peers::may_go(Link& link, const std::string& where) {
  const Result<std::string> open = rest_.moving_with(link);
  if (open && open->empty()) return true;
  const Link::Leaving why = open ? Link::Leaving::moving : Link::Leaving::unknown;
  if (link.leaving == why) return false;
  link.leaving = why;
  const std::string gone = "peer " + link.name + " is no longer " + where;
  if (open) {
    host_.warn(gone + ", and a migration of " + *open +
               " from or to it is not over: it is kept until that ends");
  } else {
    host_.warn(gone + ", and is kept until it is known that no migration from or to it is open: " +
               open.error().message());
  }
  return false;
}

void Peers::tell() {
  if (!has_identity_ || is_ended_) return;
  State state = own_state();
  if (!is_news(told_, state)) return;
  told_ = std::move(state);
  for (const LinkPtr& link : links_.all()) {
    link->is_due = true;
    link->wake(false);
  }
}

State Peers::own_state() const {
  const ctrl::HostSnapshot view = host_.view();
  State state;
  state.id = identity_.id;
  state.name = own_name();
  state.incarnation = identity_.incarnation;
  state.sequence = sequence_;
  if (rest_.counts) state.counts = rest_.counts();
  state.usage = view.usage;
  state.cores = view.cores;
  state.memory = static_cast<std::int64_t>(view.memory);
  state.containers = state.counts.pc + state.counts.wc + state.counts.cc;
  state.draining = identity_.is_draining;
  state.runs_jobs = true;
  state.queue_waits = rest_.queue_waits && rest_.queue_waits();
  const ctrl::Offer& offer = host_.config().queue.offer;
  state.offer_cpu = offer.cores_of(view.cores);
  state.offer_mem = offer.memory_of(view.memory);
  const double gpus = offer.gpus_of(view.gpus.size());
  if (gpus > 0 && host_.config().accept.has_gpus()) state.offer_gpu = gpus;
  state.knows.emplace();
  for (const LinkPtr& link : links_.all()) {
    if (link->unused.empty() && !link->known_id.empty()) state.knows->push_back(link->known_id);
  }
  return state;
}

State Peers::next_state() {
  ++sequence_;
  return own_state();
}

std::string Peers::own_name() const {
  const std::string name = host_.view().name;
  return name.empty() ? "unnamed" : name;
}

LinkPtr Peers::add(SshAddress address, bool is_from_config) {
  auto link = std::make_shared<Link>(host_.io(), std::move(address), is_from_config);
  link->known_id = ids_.of(link->name);
  links_.add(link);
  ctrl::spawn(host_.io(), "peer " + link->name, keep(link));
  return link;
}

void Peers::drop(LinkPtr link) {
  link->end();
  links_.erase(link);
  // Its key may be gone from sshd by now, but not the connections that it was used for.
  if (server_) server_->drop_connections(link->name);
  for (const LinkPtr& other : links_.all()) {
    if (other->same_as == link->name) other->same_as.clear();
    if (other->unused.empty() && !other->is_refused) continue;
    other->wake(true);  // it may have been unused because of this one
  }
  ctrl::log::info("peer " + link->name + " is removed");
}

// A peer's life: connect, talk, and after a failure wait longer each time.
Async<void> Peers::keep(LinkPtr link) {
  while (!link->is_ended) {
    co_await talk(link);
    if (link->is_ended) co_return;
    link->look(present(), patience());
    const double chance = std::uniform_real_distribution<double>()(chance_);
    const double wait = link->unused.empty() ? link->backoff.next(chance) : kUnusedAgain;
    if (link->failures.count()) {
      ctrl::log::event(
          ctrl::log::MessageId::peer_lost,
          "peer " + link->name + ": " + (link->unused.empty() ? link->error : link->unused));
    }
    // News wake it, and are no reason to try sooner.
    const double until = present().steady + wait;
    while (!link->is_ended && !link->is_wanted && present().steady < until) {
      link->timer.expires_after(nanoseconds(std::max(until - present().steady, 0.0)));
      (void)co_await link->timer.async_wait(kAwait);
    }
    link->is_wanted = false;
  }
}

Async<void> Peers::talk(LinkPtr link) {
  const std::vector<std::string> words = ssh_command(link->address, ssh_folder_, patience());
  Result<std::shared_ptr<Channel>> opened = Channel::open(host_.io(), words);
  if (!opened) {
    link->error = opened.error().message() + " (apt install openssh-client)";
    co_return;
  }
  const std::shared_ptr<Channel> channel = *opened;
  link->channel = channel;
  const Result<void> ended = co_await converse(link);
  const std::string said = co_await channel->close();
  if (link->channel == channel) link->channel.reset();
  if (link->is_ended || ended) co_return;
  const Error& why = ended.error();
  const bool is_silent = is_timeout(why);
  if (is_silent && said.empty()) {
    link->error = link->name + " does not answer: is it switched on and in the network?";
  } else if (is_silent || why.code == asio::error::eof) {
    link->error = explain_ssh(said, link->name);
  } else {
    link->error = why.message();
  }
}

// Returns when the connection is of no more use.
Async<Result<void>> Peers::converse(LinkPtr link) {
  Result<void> greeted = co_await greet(link);
  if (!greeted) co_return greeted;
  while (!link->is_ended) {
    link->is_due = false;
    const double asked = present().steady;
    Result<void> exchanged = co_await exchange(link);
    if (!exchanged) co_return exchanged;
    for (;;) {
      const double due = asked + (link->is_due ? kLeastGap : heartbeat_);
      const double left = due - present().steady;
      if (link->is_ended || left <= 0) break;
      link->timer.expires_after(nanoseconds(std::max(left, 0.0)));
      (void)co_await link->timer.async_wait(kAwait);
    }
  }
  co_return Result<void>();
}

Async<Result<void>> Peers::greet(LinkPtr link) {
  Result<Reply> reply = co_await link->ask("GET", "/v1/peer/hello", "", kConnectTime);
  if (!reply) co_return reply.error();
  if (reply->status != 200) co_return refusal(*reply);
  Result<Hello> hello = parse_hello(reply->body);
  if (!hello) co_return wrap(hello.error(), "no flowcond of a known version answers there");
  const Result<std::int64_t> protocol = choose_protocol({}, hello->protocol);
  if (!protocol) co_return protocol.error();
  std::string id = hello->id;
  const IdVerdict verdict = co_await judge(link, std::move(id));
  link->is_refused = verdict.kind == IdVerdict::Kind::refused;
  if (link->is_refused) {
    if (!link->unused.empty()) link->hello.reset();  // it was another's
    link->unused.clear();
    link->same_as.clear();
    co_return bad_input(verdict.why);
  }
  link->hello = *hello;
  link->unused = verdict.why;
  link->same_as = verdict.same_as;
  if (!link->unused.empty()) co_return bad_input(link->unused);
  link->known_id = hello->id;
  link->may_be_another = false;
  ledger_.settle(hello->id, hello->incarnation);
  co_await ids_.keep(link);
  co_return Result<void>();
}

// Nothing is waited for once the verdict is made: two that greet at once do not both get an id.
Async<IdVerdict> Peers::judge(LinkPtr link, std::string id) {
  const auto other_with_id = [this, link, id] {
    return std::find_if(links_.all().begin(), links_.all().end(), [&](const LinkPtr& other) {
      return other != link && other->known_id == id;
    });
  };
  std::string known_hosts;
  if (other_with_id() != links_.all().end()) {
    auto read = [file = known_hosts_file(ssh_folder_)] { return file_text(file); };
    known_hosts = co_await host_.effects().run(std::move(read));
  }
  const auto other = other_with_id();
  std::optional<PeerId> holder;
  if (other != links_.all().end()) holder = PeerId{(*other)->address, (*other)->known_id};
  const PeerId peer{link->address, link->may_be_another ? "" : link->known_id};
  const IdVerdict verdict = judge_id(peer, id, identity_.id, holder, known_hosts);
  const bool replaces = holder && verdict.kind == IdVerdict::Kind::unused &&
                        (*other)->is_leaving() && id != identity_.id;
  if (!replaces) co_return verdict;
  // The same host by another name, and nothing names it by this one any more.
  const LinkPtr former = *other;
  drop(former);
  co_return judge_id(peer, id, identity_.id, {}, known_hosts);
}

Async<Result<void>> Peers::exchange(LinkPtr link) {
  Result<Reply> reply =
      co_await link->ask("POST", "/v1/peer/state", render(next_state()), patience());
  if (!reply) co_return reply.error();
  if (reply->status != 200) co_return refusal(*reply);
  const Result<State> state = parse_state(reply->body);
  if (!state) co_return wrap(state.error(), "its state makes no sense");
  if (!link->hello || state->id != link->hello->id) {
    co_return bad_input("another host answers than a moment ago");
  }
  link->hello->host = state->name;
  ledger_.settle(state->id, state->incarnation, state->sequence);
  const Instant now = present();
  link->take_answer(*state, now, heartbeat_);
  if (!link->error.empty() || link->failures.total() > 0) {
    ctrl::log::event(ctrl::log::MessageId::peer_found, "peer " + link->name + " is reachable");
  }
  link->error.clear();
  link->look(now, patience());
  link->backoff.reset();
  link->failures.reset();
  if (rest_.hear) rest_.hear();
  co_return Result<void>();
}

void Peers::follow_swarm() {
  if (is_ended_) return;
  const std::vector<SwarmMember>& members = swarm_.members();
  const std::vector<LinkPtr> before = links_.all();
  for (const LinkPtr& link : before) {
    const bool is_member = std::any_of(members.begin(), members.end(), [&](const SwarmMember& m) {
      return !m.is_here && m.address == link->address;
    });
    if (!link->is_from_swarm) continue;
    if (is_member) link->leaving = Link::Leaving::no;
    if (!is_member && may_go(*link, "in the swarm")) drop(link);
  }
  for (const SwarmMember& member : members) {
    if (!member.is_up) continue;
    // Who was added by name is a peer by that.
    const bool is_known = member.is_here || links_.find(host_and_port(member.address)) ||
                          (!member.name.empty() && links_.find(member.name));
    if (!is_known) add(member.address, false)->is_from_swarm = true;
  }
}

}  // namespace flowcon::cluster::peers
