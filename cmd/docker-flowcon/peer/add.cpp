// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/add.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <chrono>
#include <iostream>
#include <optional>
#include <ostream>
#include <thread>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/ssh_address.h"
#include "base/text.h"
#include "cmd/docker-flowcon/peer/files.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/peer/side.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kMostOffer = 64U << 10;
constexpr auto kJoinTime = std::chrono::seconds(20);

// Who the host is as a peer, whoever is its admin.
SshAddress peer_of(const SshAddress& host) { return {"", host.host, host.port}; }

// A constant, so that nothing a user typed gets to the other host's shell.
constexpr const char* kRemoteScript =
    "exec /bin/sh -c 's=; [ \"$(id -u)\" = 0 ] || s=\"sudo -n\"; "
    "for d in /usr/libexec /usr/lib /usr/local/libexec /usr/local/lib; do "
    "p=$d/docker/cli-plugins/docker-flowcon; "
    "[ ! -x $p ] || exec $s $p flowcon peer accept; done; "
    "echo \"docker-flowcon is not installed\" >&2; exit 127'";

Result<SshAddress> target_of(const std::string& host, const PeerAddOptions& options) {
  Result<SshAddress> address = parse_ssh_address(host);
  if (!address || options.port.empty()) return address;
  if (address->port != 22) return bad_input("the port is given twice");
  SshAddress with_port = *address;
  Result<SshAddress> port = parse_ssh_address("x:" + options.port);
  if (!port) return port.error();
  with_port.port = port->port;
  return with_port;
}

Result<SshAddress> address_of_here(const PeerAddOptions& options, const Side& side) {
  Result<SshAddress> address = parse_ssh_address(options.as.empty() ? side.name() : options.as);
  if (!address) return wrap(address.error(), "this host's name (another one: --as)");
  if (!address->user.empty()) return bad_input("--as has no user");
  return address;
}

Side::Say say_to(Terminal& terminal) {
  return [&terminal](const std::string& step) {
    terminal.err << step << "\n";
    terminal.err.flush();
  };
}

struct Scanned {
  std::string key;
  std::string fingerprint;
};

Result<std::vector<Scanned>> scan(const SshAddress& host) {
  Result<ToolResult> got = run_tool({"ssh-keyscan", "-T", "10", "-p", std::to_string(host.port),
                                     "-t", "ed25519,ecdsa,rsa", "--", host.host});
  if (!got) return got.error();
  std::vector<Scanned> all;
  for (const std::string& key : parse_keyscan(got->out)) {
    Result<std::string> fingerprint = fingerprint_of(key);
    if (!fingerprint) return fingerprint.error();
    all.push_back({key, *fingerprint});
  }
  if (all.empty()) {
    const std::string said = printable(got->err.substr(0, got->err.find('\n')), 200);
    return bad_input("got no host key from " + host_and_port(host) +
                     (said.empty() ? "" : " (" + said + ")") +
                     ": is it switched on, in the network, and does its sshd listen on this port?");
  }
  return all;
}

bool is_confirmed(Terminal& terminal, const SshAddress& host, const std::vector<Scanned>& keys) {
  terminal.err << "The host keys of " << host_and_port(host) << ":\n";
  for (const Scanned& key : keys) {
    terminal.err << "  " << key.fingerprint << " (" << key.key.substr(0, key.key.find(' '))
                 << ")\n";
  }
  terminal.err << "To show them on that host: ssh-keygen -lf "
                  "/etc/ssh/ssh_host_ed25519_key.pub\nAre these its keys? (yes/no) ";
  terminal.err.flush();
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

// The host keys to believe; the host is one that was asked about, or whose key is known.
// Takes what it used from the `given` fingerprints: those of one host say nothing of another.
Result<std::vector<std::string>> confirm(const Session& session, std::vector<std::string>& given,
                                         const Side& side, const SshAddress& host) {
  Result<std::vector<Scanned>> scanned = scan(host);
  if (!scanned) return scanned.error();
  std::vector<std::string> keys;
  std::vector<std::string> used;
  for (const Scanned& key : *scanned) {
    if (given.empty() || std::find(given.begin(), given.end(), key.fingerprint) != given.end()) {
      keys.push_back(key.key);
      used.push_back(key.fingerprint);
    }
  }
  if (!given.empty()) {
    std::erase_if(given, [&](const std::string& one) {
      return std::find(used.begin(), used.end(), one) != used.end();
    });
    if (!keys.empty()) return keys;
    return bad_input("no host key of " + host_and_port(host) + " has the fingerprint " +
                     printable(given.front(), 80) +
                     (given.size() > 1 ? " or another given one" : "") +
                     ": it is another host, or somebody intercepts the connection");
  }
  const std::vector<std::string> known = side.trusted(host);
  const bool is_known = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::find(known.begin(), known.end(), key) != known.end();
  });
  if (is_known) return known;
  if (!known.empty()) {
    return bad_input("the host key of " + host_and_port(host) +
                     " has changed: it was reinstalled, or somebody intercepts the connection. If "
                     "the change is intended, give --fingerprint with the new one");
  }
  if (::isatty(STDIN_FILENO) == 0) {
    return bad_input("cannot ask whether the host key is right: give --fingerprint (" +
                     scanned->front().fingerprint + " is the received one)");
  }
  if (!is_confirmed(session.terminal, host, *scanned)) {
    return bad_input("the host keys of " + host_and_port(host) + " were not confirmed");
  }
  return keys;
}

