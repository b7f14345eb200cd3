// SPDX-License-Identifier: Apache-2.0
// The hosts that this one knows, as the rest of the cluster sees them. cluster/peers is behind it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/peers/message.h"
#include "ctrl/api/server.h"
#include "ctrl/async.h"
#include "ctrl/reply.h"

namespace flowcon::cluster {

/// A peer that is one: not this host itself, not a host that is listed twice.
struct Neighbour {
  std::string id;    ///< of its last connection: 32 hexadecimal digits; empty before the first
  std::string name;  ///< as people name it here: the name of the link
  bool is_reachable = false;  ///< its connection stands, and it answered within three heartbeats
  std::optional<peers::State> state;  ///< the newest it told, however old
  std::string error;                  ///< why it is not reachable, in words
};

using Answer = ctrl::Reply;

/// What a peer says that refuses: the sentence of its answer, else that it has only a status.
[[nodiscard]] std::string refusal_of(const Answer& answer);

/// What POST /v1/peer/call takes: a call of docs/api.md for the host that is asked, or for one
/// that it passes it on to.
[[nodiscard]] std::string passed_call(const std::string& method, const std::string& target,
                                      const std::string& body = "", std::int64_t hops = 1);
/// Its answer by the host `there`, as this one gives it: only as JSON that it has written itself.
/// `is_forwarded`: with that host's name, if it has none.
[[nodiscard]] ctrl::api::Response passed_answer(const Answer& answer, const std::string& there,
                                                bool is_forwarded = false);

class Network {
 public:
  /// Seconds. Heartbeats wait for what is asked over their connection: what may take longer gets
  /// one of its own.
  static constexpr double kMostOnConnection = 20;

  virtual ~Network() = default;
  /// This host's id; empty where it has none yet.
  [[nodiscard]] virtual const std::string& own_id() const = 0;
  [[nodiscard]] virtual std::string own_name() const = 0;
  /// Where another system decides who leads: the ids of the hosts that may, of which one does,
  /// those that are not known left out. Empty: the lowest name does.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> leaders() const {
    return std::nullopt;
  }
  /// Does this host give away what it has?
  [[nodiscard]] virtual bool is_draining() const = 0;
  /// In the order of their list.
  [[nodiscard]] virtual std::vector<Neighbour> neighbours() const = 0;
  /// One request to a peer's peer socket; the answer has to come within `seconds`. With at most
  /// kMostOnConnection it waits for its turn on the connection that is open, which ends where no
  /// answer comes; with more it has a connection of its own. Errors: no such peer, no connection,
  /// no answer; the sentence names the peer.
  virtual Async<Result<Answer>> ask(std::string id, std::string method, std::string target,
                                    std::string body, double seconds) = 0;
  /// The words of an ssh that bridges to the peer's socket, for a connection of one's own (much
  /// data). Errors: no such peer.
  [[nodiscard]] virtual Result<std::vector<std::string>> dial(const std::string& id) const = 0;
  /// This host's state has changed; the peers are told at once.
  virtual void tell() = 0;
};

/// As people know it; the beginning of its id where it is no neighbour any more.
[[nodiscard]] std::string name_of_host(const Network& network, const std::string& id);

/// A host that may coordinate.
struct Member {
  std::string name;
  std::string id;
};
/// The lowest name, then id. `members` has at least one.
[[nodiscard]] const Member& coordinator_of(const std::vector<Member>& members);

/// Who coordinates, of this host and those that are reached; of jobs: of those whose queue decides.
/// Without id: nobody that is reached.
[[nodiscard]] Member coordinator(const Network& network, bool of_jobs = false);
/// May this host give orders here? A worker of a swarm knows its managers, and not which one leads.
[[nodiscard]] bool follows(const Network& network, const std::string& id, bool of_jobs = false);

/// The host that a request on the peer socket comes from: only its own key leads to `from`
/// (ctrl::api::Request::from), so what it says of itself can be held against this id. Errors: in
/// words for an answer of status 403: it did not say who it is, it is no peer, or its id is not
/// known yet.
[[nodiscard]] Result<std::string> speaker_id(const Network& network, const std::string& from);

}  // namespace flowcon::cluster
