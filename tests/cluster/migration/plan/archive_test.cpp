// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/archive.h"

#include <fstream>
#include <iterator>

#include "tests/cluster/migration/plan/tar_builder.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::cluster::migration {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(flowcon::test::source_path("tests/cluster/migration/plan/data/" + name),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What is said of an archive that comes in pieces of `cut` bytes; empty: that it is right.
std::string verdict(const std::string& bytes, const ArchiveRules& rules = {},
                    std::size_t cut = 1U << 20) {
  ArchiveChecker checker(rules);
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    const auto taken = checker.feed(std::string_view(bytes).substr(at, cut));
    if (!taken) return taken.error().message();
  }
  const auto whole = checker.finish();
  return whole ? "" : whole.error().message();
}

std::string verdict(const TarBuilder& tar, const ArchiveRules& rules = {}) {
  return verdict(tar.whole(), rules);
}

TEST_CASE("where links are not expected there are none") {
  ArchiveRules rules;
  rules.has_links = false;
  for (const char type : {'1', '2'}) {
    TarBuilder tar;
    tar.file("f");
    TarFields link;
    link.name = "l";
    link.type = type;
    link.link = "f";
    tar.add(link);
    CHECK(verdict(tar.bytes, rules, 512) == "the archive's entry 'l' is a link");
  }
}

TEST_CASE("archives of GNU tar and of Python are right, in pieces of any size") {
  // 17 names, of which one is the folder itself; of Python's 7 none is.
  const std::pair<const char*, std::uint64_t> archives[] = {{"tar-gnu.tar", 17},
                                                            {"tar-pax.tar", 17},
                                                            {"tar-ustar.tar", 15},
                                                            {"python-pax.tar", 7},
                                                            {"python-gnu.tar", 7}};
  for (const auto& [name, entries] : archives) {
    INFO(name);
    const std::string bytes = read(name);
    REQUIRE(bytes.size() >= 10240);
    for (const std::size_t cut : {1U, 7U, 511U, 512U, 513U, 1U << 20}) {
      CHECK(verdict(bytes, {}, cut).empty());
    }
    ArchiveChecker checker({});
    REQUIRE(checker.feed(bytes));
    CHECK(checker.entries() == entries);
  }
}

TEST_CASE("an archive that is cut anywhere is not whole") {
  const std::string bytes = read("tar-pax.tar");
  const std::size_t end = bytes.find_last_not_of('\0') / 512 * 512 + 512;
  for (std::size_t size = 0; size < end + 1024; size += 97) {
    ArchiveChecker checker({});
    const bool is_right = checker.feed(std::string_view(bytes).substr(0, size)) && checker.finish();
    CHECK_FALSE(is_right);
  }
}

TEST_CASE("a byte changed in a header is found") {
  const std::string bytes = TarBuilder().file("a", "hello").whole();
  for (std::size_t at = 0; at < 512; ++at) {
    // The sum's field is padded by characters that may be others; its digits may not.
    if (at >= 154 && at < 156) continue;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    INFO(at);
    CHECK_FALSE(verdict(changed).empty());
  }
}

TEST_CASE("names that leave the folder are refused") {
  for (const char* name : {"/etc/passwd", "..", "../x", "a/../../x", "a/..", "./../x"}) {
    CHECK(verdict(TarBuilder().file(name)) ==
          "the archive's entry '" + std::string(name) + "' leaves the folder");
    CHECK(verdict(TarBuilder().pax("path", name).file("harmless")) ==
          "the archive's entry '" + std::string(name) + "' leaves the folder");
    CHECK(verdict(TarBuilder()
                      .extension("././@LongLink", 'L', std::string(name) + '\0')
                      .file("harmless")) ==
          "the archive's entry '" + std::string(name) + "' leaves the folder");
  }
  TarFields fields;
  fields.prefix = "..";
  CHECK(verdict(TarBuilder().add(fields)) == "the archive's entry '../file' leaves the folder");
  fields.prefix = "/etc";
  CHECK(verdict(TarBuilder().add(fields)) == "the archive's entry '/etc/file' leaves the folder");
  CHECK(verdict(TarBuilder().pax("path", std::string("a\0/../../b", 10)).file("x")) ==
        "the archive's entry 'a\uFFFD/../../b' leaves the folder");
  CHECK(verdict(TarBuilder().file("..a/...").file("./b//c")).empty());
}

