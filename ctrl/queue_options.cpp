// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "ctrl/option_kinds.h"
#include "ctrl/queue_labels.h"

namespace flowcon::ctrl {
namespace {

using namespace kinds;  // NOLINT(google-build-using-namespace)

Option offer_option() {
  return option(
      "offer", "auto|none|LIST",
      "resources that this host offers to jobs of the queue: none; auto, all cores, 80 % of the "
      "memory and all GPUs; or any of cpu=CORES, mem=BYTES (units K, M, G, T) and gpu=N (the first "
      "N GPUs, or all), such as cpu=6 mem=20G gpu=1, the others as with auto; other hosts' jobs "
      "get GPUs only if accept-devices has gpu",
      Field<Offer>(at<&Config::queue, &QueueOptions::offer>),
      [](const std::string& text, Offer& taken) -> Result<void> {
        const bool is_word = text == "auto" || text == "none";
        const Result<Request> offer = is_word ? Request() : parse_request(text);
        if (!offer) return wrap(offer.error(), "neither auto nor none");
        const double gpus = offer->gpu.value_or(0);
        if (gpus != std::floor(gpus)) {
          return bad_input(quoted(text) + " offers a part of a GPU; give a whole number, or all");
        }
        taken = {text == "none", offer->cpu, offer->mem, offer->gpu};
        return {};
      },
      [](const Offer& shown) -> std::string {
        if (shown.is_none) return "none";
        const std::string said = render_request({shown.cpu, shown.mem, shown.gpu});
        return said.empty() ? "auto" : said;
      });
}

Option data_cache_option() {
  return option(
      "data-cache", "BYTES",
      "how many bytes of images and read-only volumes from other hosts' jobs are kept here for "
      "later jobs (units K, M, G, T; 0 keeps none)",
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
      "how jobs of several containers that are submitted here may span hosts: the name of an "
      "attachable overlay network of their Docker Swarm; host, the hosts' own networks (needs "
      "advertise); ports, published ports of the parameter servers (needs advertise); auto, host "
      "if accept-host-network is on, else ports; or none",
      at<&Config::queue, &QueueOptions::group_network>,
      [](const std::string& text) -> Result<void> {
        constexpr std::array kEngines{"bridge", "default"};
        const bool is_name = text.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_.-") == std::string::npos &&
                             text.find_first_of("_.-") != 0 && text.size() <= 255;
        const bool is_engines = std::find(kEngines.begin(), kEngines.end(), text) != kEngines.end();
        if (is_name && !is_engines) return {};
        return bad_input(quoted(text) +
                         " is no name of an overlay network, nor auto, none, host or ports");
      });
}

Option advertise_option() {
  return text_option(
      "advertise", "ADDRESS",
      "address at which other hosts reach this one, where tasks of jobs that span hosts may "
      "listen; peers' tasks in this host's own network also need accept-host-network",
      at<&Config::queue, &QueueOptions::advertise>, [](const std::string& text) -> Result<void> {
        boost::system::error_code error;
        const auto address = boost::asio::ip::make_address(text, error);
        const bool is_fine = text.empty() || (!error && !address.is_unspecified());
        if (is_fine && text.find('%') == std::string::npos) return {};
        return bad_input(quoted(text) + " is no address, such as 192.0.2.7");
      });
}

Option group_ports_option() {
  return option(
      "group-ports", "FIRST-LAST", "ports of this host for tasks of jobs that span hosts",
      Field<PortRange>(at<&Config::queue, &QueueOptions::group_ports>),
      [](const std::string& text, PortRange& taken) -> Result<void> {
        PortRange range;
        const char* end = text.data() + text.size();
        const auto first = std::from_chars(text.data(), end, range.first);
        const bool goes_on = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
        const auto last = std::from_chars(goes_on ? first.ptr + 1 : end, end, range.last);
        const bool is_range = goes_on && last.ec == std::errc() && last.ptr == end;
        if (!is_range || range.first < 1024 || range.first > range.last) {
          return bad_input(quoted(text) +
                           " is no range of ports from 1024 on, such as 29500-29999");
        }
        taken = range;
        return {};
      },
      [](const PortRange& shown) {
        return std::to_string(shown.first) + "-" + std::to_string(shown.last);
      });
}

}  // namespace

std::vector<Option> queue_options() {
  return {
      offer_option(),
      policy_option("queue-policy", "in which order jobs run", policy_names().queue,
                    at<&Config::queue, &QueueOptions::policy>),
      policy_option("place-policy", "which hosts get the tasks of a job that needs several",
                    policy_names().place, at<&Config::queue, &QueueOptions::place>),
      policy_option("allocate-policy", "how many workers an elastic job has",
                    policy_names().allocate, at<&Config::queue, &QueueOptions::allocate>),
      number("allocate-interval", "SECONDS",
             "longest time between two decisions about the workers of elastic jobs", 10, 86400,
             at<&Config::queue, &QueueOptions::allocate_interval>),
      on_off("allocate-events",
             "decide about the workers of elastic jobs also whenever a job or host comes or goes",
             at<&Config::queue, &QueueOptions::allocate_events>),
      number("starve-limit", "SECONDS",
             "a job that has waited longer than this in total goes before all that have not", 1,
             1e9, at<&Config::queue, &QueueOptions::starve_limit>),
      on_off("park",
             "a running job with a checkpoint may be saved and wait again, so that a job with less "
             "remaining time goes first, or so that its own number of workers changes",
             at<&Config::queue, &QueueOptions::park>),
      data_cache_option(),
      group_network_option(),
      advertise_option(),
      group_ports_option(),
      on_off("estimate-share",
             "peers may read the resource use of runs on this host and the words and numbers of "
             "their commands, to estimate jobs from them; a peer keeps its copy until its "
             "flowcond restarts",
             at<&Config::queue, &QueueOptions::estimate_share>),
  };
}

}  // namespace flowcon::ctrl
