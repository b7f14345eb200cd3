// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/template/template.h"

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

boost::json::value sample() {
  return *parse_json(R"({"Name":"vae","Goal":"min","Value":0.0431,"Values":118,"Empty":"",
      "Unknown":null,"Yes":true,"No":false,"Zero":0,"Text":"a\"b\u009b",
      "Most":18446744073709551615,"Progress":{"Total":40,"Done":12},"Warnings":["one","two"],"None":[]})");
}

std::string render(const std::string& text) {
  const Result<Template> parsed = Template::parse(text);
  if (!parsed) return "parse error: " + parsed.error().message();
  const Result<std::string> out = parsed->render(sample());
  return out ? *out : "error: " + out.error().message();
}

using Rows = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("fields, literals and text print as Go prints them") {
  const Rows rows{
      {"", ""},
      {"plain } text {", "plain } text {"},
      {"{{.Name}}", "vae"},
      {"{{ .Name }}", "vae"},
      {"<{{.Name}}>", "<vae>"},
      {"{{.Progress.Done}}/{{.Progress.Total}}", "12/40"},
      {"{{(.Progress).Done}}", "12"},
      {"{{$.Name}}", "vae"},
      {"{{.Value}} {{.Values}} {{.Yes}}", "0.0431 118 true"},
      {"{{.Unknown}}", "<no value>"},
      {"{{.Warnings}}", "[one two]"},
      {"{{.Progress}}", "map[Done:12 Total:40]"},
      {"{{\"a\\tb\\n\\\"\"}}", "a\tb\n\""},
      {"{{`a\\b`}}", "a\\b"},
      {"{{1}} {{-2}} {{+3}} {{1.5}} {{1e-3}}", "1 -2 3 1.5 0.001"},
      {"{{true}} {{false}}", "true false"},
      {R"({{printf "%d %d" .Most -3}})", "18446744073709551615 -3"},
      {"a {{- .Name -}} b", "avaeb"},
      {"a {{/* not shown */}}b", "a b"},
      {"a {{- /* not shown */ -}} b", "ab"},
  };
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(render(text) == expected);
  }
}

TEST_CASE("docker's functions work alone, with arguments and in pipelines") {
  const Rows rows{
      {"{{json .Name}}", "\"vae\""},
      {"{{json .}}",
       R"({"Name":"vae","Goal":"min","Value":0.0431,"Values":118,"Empty":"","Unknown":null,)"
       R"("Yes":true,"No":false,"Zero":0,"Text":"a\"b\u009b","Most":18446744073709551615,"Progress":{"Total":40,"Done":12},)"
       R"("Warnings":["one","two"],"None":[]})"},
      {"{{.Warnings | json}}", R"(["one","two"])"},
      {"{{json .Text}}", R"("a\"b\u009b")"},
      {"{{join .Warnings \", \"}}", "one, two"},
      {"{{.Warnings | join \"-\"}}", "one-two"},
      {"{{join .None \",\"}}", ""},
      {"{{split \"a,b,c\" \",\"}}", "[a b c]"},
      {"{{upper .Name}} {{lower \"ABC\"}} {{title \"one two\"}}", "VAE abc One Two"},
      {"{{.Name | upper | printf \"%s!\"}}", "VAE!"},
      {"{{truncate .Name 2}}{{truncate \"↓↓↓\" 2}}", "va↓↓"},
      {"{{println .Name .Values}}", "vae 118\n"},
      {"{{print .Name .Goal 1 2}}", "vaemin1 2"},
      {"{{println}}", "\n"},
      {"{{len .Warnings}} {{len .Name}} {{len .Progress}}", "2 3 2"},
      {"{{index .Warnings 1}} {{index .Progress \"Done\"}}", "two 12"},
      {"{{printf \"%.2f|%5d|%-5s|%q|%v|%%\" .Value .Values .Name .Name .Yes}}",
       "0.04|  118|vae  |\"vae\"|true|%"},
      {"{{printf \"%d\" .Name}}", "%!d(vae)"},
      {"{{printf \"%4s|%-4v|%.2s|%4.1s|\" \"↓↓\" \"↓↓\" \"↓↓↓\" \"日本\"}}", "  ↓↓|↓↓  |↓↓|   日|"},
      {"{{printf \"%06.2f|%+d|%-04d|%.f\" .Value 3 4 1.0}}", "000.04|+3|4   |1"},
      {"{{printf \"%é%d\" .Name 1}}", "%!é(vae)1"},
  };
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(render(text) == expected);
  }
}

