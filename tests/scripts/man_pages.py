# SPDX-License-Identifier: Apache-2.0
"""What a manual page in mdoc and a program's help say of options, in one form to compare them.

An option is a tuple: its long name, its letter or "", what it takes or "", its default or None, and
the text that describes it.
"""

import re
from collections import namedtuple

Option = namedtuple("Option", "name letter value default text")

# What a page writes where the help says an empty default, or this word.
EMPTY = "none"


def sections(text):
    """Section heading -> its lines; subsections are among the lines."""
    found, lines = {}, []
    for line in text.splitlines():
        if line.startswith(".Sh "):
            lines = found.setdefault(line[4:].strip('"'), [])
        else:
            lines.append(line)
    return found


def plain(line):
    """A line of mdoc as a reader sees it, but for fonts."""
    if line.startswith(".\\\""):
        return ""
    if line.startswith("."):
        line = line[1:]
    words = []
    glue = False
    for word in re.findall(r'"[^"]*"|\S+', line):
        word = word.strip('"')
        if word in ("Ns", "No"):
            glue = word == "Ns"
            continue
        if re.fullmatch(r"Ar|Cm|Dl|Dv|Em|Ev|Ic|It|Li|Nd|Nm|Pa|Pc|Po|Pq|Ql|Sh|Ss|Sx|Sy|Va|Xr", word):
            continue
        if word == "Op":
            words.append("[")
            glue = True
            continue
        if word in (",", ".", ";", ":") and words:
            words[-1] += word
            continue
        if glue and words:
            words[-1] += word
        else:
            words.append(word)
        glue = False
    return " ".join(words)


def synopsis(lines):
    """`.Nm docker flowcon run`, `.Op Ar OPTIONS`, ... as a usage line."""
    words = []
    for line in lines:
        word = plain(line)
        words.append(word + "]" * (word.count("[") - word.count("]")))
    return " ".join(word for word in words if word)


def items(lines):
    """Each `.It` of the lists among `lines`: its head and the lines that describe it."""
    found, depth = [], 0
    for line in lines:
        if line.startswith(".Bl"):
            depth += 1
        elif line.startswith(".El"):
            depth -= 1
        elif line.startswith(".It ") and depth == 1:
            found.append((line[4:], []))
        elif found and depth > 0:
            found[-1][1].append(line)
    return found


def described(lines):
    return re.sub(r"\s+", " ", " ".join(plain(line) for line in lines)).strip()


def default_in(text):
    """The sentence "Default: X." at the end of a description."""
    found = re.search(r"Default: (.*)\.$", text)
    if not found:
        return None
    return "" if found.group(1) == EMPTY else found.group(1)


def page_options(lines):
    """Options of the form `.It Fl q , Fl -quiet` or `.It Fl -format Ar string`."""
    found = []
    for head, body in items(lines):
        name = re.fullmatch(r"(?:Fl (\w) , )?Fl -([\w.-]+)(?: Ar (\S+))?", head)
        if name:
            text = described(body)
            found.append(Option(name.group(2), name.group(1) or "", name.group(3) or "",
                                default_in(text), text))
        elif "Fl " in head:
            raise ValueError("not of the form of an option: .It " + head)
    return found


def subsections(lines):
    """The lines before the first subsection under "", then heading -> lines."""
    found, rest = {}, []
    found[""] = rest
    for line in lines:
        if line.startswith(".Ss "):
            heading = plain(line)
            heading += "]" * (heading.count("[") - heading.count("]"))
            rest = found.setdefault(heading, [])
        else:
            rest.append(line)
    return found


HELP_OPTION = re.compile(r"^ +(?:-(\w), ?)?\s*--([\w.-]+)(?: (\S+))?(?:\s+(\S.*))?$")


def help_options(text):
    """Options in the layout of docker's help, or of CLI11's."""
    found = []
    for line in text.splitlines():
        match = HELP_OPTION.match(line)
        if match and not line.startswith(" " * 12):
            found.append([match.group(2), match.group(1) or "", match.group(3) or "",
                          match.group(4) or ""])
        elif found and re.match(r"^ {12,}\S", line):
            found[-1][3] += " " + line.strip()
        elif line and not line.startswith(" "):
            # What follows a blank line and a heading is no part of an option.
            if found and line.endswith(":") is False:
                found.append(["", "", "", ""])
    return [Option(name, letter, value, help_default(text), text)
            for name, letter, value, text in found if name]


def help_default(text):
    """(default: X), (default X) or (default "X"), at the end or followed by more."""
    found = re.search(r'\(default(?::? +"?([^()"]*)"?)\)', text)
    if found is None:
        return None
    return "" if found.group(1).strip() == EMPTY else found.group(1).strip()


def help_range(text):
    """"5 to 500" of "Lines of the chart, 5 to 500" or "(5 to 500)", else ""."""
    found = re.search(r"\b(\d[\d.]* to \d[\d.]*)\b", text)
    return found.group(1) if found else ""


def help_commands(text):
    """Name -> description of the commands that a help lists."""
    found, last = {}, None
    inside = False
    for line in text.splitlines():
        if line == "Commands:" or line == "Algorithms:":
            inside = True
        elif inside and not line:
            inside = False
        elif inside:
            match = re.match(r"^  (\S+) {2,}(\S.*)$", line)
            if match:
                last = match.group(1)
                found[last] = match.group(2)
            elif last:
                found[last] += " " + line.strip()
    return found


def help_usage(text):
    return re.search(r"^Usage: +(.*?) *$", text, re.M).group(1)


def help_description(text):
    """The paragraph behind the usage line."""
    body = text.split("\n\n")
    at = next(i for i, part in enumerate(body) if part.lstrip().startswith("Usage:"))
    return re.sub(r"\s+", " ", body[at + 1]).strip()


def differences(options, wanted, check_text=True):
    """What a page says of options, against what the help says; both ways."""
    found = []
    page, help_of = {o.name: o for o in options}, {o.name: o for o in wanted}
    found += [f"--{name} is missing" for name in help_of if name not in page]
    found += [f"--{name} does not exist" for name in page if name not in help_of]
    found += [f"--{o.name} is there twice" for o in options if options.count(o) > 1]
    for name in page.keys() & help_of.keys():
        ours, theirs = page[name], help_of[name]
        for what in ("letter", "value", "default"):
            if getattr(ours, what) != getattr(theirs, what):
                found.append(f"--{name}: its {what} is {getattr(theirs, what)!r}, "
                             f"not {getattr(ours, what)!r}")
        if check_text and help_range(theirs.text) not in ours.text:
            found.append(f"--{name}: its range is {help_range(theirs.text)}")
    return found


def displays(text):
    """The lines of each `.Bd -literal` display, and of each `.Dl`."""
    found, inside = [], None
    for line in text.splitlines():
        if line.startswith(".Bd"):
            inside = []
        elif line.startswith(".Ed"):
            found.append(inside)
            inside = None
        elif line.startswith(".Dl "):
            found.append([line[4:]])
        elif inside is not None:
            inside.append(line.replace("\\e", "\\"))
    return found


def quotations(text):
    """What is quoted as a command: `.Ql docker flowcon ...`."""
    return re.findall(r"^\.(?:Ql|Pq Ql) (.*)$", text, re.M)
