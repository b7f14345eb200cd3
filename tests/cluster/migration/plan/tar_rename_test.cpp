// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_rename.h"

#include "cluster/migration/plan/archive.h"
#include "tests/cluster/migration/plan/tar_builder.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

struct Seen {
  std::string name, link, content;
  bool operator==(const Seen&) const = default;
};

// Reads an archive with names that fit their field, or have a pax record.
std::vector<Seen> read(std::string_view archive) {
  std::vector<Seen> all;
  std::string name, link;
  while (archive.size() >= kTarBlock &&
         archive.substr(0, kTarBlock).find_first_not_of('\0') != std::string_view::npos) {
    const auto header = parse_tar_header(archive.substr(0, kTarBlock));
    REQUIRE(header.has_value());
    archive.remove_prefix(kTarBlock);
    const std::string content(archive.substr(0, header->size));
    archive.remove_prefix((header->size + kTarBlock - 1) / kTarBlock * kTarBlock);
    if (header->type == TarType::pax) {
      const auto records = parse_pax(content);
      REQUIRE(records.has_value());
      for (const PaxRecord& record : *records) {
        if (record.key == "path") name = record.value;
        if (record.key == "linkpath") link = record.value;
      }
      continue;
    }
    all.push_back(
        {name.empty() ? header->name : name, link.empty() ? header->link : link, content});
    name.clear();
    link.clear();
  }
  return all;
}

Result<std::string> rename(const std::string& archive, const std::string& from,
                           const std::string& to, std::size_t piece) {
  TarRenamer renamer(from, to);
  std::string out;
  for (std::size_t at = 0; at < archive.size(); at += piece) {
    auto taken = renamer.feed(std::string_view(archive).substr(at, piece), out);
    if (!taken) return taken.error();
  }
  if (auto whole = renamer.finish(); !whole) return whole.error();
  return out + end_of_archive();
}

TarFields entry(const std::string& name, char type, const std::string& link = "",
                const std::string& content = "") {
  TarFields fields;
  fields.name = name;
  fields.type = type;
  fields.link = link;
  fields.content = content;
  return fields;
}

std::string sample() {
  TarBuilder tar;
  tar.add(entry("./", '5')).add(entry("./sub/", '5'));
  tar.add(entry("./sub/m.pt", '0', "", std::string(700, 'm')));
  tar.add(entry("./hard", '1', "./sub/m.pt")).add(entry("./abs", '2', "/etc/passwd"));
  return tar.bytes + std::string(1024, '\0');
}

TEST_CASE("a folder's archive becomes one of the same folder elsewhere, whatever the pieces") {
  const std::vector<Seen> wanted{{"out/ckpt/", "", ""},
                                 {"out/ckpt/sub/", "", ""},
                                 {"out/ckpt/sub/m.pt", "", std::string(700, 'm')},
                                 {"out/ckpt/hard", "out/ckpt/sub/m.pt", ""},
                                 {"out/ckpt/abs", "/etc/passwd", ""}};
  for (const std::size_t piece : {1U, 511U, 512U, 65536U}) {
    const auto renamed = rename(sample(), ".", "out/ckpt", piece);
    REQUIRE(renamed.has_value());
    CHECK((read(*renamed) == wanted));
    ArchiveRules rules;
    rules.any_symlink = true;
    ArchiveChecker checker(rules);
    CHECK(checker.feed(*renamed).has_value());
    CHECK(checker.finish().has_value());
  }
}

TEST_CASE("names that grow beyond their field get a record, others keep theirs") {
  const std::string deep(150, 'd');
  TarBuilder tar;
  tar.add(entry("./", '5'));
  tar.add(entry("PaxHeaders", 'x', "", "21 mtime=1234567.125\n"));
  tar.add(entry("./f", '0', "", "x"));
  tar.add(entry("./h", '1', "./f"));
  const auto renamed = rename(tar.bytes + std::string(1024, '\0'), ".", deep, 512);
  REQUIRE(renamed.has_value());
  CHECK((read(*renamed) == std::vector<Seen>{{deep + "/", "", ""},
                                             {deep + "/f", "", "x"},
                                             {deep + "/h", deep + "/f", ""}}));
  CHECK(renamed->find("21 mtime=1234567.125\n") != std::string::npos);
}

TEST_CASE("a file alone is renamed too, and nothing but what was asked for is taken") {
  TarBuilder tar;
  tar.add(entry("m.pt", '0', "", "x"));
  const std::string archive = tar.bytes + std::string(1024, '\0');
  const auto renamed = rename(archive, "m.pt", "a/b/m.pt", 100);
  REQUIRE(renamed.has_value());
  CHECK((read(*renamed) == std::vector<Seen>{{"a/b/m.pt", "", "x"}}));
  CHECK_FALSE(rename(archive, "m", "a/m", 100).has_value());
  CHECK_FALSE(rename(archive, ".", "a", 100).has_value());
}

TEST_CASE("an archive that is cut or damaged is an error") {
  const std::string archive = sample();
  CHECK_FALSE(rename(archive.substr(0, archive.size() - 1024), ".", "a", 512).has_value());
  CHECK_FALSE(rename(archive.substr(0, 900), ".", "a", 512).has_value());
  std::string damaged = archive;
  damaged[3] = 'x';
  CHECK_FALSE(rename(damaged, ".", "a", 512).has_value());
}

TEST_CASE("of the first entry alone the header is taken") {
  TarRenamer renamer("out", "deep/out", true);
  TarBuilder tar;
  tar.add(entry("out", '2', "there")).add(entry("other", '0'));
  std::string out;
  REQUIRE(renamer.feed(tar.bytes, out).has_value());
  REQUIRE(renamer.first());
  CHECK(renamer.first()->type == TarType::symlink);
  CHECK(renamer.first()->link == "there");
  CHECK((read(out) == std::vector<Seen>{{"deep/out", "there", ""}}));
}

}  // namespace
}  // namespace flowcon::cluster::migration