TEST_CASE("symlinks that are absolute or could leave the folder are refused unless all may be") {
  ArchiveRules any;
  any.any_symlink = true;
  const auto link = [](const char* name, const char* to) {
    return TarBuilder().folder("a").folder("a/b").symlink(name, to);
  };
  for (const char* to : {"/etc", "../../../x", "b/../../..", "x/..", "/"}) {
    INFO(to);
    CHECK(verdict(link("a/b/l", to)) ==
          "the archive's entry 'a/b/l' is a link that may leave the folder, '" + std::string(to) +
              "'");
    CHECK(verdict(link("a/b/l", to), any).empty());
  }
  CHECK_FALSE(verdict(link("l", "..")).empty());
  for (const char* to : {"../../x", "../c", ".", "x/y", "./../.."}) {
    INFO(to);
    CHECK(verdict(link("a/b/l", to)).empty());
  }
  CHECK(verdict(link("l", "")) == "the archive's entry 'l' is a link to nothing");
}

TEST_CASE("nothing is written through a link of the same archive") {
  ArchiveRules any;
  any.any_symlink = true;
  CHECK(verdict(TarBuilder().symlink("l", "/etc").file("l/passwd"), any) ==
        "the archive's entry 'l/passwd' passes through a link");
  CHECK(verdict(TarBuilder().symlink("l", "/etc/passwd").file("l"), any) ==
        "the archive's entry 'l' is there twice");
  CHECK(verdict(TarBuilder().symlink("l", "/etc").folder("l/"), any) ==
        "the archive's entry 'l/' is there twice");
  CHECK(verdict(TarBuilder().folder("d").symlink("d", "/etc"), any) ==
        "the archive's entry 'd' is there twice");
  CHECK(verdict(TarBuilder().file("d/x").symlink("d", "/etc"), any) ==
        "the archive's entry 'd' is there twice");
  CHECK(verdict(TarBuilder().symlink("l", "/etc").hard_link("h", "l/passwd"), any) ==
        "the archive's entry 'h' is a link to no file of the archive, 'l/passwd'");
  CHECK(verdict(TarBuilder().symlink("l", "/etc").hard_link("h", "l").file("h/passwd"), any) ==
        "the archive's entry 'h/passwd' passes through a link");
  CHECK(verdict(TarBuilder().symlink("l", "/etc/passwd").hard_link("h", "l").file("h"), any) ==
        "the archive's entry 'h' is there twice");
  CHECK(verdict(TarBuilder().symlink("l", "/etc").hard_link("h", "l").hard_link("i", "h/x"), any) ==
        "the archive's entry 'i' is a link to no file of the archive, 'h/x'");
  CHECK(verdict(TarBuilder().file("f").file("f/x")) ==
        "the archive's entry 'f/x' has a file for its folder");
}

TEST_CASE("hard links lead to files of the archive only") {
  CHECK(verdict(TarBuilder().file("f", "x").hard_link("h", "./f").hard_link("h2", "h")).empty());
  CHECK_FALSE(verdict(TarBuilder().hard_link("h", "/etc/passwd")).empty());
  CHECK_FALSE(verdict(TarBuilder().hard_link("h", "../x")).empty());
  CHECK_FALSE(verdict(TarBuilder().hard_link("h", "later").file("later")).empty());
  CHECK_FALSE(verdict(TarBuilder().folder("d").hard_link("h", "d")).empty());
  CHECK_FALSE(verdict(TarBuilder().hard_link("h", "h")).empty());
}

TEST_CASE("a symlink may have several names where any symlink may come") {
  ArchiveRules any;
  any.any_symlink = true;
  const TarBuilder linked =
      TarBuilder().folder("a").symlink("a/l", "../x").hard_link("h", "a/l").hard_link("h2", "h");
  CHECK(verdict(linked, any).empty());
  // From there it leads out of the folder.
  CHECK(verdict(linked) == "the archive's entry 'h' is a link to no file of the archive, 'a/l'");
}

