// SPDX-License-Identifier: Apache-2.0
// What an engine says of a container, what a peer asks to create, and its journal's entries. A
// description that has no obstacle is judged by a policy that allows everything that can be
// allowed; one with nothing special in it must not be accepted with a host's folder.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/migration/plan/accept.h"
#include "cluster/migration/plan/description.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon;
  using namespace flowcon::cluster::migration;
  namespace json = boost::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_json(text);
  if (parsed && parsed->is_object()) {
    const auto reasons = refusals(parsed->get_object(), {});
    if (reasons.size() > kMaxRefusals) std::abort();
    const auto& host = member(*parsed, "HostConfig");
    if (reasons.empty() && is_true(host, "Privileged")) std::abort();
    for (const auto& mount : list_of(host, "Mounts")) {
      if (reasons.empty() && text_of(mount, "Type") == "bind") std::abort();
    }
  }
  if (const auto entry = parse_entry(text)) {
    const auto again = parse_entry(render(*entry));
    if (!again || render(*again) != render(*entry)) std::abort();
  }
  if (!parsed) return 0;
  const auto made = describe(*parsed);
  if (!made) return 0;
  if (!is_object_name(made->name)) std::abort();
  for (const TravellingVolume& volume : made->volumes) {
    if (!is_object_name(volume.name) || !is_plain_path(volume.destination)) std::abort();
  }
  const json::value body(made->body);
  for (const auto& mount : list_of(member(body, "HostConfig"), "Mounts")) {
    const bool is_bind = text_of(mount, "Type") == "bind";
    if (is_bind && !is_plain_path(text_of(mount, "Source"))) std::abort();
  }
  (void)criu_obstacles(made->body);
  // What is sent is what arrives.
  const std::string sent = render_json(made->body);
  const auto arrived = parse_json(sent);
  if (!arrived || render_json(*arrived) != sent) std::abort();
  (void)refusals(arrived->as_object(), {});
  return 0;
}
