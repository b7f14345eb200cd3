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

    def counts(self, members, methods, declared):
        """Each of these, in a class that is full, is so many data members and member functions."""
        fields = "".join(f"  int m{i} = 0;\n" for i in range(25))
        functions = "".join(f"  int f{i}();\n" for i in range(40))
        files = {f"base/{i:03}.h": f"{HEADER}class A {{\n{functions}{fields}  {one}\n}};\n"
                 for i, one in enumerate(declared)}
        found = offences(files)
        for path, one in zip(files, declared):
            expected = [f"{path}:3: A has {size} {what}, at most {most}" for size, what, most in
                        ((25 + members, "data members", 25), (40 + methods, "member functions", 40))
                        if size > most]
            self.assertEqual([line for line in found if line.startswith(path)], expected, one)

    def test_data_members_are_read(self):
        self.counts(1, 0, [
            "int (*f)(int) = nullptr;", "int (*f)(int, void (*)(int)){nullptr};", "R<int> (*make)(const P& p, Q q);",
            "void (A::*f)(int) const = &A::f1;", "void (*table[3])(int);", "int (&r)[3];", "int A::*p = nullptr;",
            "std::function<int(int, char)> f;", "std::function<void()> f = [](int a) { g(a); };",
            "std::function<void()> f{[] { return; }};", "std::function<void()> f = [this, &x] { g(x, 1); };",
            "std::map<std::string, std::function<bool(int)>> f{{\"a\", [](int a) { return a < 1; }}};",
            "std::array<int, 1 << 4> a{};", "std::array<int, (1 > 0) ? 2 : 3> a;", "bool a = 1 < 2;",
            "bool a = f<int, 3>(1) && (2 > 1);", "int a[3][4] = {{1, 2}, {3}};", "int a[g(1, 2)];",
            "unsigned a : 3 = 1;", "unsigned a : sizeof(int) * 2;", "unsigned a : 3 {1};", "mutable std::mutex m;",
            "static inline int count = f(1);", "inline static const int kA{2};", "[[maybe_unused]] int a;",
            "[[deprecated(\"x(y)\")]] int a;", "alignas(8) int a;", "alignas(T) std::array<char, 3> a;",
            "decltype(f(1)) a;", "struct stat a {};", "struct timespec a;", "const struct stat* a = nullptr;",
            "enum Kind a = Kind::b;", "enum class E { a, b } a;", "struct { int x, y; void f(); } a;",
            "union { int x; char y; } a;", "std::string a = \"(<{\";", "char a = '\\'';", "int a = 1'000;",
            "A* next;", "B operator_;", "Constexpr constexpr_;", "#if FLOWCON_X(1)\n  int a;\n#endif",
            "FLOWCON_GUARDED(mutex_) int a;", "public:\n  int a;"])
        self.counts(2, 0, [
            "int a, b;", "int a = 1, *b;", "int a[2], b{3};", "int a : 2, b : 3;", "std::map<int, int> a, b = {};",
            "struct { int x; } a, b;", "bool a = 1 < 2, b = true;", "int a = f(1, 2), b{1};",
            "int a = f(1'000, '('), b;"])

    def test_member_functions_are_read(self):
        self.counts(0, 1, [
            "constexpr int f() { return 1; }", "static constexpr int f(int a = 1) noexcept { return a; }",
            "constexpr static int f();", "static consteval int f();", "constexpr A() = default;",
            "constexpr bool operator==(const A&) const = default;", "constexpr operator int() const { return 1; }",
            "A(const A&) = delete;", "virtual ~A() = 0;", "A() : a{1}, b_(2) {}", "A() noexcept(false) : a{1} {}",
            "A() : B<int>{1}, c{{1, 2}} {}", "explicit(true) A(int a);",
            "template <class T = std::function<void(int)>>\n  T f();", "template <int N = (1 < 2)>\n  int f();",
            "template <bool B = 1 < 2>\n  int f();", "template <class T = int, class U = B<C<T>>>\n  void f() {}",
            "template <class T>\n    requires(sizeof(T) > 1)\n  T f() { return {}; }",
            "template <class T>\n    requires requires(T t) { t.f(); }\n  T f() { return {}; }",
            "template <class T>\n  static constexpr bool f(T t) { return t > 1; }",
            "[[nodiscard]] std::array<int, 1 << 4> f() const;", "[[nodiscard]] int f() const;",
            "[[nodiscard(\"a(b)\")]] virtual int f() = 0;", "void f [[noreturn]] ();",
            "int f(int a, int b = g({1, 2}));",
            "auto f() const -> std::function<int(int)>;", "auto f() -> std::vector<int> { return {}; }",
            "std::function<int(int)> f();", "void (*f(int))(int);", "int (*f())(int) { return nullptr; }",
            "decltype(auto) f();", "struct stat f() { return {}; }", "struct stat* f();", "int f(int (*g)(int));",
            "int f(std::function<void(int)> g = [](int a) { h(a); });",
            "bool operator<(const A&) const;", "A& operator<<(int a) { return *this; }",
            "A* operator->() { return this; }",
            "auto operator<=>(const A&) const = default;", "A& operator=(A&&) = default;", "int operator[](int) const;",
            "void operator()(int a, int b) {}", "A& operator,(int a);", "explicit operator bool() const;",
            "operator std::function<void()>() const;", "void f() { struct L { int x; void g() {} } l; l.g(); };",
            "void f() {\n    const auto g = [](int a) { return a; };\n  }", "#if FLOWCON_X\n  void f();\n#endif"])
        self.counts(0, 2, ["void f() {}\n  void g() {}", "void f();\n public:\n  void g();"])

    def test_what_is_no_member(self):
        self.counts(0, 0, [
            "static constexpr int kA = f(1);", "static constexpr A kA{f(1)};", "inline static constexpr int kA = 1;",
            "constexpr static std::array<int, 3> kA{1, 2};", "static constexpr int (*kF)(int) = f;",
            "template <class T>\n  static constexpr bool kIs = f<T>();", "template <class T>\n  using F = void(T);",
            "using F = int (*)(int);", "typedef int (*F)(int);", "using B::operator=;",
            "friend constexpr bool operator==(const A&, const A&) = default;", "friend class B;",
            "constexpr friend bool f(A a) { return true; }", "template <class T>\n  friend void f(T);",
            "[[nodiscard]] friend bool operator<(A a, A b) { return true; }", "struct B;", "enum class E : int;",
            "enum E : char { a, b = f(1) };", "class B : public C<int(int)> {\n    int a;\n    void f();\n  };",
            "template <class T, class U = void>\n  struct B {\n    T a;\n    T f();\n  };",
            "template <class T>\n  struct B<std::function<T()>> final : C<T> {\n    T a;\n  };",
            "struct alignas(8) B {\n    int a;\n  };", "class [[nodiscard]] B {\n    int a;\n  };",
            "static_assert(sizeof(int) > 2 && f<int>());", ";", "FLOWCON_NO_COPY(A);"])

    def test_all_classes_are_read(self):
        members = "".join(f"  int m{i};\n" for i in range(26))
        for head in ("struct A", "class [[nodiscard]] A final", "struct alignas(8) A", "class A : public B<void(int)>",
                     "template <class T = decltype(f({}))>\nclass A", "struct N::A", "template <>\nstruct A<int()>",
                     "union A", "static const struct A", "template <class T>\n  requires C<T>\nclass A"):
            self.finds("base/a.h", HEADER + f"{head} {{\n{members}}} a;\n", "base/a.h:3", "A has 26 data members")
        nested = f"struct A {{\n{members}}};\n"
        for before, after in (("template <class T>\nclass B {\n  int a;\n", "};\n"),
                              ("void f() {\n  if (x) {\n", "}\n}\n"),
                              ("namespace n {\nextern \"C\" {\n", "}\n}\n"),
                              ("const auto f = [] {\n  int a;\n", "};\n"), ("int x = g(1, [] {\n  h();\n", "});\n")):
            self.finds("base/a.h", HEADER + before + nested + after, f"base/a.h:{3 + before.count(chr(10))}", "26")
        self.clean("base/a.h", HEADER + "enum class E {\n" + "".join(f"  e{i},\n" for i in range(99)) + "};\n")

    def test_functions_are_short(self):
        def function(lines):
            return "int f(int a,\n      int b) {\n" + "  a += b;\n" * (lines - 4) + "  return a;\n}\n"

        self.clean("base/a.cpp", SPDX + function(70) + "\n" + function(70))
        self.finds("base/a.cpp", SPDX + function(9) + "\n" + function(71), "base/a.cpp:12", "71 lines")
        inner = "\n".join("  " + line for line in function(71).splitlines())
        self.finds("base/a.h", HEADER + f"class A {{\n{inner}\n}};\n", "base/a.h:4", "71 lines")
        self.clean("base/a.cpp", SPDX + "namespace a {\n" + "int x;\n" * 80 + "}\n")

    def test_all_functions_are_read(self):
        body = "  a();\n" * 69
        for head in ("[[nodiscard]] int f()", "template <class T>\nint f()", "A::A(int a) : a_{a}, b_(a)",
                     "int N::A::operator()(int a) const",
                     "A::A(int a)\n    : a_{a},\n      b_(a)", "auto f() -> std::vector<int>", "A f(int a = g({}))",
                     "constexpr bool operator<(A a, A b)", "struct stat f()", "int (*f())(int)", "const auto f = []",
                     "const F f = [](int a) mutable -> int", "std::function<void()> f{[]", "int x = g(1, [&]",
                     "template <class T>\n  requires requires(T t) { t.f(); }\nvoid f()", "int\nf()",
                     "BENCHMARK_CASE(x)",
                     "extern \"C\" int f()", "void f() noexcept(true)", "const Row kRows[] = {{1, [](int a)"):
            function = f"{head} {{\n{body}  b();\n}}"
            function += "}" * (head.count("{") - head.count("}")) + ")" * head.count("g(1,") + ";\n"
            files = {}
            for blanks in ("", "  ", "    "):
                text = "\n".join(blanks + line for line in function.splitlines())
                files[f"base/{len(blanks)}.h"] = f"{HEADER}namespace n {{\nint a;\n{text}\n}}\n"
            found = offences(files)
            self.assertEqual([line.split(":")[0] for line in found], list(files), head)
            for line in found:
                self.assertRegex(line, r"h:[567]: a function of 7\d lines, at most 70")
        rows = "    {1, f},\n" * 99
        for head in ("const std::vector<std::function<void()>> kRows{", "static int rows[f(1)]{", "X f(int (*)(int), {",
                     "const auto kRows = std::to_array<Row>({", "enum class E {", "namespace a::b {", "void f();\nX a{",
                     "const X a = b(1) < 2 ? X{1} : X{"):
            self.clean("base/a.h", HEADER + f"{head}\n{rows}}}{')' * head.count('({')}{')' * head.count(', {')};\n")
        self.clean("base/a.h", HEADER + "class A {\n" + "  void f() {\n    a();\n  }\n" * 30 + "};\n")
        long_text = 'R"(\n' + "x\n\n" * 50 + ')"'
        self.finds("base/a.h", HEADER + f"  void f() {{\n    g({long_text});\n  }}\n", "base/a.h:3", "104 lines")


if __name__ == "__main__":
    unittest.main()
