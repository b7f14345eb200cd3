// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/move_plan.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/digits.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/architecture.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/names.h"
#include "cluster/migration/plan/saved_image.h"
#include "ctrl/began_elsewhere.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::array<const char*, 5> kKinds{"volume", "path", "layer", "checkpoint", "log"};
constexpr std::size_t kMostLayers = 512;
constexpr std::size_t kMostVolumes = 64;
constexpr std::size_t kMostLabels = 256;
constexpr double kLongestConfirm = 3600;  // seconds
constexpr double kMostAmount = 1e18;      // cores, bytes

Error wrong(const std::string& name) {
  return bad_input("a migration's plan has no valid member " + name);
}

std::uint64_t count_of(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  if (found.is_uint64()) return found.get_uint64();
  return found.is_int64() && found.get_int64() > 0 ? static_cast<std::uint64_t>(found.get_int64())
                                                   : 0;
}

class Reader {
 public:
  explicit Reader(const json::value& value) : value_(value) {}

  Result<Plan> read() {
    plan_.body = object_of(value_, "body");
    for (auto step : {&Reader::image, &Reader::policy, &Reader::volumes, &Reader::parts,
                      &Reader::mounts, &Reader::rest}) {
      if (Result<void> done = (this->*step)(); !done) return done.error();
    }
    return std::move(plan_);
  }

 private:
  Result<void> image() {
    const json::value& image = member(value_, "image");
    plan_.image.id = text_of(image, "id");
    const json::array& layers = list_of(image, "layers");
    if (!is_digest(plan_.image.id) || layers.size() > kMostLayers) return wrong("image");
    for (const json::value& layer : layers) {
      const json::string* text = layer.if_string();
      if (text == nullptr || !is_digest(*text)) return wrong("image.layers");
      plan_.image.layers.emplace_back(*text);
    }
    const double bytes = real_of(member(image, "bytes")).value_or(0);
    if (bytes < 0 || bytes > kMostAmount) return wrong("image.bytes");
    plan_.image.bytes = static_cast<std::uint64_t>(bytes);
    plan_.image.architecture = architecture_of(text_of(image, "architecture"));
    if (text_of(plan_.body, "Image") != plan_.image.id) return wrong("body.Image");
    plan_.image_name = printable(text_of(value_, "image_name"), 200);
    return {};
  }

  // What an engine would make of other members is for it to say; these two are the policy.
  Result<void> policy() {
    const json::value& policy = member(value_, "restart_policy");
    const std::string name = text_of(policy, "Name");
    const bool is_known = name.empty() || name == "no" || name == "always" ||
                          name == "unless-stopped" || name == "on-failure";
    const std::uint64_t count = count_of(policy, "MaximumRetryCount");
    if (!is_known || count > 1'000'000) return wrong("restart_policy");
    if (name.empty()) return {};
    plan_.restart_policy = {{"Name", name},
                            {"MaximumRetryCount", static_cast<std::int64_t>(count)}};
    return {};
  }

  Result<void> volumes() {
    const json::array& all = list_of(value_, "volumes");
    if (all.size() > kMostVolumes) return wrong("volumes");
    for (const json::value& one : all) {
      PlannedVolume volume{text_of(one, "name"), object_of(one, "labels"), count_of(one, "bytes")};
      if (!is_object_name(volume.name) || !names_.insert(volume.name).second ||
          volume.labels.size() > kMostLabels) {
        return wrong("volumes");
      }
      for (const auto& [key, text] : volume.labels) {
        if (!text.is_string()) return wrong("volumes.labels");
      }
      plan_.volumes.push_back(std::move(volume));
    }
    return {};
  }

  Result<void> parts() {
    const json::array& all = list_of(value_, "parts");
    std::set<std::string> seen;
    std::size_t volumes = 0;
    for (const json::value& one : all) {
      Part part;
      part.where = text_of(one, "where");
      const std::string kind = text_of(one, "kind");
      const auto* found = std::find(kKinds.begin(), kKinds.end(), kind);
      if (found == kKinds.end()) return wrong("parts.kind");
      part.kind = static_cast<PartKind>(found - kKinds.begin());
      part.name = part.kind == PartKind::volume ? "volume-" + std::to_string(volumes++) : kind;
      if (text_of(one, "name") != part.name || !seen.insert(part.name).second) {
        return wrong("parts.name");
      }
      const bool is_in_container = part.kind == PartKind::volume || part.kind == PartKind::path;
      if (is_in_container                     ? !is_plain_path(part.where)
          : part.kind == PartKind::checkpoint ? !is_object_name(part.where)
          : part.kind == PartKind::log        ? !part.where.empty() && part.where != "open"
                                              : !part.where.empty()) {
        return wrong("parts.where");
      }
      plan_.parts.push_back(std::move(part));
    }
    return volumes <= kMostVolumes ? Result<void>() : wrong("parts");
  }

