#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages say what the programs say: every command, option, default, range and key, both
ways; their examples use what exists, and those of flowcon-sim give what they show.

usage: man_test.py FOLDER-OF-PROGRAMS
"""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import man_pages as man  # noqa: E402
import option_texts  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.path.join(TOP, "build/dev/bin")
OTHERS = {"docker-flowcon.1", "flowcon-sim.1", "flowcond.8", "flowcon.conf.5", "flowcon-peers.7",
          "flowcon-tuning.7"}
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def run(program, *words, text=""):
    done = subprocess.run([os.path.join(BIN, program), *words], input=text, capture_output=True,
                          text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, (program, words, done.stderr)
    return done.stdout


def plugin_help(*words):
    return run("docker-flowcon", "flowcon", *words, "--help")


def page(name):
    with open(os.path.join(TOP, "man", name), encoding="utf-8") as stream:
        return stream.read()


def pages():
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(TOP, "man", "*.[1-8]")))


def commands():
    return man.help_commands(plugin_help())


def lower_first(text):
    return text[0].lower() + text[1:]


def known_labels():
    """The names in ctrl/settings.cpp that labels may have."""
    with open(os.path.join(TOP, "ctrl/settings.cpp"), encoding="utf-8") as stream:
        table = re.search(r"kKnown = \{(.*?)\};", stream.read(), re.S).group(1)
    return {"flowcon." + name for name in re.findall(r'"([^"]+)"', table)}


def golden(name):
    """The objects of tests/golden/plugin/NAME.json, which test_plugin compares with what is printed."""
    with open(os.path.join(TOP, "tests/golden/plugin", name + ".json"), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def sources(pattern):
    paths = glob.glob(os.path.join(TOP, "cmd/docker-flowcon", pattern))
    assert paths, pattern
    return "\n".join(pathlib.Path(path).read_text(encoding="utf-8") for path in paths)


def field_names(value):
    """The names in an object, and in all that it holds."""
    if isinstance(value, dict):
        return set(value).union(*map(field_names, value.values()))
    return set().union(*map(field_names, value)) if isinstance(value, list) else set()


class Pages(unittest.TestCase):
    maxDiff = None

    def none(self, found):
        self.assertEqual(found, [])

    def test_there_is_a_page_for_each_command_and_no_other(self):
        wanted = OTHERS | {f"docker-flowcon-{name}.1" for name in commands()}
        self.assertEqual(set(pages()), wanted)

    def test_the_formatter_has_nothing_against_them(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed (scripts/setup test)")
        paths = [os.path.join(TOP, "man", name) for name in pages()]
        done = subprocess.run(["mandoc", "-T", "lint", *paths], capture_output=True, text=True,
                              check=False)
        # Whether other packages' pages are installed is the machine's business; ours are looked at
        # below.
        self.none([line for line in (done.stdout + done.stderr).splitlines()
                   if "referenced manual not found" not in line and "outdated mandoc.db" not in line])

    def test_references_to_our_own_pages_lead_somewhere(self):
        there = set(pages())
        for name in pages():
            for title, section in re.findall(r"^\.Xr (\S+) (\d)", page(name), re.M):
                if "flowcon" in title:
                    self.assertIn(f"{title}.{section}", there, name)

    def test_commands_have_the_usage_and_options_of_their_help(self):
        for name, description in commands().items():
            with self.subTest(command=name):
                parts = man.sections(page(f"docker-flowcon-{name}.1"))
                text = plugin_help(name)
                below = man.help_commands(text)
                usages = [man.help_usage(plugin_help(name, word)) for word in below]
                if below and man.help_usage(text).endswith("[COMMAND]"):  # has work of its own
                    usages.insert(0, man.help_usage(text))
                self.assertEqual(man.synopsis(parts["SYNOPSIS"]),
                                 " ".join(usages) or man.help_usage(text))
                self.assertEqual(man.plain(parts["NAME"][1]), lower_first(description))
                options = man.page_options(parts.get("OPTIONS", []))
                self.none(man.differences(options, man.help_options(text)))

    def test_commands_below_a_command_do_too(self):
        for name in commands():
            below = man.help_commands(plugin_help(name))
            if not below:
                continue
            parts = man.subsections(man.sections(page(f"docker-flowcon-{name}.1"))["COMMANDS"])
            helps = {man.help_usage(plugin_help(name, word)): plugin_help(name, word)
                     for word in below}
            self.assertEqual(set(parts) - {""}, set(helps))
            for usage, text in helps.items():
                with self.subTest(usage=usage):
                    self.none(man.differences(man.page_options(parts[usage]),
                                              man.help_options(text)))

    def test_the_plugin_itself(self):
        parts = man.sections(page("docker-flowcon.1"))
        text = plugin_help()
        self.assertEqual(man.synopsis(parts["SYNOPSIS"]), man.help_usage(text))
        self.assertEqual(man.plain(parts["NAME"][1]), lower_first(man.help_description(text)))
        self.none(man.differences(man.page_options(parts["OPTIONS"]), man.help_options(text)))
        listed = {head[3:]: man.described(body) for head, body in man.items(parts["COMMANDS"])}
        self.assertEqual(listed, {name: text + "." for name, text in commands().items()})
        # The variables that the help names.
        for variable in re.findall(r"environment (\w+)", text):
            self.assertIn(variable, "\n".join(parts["ENVIRONMENT"]))

    def test_the_daemon(self):
        parts = man.sections(page("flowcond.8"))
        text = run("flowcond", "--help")
        self.assertEqual(man.synopsis(parts["SYNOPSIS"]), man.help_usage(text))
        # All others are in flowcon.conf(5).
        others = {option.name for option in option_texts.read_options(BIN)}
        own = [option for option in man.help_options(text) if option.name not in others]
        self.none(man.differences(man.page_options(parts["OPTIONS"]), own))

    def test_the_options_of_the_daemon_are_said_as_its_help_says_them(self):
        printed = {}
        for line in run("flowcond", "--config", "/dev/null", "--print-config").splitlines():
            name, value = re.match(r"^(\S+) = (.*?) *# default$", line).groups()
            printed[name] = value.strip()
        self.assertEqual({o.name: o.default for o in option_texts.read_options(BIN)}, printed)
        self.assertEqual("\n".join(option_texts.differences(BIN)), "",
                         "scripts/golden --update writes what differs")

    def test_what_is_said_of_options_elsewhere_holds(self):
        defaults = {o.name: o.default for o in option_texts.read_options(BIN)}
        paths = [os.path.join(TOP, "man", name) for name in pages()]
        paths += glob.glob(os.path.join(TOP, "docs", "*.md")) + [os.path.join(TOP, "README.md")]
        said = set()
        for path in paths:
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            said.update(re.findall(r"`([a-z][a-z.-]+) = ([^`]+)`", text))
            said.update(re.findall(r"^\.(?:Cm|Ql) ([a-z][a-z.-]+) = (\S+)", text, re.M))
            if path.endswith(".md"):
                said.update(re.findall(r"^    ([a-z][a-z.-]+) = (.+)$", text, re.M))
            for name, value in re.findall(r"`([a-z][a-z.-]+) = ([^`]+)` \(default\)", text):
                self.assertEqual(value, defaults[name], path)
        self.assertGreater(len(said), 20)
        for name, value in sorted(said):
            if f"accept-{name}" in defaults:  # below [accept]
                name = f"accept-{name}"
            with self.subTest(option=f"{name} = {value}"):
                run("flowcond", "--config", "/dev/null", f"--{name}", value, "--check-config")

    def test_the_simulator(self):
        parts = man.sections(page("flowcon-sim.1"))
        text = run("flowcon-sim", "--help")
        self.assertEqual(man.synopsis(parts["SYNOPSIS"]), man.help_usage(text))
        self.none(man.differences(man.page_options(parts["OPTIONS"]), man.help_options(text)))
        below = man.subsections(parts["COMMANDS"])
        self.assertEqual({heading.split()[1] for heading in below if heading},
                         set(man.help_commands(text)))
        for heading, lines in below.items():
            if not heading:
                continue
            detail = run("flowcon-sim", heading.split()[1], "--help")
            self.assertEqual(heading, man.help_usage(detail))
            self.none(man.differences(man.page_options(lines), man.help_options(detail)))
            listed = {head[3:]: lower_first(man.described(body)[:-1])
                      for head, body in man.items(lines) if head.startswith("Cm ")}
            wanted = {name: lower_first(re.sub(r"\s+", " ", text))
                      for name, text in man.help_commands(detail).items()}
            self.assertEqual(listed, wanted)
            schedules = re.search(r"^Schedules.*:\n((?:  .*\n)+)", detail, re.M)
            if schedules:
                names = re.findall(r"^  (\S+)", schedules.group(1), re.M)
                self.assertGreater(len(names), 5)
                said = man.described(parts["COMMANDS"]).replace(",", " ").split()
                self.none([name for name in names if name not in said])

    def test_the_bridge_for_peers(self):
        lines = man.sections(page("flowcon-peers.7"))["WHAT A KEY CAN DO"]
        self.none(man.differences(man.page_options(lines),
                                  man.help_options(plugin_help("dial-stdio"))))

    def test_labels(self):
        known = known_labels()
        self.assertGreater(len(known), 10)
        for name in pages():
            said = re.findall(
                r"(?<!org\.)\bflowcon\.(?!conf\b|db\b|sock\b)[a-z][a-z.-]*[a-z]", page(name))
            self.assertLessEqual(set(said), known, name)
        everywhere = page("docker-flowcon-run.1")
        self.none([label for label in known if label not in everywhere])

    def test_examples_use_what_exists(self):
        helps = {name: plugin_help(name) for name in commands()}
        looked_at = 0
        for name in pages():
            text = page(name)
            lines = [line for display in man.displays(text) for line in display]
            for line in lines + man.quotations(text):
                found = re.search(r"\bdocker flowcon ([a-z]+)(.*)", line)
                if found:
                    command, rest = found.group(1), found.group(2).split(" | ")[0]
                    self.assertIn(command, helps, f"{name}: {line}")
                    words = helps[command]
                    if man.help_commands(words) and rest.strip():
                        words = plugin_help(command, rest.split()[0])
                    self.look(name, line, words, re.findall(r" --([a-z][\w-]*)", rest), command)
                    looked_at += 1
                found = re.match(r"flowcond (--.*)", line)
                if found:
                    self.look(name, line, run("flowcond", "--help"),
                              re.findall(r"--([a-z][\w.-]*)", found.group(1)), "flowcond")
                    looked_at += 1
        self.assertGreater(looked_at, 50)

    def look(self, name, line, text, options, command):
        known = {option.name for option in man.help_options(text)} | {"help"}
        if command in ("run", "submit"):
            known |= {"rm", "label", "name"}  # docker's own
        self.assertLessEqual(set(options), known, f"{name}: {line}")

    def test_what_flowcon_sim_is_shown_to_say_is_what_it_says(self):
        replayed = 0
        for name in pages():
            for display in man.displays(page(name)):
                whole = "\n".join(display)
                shown = re.search(r"^\$ cat state\.json\n(.*?)^\$ flowcon-sim decide (\w+) "
                                  r"< state\.json\n(.*)", whole, re.S | re.M)
                if shown:
                    state, algorithm, decision = shown.groups()
                    said = run("flowcon-sim", "decide", algorithm, text=state)
                    self.assertEqual(json.loads(decision), json.loads(said), name)
                    replayed += 1
        self.assertGreaterEqual(replayed, 4)

    def test_tables_that_are_shown_have_the_headings_that_are_printed(self):
        # What is printed is kept in tests/golden, which test_plugin compares.
        shown = [(name, line) for name in pages() for display in man.displays(page(name))
                 for line in display]
        with open(os.path.join(TOP, "README.md"), encoding="utf-8") as stream:
            shown += [("README.md", line.strip()) for line in stream]
        looked_at = set()
        for (name, before), (_, line) in zip(shown, shown[1:]):
            asked = re.search(r"^(?:\$ )?docker flowcon ([a-z]+)$", before)
            if not asked or not re.match(r"[A-Z]+ .*  [A-Z]", line):
                continue
            golden = os.path.join(TOP, "tests/golden/plugin", asked.group(1) + ".txt")
            if not os.path.exists(golden):
                continue
            with open(golden, encoding="utf-8") as stream:
                printed = re.split(r" {2,}", stream.readline().strip())
            self.assertEqual(re.split(r" {2,}", line.strip()), printed, f"{name}: {before}")
            looked_at.add((name, asked.group(1)))
        for there in ("README.md", "docker-flowcon-status.1"):
            self.assertIn((there, "status"), looked_at)

    def test_fields_of_templates_are_those_that_there_are(self):
        version = subprocess.run([os.path.join(BIN, "docker-flowcon"), "flowcon", "--socket", "/nonexistent", "version",
                                  "--format", "json"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
        tune = sources("tune/view.cpp")
        effects = re.findall(r'add_effect\(out, "(\w+)"', tune)
        self.assertGreater(len(effects), 2)
        rows = dict.fromkeys(re.findall(r'out\["(\w+)"\] =', tune)) | {"Seconds": {name: 0 for name in effects}}
        rows |= {name + kind: 0 for name in effects for kind in ("Percent", "Error", "Text")}
        cluster = golden("cluster")[0]
        printed = {"status": (golden("status"), "status/*.cpp"), "queue": (golden("queue"), "queue/*.cpp"),
                   "cluster": ([cluster, *cluster["Hosts"], *cluster["Containers"], *cluster["Moves"]], "peer/cluster.cpp"),
                   "peer": (golden("peer_ls"), "peer/peer.cpp"), "rebalance": (golden("rebalance"), "peer/cluster.cpp"),
                   "version": ([json.loads(version.stdout)], "version.cpp"), "tune": ([rows], "tune/view.cpp")}
        templates = {name for name in commands() if "'TEMPLATE'" in plugin_help(name) or
                     any("'TEMPLATE'" in plugin_help(name, below) for below in man.help_commands(plugin_help(name)))}
        self.assertEqual(templates, set(printed))
        for name, (objects, source) in printed.items():
            with self.subTest(command=name):
                lines = man.sections(page(f"docker-flowcon-{name}.1"))["TEMPLATE FIELDS"]
                listed = [re.sub(r"^\.(It )?Va ", "", line) for line in lines if re.match(r"\.(It )?Va ", line)]
                said = set(re.findall(r"\b[A-Z]\w*", " ".join(listed)))
                self.assertEqual({field for one in objects for field in one} - said, set())
                known = field_names(objects) | set(re.findall(r'"(\w+)"', sources(source)))
                self.assertEqual(said - known, set())

    def test_a_configuration_that_is_shown_is_good(self):
        shown = man.displays("\n".join(man.sections(page("flowcon.conf.5"))["EXAMPLES"]))
        self.assertEqual(len(shown), 1)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("\n".join(shown[0]) + "\n")
            file.flush()
            self.assertIn("good", run("flowcond", "--config", file.name, "--check-config"))


class Comparison(unittest.TestCase):
    """The comparison finds what is wrong; otherwise all of the above says nothing."""

    HELP = ("Usage:  x [OPTIONS]\n\nDo it\n\nOptions:\n"
            "      --last number   How many, 1 to 9\n                      (default 3)\n"
            "  -q, --quiet         Less\n")
    PAGE = ".Bl -tag -width Ds\n.It Fl -last Ar number\nHow many, 1 to 9.\nDefault: 3.\n" \
           ".It Fl q , Fl -quiet\nLess.\n.El\n"

    def found(self, old="", new=""):
        self.assertIn(old, self.PAGE)
        text = self.PAGE.replace(old, new) if old else self.PAGE
        return man.differences(man.page_options(text.splitlines()), man.help_options(self.HELP))

    def test_what_agrees(self):
        self.assertEqual(self.found(), [])

    def test_what_does_not(self):
        for old, new, word in ((".It Fl q , Fl -quiet\nLess.\n", "", "--quiet is missing"),
                               ("-quiet", "-silent", "--silent does not exist"),
                               ("Fl q , ", "", "letter"), ("Fl q", "Fl s", "letter"),
                               ("Ar number", "Ar string", "value"), (" Ar number", "", "value"),
                               ("Default: 3.", "Default: 4.", "default"),
                               ("Default: 3.\n", "", "default"), ("Less.", "Less.\nDefault: 1.", "default"),
                               ("1 to 9", "1 to 8", "range")):
            with self.subTest(new=new):
                self.assertIn(word, " ".join(self.found(old, new)))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len({str(test.id()).split(" ")[0] for test, _ in result.failures + result.errors})
    left_out = len(result.skipped)
    print(f"{result.testsRun - bad - left_out} passed, {bad} failed, {left_out} skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
