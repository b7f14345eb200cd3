// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/add.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <chrono>
#include <iostream>
#include <ostream>
#include <thread>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/ssh_address.h"
#include "base/text.h"
#include "cluster/peers/ssh.h"
#include "cmd/docker-flowcon/peer/files.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/peer/side.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostOffer = 64U << 10;
constexpr auto kJoinTime = std::chrono::seconds(20);

// A constant, so that nothing a user typed gets to the other host's shell.
constexpr const char* kRemoteScript =
    "exec /bin/sh -c 's=; [ \"$(id -u)\" = 0 ] || s=\"sudo -n\"; "
    "for d in /usr/libexec /usr/lib /usr/local/libexec /usr/local/lib; do "
    "p=$d/docker/cli-plugins/docker-flowcon; "
    "[ ! -x $p ] || exec $s $p flowcon peer accept; done; "
    "echo \"docker-flowcon is not installed\" >&2; exit 127'";

Result<SshAddress> target_of(const PeerAddOptions& options) {
  Result<SshAddress> address = parse_ssh_address(options.host);
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

Side::Say say_to(Terminal& terminal, const std::string& who) {
  return [&terminal, who](const std::string& step) {
    terminal.err << who << ": " << step << "\n";
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
Result<std::vector<std::string>> confirm(const Session& session, const PeerAddOptions& options,
                                         const Side& side, const SshAddress& host) {
  Result<std::vector<Scanned>> scanned = scan(host);
  if (!scanned) return scanned.error();
  std::vector<std::string> keys;
  for (const Scanned& key : *scanned) {
    if (options.fingerprint.empty() || key.fingerprint == options.fingerprint) {
      keys.push_back(key.key);
    }
  }
  if (!options.fingerprint.empty()) {
    if (!keys.empty()) return keys;
    return bad_input("no host key of " + host_and_port(host) + " has the fingerprint " +
                     printable(options.fingerprint, 80) +
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
  if (!is_confirmed(session.terminal, host, *scanned)) return bad_input("nothing was changed");
  return keys;
}

// Has the other side do its part, as the admin.
Result<Offer> ask_other(const Side& side, const SshAddress& host, const Offer& offer,
                        bool create_user) {
  Result<json::value> body = parse_json(render_offer(offer));
  body->get_object()["create_user"] = create_user;
  std::vector<std::string> words{"ssh", "-T", "-a", "-x"};
  for (const std::string& option :
       {std::string("StrictHostKeyChecking=yes"), "UserKnownHostsFile=" + side.known_hosts(),
        std::string("GlobalKnownHostsFile=/dev/null"), std::string("UpdateHostKeys=no"),
        std::string("ConnectTimeout=10"), std::string("ControlPath=none"),
        std::string("LogLevel=ERROR")}) {
    words.insert(words.end(), {"-o", option});
  }
  if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
  words.insert(words.end(), {"-p", std::to_string(host.port), "--", host.host, kRemoteScript});
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
  return parse_offer(*answer);
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

Result<void> add_peer(const Session& session, const PeerAddOptions& options) {
  const Result<SshAddress> host = target_of(options);
  if (!host) return host.error();
  const Result<DaemonClient> daemon = find_daemon(session, "peer add");
  if (!daemon) return daemon.error();
  Result<Side> side = Side::open(*daemon, say_to(session.terminal, "here"));
  if (!side) return side.error();
  const Result<SshAddress> here = address_of_here(options, *side);
  if (!here) return here.error();
  const Result<std::string> own_key = side->own_key();
  if (!own_key) return own_key.error();
  if (auto made = side->ensure_user(options.create_user); !made) return made;
  const SshAddress peer{"", host->host, host->port};
  const Result<std::vector<std::string>> host_keys = confirm(session, options, *side, peer);
  if (!host_keys) return host_keys.error();
  if (auto trusted = side->trust(peer, *host_keys); !trusted) return trusted;
  const Offer ours{*here, *own_key, own_host_keys()};
  if (ours.host_keys.empty()) {
    return bad_input("this host's sshd has no keys in /etc/ssh: install openssh-server");
  }
  const Result<Offer> theirs = ask_other(*side, *host, ours, options.create_user);
  if (!theirs) return theirs.error();
  if (theirs->key == *own_key) return bad_input(host_and_port(peer) + " is this host itself");
  if (auto allowed = side->authorize(peer, theirs->key); !allowed) return allowed;
  if (auto opened = side->open_service(); !opened) return opened;
  if (auto joined = side->join(peer); !joined) return joined;
  const Result<std::string> version = await_reachable(*daemon, host_and_port(peer));
  if (!version) return version.error();
  session.terminal.out << host_and_port(peer) << "\n";
  return {};
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
  Result<Side> side = Side::open(*daemon, say_to(session.terminal, "there"));
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
          << "Moves from or to " << name << " are open and no longer end by themselves: " << open
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
  Result<Side> side = Side::open(*daemon, say_to(session.terminal, "here"));
  if (!side) return side.error();
  // The key first: flowcond then ends what it was used for.
  if (auto revoked = side->revoke(*peer); !revoked) return revoked;
  if (auto forgotten = side->trust(*peer, {}); !forgotten) return forgotten;
  const auto answer =
      daemon->post(peer_target(name, "remove"), is_forced ? R"({"force":true})" : "");
  if (!answer) return answer.error();
  session.terminal.err << "To remove this host's key there: docker flowcon peer rm "
                       << printable(side->name(), 100) << " on " << host_and_port(*peer) << "\n";
  session.terminal.out << name << "\n";
  return {};
}

int status_of(Terminal& terminal, const Result<void>& done) {
  return done ? kDone : report(terminal, done.error());
}

}  // namespace

void declare_peer_add(CLI::App& app, PeerAddOptions& options) {
  app.add_option("HOST", options.host)->required();
  app.add_option("--port", options.port, "Port of its sshd (default 22)")->type_name("port");
  app.add_option("--fingerprint", options.fingerprint,
                 "Fingerprint of its host key, SHA256:…, instead of asking")
      ->type_name("string");
  app.add_option("--as", options.as,
                 "How it reaches this host: host or host:port (default: this host's name)")
      ->type_name("host");
  app.add_flag("--create-user", options.create_user,
               "Create the system user flowcon-peer on both hosts if it is missing");
}

std::string check_peer_add(const PeerAddOptions& options) {
  const Result<SshAddress> host = target_of(options);
  if (!host) return host.error().message();
  if (!options.fingerprint.empty() && options.fingerprint.rfind("SHA256:", 0) != 0) {
    return "--fingerprint: has to begin with SHA256:";
  }
  if (options.as.empty()) return "";
  const Result<SshAddress> as = parse_ssh_address(options.as);
  return as ? "" : "--as: " + as.error().message();
}

int run_peer_add(const Session& session, const PeerAddOptions& options) {
  return status_of(session.terminal, add_peer(session, options));
}

void declare_peer_rm(CLI::App& app, PeerRmOptions& options) {
  app.add_option("HOST", options.host)->required();
  app.add_flag("-f,--force", options.force,
               "Also with open migrations, which then no longer end by themselves");
}

std::string check_peer_rm(const PeerRmOptions& options) {
  const Result<SshAddress> host = parse_ssh_address(options.host);
  return host ? "" : host.error().message();
}

int run_peer_rm(const Session& session, const PeerRmOptions& options) {
  return status_of(session.terminal, remove_peer(session, options.host, options.force));
}

void declare_peer_accept(CLI::App&, PeerAcceptOptions&) {}

int run_peer_accept(const Session& session, const PeerAcceptOptions&) {
  return status_of(session.terminal, accept_offer(session));
}

}  // namespace flowcon::plugin
