// SPDX-License-Identifier: Apache-2.0
// One container of the daemon's status as fields and cells. Pure: JSON in, JSON out.
#pragma once

#include <boost/json/object.hpp>

namespace flowcon::plugin {

/// The fields of ContainerView::exact from one entry of the answer to GET /v1/status.
[[nodiscard]] boost::json::object exact_fields(const boost::json::object& entry);

/// The fields of ContainerView::shown.
[[nodiscard]] boost::json::object shown_fields(const boost::json::object& exact, bool truncate);

/// The headings of a table's columns: field to heading.
[[nodiscard]] const boost::json::object& field_headings();

}  // namespace flowcon::plugin
