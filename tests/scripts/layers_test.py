#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of scripts/layers finds its offence, at its line, and leaves its neighbours alone."""

import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"
ASIO_HEADER = SPDX + "// For .cpp files\n// only: it includes Asio.\n#pragma once\n"


def offences(files):
    """What is printed for a tree of these files: path to text."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as stream:
                stream.write(text)
        done = subprocess.run(
            [sys.executable, os.path.join(TOP, "scripts", "layers"), "--root", root],
            capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        assert done.returncode == (1 if lines else 0), done.stderr
        return lines


class Layers(unittest.TestCase):
    def finds(self, path, text, place, word, **more):
        found = offences({path: text, **more})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(place + ": "), found)
        self.assertIn(word, found[0])

    def clean(self, path, text, **more):
        self.assertEqual(offences({path: text, **more}), [])

    def test_arrows_point_down(self):
        self.finds("cgroups/a.cpp", SPDX + '#include "ctrl/x.h"\n', "cgroups/a.cpp:2", "cgroups")
        self.finds("base/a.h", HEADER + '\n  #  include "cmd/x/y.h"\n', "base/a.h:4", "base")
        self.finds("cmd/x/a.cpp", SPDX + '#include "tests/support/catch.h"\n', "cmd/x/a.cpp:2", "tests")
        self.clean("cmd/x/a.cpp", SPDX + '#include "ctrl/x.h"\n#include "base/y.h"\n')
        self.finds("ctrl/a.cpp", SPDX + '#include "cluster/policy/x.h"\n', "ctrl/a.cpp:2", "ctrl")
        self.clean("cluster/peers/a.cpp", SPDX + '#include "ctrl/x.h"\n#include "cluster/policy/y.h"\n')
        self.clean("tests/a.cpp", SPDX + '#include "cmd/x.h"\n')
        self.clean("base/a.cpp", SPDX + '// #include "ctrl/x.h"\n/*\n#include "cmd/x.h"\n*/\n')

    def test_pure_rooms_do_not_see_the_world(self):
        for header in ("fstream", "thread", "unistd.h", "sys/stat.h", "boost/asio/post.hpp", "sqlite3.h"):
            self.finds("ctrl/policy/a.cpp", SPDX + f"#include <{header}>\n", "ctrl/policy/a.cpp:2", header)
        self.finds("ctrl/logs/framing.cpp", SPDX + "#include <mutex>\n", "ctrl/logs/framing.cpp:2", "mutex")
        self.finds("ctrl/growth/a.cpp", SPDX + '#include "ctrl/log.h"\n', "ctrl/growth/a.cpp:2", "ctrl/log.h")
        for room in ("cluster/policy", "cluster/codec"):
            self.finds(f"{room}/a.cpp", SPDX + "#include <ctime>\n", f"{room}/a.cpp:2", "ctime")
            self.finds(f"{room}/a.h", HEADER + '#include "cluster/peers/x.h"\n', f"{room}/a.h:3", "peers")
            self.clean(f"{room}/a.cpp", SPDX + '#include "ctrl/codec/x.h"\n#include "cluster/policy/y.h"\n')
        self.clean("ctrl/logs/tail.cpp", SPDX + "#include <mutex>\n")
        self.finds("cluster/migration/plan/a.cpp", SPDX + "#include <ctime>\n",
                   "cluster/migration/plan/a.cpp:2", "ctime")
        self.clean("cluster/migration/run/a.cpp", SPDX + '#include "ctrl/pull.h"\n')
        self.clean("ctrl/growth/a.cpp",
                   SPDX + '#include <vector>\n#include "ctrl/model.h"\n#include "base/json.h"\n')

    def test_asio_stays_out_of_headers(self):
        text = HEADER + "#include <boost/beast/http.hpp>\n"
        self.finds("ctrl/a.h", text, "ctrl/a.h:3", "header")
        self.clean("ctrl/a.cpp", SPDX + "#include <boost/asio/post.hpp>\n")
        self.clean("ctrl/a.h", ASIO_HEADER + "#include <boost/asio/post.hpp>\n")
        self.finds("ctrl/b.h", HEADER + '#include "ctrl/a.h"\n', "ctrl/b.h:3", "for .cpp files",
                   **{"ctrl/a.h": ASIO_HEADER})
        self.finds("ctrl/a.cpp", SPDX + "#include <boost/asio.hpp>\n", "ctrl/a.cpp:2", "everything")

    def test_coroutines_take_values(self):
        for parameters in ("const std::string& a", "int a,\n  std::string_view b", "std::span<int> s",
                           "const char* c", "Request&& r", "fs::path p, std::vector<int>& v"):
            self.finds("ctrl/a.cpp", SPDX + f"Async<Result<int>> A::f({parameters}) {{\n}}\n",
                       "ctrl/a.cpp:" + ("3" if "\n" in parameters else "2"), "values")
        self.finds("ctrl/a.cpp", SPDX + "auto f = [](int& a) mutable -> boost::asio::awaitable<void> {};\n",
                   "ctrl/a.cpp:2", "int& a")
        self.finds("ctrl/a.h", HEADER + "[[nodiscard]] boost::asio::awaitable<void> f(X& x) const;\n",
                   "ctrl/a.h:3", "X& x")
        self.clean("ctrl/a.h", HEADER + "Async<void> f(boost::asio::io_context& io, engine::Client& c);\n")
        self.finds("ctrl/a.h", HEADER + "Async<void> f(std::vector<Client>& c);\n", "ctrl/a.h:3", "values")
        self.clean("ctrl/a.cpp", SPDX + "Async<Result<std::vector<int>>> f(std::function<void(int&)> g,\n"
                                        "  std::vector<std::string> v, std::shared_ptr<X> x = {});\n"
                                        "// Async<void> g(int& a);\n"
                                        "int& h(std::string_view a);\n"
                                        "using F = std::function<Async<int>(Request)>;\n")

    def test_files(self):
        self.finds("base/a.h", SPDX, "base/a.h:1", "#pragma once")
        self.finds("base/a.cpp", "int a;\n", "base/a.cpp:1", "SPDX")
        self.finds("scripts/a", "#!/bin/sh\n:\n", "scripts/a:1", "SPDX")
        self.finds("base/a.cpp", SPDX + "\n" * 600, "base/a.cpp:601", "601 lines")
        self.clean("base/a.cpp", SPDX + "\n" * 599)

    def test_classes_are_small(self):
        members = "".join(f"  int m{i} = 0;  ///< {{of (it\n" for i in range(25))
        methods = "".join(f"  [[nodiscard]] int f{i}(int a = g({{}})) const {{ return h(a); }}\n" for i in range(40))
        self.clean("base/a.h", HEADER + f"class A : public B<int> {{\n public:\n{methods}\n private:\n{members}}};\n")
        for more in ("int a;", "std::function<void(int)> a;", "std::map<int, int> a{{1, 2}};", "int a : 3;",
                     "std::atomic<int> a = 7;", "struct { int x, y; } a;"):
            self.finds("base/a.h", HEADER + f"struct A {{\n{members}  {more}\n}};\n", "base/a.h:3",
                       "A has 26 data members")
        self.finds("base/a.h", HEADER + f"struct A {{\n{members}  int a, b = 1;\n}};\n", "base/a.h:3", "27")
        for more in ("A();", "A(int a) : x_{a}, y_(2) {}", "bool operator<(const A& o) const { return x < o.x; }",
                     "A& operator=(const A&) = default;", "template <class T>\n  T get() {\n    return {};\n  }",
                     "Async<void> f() override;", "void operator()(int& a) { a = 0; }", "static A make();"):
            self.finds("base/a.h", HEADER + f"class A {{\n{methods}  {more}\n}};\n", "base/a.h:3",
                       "A has 41 member functions")
        for fine in ("using F = void(int);", "friend void f(int);", "static constexpr int kA = f(1);", "enum class E { a, b };",
                     "class B;", "struct B {\n    int x;\n    void f();\n  };", "static_assert(sizeof(int) == 4);"):
            self.clean("base/a.h", HEADER + f"class A {{\n{methods}{members}  {fine}\n}};\n")
        self.clean("tests/a.h", HEADER + f"struct A {{\n{members}{members}}};\n")

    def test_functions_are_short(self):
        def function(lines):
            return "int f(int a,\n      int b) {\n" + "  a += b;\n" * (lines - 4) + "  return a;\n}\n"

        self.clean("base/a.cpp", SPDX + function(70) + "\n" + function(70))
        self.finds("base/a.cpp", SPDX + function(9) + "\n" + function(71), "base/a.cpp:12", "71 lines")
        inner = "\n".join("  " + line for line in function(71).splitlines())
        self.finds("base/a.h", HEADER + f"class A {{\n{inner}\n}};\n", "base/a.h:4", "71 lines")
        self.clean("base/a.cpp", SPDX + "namespace a {\n" + "int x;\n" * 80 + "}\n")


if __name__ == "__main__":
    unittest.main()