TEST_CASE("if, else, range and with choose by Go's truth") {
  const Rows rows{
      {"{{if .Yes}}y{{end}}{{if .No}}n{{end}}", "y"},
      {"{{if .Empty}}a{{else}}b{{end}}", "b"},
      {"{{if .Zero}}a{{else if .Unknown}}b{{else if .Name}}c{{else}}d{{end}}", "c"},
      {"{{if .None}}a{{else}}b{{end}}", "b"},
      {"{{if eq .Goal \"min\"}}down{{else}}up{{end}}", "down"},
      {"{{if ne .Goal \"min\"}}a{{else}}b{{end}}", "b"},
      {"{{if eq .Goal \"max\" \"min\"}}either{{end}}", "either"},
      {"{{if and .Yes .Name}}a{{end}}{{if and .Yes .No}}b{{end}}", "a"},
      {"{{or .Empty .Name}} {{and .Name .Goal}}", "vae min"},
      {"{{if not .No}}a{{end}}", "a"},
      {"{{if lt .Value 0.1}}small{{end}}{{if ge .Values 118}} many{{end}}", "small many"},
      {"{{if eq .Unknown nil}}unknown{{end}}", "unknown"},
      {"{{if and (gt .Values 100) (eq .Name \"vae\")}}both{{end}}", "both"},
      {"{{range .Warnings}}<{{.}}>{{end}}", "<one><two>"},
      {"{{range .Warnings}}{{$.Name}}:{{.}} {{end}}", "vae:one vae:two "},
      {"{{range .None}}x{{else}}none{{end}}", "none"},
      {"{{range .Progress}}{{.}},{{end}}", "40,12,"},
      {"{{with .Progress}}{{.Done}}{{end}}", "12"},
      {"{{with .Unknown}}x{{else}}{{.Name}}{{end}}", "vae"},
      {"{{range .Warnings}}{{if eq . \"two\"}}{{.}}{{end}}{{end}}", "two"},
  };
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(render(text) == expected);
  }
}

TEST_CASE("what cannot be parsed is refused with line and reason") {
  const Rows rows{
      {"{{.Name", "unclosed action"},
      {"{{", "unclosed action"},
      {"a\n{{.Name", ":2: unclosed action"},
      {"{{}}", "missing value for command"},
      {"{{nope .Name}}", "function \"nope\" not defined"},
      {"{{if .Name}}x", "unexpected EOF"},
      {"{{end}}", "unexpected {{end}}"},
      {"{{else}}", "unexpected {{else}}"},
      {"{{if}}x{{end}}", "missing value for if"},
      {"{{if .A}}{{else}}{{else}}{{end}}", "expected end; found {{else}}"},
      {"{{$x := .Name}}", "variables are not supported here"},
      {"{{define \"x\"}}{{end}}", "{{define}} is not supported here"},
      {"{{\"abc}}", "unterminated quoted string"},
      {"{{`abc}}", "unterminated raw quoted string"},
      {"{{\"\\x\"}}", "invalid escape in quoted string"},
      {"{{(.Name}}", "unclosed left paren"},
      {"{{.Name)}}", "unexpected \")\" in command"},
      {"{{.Name .Goal}}", "can't give argument to non-function .Name"},
      {"{{.Name | .Goal}}", "non executable command in pipeline stage 2"},
      {"{{12ab}}", "bad number syntax: \"12ab\""},
      {"{{.Name} }}", "unexpected \"}\" in command"},
      {"{{/* open", "unclosed comment"},
      {"{{.Name |}}", "missing value for command"},
      {"{{%}}", "unexpected \"%\" in operand"},
  };
  for (const auto& [text, reason] : rows) {
    INFO(text);
    const Result<Template> parsed = Template::parse(text);
    REQUIRE_FALSE(parsed.has_value());
    INFO(parsed.error().message());
    CHECK(parsed.error().message().compare(0, 11, "template: :") == 0);
    CHECK(parsed.error().message().find(reason) != std::string::npos);
  }
}

