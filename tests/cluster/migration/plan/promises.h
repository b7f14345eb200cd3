// SPDX-License-Identifier: Apache-2.0
// What has to hold in the worlds of move_model.h, at any moment and in the end.
#pragma once

#include <string>

#include "tests/cluster/migration/plan/move_model.h"

namespace flowcon::cluster::migration::model {

/// By its journal the container is the target's.
inline bool has_given_up(const Host& source) {
  return source.step == static_cast<unsigned>(Step::start) ||
         source.step == static_cast<unsigned>(Step::remove) ||
         source.step == static_cast<unsigned>(Step::done);
}

/// What is wrong with a world at any moment; empty where nothing is.
inline std::string broken_promise(const World& world) {
  const Host& source = world.source;
  const Host& target = world.target;
  // A person may do what no host does; what comes of it, calm shows.
  const bool is_answered_for = world.was_taken_back || world.is_by_person;
  if (source.is_running() && target.is_running() && !is_answered_for) return "two copies run";
  if (target.is_stopped_by_person && target.current == Request::start) {
    return "what a person stopped is started";
  }
  const bool is_given_up = has_given_up(source);
  if (target.is_running() && !is_given_up && !source.has_lost && !is_answered_for) {
    return "the target runs what was not handed over";
  }
  const bool has_run = target.step == static_cast<unsigned>(Step::confirm) ||
                       target.step == static_cast<unsigned>(Step::done);
  if (source.copy == Copy::absent && !has_run && !target.has_lost)
    return "the source's copy went too early";
  if (source.copy == Copy::absent && target.copy == Copy::absent) return "the job is lost";
  if (source.copy == Copy::failed && source.current == Request::start) {
    return "a job that has ended is started again";
  }
  return {};
}

/// Is the job there, as its user wants it? One that ended has nothing more to do.
inline bool lives(const Host& host) {
  const bool is_wanted = host.is_running() || host.is_stopped_by_person;
  return (is_wanted && host.restarts) || host.copy == Copy::finished;
}

/// Does the source have its container as before? A job that ended by itself is not started again.
inline bool is_as_before(const Host& source) {
  return lives(source) || (source.copy == Copy::failed && source.restarts);
}

/// What is wrong with a world in which nothing happens any more; empty where nothing is.
inline std::string bad_end(const World& world) {
  const Host& source = world.source;
  const Host& target = world.target;
  const auto is_at = [](const Host& host, Step step) {
    return host.step == static_cast<unsigned>(step);
  };
  for (const Host* host : {&source, &target}) {
    if (host->current != Request::none || host->orphans != 0) return "never quiet";
  }
  // Nobody starts anything on a host that lost its journal, and the other one waits for a person.
  if (source.has_lost || target.has_lost) {
    const bool is_told = !source.has_lost || !is_at(target, Step::done) || world.is_by_person;
    const bool are_two = source.is_running() && target.is_running();
    return are_two && !is_told ? "two run, and nobody says so" : "";
  }
  if (is_at(source, Step::undone)) {
    if (!is_as_before(source)) return "undone, and the source does not run it as before";
    // Two persons may have closed both.
    if (world.was_taken_back && world.was_kept && is_at(target, Step::done)) return "";
    if (target.is_known() && !is_at(target, Step::undone)) return "the target's journal is open";
    return target.copy == Copy::absent ? "" : "the target kept a copy";
  }
  if (!is_at(source, Step::done)) return "the source's journal is open";
  if (!is_at(target, Step::done)) return "the target's journal is open";
  const bool is_kept = world.was_kept && target.copy == Copy::failed;
  if (!lives(target) && !is_kept) return "done, and the target does not run it";
  return source.copy == Copy::absent ? "" : "the source kept a copy";
}

/// Nothing, or that the source does not run the job as before.
inline std::string bad_end_alone(const Host& source) {
  if (!source.is_known() || source.at() != Step::undone) return "the source's journal is open";
  return is_as_before(source) ? "" : "the source does not run it as before";
}

}  // namespace flowcon::cluster::migration::model