  // A name that does not travel would be a volume of the target itself.
  Result<void> mounts() {
    std::set<std::string> targets;
    const json::value body(plan_.body);
    for (const json::value& mount : list_of(member(body, "HostConfig"), "Mounts")) {
      if (text_of(mount, "Type") != "volume") continue;
      const std::string name = text_of(mount, "Source");
      // Without a name the engine makes one of its own for it, which goes with its container.
      const bool is_anonymous = !mount.get_object().contains("Source");
      if (!is_anonymous && !names_.contains(name)) {
        return bad_input("the volume '" + printable(name, 80) + "' does not travel with it");
      }
      if (is_data_volume(name) && !is_true(mount, "ReadOnly")) return wrong("body.Mounts");
      targets.insert(text_of(mount, "Target"));
    }
    for (const Part& part : plan_.parts) {
      if (part.kind == PartKind::volume && !targets.contains(part.where)) return wrong("parts");
    }
    return {};
  }

  Result<void> rest() {
    plan_.bytes = count_of(value_, "bytes");
    plan_.cause = read_cause(text_of(value_, "cause"));
    const json::value& confirm = member(value_, "confirm");
    if (confirm.is_number()) {
      plan_.confirm = std::clamp(confirm.to_number<double>(), 1.0, kLongestConfirm);
    }
    plan_.awaits_value = is_true(value_, "awaits_value");
    plan_.has_brought_image = is_true(value_, "has_brought_image");
    plan_.user_mapping = printable(text_of(value_, "user_mapping"), 80);
    if (Result<void> task = this->task(); !task) return task;
    const json::value& checkpoint = member(value_, "checkpoint");
    plan_.checkpoint.path = text_of(checkpoint, "path");
    plan_.checkpoint.signal =
        static_cast<int>(std::min<std::uint64_t>(count_of(checkpoint, "signal"), 64));
    for (const json::value& word : list_of(checkpoint, "command")) {
      if (word.is_string()) plan_.checkpoint.command.emplace_back(word.get_string());
    }
    const json::value& timeout = member(checkpoint, "timeout");
    if (timeout.is_number()) plan_.checkpoint.timeout = timeout.to_number<double>();
    return {};
  }

  // What a job's task asks for, or which one goes home.
  Result<void> task() {
    plan_.is_birth = is_true(value_, "is_birth");
    plan_.birth = text_of(value_, "birth");
    if (!plan_.birth.empty() && !is_random_id(plan_.birth)) return wrong("birth");
    if (!plan_.is_birth) return {};
    plan_.is_early = is_true(value_, "is_early");
    plan_.is_first = is_true(value_, "is_first");
    const json::value& request = member(value_, "request");
    for (const char* kind : {"cpu", "mem"}) {
      const std::optional<double> asked = real_of(member(request, kind));
      if (!asked || !(*asked >= 0 && *asked <= kMostAmount)) return wrong("request");
      plan_.request.emplace_back(kind, *asked);
    }
    // Older hosts do not count them.
    if (const std::optional<double> gpus = real_of(member(request, "gpu"))) {
      if (!(*gpus >= 0 && *gpus <= kMostAmount)) return wrong("request");
      plan_.request.emplace_back("gpu", *gpus);
    }
    return {};
  }

  const json::value& value_;
  std::set<std::string> names_;
  Plan plan_;
};

}  // namespace

std::string user_mapping(const json::value& info) {
  for (const json::value& option : list_of(info, "SecurityOptions")) {
    // "name=userns", and more behind a comma.
    const std::string text = text_of(option);
    const std::string name = text.substr(0, text.find(','));
    if (name == "name=rootless") return "rootless";
    if (name != "name=userns") continue;
    // Below the folder that it was given there is one for each mapping.
    const std::string root = text_of(info, "DockerRootDir");
    const std::string last = root.substr(root.rfind('/') + 1);
    const std::size_t dot = last.find('.');
    const bool is_told = dot != std::string::npos &&
                         parse_number<std::uint32_t>(last.substr(0, dot)) &&
                         parse_number<std::uint32_t>(last.substr(dot + 1));
    return is_told ? last : "userns-remap";
  }
  return "";
}