constexpr const char* kOutOfOrder =
    "error: template: :1:2: executing \"\" at <printf>: error calling printf: a verb of the format "
    "has its flags first, then its width and precision";

TEST_CASE("what cannot be evaluated names the place and the reason") {
  const Rows rows{
      {"x {{.Nope}}",
       "error: template: :1:4: executing \"\" at <.Nope>: can't evaluate field Nope; the fields "
       "are: Name, Goal, Value, Values, Empty, Unknown, Yes, No, Zero, Text, Most, Progress, "
       "Warnings, "
       "None"},
      {"{{.Name.First}}",
       "error: template: :1:2: executing \"\" at <.Name.First>: can't evaluate field First in a "
       "value without fields"},
      {"{{.Unknown.Done}}",
       "error: template: :1:2: executing \"\" at <.Unknown.Done>: nil pointer evaluating Done: the "
       "value is not known"},
      {"{{lt .Unknown 1}}",
       "error: template: :1:2: executing \"\" at <lt>: error calling lt: incompatible types for "
       "comparison"},
      {"{{eq .Name 1}}",
       "error: template: :1:2: executing \"\" at <eq>: error calling eq: incompatible types for "
       "comparison"},
      {"{{json}}",
       "error: template: :1:2: executing \"\" at <json>: error calling json: wrong number of args: "
       "want 1, got 0"},
      {"{{range .Name}}{{end}}",
       "error: template: :1:8: executing \"\" at <.Name>: range can't iterate over vae"},
      {"{{index .Warnings 2}}",
       "error: template: :1:2: executing \"\" at <index>: error calling index: index out of range: "
       "2"},
      {"{{printf \"%s\"}}",
       "error: template: :1:2: executing \"\" at <printf>: error calling printf: missing a value "
       "for %s"},
      {"{{printf \"%9999d\" 1}}",
       "error: template: :1:2: executing \"\" at <printf>: error calling printf: width or "
       "precision "
       "is too large"},
      {"{{printf \"%.2.3f\" 1.0}}", kOutOfOrder},
      {"{{printf \"%5-s\" .Name}}", kOutOfOrder},
      {"{{printf \"%.2+d\" 1}}", kOutOfOrder},
      {"{{printf \"%-5\" 1}}",
       "error: template: :1:2: executing \"\" at <printf>: error calling printf: a verb of the "
       "format is not complete"},
  };
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(render(text) == expected);
  }
}

TEST_CASE("a template nested beyond reason is refused, not followed") {
  const std::string parentheses = "{{" + std::string(100000, '(') + "1";
  std::string blocks;
  for (int i = 0; i < 1000; ++i) blocks += "{{if .Name}}";

  CHECK(Template::parse(parentheses).error().message() == "template: :1: nested too deeply");
  CHECK(Template::parse(blocks).error().message() == "template: :1: nested too deeply");
}

TEST_CASE("a heading has the name of each field, whatever functions it goes through") {
  const boost::json::value headers{{"Name", "NAME"}, {"Value", "VALUE"}, {"Progress", "PROGRESS"}};
  const Rows rows{
      {"{{.Name}}\t{{.Value}}", "NAME\tVALUE"},
      {"{{upper .Name}} {{.Value | printf \"%.2f\"}}", "NAME VALUE"},
      {"{{.Progress.Done}}", "DONE"},
      {"{{if .Name}}{{.Name}}{{else}}none{{end}}", "NAME"},
      {"{{range .Progress}}{{.}}{{end}}", "PROGRESS"},
      {"{{if (eq .Name \"x\")}}{{.Value}}{{end}}", "VALUE"},
  };
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(*Template::parse(text)->render_header(headers) == expected);
  }
}

}  // namespace
}  // namespace flowcon::plugin
