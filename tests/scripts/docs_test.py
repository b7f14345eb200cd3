#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links in the documentation lead somewhere: files, headings, manual pages.

usage: docs_test.py
"""

import glob
import os
import re
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = sorted(path for pattern in ("*.md", "*/*.md") for path in glob.glob(os.path.join(TOP, pattern))
               if not os.path.relpath(path, TOP).startswith("build"))
# Pages of other packages that the documentation may name.
OTHERS = {"time(1)"}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def prose(text):
    """The text without code blocks."""
    return re.sub(r"^(```.*?^```|    .*?$)", "", text, flags=re.M | re.S)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"`|\*", "", heading).strip().lower()).replace(" ", "-")
        count = found.setdefault(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return set(found)


def broken_links(path, text):
    """Relative links that lead to no file, or to no heading of it."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if name and not os.path.exists(file):
            broken.append(target)
        elif anchor and anchor not in anchors(read(file) if name else text):
            broken.append(target)
    return broken


def unknown_pages(text):
    """Manual pages that are named, as `name(section)` or `man name`, and do not exist."""
    there = {os.path.basename(path) for path in glob.glob(os.path.join(TOP, "man", "*.[1-8]"))}
    named = {f"{name}.{section}" for name, section in re.findall(r"\b([a-z][\w.-]*)\(([1-8])\)", text)
             if f"{name}({section})" not in OTHERS}
    names = set(re.findall(r"`man ([a-z][\w.-]*)`", text))
    return sorted([page for page in named if page not in there] +
                  [name for name in names if not any(page[:-2] == name for page in there)])


class Links(unittest.TestCase):
    def test_each_relative_link_leads_to_a_file_and_a_heading(self):
        self.assertGreater(len(PAGES), 15)
        for path in PAGES:
            with self.subTest(page=os.path.relpath(path, TOP)):
                self.assertEqual(broken_links(path, prose(read(path))), [])

    def test_each_manual_page_that_is_named_exists(self):
        for path in PAGES:
            with self.subTest(page=os.path.relpath(path, TOP)):
                self.assertEqual(unknown_pages(read(path)), [])

    def test_the_readme_links_each_page_of_docs(self):
        readme = read(os.path.join(TOP, "README.md"))
        pages = [os.path.relpath(path, TOP) for path in glob.glob(os.path.join(TOP, "docs", "*.md"))]
        self.assertEqual([page for page in pages if f"({page})" not in readme], [])


class Checks(unittest.TestCase):
    def test_a_broken_link_is_found(self):
        text = "# One thing\n[a](#one-thing) [b](#another) [c](nowhere.md) [d](README.md#the-paper) [e](https://x.org/y)"
        self.assertEqual(broken_links(os.path.join(TOP, "x.md"), text), ["#another", "nowhere.md"])

    def test_a_heading_that_is_there_twice_has_two_anchors(self):
        self.assertEqual(anchors("# A\n## One host\n## One host\n"), {"a", "one-host", "one-host-1"})

    def test_an_unknown_manual_page_is_found(self):
        self.assertEqual(unknown_pages("`man flowcon-tuning`, flowcond(8), nothing(1), `man nobody`"), ["nobody", "nothing.1"])


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len({str(test.id()).split(" ")[0] for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - bad} passed, {bad} failed, 0 skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
