// SPDX-License-Identifier: Apache-2.0
// What a job asks for, and where that comes from; what a host offers to jobs, and what of it is
// free. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/policy/room.h"

namespace flowcon::cluster::queue {

/// Who says what a job asks for.
enum class Source { set, label, docker, estimate, otherwise, doubled };

/// "set", "label", "docker", "estimate", "default", "doubled".
[[nodiscard]] const char* name(Source source);

/// Units: cores, bytes or GPUs.
struct Amount {
  double value = 0;
  Source source = Source::otherwise;
  /// By somebody, not only estimated.
  [[nodiscard]] bool is_said() const { return source <= Source::docker; }
};

struct Request {
  Amount cpu;
  Amount mem;
  Amount gpu = {};  ///< 0: none, or they are not counted
  [[nodiscard]] policy::Amounts amounts() const;
};

/// What is known of one resource of a job, by those who may say it.
struct Said {
  std::optional<double> set;
  std::optional<double> label;
  std::optional<double> docker;
  std::optional<double> estimate;  ///< its upper value
};

/// What a host gives to jobs of the queue. Units: cores, bytes, GPUs.
struct Offer {
  double cpu = 0;
  double mem = 0;
  double gpu = 0;
  [[nodiscard]] policy::Amounts amounts() const;
};

/// Offers of hosts: this one, of each resource the most of any, and all.
struct Offers {
  Offer own;
  Offer largest;
  std::vector<Offer> all;
};

/// The first that is said, in the order of Said; else one core and an eighth of the memory on
/// offer. What nobody said is at most `largest`: it may be wrong, and the job is to have a try.
/// What `largest` has none of is requested all the same, so that no host has room.
/// Where no host is known to have GPUs they are not counted: it does not wait for any.
/// `least_memory`: that it asks for since it was killed for want of it, 0: it was not.
[[nodiscard]] Request request_of(const Said& cpu, const Said& mem, double least_memory,
                                 const Offer& offer, const Offer& largest, const Said& gpu = {});

/// What nobody said of tasks that run together is at most so much that one of these hosts could
/// hold them all, or, if they may spread, several: where they have the most. Where they have
/// nothing all stays as it is. O(tasks · hosts).
void share_out(Request& worker, std::int64_t workers, Request& ps, std::int64_t servers,
               const std::vector<Offer>& hosts, bool may_spread);

/// Of so many tasks together, as amounts; who says so stays.
void add_up(Request& all, const Request& worker, double workers, const Request& ps, double servers);

/// A running job of the queue. Units: cores, bytes, GPUs.
struct Holder {
  policy::Amounts request;
  double memory = 0;           ///< that it uses
  std::string container = {};  ///< full id; "" = there is none yet
};

/// What else is on the host. Units: cores, bytes, GPUs.
struct Others {
  double cpu = 0;                   ///< that other containers under control use
  double memory = 0;                ///< that they use
  std::optional<double> available;  ///< memory that programs can still get; empty: not known
  std::optional<double> gpus = {};  ///< that they leave; empty: as many as are on offer
};

/// What is free for jobs, below 0 where more is promised than there is. A job holds what it asked
/// for, and more memory where it uses more. No memory is free that the host does not have, whoever
/// uses it: what running jobs have not taken yet of their requests is kept for them.
[[nodiscard]] policy::Amounts free_of(const Offer& offer, const std::vector<Holder>& holders,
                                      const Others& others);

}  // namespace flowcon::cluster::queue
