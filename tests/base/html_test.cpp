// SPDX-License-Identifier: Apache-2.0
#include "base/html.h"

#include "tests/support/catch.h"

TEST_CASE("text in a page ends neither an element nor an attribute") {
  CHECK(flowcon::html_escaped("<b title=\"a\">'Tom & Eve'</b>") ==
        "&lt;b title=&quot;a&quot;&gt;&#39;Tom &amp; Eve&#39;&lt;/b&gt;");
  CHECK(flowcon::html_escaped("µ, 100 %") == "µ, 100 %");
  CHECK(flowcon::html_escaped("").empty());
}