TEST_CASE("devices go by their rule, fifos may come") {
  TarFields device;
  device.type = '3';
  device.major = 1;
  device.minor = 3;
  TarFields whiteout;
  whiteout.name = "gone";
  whiteout.type = '3';
  TarFields disk;
  disk.type = '4';
  ArchiveRules rules;
  CHECK(verdict(TarBuilder().add(device)) == "the archive's entry 'file' is a device");
  CHECK(verdict(TarBuilder().add(whiteout)) == "the archive's entry 'gone' is a device");
  rules.devices = DeviceRule::whiteouts;
  CHECK_FALSE(verdict(TarBuilder().add(device), rules).empty());
  CHECK_FALSE(verdict(TarBuilder().add(disk), rules).empty());
  CHECK(verdict(TarBuilder().add(whiteout), rules).empty());
  CHECK(verdict(TarBuilder().pax("SCHILY.xattr.trusted.overlay.opaque", "y").folder("d"), rules)
            .empty());
  rules.devices = DeviceRule::any;
  CHECK(verdict(TarBuilder().add(device), rules).empty());
  CHECK(verdict(TarBuilder().other("pipe", '6', "")).empty());
}

TEST_CASE("what two readers could read in two ways is refused") {
  CHECK_FALSE(verdict(TarBuilder().file("twice").file("./twice")).empty());
  CHECK_FALSE(verdict(TarBuilder().file("file/")).empty());
  CHECK_FALSE(verdict(TarBuilder().file("")).empty());
  CHECK_FALSE(verdict(TarBuilder().pax("path", "a").pax("path", "b").file("c")).empty());
  CHECK_FALSE(verdict(TarBuilder().raw_pax("8 path=a\n8 path=b\n").file("c")).empty());
  CHECK_FALSE(verdict(TarBuilder().raw_pax("9 path=a\n9 path=b\n").file("c")).empty());
  CHECK_FALSE(
      verdict(TarBuilder().extension("L", 'L', std::string("a\0", 2)).pax("path", "b").file("c"))
          .empty());
  CHECK_FALSE(verdict(TarBuilder().extension("L", 'L', std::string("a\0b", 3)).file("c")).empty());
  CHECK_FALSE(verdict(TarBuilder().extension("L", 'L', "a").file("c")).empty());
  CHECK_FALSE(verdict(TarBuilder().pax("path", "a")).empty());
  for (const char type : {'2', '5', '6'}) {
    TarFields fields;
    fields.type = type;
    fields.link = type == '2' ? "x" : "";
    fields.content = std::string(512, 'x');
    CHECK_FALSE(verdict(TarBuilder().add(fields)).empty());
  }
  TarFields linked;
  linked.link = "x";
  CHECK(verdict(TarBuilder().add(linked)) == "the archive's entry 'file' has a link and is none");
}

TEST_CASE("other formats, types and records are refused") {
  TarFields fields;
  for (const char type : {'7', 'g', 'S', 'D', 'M', 'V', 'A', 'X', '\x80'}) {
    fields.type = type;
    CHECK(verdict(TarBuilder().add(fields)) == "an entry of the archive is of an unknown type");
  }
  fields = {};
  fields.magic = std::string_view("\0\0\0\0\0\0\0\0", 8);
  CHECK(verdict(TarBuilder().add(fields)) == "a header of the archive is of an unknown format");
  fields = {};
  fields.wrong_by = 1;
  CHECK(verdict(TarBuilder().add(fields)) == "a header of the archive has a wrong sum");
  for (const char* key :
       {"GNU.sparse.major", "GNU.sparse.name", "hdrcharset", "SCHILY.realsize",
        "SCHILY.xattr.trusted.overlay.redirect", "SCHILY.xattr.user.overlay.redirect",
        "SCHILY.xattr.security.ima", "LIBARCHIVE.xattr.trusted.overlay.opaque"}) {
    INFO(key);
    CHECK_FALSE(verdict(TarBuilder().pax(key, "1").file("a")).empty());
  }
  CHECK(verdict(TarBuilder().pax("SCHILY.xattr.user.note", "1").file("a")).empty());
  for (const char* records :
       {"5 a=", "6 a=\n", "4 a=\n", "a", "0 a=b\n", "999999999999999999999 a=\n", "7  a=b\n",
        "-5 a=\n", "5 =a\n", "5 ab\n", "4 a\n"}) {
    INFO(records);
    CHECK_FALSE(verdict(TarBuilder().raw_pax(records).file("a")).empty());
  }
  CHECK_FALSE(verdict(std::string(10240, 'x')).empty());
  CHECK_FALSE(verdict(std::string()).empty());
  CHECK(verdict(std::string(1024, '\0')).empty());
  CHECK(verdict(std::string(512, '\0')) == "the archive is not whole");
  CHECK(verdict(TarBuilder().file("a").whole() + TarBuilder().file("/etc/x").whole()) ==
        "the archive goes on after its end");
}

