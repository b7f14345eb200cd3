#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options of flowcond stand once, in ctrl/config.cpp, and flowcond --help prints them. This compares what
packaging/flowcon.conf and flowcon.conf(5) say of them, or writes it: scripts/golden --update.

Headings, what stands below a heading and, in the manual page, what follows a default are written by hand and stay.

usage: option_texts.py [--update] FOLDER-OF-PROGRAMS
"""

import difflib
import os
import re
import subprocess
import sys
import textwrap
from collections import namedtuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
Option = namedtuple("Option", "section name value help default")


def read_options(folder):
    """All options but --help, --version and those that are of the command line alone."""
    text = subprocess.run([os.path.join(folder, "flowcond"), "--help"], capture_output=True, text=True,
                          check=True).stdout
    found, section = [], ""
    for line in re.sub(r"\n {34}", " ", text).splitlines():
        if re.match(r"[A-Z].*:$", line):
            section = line.strip().rstrip(":")
        option = re.fullmatch(r"  --([\w.-]+) (\S+)\s+(.*) \(default (.*)\)", line)
        if option and section not in ("Options", "OPTIONS"):
            found.append(Option(section, *option.groups()))
    return found


def sentence(option):
    return option.help[0].upper() + option.help[1:] + "."


def wrapped(text, width):
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def fill(text, split_at, body_of):
    """`text` with the body of each section made anew. `split_at` finds the headings of sections."""
    parts = re.split(split_at, text, flags=re.M)
    for at in range(1, len(parts), 2):
        parts[at + 1] = body_of(parts[at], parts[at + 1])
    return "".join(parts)


def file_text(text, options):
    """packaging/flowcon.conf: paragraphs that end in an option are made, others stay."""
    used = set()

    def body_of(heading, body):
        title = re.match(r"# --- (.*?) -", heading).group(1)
        kept = [part for part in body.strip("\n").split("\n\n")
                if not re.match(r"#[a-z][\w.-]* =", part.split("\n")[-1])]
        for option in options:
            if option.section != title:
                continue
            used.add(option.name)
            lines = ["# " + line for line in wrapped(sentence(option), 105)]
            name = option.name.removeprefix("accept-")
            kept.append("\n".join(lines + [f"#{name} = {option.default}".rstrip()]))
        # Without a remark of its own a heading is followed by a blank line.
        gap = "\n" if body.startswith("\n\n") else ""
        kept = [part for part in kept if part]
        return "\n" + gap + "\n\n".join(kept) + "\n\n\n"

    made = fill(text, r"^(# --- .*)$", body_of).rstrip() + "\n"
    return made, used


def escaped(line):
    line = line.replace("\\", "\\e")
    return "\\&" + line if line.startswith((".", "'")) else line


def default_line(option):
    return f"Default: {option.default or 'none'}."


def page_text(text, options):
    """flowcon.conf(5): below each heading one list, in it head, meaning and default are made."""
    used = set()

    def body_of(heading, body):
        title = heading[4:]
        some = [option for option in options if option.section == title]
        listed = re.search(r"(?<=^\.Bl -tag -width Ds\n).*?(?=^\.El$)", body, re.M | re.S)
        if not some or not listed:
            return body
        details = {}
        for item in re.split(r"^(?=\.It Cm )", listed.group(), flags=re.M)[1:]:
            name = re.match(r"\.It Cm (\S+) = ", item).group(1)
            behind = re.search(r"^Default: [^\n]*\n(.*)", item, re.M | re.S)
            details[name] = behind.group(1) if behind else ""
        made = ""
        for option in some:
            used.add(option.name)
            lines = [f".It Cm {option.name} = Ar {option.value}"]
            lines += [escaped(line) for line in wrapped(sentence(option), 79)] + [default_line(option)]
            made += "\n".join(lines) + "\n" + details.pop(option.name, "")
        if any(details.values()):
            sys.exit(f"flowcon.conf(5): move what it says of {', '.join(details)}")
        return body[:listed.start()] + made + body[listed.end():]

    return fill(text, r"^(\.S[sh] .*)$", body_of), used


TEXTS = {"packaging/flowcon.conf": file_text, "man/flowcon.conf.5": page_text}


def differences(folder, update=False):
    """What the texts should say and do not, as lines of a diff."""
    options, found = read_options(folder), []
    for path, make in TEXTS.items():
        with open(os.path.join(TOP, path), encoding="utf-8") as stream:
            present = stream.read()
        wanted, used = make(present, options)
        found += [f"{path} has no section {o.section} for {o.name}" for o in options if o.name not in used]
        if update and wanted != present:
            with open(os.path.join(TOP, path), "w", encoding="utf-8") as stream:
                stream.write(wanted)
        elif wanted != present:
            found += difflib.unified_diff(present.splitlines(), wanted.splitlines(), path, "flowcond --help",
                                          lineterm="", n=1)
    return found


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--update"]
    if len(words) != 1:
        sys.exit("usage: option_texts.py [--update] FOLDER-OF-PROGRAMS")
    problems = differences(words[0], "--update" in sys.argv)
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
