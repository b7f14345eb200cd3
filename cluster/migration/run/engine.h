// SPDX-License-Identifier: Apache-2.0
// What the engine of one host says of a move's container, and what it is told to do with it. Each
// is one request or a few; all may be repeated.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/description.h"
#include "cluster/migration/plan/journal.h"
#include "cluster/migration/run/move_plan.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {
class Mutex;
}  // namespace flowcon::ctrl

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
  std::string image;  ///< its id
  /// Of those that say what flowcond made it for none that its image has, too: that was committed
  /// from such a container.
  std::map<std::string, std::string> labels;
  boost::json::value inspect;  ///< the whole answer: an object
};

/// For lists of the engine: "filters=…", those of which `key` is `value`.
[[nodiscard]] std::string filter_of(const std::string& key, const std::string& value);

/// Restarts an engine by itself what has this policy?
[[nodiscard]] bool restarts(const boost::json::object& policy);
/// And after an end with this status?
[[nodiscard]] bool restarts_after(const boost::json::object& policy, std::int64_t exit_code);
/// Say both the same? Nothing is "no".
[[nodiscard]] bool is_same_policy(const boost::json::object& a, const boost::json::object& b);

/// Pure: the engine's answer to GET /containers/ID/json. Errors: none that is one.
[[nodiscard]] Result<Seen> parse_seen(std::string_view text);

struct Volumes {
  std::vector<PlannedVolume> planned;
  std::vector<std::string> obstacles;
};

/// A copy of data on this host.
struct DataVolume {
  std::string name;
  std::string folder;  ///< on the host
};

/// What the engine has against a plan, and what it takes to judge the rest.
struct Conflicts {
  std::vector<std::string> reasons;
  std::string root;     ///< where it keeps its data
  std::string runtime;  ///< that containers get which name none
};

/// A container that was made for a move, and that is gone.
struct Removal {
  std::string move;
  std::string container;         ///< full id
  std::optional<double> killed;  ///< by SIGKILL, seconds before; empty: not, or nobody knows
};

/// What an engine says of its host.
struct About {
  std::string architecture;        ///< plan/architecture.h
  std::set<std::string> managers;  ///< ids of those of its Docker Swarm; empty: it is in none
  std::string user_mapping;        ///< as user_mapping()
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// By name or id. Errors: ENOENT there is none; the engine does not answer.
  virtual Async<Result<Seen>> look(std::string name) = 0;
  /// The container that was made for the move `id`; its copy is `absent` where there is none.
  virtual Async<Result<Seen>> look_made(std::string id) = 0;
  /// Names of the volumes that were made for the move `id`.
  virtual Async<Result<std::vector<std::string>>> volumes_made(std::string id) = 0;

  /// Copies of data (plan/data_volume.h), used or not. Errors: the engine does not answer.
  virtual Async<Result<std::vector<DataVolume>>> data_volumes() = 0;

  /// What describe() does not see of volumes: options, other containers that use them; of data
  /// those that run and write to it.
  virtual Async<Result<Volumes>> look_at_volumes(Description description) = 0;

  /// Why the plan cannot be made real here: name, volumes, network, ports, users, memory. Errors:
  /// the engine does not answer.
  virtual Async<Result<Conflicts>> conflicts(std::string name, Plan plan) = 0;
  /// Where it keeps its data. Errors: it does not answer.
  virtual Async<Result<std::string>> root() = 0;

  /// Why this host's engine cannot use CRIU, in words; empty: it can, as far as can be seen.
  /// Errors: it does not answer.
  virtual Async<Result<std::string>> why_no_criu() = 0;

  /// The folder that the engine keeps its containers in, restart policies and states among it.
  /// Errors: it does not answer, or says none.
  virtual Async<Result<std::string>> containers_folder() = 0;

