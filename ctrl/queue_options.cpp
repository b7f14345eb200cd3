// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ctrl/option_kinds.h"
#include "ctrl/queue_labels.h"

namespace flowcon::ctrl {
namespace {

using namespace kinds;  // NOLINT(google-build-using-namespace)

Option offer_option() {
  return option(
      "offer", "auto|none|LIST",
      "what this host gives to jobs of the queue: none; auto, all cores and 80 % of the memory; or "
      "cpu=CORES and mem=BYTES (units K, M, G, T), either of them or both, such as cpu=6 mem=20G",
      Field<Offer>(at<&Config::queue, &QueueOptions::offer>),
      [](const std::string& text, Offer& taken) -> Result<void> {
        const bool is_word = text == "auto" || text == "none";
        const Result<Request> offer = is_word ? Request() : parse_request(text);
        if (!offer) return wrap(offer.error(), "neither auto nor none");
        taken = {text == "none", offer->cpu, offer->mem};
        return {};
      },
      [](const Offer& shown) -> std::string {
        if (shown.is_none) return "none";
        return shown.cpu || shown.mem ? render_request({shown.cpu, shown.mem}) : "auto";
      });
}

Option data_cache_option() {
  return option(
      "data-cache", "BYTES",
      "how much data of other hosts' jobs is kept here for later ones: volumes that they only read "
      "(units K, M, G, T; 0 keeps none)",
      Field<double>(at<&Config::queue, &QueueOptions::data_cache>),
      [](const std::string& text, double& taken) -> Result<void> {
        const std::optional<double> bytes = parse_bytes(text);
        if (!bytes || *bytes > 1e15) return bad_input(quoted(text) + " is no size, such as 20G");
        taken = std::floor(*bytes);
        return {};
      },
      render_bytes);
}

Option group_network_option() {
  return text_option(
      "group-network", "NAME",
      "an attachable overlay network of the hosts' Docker Swarm: with one, jobs of several "
      "containers that are submitted here may be on several of its hosts",
      at<&Config::queue, &QueueOptions::group_network>,
      [](const std::string& text) -> Result<void> {
        constexpr std::array kEngines{"host", "none", "bridge", "default"};
        const bool is_name = text.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_.-") == std::string::npos &&
                             text.find_first_of("_.-") != 0 && text.size() <= 255;
        const bool is_engines = std::find(kEngines.begin(), kEngines.end(), text) != kEngines.end();
        if (is_name && !is_engines) return {};
        return bad_input(quoted(text) + " is no name of an overlay network");
      });
}

}  // namespace

std::vector<Option> queue_options() {
  return {
      offer_option(),
      policy_option("queue-policy", "in which order jobs run", queue_policy_names(),
                    at<&Config::queue, &QueueOptions::policy>),
      number("starve-limit", "SECONDS",
             "a job that has waited longer in all comes before all that came later", 1, 1e9,
             at<&Config::queue, &QueueOptions::starve_limit>),
      on_off("park",
             "a running job with a checkpoint may be saved and wait again, so that one with less "
             "left goes first",
             at<&Config::queue, &QueueOptions::park>),
      data_cache_option(),
      group_network_option(),
  };
}

}  // namespace flowcon::ctrl
