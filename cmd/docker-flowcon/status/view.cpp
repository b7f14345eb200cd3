// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/status/view.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/status/container_view.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kSentenceBytes = 1000;

void read_warnings(const json::object& status, StatusView& view) {
  const json::value& engine = member(status, "engine");
  const json::value& reachable = member(engine, "reachable");
  if (reachable.is_bool() && !reachable.get_bool()) {
    const std::string why = printable(text_of(member(engine, "error")), kSentenceBytes);
    view.warnings.push_back("the engine does not answer flowcond" +
                            (why.empty() ? "" : ": " + why));
  }
  if (is_true(member(status, "dry_run"))) {
    view.warnings.emplace_back("flowcond runs with --dry-run: limits are planned, not written");
  }
  if (is_true(member(status, "paused"))) {
    view.warnings.emplace_back(
        "control of all containers is paused; resume it with: docker flowcon resume --all");
  }
  for (const json::value& warning : list_of(member(status, "warnings"))) {
    if (warning.is_string()) view.warnings.push_back(printable(text_of(warning), kSentenceBytes));
  }
}

// The field that KEY=VALUE is about; "" = none.
std::string_view field_of(const std::string& filter) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKeys{
      {{"name", "Name"},
       {"id", "ID"},
       {"image", "Image"},
       {"list", "List"},
       {"metric", "Metric"},
       {"state", "State"}}};
  const std::string_view key = std::string_view(filter).substr(0, filter.find('='));
  for (const auto& [name, field] : kKeys) {
    if (name == key) return field;
  }
  return "";
}

}  // namespace

Result<StatusView> read_status(const json::value& answer, bool truncate) {
  const json::object* status = answer.if_object();
  const json::array* list = status != nullptr ? member(*status, "containers").if_array() : nullptr;
  if (list == nullptr) return bad_input("flowcond's status has no list of containers");
  StatusView view;
  for (const json::value& entry : *list) {
    if (!entry.is_object()) continue;
    json::object exact = exact_fields(entry.get_object());
    json::object shown = shown_fields(exact, truncate);
    view.containers.push_back({std::move(exact), std::move(shown)});
  }
  read_warnings(*status, view);
  return view;
}

std::vector<Missing> select_containers(StatusView& view, const std::vector<std::string>& wanted) {
  std::vector<Missing> missing;
  if (wanted.empty()) return missing;
  std::vector<ContainerView> selected;
  for (const std::string& name : wanted) {
    // Hosts may have containers of the same name.
    std::vector<const ContainerView*> exact, beginnings;
    for (const ContainerView& container : view.containers) {
      const std::string id = text_of(container.exact, "ID");
      if (id == name || text_of(container.exact, "Name") == name) exact.push_back(&container);
      if (!name.empty() && id.compare(0, name.size(), name) == 0) beginnings.push_back(&container);
    }
    if (exact.empty() && beginnings.size() == 1) exact = beginnings;
    if (!exact.empty()) {
      for (const ContainerView* container : exact) selected.push_back(*container);
    } else if (beginnings.empty()) {
      missing.push_back({name, "No such container: " + printable(name)});
    } else {
      missing.push_back({name, "Multiple IDs found with provided prefix: " + printable(name)});
    }
  }
  view.containers = std::move(selected);
  return missing;
}

void add_warnings_of_containers(StatusView& view) {
  for (const ContainerView& container : view.containers) {
    for (const json::value& warning : list_of(member(container.shown, "Warnings"))) {
      view.warnings.push_back(text_of(container.shown, "Name") + ": " + text_of(warning));
    }
  }
}

void name_host(StatusView& view, const std::string& host) {
  for (ContainerView& container : view.containers) {
    container.exact["Host"] = host;
    container.shown["Host"] = printable(host, 255);
  }
}

std::string check_filter(const std::string& filter) {
  const bool is_known = !field_of(filter).empty() && filter.find('=') != std::string::npos;
  return is_known ? ""
                  : "has to be KEY=VALUE with the key name, id, image, list, metric or state, not "
                    "\"" +
                        printable(filter) + "\"";
}

void filter_containers(StatusView& view, const std::vector<std::string>& filters) {
  const auto fits = [](const ContainerView& container, const std::string& filter) {
    const std::string field(field_of(filter));
    const std::string wanted = filter.substr(filter.find('=') + 1);
    const std::string text = text_of(container.exact, field);
    return field == "Name" ? text.find(wanted) != std::string::npos
           : field == "ID" ? text.starts_with(wanted)
                           : text == wanted;
  };
  std::erase_if(view.containers, [&](const ContainerView& container) {
    return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
      return std::none_of(filters.begin(), filters.end(), [&](const std::string& other) {
        return field_of(other) == field_of(filter) && fits(container, other);
      });
    });
  });
}

Result<std::string> render_status(const StatusView& view, const Format& format) {
  std::vector<json::object> things;
  for (const ContainerView& container : view.containers) {
    things.push_back(format.is_json() ? container.exact : container.shown);
  }
  return format.render(things, field_headings());
}

std::string_view default_status_table(std::string_view policy) {
  using ctrl::policy::DividesBy;
  return ctrl::policy::divides_by(policy) == DividesBy::work
             ? "{{.ID}}\t{{.Name}}\t{{.LimitPerc}}\t{{.CPUPerc}}\t{{.Score}}\t{{.ProgressPerc}}"
               "\t{{.NoteText}}"
             : "{{.ID}}\t{{.Name}}\t{{.List}}\t{{.LimitPerc}}\t{{.CPUPerc}}\t{{.GrowthText}}"
               "\t{{.Score}}\t{{.ProgressPerc}}\t{{.NoteText}}";
}

}  // namespace flowcon::plugin
