// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/peer_profiles.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <set>
#include <variant>

#include "base/json.h"
#include "base/json_reader.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/estimate/profile.h"
#include "ctrl/log.h"

namespace flowcon::cluster::queue {
namespace {

namespace estimate = ctrl::estimate;
using estimate::EndedProfile;

constexpr double kPatience = 10;              // seconds, for a page
constexpr int kMostPages = 20;                // of one host at a time
constexpr std::size_t kLongestText = 8192;    // bytes, of a family or key
constexpr std::size_t kMostValues = 64;       // features of one profile
constexpr std::size_t kLongestName = 64;      // bytes, of a feature or of its text
constexpr double kMostMeasured = 1e18;        // of a label
constexpr std::size_t kLongestPosition = 80;  // bytes

// It goes into the address of the next request.
bool is_position(const std::string& text) {
  return text.size() <= kLongestPosition && text.starts_with("since=") &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.+-=&") == text.npos;
}

std::string call_for(const std::string& position) {
  return passed_call("GET", "/v1/profiles" + (position.empty() ? "" : "?" + position));
}

bool are_short(const estimate::Features& features) {
  return std::all_of(features.begin(), features.end(), [](const auto& feature) {
    const auto* text = std::get_if<std::string>(&feature.second);
    return feature.first.size() <= kLongestName && (!text || text->size() <= kLongestName);
  });
}

Result<EndedProfile> profile_in(const json::value& said, double now) {
  Result<estimate::Profile> profile = estimate::profile_from(said);
  if (!profile) return profile.error();
  // More labels than there are would each cost an estimate for each job.
  std::erase_if(profile->labels, [](const auto& label) {
    return !estimate::is_label(label.first) || !(label.second > 0 && label.second <= kMostMeasured);
  });
  const bool is_sane = profile->family.size() <= kLongestText &&
                       profile->key.size() <= kLongestText &&
                       profile->features.size() <= kMostValues && are_short(profile->features);
  if (!is_sane) return bad_input("a profile is out of bounds");
  return EndedProfile{std::move(profile->family), std::move(profile->key),
                      now - std::max(0.0, profile->age), std::move(profile->features),
                      std::move(profile->labels)};
}

}  // namespace

PeerProfiles::Rows PeerProfiles::rows(std::size_t most) const {
  Rows all;
  std::size_t longest = 0;
  for (const auto& [id, told] : told_) longest = std::max(longest, told.rows.size());
  for (std::size_t back = 1; back <= longest; ++back) {
    for (const auto& [id, told] : told_) {
      if (back > told.rows.size() || all.size() >= most) continue;
      all.push_back(told.rows[told.rows.size() - back]);
    }
  }
  return all;
}

Async<void> PeerProfiles::read() {
  std::set<std::string> known;
  std::vector<std::string> reached;
  for (const Neighbour& one : network_.neighbours()) {
    if (one.id.empty()) continue;
    known.insert(one.id);
    if (one.is_reachable) reached.push_back(one.id);
  }
  std::erase_if(told_, [&](const auto& one) {
    const bool is_gone = !known.contains(one.first);
    if (is_gone && !one.second.rows.empty()) ++forgotten_;
    return is_gone;
  });
  for (const std::string& id : reached) {
    for (int pages = 0; pages < kMostPages; ++pages) {
      const bool has_more = co_await read_page(id);
      if (!has_more) break;
    }
  }
}

// Is there more to be asked for?
Async<bool> PeerProfiles::read_page(std::string id) {
  const Result<Answer> answer =
      co_await network_.ask(id, "POST", "/v1/peer/call", call_for(told_[id].position), kPatience);
  // One of an older flowcond does not tell.
  if (!answer || answer->status != 200) co_return false;
  co_return take(id, answer->body);
}

bool PeerProfiles::take(const std::string& id, const std::string& body) {
  const Result<json::value> parsed = parse_json(body);
  if (!parsed) return false;
  const std::string position = text_of(*parsed, "position");
  if (!is_position(position)) return false;
  Told& told = told_[id];
  const double now = wall_();
  for (const json::value& one : list_of(member(*parsed, "profiles"))) {
    Result<EndedProfile> run = profile_in(one, now);
    if (run) {
      told.rows.push_back(std::move(*run));
    } else {
      ctrl::log::debug(name_of_host(network_, id) + ": " + run.error().message());
    }
  }
  if (told.rows.size() > ctrl::store::kMostProfiles) {
    const auto too_many =
        static_cast<std::ptrdiff_t>(told.rows.size() - ctrl::store::kMostProfiles);
    told.rows.erase(told.rows.begin(), told.rows.begin() + too_many);
  }
  const bool has_more = position != told.position && member(*parsed, "next").is_string();
  told.position = position;
  return has_more;
}

}  // namespace flowcon::cluster::queue
