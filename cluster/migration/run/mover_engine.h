// SPDX-License-Identifier: Apache-2.0
// What the engine of one host says of a move's container, and what it is told to do with it. Each
// is one request or a few; all may be repeated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/description.h"
#include "cluster/migration/plan/journal.h"
#include "cluster/migration/run/mover_plan.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/settings.h"

namespace flowcon::cluster::migration {

/// A container, as far as a move has to know.
struct Seen {
  Copy copy = Copy::unknown;
  std::string id;
  std::string name;
  std::int64_t pid = 0;
  std::int64_t exit_code = 0;
  bool is_paused = false;
  bool was_killed_for_memory = false;
  double lived = 0;     ///< seconds, of one that has ended
  std::string started;  ///< seconds since the epoch with their fraction; empty: it never was
  std::string error;    ///< the engine's, of the last start
  boost::json::object restart_policy;
  std::map<std::string, std::string> labels;
  std::string inspect;  ///< the whole answer
};

/// Restarts an engine by itself what has this policy?
[[nodiscard]] bool restarts(const boost::json::object& policy);
/// And after an end with this status?
[[nodiscard]] bool restarts_after(const boost::json::object& policy, std::int64_t exit_code);
/// Say both the same? Nothing is "no".
[[nodiscard]] bool is_same_policy(const boost::json::object& a, const boost::json::object& b);

/// Pure: the engine's answer to GET /containers/ID/json. Errors: none that is one.
[[nodiscard]] Result<Seen> parse_seen(std::string text);

struct Volumes {
  std::vector<PlannedVolume> planned;
  std::vector<std::string> obstacles;
};

/// What the engine has against a plan, and what it takes to judge the rest.
struct Conflicts {
  std::vector<std::string> reasons;
  std::string root;     ///< where it keeps its data
  std::string runtime;  ///< that containers get which name none
};

/// Why `bytes` more do not fit below `folder`; empty: they do. Asks the file system.
[[nodiscard]] std::string why_no_room(const std::string& folder, std::uint64_t bytes);

class EngineSide {
 public:
  explicit EngineSide(ctrl::engine::Client& client) : client_(client) {}

  /// By name or id. Errors: ENOENT there is none; the engine does not answer.
  ctrl::Async<Result<Seen>> look(std::string name);
  /// The container that was made for the move `id`; its copy is `absent` where there is none.
  ctrl::Async<Result<Seen>> look_made(std::string id);
  /// Names of the volumes that were made for the move `id`.
  ctrl::Async<Result<std::vector<std::string>>> volumes_made(std::string id);

  /// What describe() does not see of volumes: options, other containers that use them.
  ctrl::Async<Result<Volumes>> look_at_volumes(Description description);

  /// Why the plan cannot be made real here: name, volumes, network, ports, memory. Errors: the
  /// engine does not answer.
  ctrl::Async<Result<Conflicts>> conflicts(std::string name, Plan plan);
  /// Where it keeps its data. Errors: it does not answer.
  ctrl::Async<Result<std::string>> root();

  /// Why this host's engine cannot use CRIU, in words; empty: it can, as far as can be seen.
  /// Errors: it does not answer.
  ctrl::Async<Result<std::string>> why_no_criu();

  /// The folder that the engine keeps its containers in, restart policies and states among it.
  /// Errors: it does not answer, or says none.
  ctrl::Async<Result<std::string>> containers_folder();

  /// Makes the volumes and the container; its id. `image`: what the plan's is called here.
  ctrl::Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                        std::string image);
  ctrl::Async<Result<void>> set_policy(std::string container, boost::json::object policy);
  /// `checkpoint` "" = from its beginning.
  ctrl::Async<Result<void>> start(std::string container, std::string checkpoint);
  ctrl::Async<Result<void>> stop(std::string container);
  /// Without the time that stop() gives it: it must not run.
  ctrl::Async<Result<void>> stop_at_once(std::string container);
  ctrl::Async<Result<void>> kill(std::string container, int signal);
  /// Has it printed anything since it was started? Not where its log cannot be read.
  ctrl::Async<bool> has_printed(Seen seen);
  /// GET /containers/ID/changes, no more than kMaxChangesBytes and a piece of it.
  ctrl::Async<Result<std::string>> changes(std::string container);
  /// Runs `words` in the container; its exit status. When it takes longer it is ended.
  ctrl::Async<Result<std::int64_t>> execute(std::string container, std::vector<std::string> words,
                                            double seconds);
  ctrl::Async<Result<void>> make_checkpoint(std::string container, std::string checkpoint,
                                            double seconds);
  ctrl::Async<Result<void>> remove_checkpoint(std::string container, std::string checkpoint);
  /// The container, running or not, with the volumes that have no name of a user's; none is fine.
  ctrl::Async<Result<void>> remove(std::string container);
  /// A volume that nobody uses any more; one that is used stays.
  ctrl::Async<Result<void>> remove_volume(std::string name);

 private:
  ctrl::Async<Result<void>> expect(std::string method, std::string path, std::string body,
                                   double seconds, std::string doing);
  ctrl::Async<Result<boost::json::value>> get(std::string path, std::string doing);
  ctrl::engine::Client& client_;
};

}  // namespace flowcon::cluster::migration
