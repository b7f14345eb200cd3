// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_reader.h"

#include "tests/cluster/migration/plan/tar_builder.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

const std::string kEnd(1024, '\0');

// "name:size=content " for each entry, or the error; fed in pieces of `step` bytes.
std::string read(const std::string& archive, std::size_t step,
                 TarExtensions extensions = TarExtensions::pax_and_gnu, bool* is_whole = nullptr) {
  TarReader reader(extensions);
  std::string seen;
  for (std::size_t at = 0; at < archive.size(); at += step) {
    std::string_view bytes = std::string_view(archive).substr(at, step);
    for (;;) {
      const Result<TarStep> made = reader.next(bytes);
      if (!made) return made.error().message();
      if (made->kind == TarStep::Kind::more) break;
      if (made->kind == TarStep::Kind::entry) {
        seen += made->header.name + ":" + std::to_string(made->header.size) + "=";
      }
      seen += made->bytes;
      if (made->kind == TarStep::Kind::end) seen += " ";
    }
  }
  if (is_whole != nullptr) *is_whole = reader.is_whole();
  return seen;
}

TEST_CASE("entries come with their contents however the bytes are cut") {
  TarBuilder tar;
  tar.folder("d/").file("d/a", "hello").file("d/empty").file("big", std::string(1000, 'x'));
  tar.symlink("link", "d/a");
  const std::string wanted =
      "d/:0= d/a:5=hello d/empty:0= big:1000=" + std::string(1000, 'x') + " link:0= ";
  for (const std::size_t step : {1U, 511U, 512U, 513U, 100000U}) {
    bool is_whole = false;
    CHECK(read(tar.bytes + kEnd, step, TarExtensions::pax_and_gnu, &is_whole) == wanted);
    CHECK(is_whole);
  }
}

TEST_CASE("an archive without its end is not whole") {
  TarBuilder tar;
  tar.file("a", "hello");
  for (const std::string& cut :
       {tar.bytes, tar.bytes.substr(0, 600), tar.bytes + kEnd.substr(512)}) {
    bool is_whole = true;
    (void)read(cut, 100, TarExtensions::pax_and_gnu, &is_whole);
    CHECK_FALSE(is_whole);
  }
}

TEST_CASE("between entries is where one has ended and the next has not begun") {
  TarBuilder tar;
  tar.file("a", "hello");
  const auto is_between = [&](std::size_t count) {
    TarReader reader(TarExtensions::pax_and_gnu);
    std::string_view bytes = std::string_view(tar.bytes).substr(0, count);
    while (!bytes.empty()) REQUIRE(reader.next(bytes).has_value());
    return reader.is_between();
  };
  CHECK(is_between(0));
  CHECK_FALSE(is_between(100));
  CHECK_FALSE(is_between(512));
  CHECK_FALSE(is_between(600));
  CHECK(is_between(1024));
}

TEST_CASE("pax and GNU extensions name the next entry and no other") {
  TarBuilder pax;
  pax.pax("path", "long").file("short", "x").file("next", "y");
  CHECK(read(pax.bytes, 7) == "long:1=x next:1=y ");
  TarBuilder gnu;
  gnu.extension("././@LongLink", 'L', std::string("long\0", 5))
      .file("short", "x")
      .file("next", "y");
  CHECK(read(gnu.bytes, 7) == "long:1=x next:1=y ");
  TarBuilder size;
  TarFields fields;
  fields.name = "big";
  fields.content = "abc";
  fields.size = "00000000000";
  size.pax("size", "3").add(fields);
  CHECK(read(size.bytes, 7) == "big:3=abc ");
}

TEST_CASE("extensions are refused where none are expected") {
  TarBuilder tar;
  tar.pax("path", "other").file("config.json", "x");
  CHECK(read(tar.bytes, 512, TarExtensions::none).find("long header") != std::string::npos);
}

TEST_CASE("what stands there twice, lies or is sparse is an error") {
  const auto refused = [](const TarBuilder& tar, const std::string& word) {
    const std::string seen = read(tar.bytes + kEnd, 512);
    INFO(seen);
    CHECK(seen.find(word) != std::string::npos);
  };
  refused(TarBuilder().pax("path", "a").pax("path", "b").file("c"), "twice");
  refused(TarBuilder().pax("path", "a").extension("L", 'L', "b").file("c"), "twice");
  refused(TarBuilder().pax("size", "-1").file("c"), "size that is none");
  refused(TarBuilder().pax("size", "99999999999999999999").file("c"), "size that is none");
  refused(TarBuilder().pax("GNU.sparse.major", "1").file("c"), "sparse");
  refused(TarBuilder().pax("path", "a"), "middle of an entry");
  refused(TarBuilder().other("s", 'S', ""), "unknown type");
  refused(TarBuilder().extension("L", 'L', std::string((1U << 20U) + 1, 'x')).file("c"),
          "too long");
  CHECK(read(kEnd + "x", 100).find("after its end") != std::string::npos);
}

TEST_CASE("a header that is written is read as it was meant, of any size") {
  for (const std::uint64_t size : {0ULL, 5ULL, 8589934591ULL, 8589934592ULL, 1ULL << 50U}) {
    const Result<TarHeader> header = parse_tar_header(render_tar_header("layer-0.tar", size));
    REQUIRE(header.has_value());
    CHECK(header->name == "layer-0.tar");
    CHECK(header->type == TarType::file);
    CHECK(header->size == size);
    CHECK((size + tar_padding(size).size()) % kTarBlock == 0);
  }
}

}  // namespace
}  // namespace flowcon::cluster::migration
