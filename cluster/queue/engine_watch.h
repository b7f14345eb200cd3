// SPDX-License-Identifier: Apache-2.0
// The engine's events of its containers while it goes on: for those who have to know how one came
// to its end, which the engine itself does not keep. For .cpp files only: it includes Asio.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/queue/ticket.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

/// What is known of a container's present life from its engine's events.
struct LifeWatch {
  double peak_memory = 0;      ///< bytes
  bool is_watched = false;     ///< the engine that answers now started it or found it running
  bool was_lost = false;       ///< the engine went away while it ran, and was not seen to run since
  bool was_stopped = false;    ///< by a person
  bool was_signalled = false;  ///< by a person: `was_stopped`, if a label hides what it was

  /// Its end, if it has one, is not its own: a person's, or its engine's.
  [[nodiscard]] bool was_ended() const { return was_stopped || (was_lost && !is_watched); }
  /// It is started by the engine that answers now.
  void begin();
  /// It was sent a signal, maybe by a person. `ends`: is_end(); `remembers`:
  /// EngineWatch::remembers().
  void hear_signal(bool ends, bool remembers);
};

class EngineWatch {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// Since when events are wanted; seconds since the epoch, `now` where all is known.
    [[nodiscard]] virtual double wanted_since(double now) const = 0;
    /// The stream stands: what happened before it has to be listed.
    virtual void connected() = 0;
    virtual void hear(const ctrl::engine::EngineEvent& event) = 0;
    /// The stream has ended. If it was no other engine, it reports again what it remembers.
    virtual void lost() = 0;
  };

  explicit EngineWatch(World& world) : world_(world) {}
  /// Before follow(); `listener` has to outlive it.
  void join(Listener& listener) { listeners_.push_back(&listener); }
  /// Until World::is_ended.
  Async<void> follow();

  /// The number of the stream; 0: there is none.
  [[nodiscard]] unsigned stream() const { return stream_; }
  /// The stream has reported more than ends: an engine that comes back ends what the former one had
  /// left before it does anything else.
  [[nodiscard]] bool remembers() const { return remembers_; }
  /// A container was inspected while `stream` stood: it is seen to run.
  void note_running(LifeWatch& watch, unsigned stream) const;
  /// One that has ended: did its engine or its host end it? Empty: that will be known in a moment.
  /// `since`: when it began or was last known to run, seconds since the epoch.
  [[nodiscard]] std::optional<bool> was_interrupted(const LifeWatch& watch, unsigned stream,
                                                    std::int64_t status, bool saves_itself,
                                                    double since) const;

 private:
  [[nodiscard]] bool has_told(unsigned stream) const;

  World& world_;
  std::vector<Listener*> listeners_;
  unsigned streams_ = 0;
  unsigned stream_ = 0;
  double stream_since_ = 0;  ///< steady
  bool remembers_ = false;
};

/// When a life began, as the engine names it. Unit: seconds since the epoch. Empty: it says no
/// time.
[[nodiscard]] std::optional<double> start_of(const std::string& life);

/// Does this signal end a container that does not handle it, or does docker stop send it? `ticket`
/// null: the container has not been inspected.
[[nodiscard]] bool is_end(const ctrl::engine::EngineEvent& event, const Ticket* ticket);

}  // namespace flowcon::cluster::queue
