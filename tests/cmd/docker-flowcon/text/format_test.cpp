// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/format.h"

#include "cmd/docker-flowcon/text/table.h"
#include "tests/cmd/docker-flowcon/utf8_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

using boost::json::object;

const std::vector<object> kThings{{{"Name", "vae"}, {"Value", 1}},
                                  {{"Name", "a-rather-long-name"}, {"Value", 22}}};
const object kHeaders{{"Name", "NAME"}, {"Value", "VALUE"}};

std::string render(const std::string& text) {
  const Result<Format> format = Format::parse(text, "{{.Name}}\t{{.Value}}");
  if (!format) return format.error().message();
  const Result<std::string> out = format->render(kThings, kHeaders);
  return out ? *out : out.error().message();
}

TEST_CASE("cells are padded to the widest of their column plus three, at least ten") {
  CHECK(align_columns("a\tb\tc\n") == "a         b         c\n");
  CHECK(align_columns("12345678\tx\n") == "12345678   x\n");
  CHECK(align_columns("1234567\tx\n1\ty\n") == "1234567   x\n1         y\n");
  CHECK(align_columns("↓↓\tx\n") == "↓↓        x\n");
}

TEST_CASE_METHOD(Utf8Fixture, "a wide character takes two columns of a table") {
  CHECK(align_columns("日本\tx\nvae\ty\n") == "日本      x\nvae       y\n");
  CHECK(align_columns("日本語訓練\tx\nvae\ty\n") == "日本語訓練   x\nvae          y\n");
}

TEST_CASE("a line without cells ends the columns above it, as in Go") {
  CHECK(align_columns("a-long-first-cell\tx\nline\nb\ty\n") ==
        "a-long-first-cell   x\nline\nb         y\n");
}

TEST_CASE("each form of --format prints what docker would print") {
  const std::string table =
      "NAME                 VALUE\n"
      "vae                  1\n"
      "a-rather-long-name   22\n";
  CHECK(render("") == table);
  CHECK(render("table") == table);
  CHECK(render("table {{.Name}}\\t{{.Value}}") == table);
  CHECK(render("json") ==
        "{\"Name\":\"vae\",\"Value\":1}\n{\"Name\":\"a-rather-long-name\",\"Value\":22}\n");
  CHECK(render("{{.Name}}") == "vae\na-rather-long-name\n");
  CHECK(render("{{.Name}}\\t{{.Value}}") == "vae\t1\na-rather-long-name\t22\n");
  CHECK(render("table {{.Value}}") == "VALUE\n1\n22\n");
}

TEST_CASE("errors of the template begin as docker's do") {
  CHECK(render("{{.Name") == "template parsing error: template: :1: unclosed action");
  CHECK(render("{{.Nope}}") ==
        "template parsing error: template: :1:2: executing \"\" at <.Nope>: can't evaluate field "
        "Nope; the fields are: Name, Value");
  CHECK(render("table {{.Nope}}") ==
        "template parsing error: template: :1:2: executing \"\" at <.Nope>: can't evaluate field "
        "Nope; the fields are: Name, Value");
}

}  // namespace
}  // namespace flowcon::plugin