TEST_CASE("sizes that lie are found where they stand") {
  TarFields fields;
  for (const std::string& size :
       {std::string("9999999999z"), std::string("-0000000001"), std::string("\xff\xff\xff\xff", 4),
        std::string("\x81\0\0\0\0\0\0\0\0\0\0\0", 12),
        std::string("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)}) {
    fields.size = size;
    CHECK_FALSE(verdict(TarBuilder().add(fields)).empty());
  }
  // More than there is: what follows is swallowed, and the end is missing.
  fields.size = octal(4096, 11);
  CHECK(verdict(TarBuilder().add(fields)) == "the archive is not whole");
  // Less than there is: the content stands where a header should.
  fields = {};
  fields.content = std::string(600, 'x');
  fields.size = octal(3, 11);
  CHECK(verdict(TarBuilder().add(fields)) == "a header of the archive has a wrong sum");
  CHECK_FALSE(verdict(TarBuilder().pax("size", "18446744073709551615").file("a")).empty());
  CHECK_FALSE(verdict(TarBuilder().pax("size", "1x").file("a")).empty());
  CHECK(verdict(TarBuilder().pax("size", "600").add(fields)).empty());
}

TEST_CASE("more entries, bytes, names and attributes than agreed are refused") {
  ArchiveRules rules;
  rules.max_entries = 2;
  CHECK(verdict(TarBuilder().file("a").file("b"), rules).empty());
  CHECK(verdict(TarBuilder().file("a").file("b").file("c"), rules) ==
        "the archive has too many entries");
  rules = {};
  rules.max_content_bytes = 10;
  CHECK(verdict(TarBuilder().file("a", "12345").file("b", "12345"), rules).empty());
  CHECK(verdict(TarBuilder().file("a", "12345").file("b", "123456"), rules) ==
        "the archive's files are too large together");
  rules = {};
  rules.max_archive_bytes = 1536;
  CHECK(verdict(TarBuilder().file("a"), rules).empty());
  CHECK(verdict(TarBuilder().file("a").file("b"), rules) == "the archive is too large");
  rules = {};
  rules.max_tree_bytes = 1000;
  TarBuilder deep;
  CHECK(verdict(deep.file("a/b/c/d/e/f/g/h/i"), rules) ==
        "the archive's entry 'a/b/c/d/e/f/g/h/i' is one name too many to keep");
  rules = {};
  rules.max_path_bytes = 20;
  CHECK(verdict(TarBuilder().file("aaaaaaaaaaaaaaaaaaaa"), rules).empty());
  CHECK_FALSE(verdict(TarBuilder().file("aaaaaaaaaaaaaaaaaaaaa"), rules).empty());
  CHECK_FALSE(verdict(TarBuilder().pax("path", std::string(21, 'a')).file("x"), rules).empty());
  rules.max_pax_bytes = 100;
  CHECK(verdict(TarBuilder().pax("comment", std::string(200, 'a')).file("x"), rules) ==
        "a name or attribute of the archive is too long");
}

TEST_CASE("archives that are checked at once share their memory, and give it back") {
  const auto memory = std::make_shared<TreeBudget>();
  memory->left = 1000;
  ArchiveRules rules;
  rules.memory = memory;
  {
    ArchiveChecker one(rules), other(rules);
    CHECK(one.feed(TarBuilder().file("a/b/c/d").bytes));
    const Result<void> refused = other.feed(TarBuilder().file("a/b/c/d").bytes);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().what == "the archive's entry 'a/b/c/d' is one name too many to keep");
  }
  CHECK(memory->left == 1000);
  ArchiveChecker third(rules);
  CHECK(third.feed(TarBuilder().file("a/b/c/d").bytes));
}

TEST_CASE("after a refusal nothing more is taken") {
  ArchiveChecker checker({});
  CHECK_FALSE(checker.feed(TarBuilder().file("/x").bytes));
  CHECK_FALSE(checker.feed(std::string(1024, '\0')));
  CHECK_FALSE(checker.finish());
}

}  // namespace
}  // namespace flowcon::cluster::migration