// May ssh ask the admin for a password?
enum class Asking { yes, no };

// Has `host` do its part for the host of `offer`, as the admin. The answer is its own offer.
Result<Offer> ask_other(const Side& side, const SshAddress& host, const Offer& offer,
                        bool create_user, Asking asking) {
  Result<json::value> body = parse_json(render_offer(offer));
  body->get_object()["create_user"] = create_user;
  const auto words = admin_ssh(host, side.known_hosts(), asking == Asking::yes);
  const Result<ToolResult> done = run_tool(words, render_json(*body), ToolErrors::pass_on);
  if (!done) return done.error();
  if (done->status != 0) {
    const std::string user = host.user.empty() ? "" : " as " + host.user;
    return bad_input(done->status == 255
                         ? "ssh to " + host_and_port(host) + user +
                               " failed: it needs an admin's login there, root or a user with sudo "
                               "(docker flowcon peer add USER@HOST)"
                         : "the part of " + host_and_port(host) + " failed, see above");
  }
  const Result<json::value> answer = parse_json(done->out);
  if (!answer) return wrap(answer.error(), "the answer of " + host_and_port(host));
  Result<Offer> theirs = parse_offer(*answer);
  if (theirs) theirs->address = peer_of(host);
  return theirs;
}

// Waits until flowcond has reached the new peer.
Result<std::string> await_reachable(const DaemonClient& daemon, const std::string& name) {
  std::string error = "not connected yet";
  const auto until = std::chrono::steady_clock::now() + kJoinTime;
  while (std::chrono::steady_clock::now() < until) {
    const Result<json::value> answer = daemon.get("/v1/peers");
    if (!answer) return answer.error();
    for (const json::value& peer : list_of(member(*answer, "peers"))) {
      if (text_of(member(peer, "name")) != name) continue;
      const std::string state = text_of(member(peer, "state"));
      if (state == "reachable") return text_of(member(peer, "version"));
      const std::string said = printable(text_of(member(peer, "error")), 400);
      if (state == "unused") return bad_input(said);
      if (!said.empty()) error = said;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return bad_input(name + " is added but not reachable yet: " + error);
}

// A host that this one has as a peer.
struct Member {
  SshAddress login;             // of an admin
  std::optional<Offer> offer;   // empty: not asked for it yet
  Asking asking = Asking::yes;  // no: nobody named it in this command
};

// Makes this host and `host` peers.
Result<Member> pair_with(const Session& session, PeerAddOptions& options,
                         const DaemonClient& daemon, const Side& side, const Offer& ours,
                         const SshAddress& host) {
  const SshAddress peer = peer_of(host);
  const auto host_keys = confirm(session, options.fingerprints, side, peer);
  if (!host_keys) return host_keys.error();
  if (auto trusted = side.trust(peer, *host_keys); !trusted) return trusted.error();
  const Result<Offer> theirs = ask_other(side, host, ours, options.create_user, Asking::yes);
  if (!theirs) return theirs.error();
  if (theirs->key == ours.key) return bad_input(host_and_port(peer) + " is this host itself");
  if (auto allowed = side.authorize(peer, theirs->key); !allowed) return allowed.error();
  if (auto opened = side.open_service(); !opened) return opened.error();
  if (auto joined = side.join(peer); !joined) return joined.error();
  const Result<std::string> version = await_reachable(daemon, host_and_port(peer));
  if (!version) return version.error();
  session.terminal.out << host_and_port(peer) << "\n";
  session.terminal.out.flush();
  return Member{host, *theirs};
}

// This host's peers that were not `asked` for, with the login that the admin has for `named`.
Result<std::vector<Member>> other_members(const DaemonClient& daemon,
                                          const std::vector<SshAddress>& asked,
                                          const std::vector<Member>& named) {
  const Result<json::value> answer = daemon.get("/v1/peers");
  if (!answer) return answer.error();
  std::vector<Member> others;
  for (const json::value& peer : list_of(member(*answer, "peers"))) {
    const Result<SshAddress> address = parse_ssh_address(text_of(member(peer, "name")));
    if (!address || text_of(member(peer, "state")) == "unused") continue;
    const bool is_asked = std::any_of(asked.begin(), asked.end(), [&](const SshAddress& one) {
      return peer_of(one) == *address;
    });
    if (is_asked) continue;
    others.push_back({{named.front().login.user, address->host, address->port}, {}, Asking::no});
  }
  return others;
}

// Makes two other hosts peers; `other` has its offer.
Result<void> introduce(const Side& side, Member& one, const Member& other, bool create_user) {
  const Result<Offer> theirs = ask_other(side, one.login, *other.offer, create_user, one.asking);
  if (!theirs) return theirs.error();
  one.offer = *theirs;
  const Result<Offer> done = ask_other(side, other.login, *theirs, create_user, other.asking);
  return done ? Result<void>() : done.error();
}

// Adds to a list for people.
void add_to(std::string& list, const std::string& one) { list += (list.empty() ? "" : ", ") + one; }

// The command that adds these as this one was to.
std::string later_command(const PeerAddOptions& options, const std::vector<SshAddress>& hosts) {
  std::string command = "sudo docker flowcon peer add";
  if (options.create_user) command += " --create-user";
  if (!options.as.empty()) command += " --as " + options.as;
  for (const SshAddress& host : hosts) command += " " + render_ssh_address(host);
  return command;
}

// Each pair of `named`, and each of them with the peers that were there before. Returns the pairs
// of the former that failed; that one of the latter cannot be reached is a warning.
Result<std::string> introduce_all(const Session& session, const DaemonClient& daemon,
                                  const Side& side, const std::vector<SshAddress>& asked,
                                  std::vector<Member> named, const PeerAddOptions& options) {
  if (named.empty()) return std::string();
  Result<std::vector<Member>> others = other_members(daemon, asked, named);
  if (!others) return others.error();
  std::string failed;
  for (std::size_t i = 0; i < named.size(); ++i) {
    for (std::size_t k = 0; k < i + others->size(); ++k) {
      Member& one = k < i ? named[k] : (*others)[k - i];
      const Result<void> done = introduce(side, one, named[i], options.create_user);
      if (done) continue;
      session.terminal.err << done.error().message() << "; later, on this host: "
                           << later_command(options, {one.login, named[i].login}) << "\n";
      if (k < i) add_to(failed, host_and_port(one.login) + " " + host_and_port(named[i].login));
    }
  }
  return failed;
}

// Makes this host a peer of each of `hosts`, and those that it reached peers of each other. Errors:
// one of them is not connected.
Result<void> pair_with_all(const Session& session, PeerAddOptions options,
                           const DaemonClient& daemon, const Side& side, const Offer& ours,
                           const std::vector<SshAddress>& hosts) {
  std::vector<Member> named;
  std::string missing;
  for (const SshAddress& host : hosts) {
    Result<Member> member = pair_with(session, options, daemon, side, ours, host);
    if (member) {
      named.push_back(std::move(*member));
      continue;
    }
    if (hosts.size() == 1) return member.error();
    session.terminal.err << host_and_port(host) << " is not connected: " << member.error().message()
                         << "; later, on this host: " << later_command(options, {host}) << "\n";
    add_to(missing, host_and_port(host));
  }
  Result<std::string> failed =
      introduce_all(session, daemon, side, hosts, std::move(named), options);
  if (!failed) return failed.error();
  std::string error = missing.empty() ? "" : "not connected: " + missing;
  if (!failed->empty()) {
    error += (error.empty() ? "" : "; ") + ("do not know each other yet: " + *failed);
  }
  return error.empty() ? Result<void>() : bad_input(error);
}

Result<void> add_peers(const Session& session, const PeerAddOptions& options) {
  std::vector<SshAddress> hosts;
  for (const std::string& word : options.hosts) {
    const Result<SshAddress> host = target_of(word, options);
    if (!host) return host.error();
    hosts.push_back(*host);
  }
  const Result<DaemonClient> daemon = find_daemon(session, "peer add");
  if (!daemon) return daemon.error();
  Result<Side> side = Side::open(*daemon, say_to(session.terminal));
  if (!side) return side.error();
  const Result<SshAddress> here = address_of_here(options, *side);
  if (!here) return here.error();
  const Result<std::string> own_key = side->own_key();
  if (!own_key) return own_key.error();
  if (auto made = side->ensure_user(options.create_user); !made) return made;
  const Offer ours{*here, *own_key, own_host_keys()};
  if (ours.host_keys.empty()) {
    return bad_input("this host's sshd has no keys in /etc/ssh: install openssh-server");
  }
  return pair_with_all(session, options, *daemon, *side, ours, hosts);
}

Result<void> accept_offer(const Session& session) {
  std::string text(kMostOffer + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  const Result<json::value> said = parse_json(text);
  if (!said) return wrap(said.error(), "the offer on stdin");
  const Result<Offer> offer = parse_offer(*said);
  if (!offer) return offer.error();
  const Result<DaemonClient> daemon = find_daemon(session, "peer accept");
  if (!daemon) return daemon.error();
  Result<Side> side = Side::open(*daemon, say_to(session.terminal));
  if (!side) return side.error();
  const Result<std::string> own_key = side->own_key();
  if (!own_key) return own_key.error();
  if (*own_key == offer->key) return bad_input("that is this host itself");
  if (auto made = side->ensure_user(is_true(member(*said, "create_user"))); !made) return made;
  if (auto trusted = side->trust(offer->address, offer->host_keys); !trusted) return trusted;
  if (auto allowed = side->authorize(offer->address, offer->key); !allowed) return allowed;
  if (auto opened = side->open_service(); !opened) return opened;
  if (auto joined = side->join(offer->address); !joined) return joined;
  const Offer ours{{"", "self", 22}, *own_key, own_host_keys()};
  session.terminal.out << render_offer(ours) << "\n";
  return {};
}

// Containers whose move from or to the host `id` is not finished.
std::string moving_with(const json::value& moves, const std::string& id) {
  std::string names;
  for (const json::value& move : list_of(member(moves, "moves"))) {
    const bool is_with =
        text_of(member(move, "source")) == id || text_of(member(move, "target")) == id;
    if (id.empty() || !is_with || is_true(member(move, "ended"))) continue;
    names += (names.empty() ? "" : ", ") + printable(text_of(member(move, "name")), 80);
  }
  return names;
}

// A peer that the configuration or a swarm names is not taken away here: its keys stay, too. So do
// those of one that moves are open with: without them no host hears how they end.
Result<void> removable(const Session& session, const DaemonClient& daemon, const std::string& name,
                       bool is_forced) {
  const Result<json::value> answer = daemon.get("/v1/peers");
  if (!answer) return answer.error();
  const Result<json::value> moves = daemon.get("/v1/moves");
  // What is not known may be open.
  if (!moves && !is_forced) return moves.error();
  const bool is_whole =
      !moves || !member(*moves, "whole").is_bool() || is_true(member(*moves, "whole"));
  if (!is_whole && !is_forced) {
    return bad_input(
        "the journal of migrations is lost or cannot be read in part, so it is not known which are "
        "open; to remove it all the same: docker flowcon peer rm --force " +
        name);
  }
  for (const json::value& peer : list_of(member(*answer, "peers"))) {
    if (text_of(member(peer, "name")) != name) continue;
    const std::string open = moves ? moving_with(*moves, text_of(member(peer, "id"))) : "";
    if (!open.empty() && !is_forced) {
      return bad_input("migrations from or to " + name + " are open: " + open +
                       "; wait for them (docker flowcon migrate --cancel ends one before its "
                       "hand-over), or finish them by hand: docker flowcon peer rm --force " +
                       name);
    }
    if (!open.empty()) {
      session.terminal.err
          << "Migrations from or to " << name
          << " are open and no longer end by themselves: " << open
          << ". Make sure on both hosts that one copy of each runs, then end each on its side: "
          << "docker flowcon migrate --take-back on its old host, --keep on its new one\n";
    }
    const std::string source = text_of(member(peer, "source"));
    if (source == "config") {
      return bad_input(name +
                       " is a peer by the configuration: remove its line there, then: systemctl "
                       "reload flowcond");
    }
    if (source == "swarm") {
      return bad_input(name + " is a peer as a member of the swarm (option peers-from)");
    }
  }
  return {};
}

Result<void> remove_peer(const Session& session, const std::string& name, bool is_forced) {
  const Result<SshAddress> peer = parse_ssh_address(name);
  if (!peer) return peer.error();
  const Result<DaemonClient> daemon = find_daemon(session, "peer rm");
  if (!daemon) return daemon.error();
  auto may = removable(session, *daemon, host_and_port(*peer), is_forced);
  if (!may) return may;
  Result<Side> side = Side::open(*daemon, say_to(session.terminal));
  if (!side) return side.error();
  // The key first: flowcond then ends what it was used for.
  if (auto revoked = side->revoke(*peer); !revoked) return revoked;
  if (auto forgotten = side->trust(*peer, {}); !forgotten) return forgotten;
  const std::string target = peer_target(host_and_port(*peer), "remove");
  const auto answer = daemon->post(target, is_forced ? R"({"force":true})" : "");
  if (!answer) return answer.error();
  session.terminal.err << "To remove this host's key there: docker flowcon peer rm "
                       << printable(side->name(), 100) << " on " << host_and_port(*peer) << "\n";
  session.terminal.out << host_and_port(*peer) << "\n";
  return {};
}

int status_of(Terminal& terminal, const Result<void>& done) {
  return done ? kDone : report(terminal, done.error());
}

}  // namespace

void declare_peer_add(CLI::App& app, PeerAddOptions& options) {
  app.add_option("HOST", options.hosts)->required();
  app.add_option("--port", options.port, "Port of their sshd (default 22)")->type_name("port");
  app.add_option("--fingerprint", options.fingerprints,
                 "Fingerprint of a host key, SHA256:…, instead of asking; one for each host")
      ->type_name("string")
      ->allow_extra_args(false);
  app.add_option("--as", options.as,
                 "How they reach this host: host or host:port (default: this host's name)")
      ->type_name("host");
  app.add_flag("--create-user", options.create_user,
               "Create the system user flowcon-peer on each host if it is missing");
}

std::string check_peer_add(const PeerAddOptions& options) {
  for (const std::string& word : options.hosts) {
    const Result<SshAddress> host = target_of(word, options);
    if (!host) return host.error().message();
  }
  for (const std::string& fingerprint : options.fingerprints) {
    if (!fingerprint.starts_with("SHA256:")) return "--fingerprint: has to begin with SHA256:";
  }
  if (options.as.empty()) return "";
  const Result<SshAddress> as = parse_ssh_address(options.as);
  return as ? "" : "--as: " + as.error().message();
}

std::vector<std::string> admin_ssh(const SshAddress& host, const std::string& known_hosts,
                                   bool may_ask) {
  std::vector<std::string> words{"ssh", "-T", "-a", "-x"};
  for (const std::string& option :
       {std::string("StrictHostKeyChecking=yes"), "UserKnownHostsFile=" + known_hosts,
        std::string("GlobalKnownHostsFile=/dev/null"), std::string("UpdateHostKeys=no"),
        std::string("ConnectTimeout=10"), std::string("ServerAliveInterval=10"),
        std::string("ServerAliveCountMax=3"), std::string("ControlPath=none"),
        std::string("LogLevel=ERROR"), std::string(may_ask ? "BatchMode=no" : "BatchMode=yes")}) {
    words.insert(words.end(), {"-o", option});
  }
  if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
  words.insert(words.end(), {"-p", std::to_string(host.port), "--", host.host, kRemoteScript});
  return words;
}

int run_peer_add(const Session& session, const PeerAddOptions& options) {
  return status_of(session.terminal, add_peers(session, options));
}

void declare_peer_rm(CLI::App& app, PeerRmOptions& options) {
  app.add_option("HOST", options.host)->required();
  app.add_flag("-f,--force", options.force,
               "Also with open migrations, which then no longer end by themselves");
}

int run_peer_rm(const Session& session, const PeerRmOptions& options) {
  return status_of(session.terminal, remove_peer(session, options.host, options.force));
}

void declare_peer_accept(CLI::App&, PeerAcceptOptions&) {}

int run_peer_accept(const Session& session, const PeerAcceptOptions&) {
  return status_of(session.terminal, accept_offer(session));
}

}  // namespace flowcon::plugin