bool has_compared(const Plan& plan, const json::value& said) {
  return plan.user_mapping.empty() || is_true(said, kComparesUsers);
}

bool is_same_mapping(const std::string& one, const std::string& other) {
  return one == other && one.find_first_not_of("0123456789.") == std::string::npos;
}

const char* name(PartKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

Result<Plan> parse_plan(std::string_view text) {
  if (text.size() > kMaxPlanBytes) return bad_input("a migration's plan is too large");
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return wrap(parsed.error(), "a migration's plan");
  return Reader(*parsed).read();
}

Result<Plan> parse_offer(const json::value& offered) {
  if (const std::string why = beyond_bounds(offered); !why.empty()) return bad_input(why);
  return Reader(offered).read();
}

static json::object request_told(const policy::Amounts& request) {
  json::object told{{"cpu", policy::amount_of(request, "cpu")},
                    {"mem", policy::amount_of(request, "mem")}};
  if (const double gpus = policy::amount_of(request, "gpu"); gpus > 0) told["gpu"] = gpus;
  return told;
}

json::object to_json(const Plan& plan) {
  json::array volumes = rendered(plan.volumes, [](const PlannedVolume& volume) {
    return json::object{{"name", volume.name}, {"labels", volume.labels}, {"bytes", volume.bytes}};
  });
  json::array parts = rendered(plan.parts, [](const Part& part) {
    return json::object{{"name", part.name}, {"kind", name(part.kind)}, {"where", part.where}};
  });
  return {{"body", plan.body},
          {"restart_policy", plan.restart_policy},
          {"image", json::object{{"id", plan.image.id},
                                 {"layers", texts(plan.image.layers)},
                                 {"bytes", plan.image.bytes},
                                 {"architecture", plan.image.architecture}}},
          {"image_name", plan.image_name},
          {"volumes", std::move(volumes)},
          {"parts", std::move(parts)},
          {"bytes", plan.bytes},
          {"cause", plan.cause},
          {"confirm", plan.confirm},
          {"awaits_value", plan.awaits_value},
          {"has_brought_image", plan.has_brought_image},
          {"is_birth", plan.is_birth},
          {"request", request_told(plan.request)},
          {"is_early", plan.is_early},
          {"is_first", plan.is_first},
          {"birth", plan.birth},
          {"user_mapping", plan.user_mapping},
          {"checkpoint", json::object{{"path", plan.checkpoint.path},
                                      {"signal", plan.checkpoint.signal},
                                      {"command", texts(plan.checkpoint.command)},
                                      {"timeout", plan.checkpoint.timeout}}}};
}

bool needs_criu(const Plan& plan) {
  if (plan.is_birth) return false;  // its layer is files alone
  return std::any_of(plan.parts.begin(), plan.parts.end(), [](const Part& part) {
    return part.kind == PartKind::layer || part.kind == PartKind::checkpoint;
  });
}

std::vector<std::string> refusals(const Plan& plan, const AcceptPolicy& policy) {
  std::vector<std::string> reasons = refusals(plan.body, policy);
  if (needs_criu(plan) && !policy.criu) {
    reasons.emplace_back(
        "CRIU images are not accepted: CRIU restores processes with any rights they bring "
        "(accept-criu = on in flowcon.conf trusts peers like root)");
  }
  return reasons;
}

json::object create_body(const Plan& plan, const std::string& id, const std::string& image) {
  json::object body = plan.body;
  body["Image"] = image;
  json::object labels = object_of(body, "Labels");
  labels[kMoveLabel] = id;
  labels.erase(ctrl::kFirstRunLabel);
  if (plan.is_first) labels[ctrl::kFirstRunLabel] = "true";
  body["Labels"] = std::move(labels);
  return body;
}

std::vector<std::pair<int, std::string>> fixed_ports(const Plan& plan) {
  std::vector<std::pair<int, std::string>> all;
  const json::value body(plan.body);
  const json::object& bindings = object_of(member(body, "HostConfig"), "PortBindings");
  for (const auto& [key, list] : bindings) {
    const std::string_view port(key.data(), key.size());
    const std::size_t slash = port.find('/');
    const std::string protocol(slash == std::string_view::npos ? "tcp" : port.substr(slash + 1));
    const json::array* each = list.if_array();
    if (each == nullptr) continue;
    for (const json::value& binding : *each) {
      const std::optional<int> number = parse_number<int>(text_of(binding, "HostPort"));
      if (number && *number > 0 && *number < 65536) all.emplace_back(*number, protocol);
    }
  }
  return all;
}

}  // namespace flowcon::cluster::migration
