// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/report/page.h"

namespace flowcon::plugin {

// cmake/Embed.cmake makes the texts from report/.
extern const std::string_view kReportPage;
extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;

PageFiles page_files() { return {kReportPage, kReportStyle, kReportScript}; }

}  // namespace flowcon::plugin