  /// Makes the volumes and the container; its id. `image`: what the plan's is called here.
  virtual Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                          std::string image) = 0;
  /// Makes a container as `body` says, of the image with this id; its own id.
  virtual Async<Result<std::string>> create(std::string name, boost::json::object body,
                                            std::string image) = 0;
  virtual Async<Result<void>> set_policy(std::string container, boost::json::object policy) = 0;
  /// Its memory limit, and how much swap beyond it; −1: without bound. Unit: bytes.
  virtual Async<Result<void>> set_memory(std::string container, double bytes, double swap) = 0;
  /// `checkpoint` "" = from its beginning.
  virtual Async<Result<void>> start(std::string container, std::string checkpoint) = 0;
  virtual Async<Result<void>> stop(std::string container) = 0;
  /// Without the time that stop() gives it: it must not run.
  virtual Async<Result<void>> stop_at_once(std::string container) = 0;
  virtual Async<Result<void>> kill(std::string container, int signal) = 0;
  /// Has it printed anything since it was started? Not where its log cannot be read.
  virtual Async<bool> has_printed(Seen seen) = 0;
  /// The last lines that it printed since it was started, as one; "" where its log cannot be read.
  virtual Async<std::string> last_words(Seen seen) = 0;
  /// GET /containers/ID/changes, no more than kMaxChangesBytes and a piece of it.
  virtual Async<Result<std::string>> changes(std::string container) = 0;
  /// Runs `words` in the container; its exit status. When it takes longer it is ended.
  virtual Async<Result<std::int64_t>> execute(std::string container, std::vector<std::string> words,
                                              double seconds) = 0;
  virtual Async<Result<void>> make_checkpoint(std::string container, std::string checkpoint,
                                              double seconds) = 0;
  virtual Async<Result<void>> remove_checkpoint(std::string container, std::string checkpoint) = 0;
  /// The container, running or not, with the volumes that have no name of a user's, and the
  /// network of its group where no other one has that; none is fine.
  virtual Async<Result<void>> remove(std::string container) = 0;
  /// The same; one that runs stays, and that is fine.
  virtual Async<Result<void>> remove_ended(std::string container) = 0;
  /// The network of a group (plan/group_parts.h) is there, once; after the container that is to
  /// have it, which the engine looks for when that is started.
  virtual Async<Result<void>> keep_network(std::string name) = 0;
  /// Networks of groups that no container has any more, but for such that have ended.
  virtual Async<Result<void>> drop_networks() = 0;
  /// A volume that nobody uses any more; one that is used stays.
  virtual Async<Result<void>> remove_volume(std::string name) = 0;

  /// Does it answer? As ctrl::engine::Client::ping().
  virtual Async<Result<ctrl::engine::Version>> ping() = 0;
  /// All containers, newest first. Errors: no list.
  virtual Async<Result<std::vector<ctrl::engine::Listed>>> list() = 0;
  /// Ids of all images. Errors: no list.
  virtual Async<Result<std::vector<std::string>>> images() = 0;
  /// Errors: no answer.
  virtual Async<Result<About>> about() = 0;
  /// As ctrl::engine::Client::events(); `connected` is called once when the stream stands.
  virtual Async<Error> events(std::int64_t since_ns, std::function<void()> connected,
                              std::function<void(ctrl::engine::EngineEvent)> sink,
                              std::string actions) = 0;
  /// What it remembers until `now` of removals, in order; an engine remembers its last 256 events.
  /// Unit: seconds since the epoch. Errors: no answer.
  virtual Async<Result<std::vector<Removal>>> removals(double now) = 0;
  /// As migration::with_own_labels().
  virtual Async<Result<Seen>> with_own_labels(bool image_labels, Seen seen) = 0;
};

class DockerEngine : public Engine {
 public:
  explicit DockerEngine(ctrl::engine::Client& client);
  Async<Result<Seen>> look(std::string name) override;
  Async<Result<Seen>> look_made(std::string id) override;
  Async<Result<std::vector<std::string>>> volumes_made(std::string id) override;
  Async<Result<std::vector<DataVolume>>> data_volumes() override;
  Async<Result<Volumes>> look_at_volumes(Description description) override;
  Async<Result<Conflicts>> conflicts(std::string name, Plan plan) override;
  Async<Result<std::string>> root() override;
  Async<Result<std::string>> why_no_criu() override;
  Async<Result<std::string>> containers_folder() override;
  Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                  std::string image) override;
  Async<Result<std::string>> create(std::string name, boost::json::object body,
                                    std::string image) override;
  Async<Result<void>> set_policy(std::string container, boost::json::object policy) override;
  Async<Result<void>> set_memory(std::string container, double bytes, double swap) override;
  Async<Result<void>> start(std::string container, std::string checkpoint) override;
  Async<Result<void>> stop(std::string container) override;
  Async<Result<void>> stop_at_once(std::string container) override;
  Async<Result<void>> kill(std::string container, int signal) override;
  Async<bool> has_printed(Seen seen) override;
  Async<std::string> last_words(Seen seen) override;
  Async<Result<std::string>> changes(std::string container) override;
  Async<Result<std::int64_t>> execute(std::string container, std::vector<std::string> words,
                                      double seconds) override;
  Async<Result<void>> make_checkpoint(std::string container, std::string checkpoint,
                                      double seconds) override;
  Async<Result<void>> remove_checkpoint(std::string container, std::string checkpoint) override;
  Async<Result<void>> remove(std::string container) override;
  Async<Result<void>> remove_ended(std::string container) override;
  Async<Result<void>> keep_network(std::string name) override;
  Async<Result<void>> drop_networks() override;
  Async<Result<void>> remove_volume(std::string name) override;
  Async<Result<ctrl::engine::Version>> ping() override;
  Async<Result<std::vector<ctrl::engine::Listed>>> list() override;
  Async<Result<std::vector<std::string>>> images() override;
  Async<Result<About>> about() override;
  Async<Error> events(std::int64_t since_ns, std::function<void()> connected,
                      std::function<void(ctrl::engine::EngineEvent)> sink,
                      std::string actions) override;
  Async<Result<std::vector<Removal>>> removals(double now) override;
  Async<Result<Seen>> with_own_labels(bool image_labels, Seen seen) override;

 private:
  static constexpr double kQuick = 30;      ///< seconds for what takes an engine a moment
  static constexpr double kStarting = 120;  ///< a loaded disk, a large checkpoint

  Async<Result<void>> remove_by(std::string container, std::string query, unsigned fine);
  /// `fine`: where it is not 0, neither this status nor 404 is a failure.
  Async<Result<void>> expect(std::string method, std::string path, std::string body, double seconds,
                             std::string doing, unsigned fine = 0);
  Async<Result<boost::json::value>> info();
  Async<Result<void>> drop_network(std::string id);
  ctrl::engine::Client& client_;
  std::shared_ptr<ctrl::Mutex> networks_;  ///< one is made or removed at a time
};

}  // namespace flowcon::cluster::migration
