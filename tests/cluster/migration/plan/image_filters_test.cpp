// SPDX-License-Identifier: Apache-2.0
// An image from the source's archive to the target's, and what a peer may send instead.
#include "base/json.h"
#include "cluster/migration/plan/load_filter.h"
#include "cluster/migration/plan/save_filter.h"
#include "tests/cluster/migration/plan/image_archives.h"
#include "tests/cluster/migration/plan/tar_builder.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

template <class Filter>
Result<std::string> through(Filter& filter, const std::string& bytes, std::size_t step) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    Result<std::string> made = filter.feed(std::string_view(bytes).substr(at, step));
    if (!made) return made;
    out += *made;
  }
  Result<std::string> last = filter.finish();
  if (!last) return last;
  return out + *last;
}

Result<std::set<std::string>> survey(const Image& image, std::size_t there,
                                     const std::string& archive, std::size_t step = 1000) {
  SaveSurvey found(image.info, there);
  for (std::size_t at = 0; at < archive.size() && !found.is_done(); at += step) {
    const Result<void> fed = found.feed(std::string_view(archive).substr(at, step));
    if (!fed) return fed.error();
  }
  if (!found.is_done()) return bad_input("no manifest");
  return found.wanted();
}

Result<std::string> send(const Image& image, std::size_t there, const std::string& archive,
                         std::size_t step = 1000) {
  std::set<std::string> wanted;
  if (there > 0) {
    Result<std::set<std::string>> found = survey(image, there, archive, step);
    if (!found) return found.error();
    wanted = *found;
  }
  SaveFilter filter(image.info, there, wanted);
  return through(filter, archive, step);
}

Result<std::string> take(const Image& image, std::size_t there, const std::string& stream,
                         std::uint64_t most = 1U << 20U, std::size_t step = 1000) {
  LoadFilter filter(image.info, there, most);
  return through(filter, stream, step);
}

// Name to content of an archive that is right.
std::map<std::string, std::string> files_in(const std::string& archive) {
  std::map<std::string, std::string> files;
  TarReader reader(TarExtensions::pax_and_gnu);
  std::string_view bytes = archive;
  std::string name;
  for (;;) {
    const Result<TarStep> step = reader.next(bytes);
    REQUIRE(step.has_value());
    if (step->kind == TarStep::Kind::more) break;
    if (step->kind == TarStep::Kind::entry) {
      name = step->header.name;
      REQUIRE(step->header.type == TarType::file);
      REQUIRE(files.emplace(name, "").second);
    }
    files[name] += step->bytes;
  }
  REQUIRE(reader.is_whole());
  return files;
}

void check_refused(const Result<std::string>& result, const std::string& word) {
  REQUIRE_FALSE(result.has_value());
  INFO(result.error().message());
  CHECK(result.error().message().find(word) != std::string::npos);
}

// What the engine is asked to load, by the manifest.
std::string layers_in(const std::map<std::string, std::string>& files) {
  const auto manifest = parse_json(files.at("manifest.json"));
  REQUIRE(manifest.has_value());
  const auto& image = manifest->at(0);
  CHECK(image.at("Config") == "config.json");
  CHECK(image.at("RepoTags").is_null());
  std::string layers;
  for (const auto& name : image.at("Layers").as_array()) {
    layers += std::string(name.as_string()) + " ";
  }
  return layers;
}

TEST_CASE("a whole image goes over from old and new engines, each layer once") {
  const Image image = three();
  for (const std::string& archive : {old_archive(image), new_archive(image)}) {
    for (const std::size_t step : {1U, 512U, 777U, 1000000U}) {
      const auto stream = send(image, 0, archive, step);
      REQUIRE(stream.has_value());
      CHECK(files_in(*stream).size() == 3);
      const auto loaded = take(image, 0, *stream, 1U << 20U, step);
      REQUIRE(loaded.has_value());
      const auto files = files_in(*loaded);
      CHECK(files.size() == 4);
      CHECK(files.at("config.json") == image.config);
      // In the order in which they came.
      const bool is_swapped = files.at("layer-0.tar") == image.layers[1];
      CHECK(files.at(is_swapped ? "layer-1.tar" : "layer-0.tar") == image.layers[0]);
      CHECK(layers_in(files) == (is_swapped ? "layer-1.tar layer-0.tar layer-1.tar "
                                            : "layer-0.tar layer-1.tar layer-0.tar "));
    }
  }
}

TEST_CASE("layers that are there are not sent, but one that equals them is") {
  const Image image = three();
  for (const std::string& archive : {old_archive(image), new_archive(image)}) {
    const auto stream = send(image, 2, archive);
    REQUIRE(stream.has_value());
    const auto loaded = take(image, 2, *stream);
    REQUIRE(loaded.has_value());
    const auto files = files_in(*loaded);
    CHECK(files.size() == 3);
    CHECK(files.at("layer-0.tar") == image.layers[2]);
    CHECK(layers_in(files) == "there-0.tar there-1.tar layer-0.tar ");
  }
}

TEST_CASE("the engine's archive has to be this image's and whole") {
  const Image image = three(), other({layer("c")});
  check_refused(send(image, 0, old_archive(other)), "no configuration");
  check_refused(send(image, 1, old_archive(other)), "another image");
  const std::string archive = old_archive(image);
  check_refused(send(image, 0, archive.substr(0, archive.size() - 2000)), "cut");
  check_refused(send(image, 1, archive.substr(0, archive.size() / 2)), "no manifest");
  check_refused(send(image, 0, archive.substr(0, archive.size() - 1024) + "{\"message\":\"disk\"}"),
                "cut");
  Image lost = image;
  lost.info.layers[1] = "sha256:" + std::string(64, '0');
  check_refused(send(lost, 0, new_archive(image)), "1 layers of the 2");
  Image longer = image;
  longer.info.layers.push_back(image.info.layers[0]);
  check_refused(send(longer, 1, old_archive(image)), "another number of layers");
}

TEST_CASE("a manifest that leads elsewhere is refused") {
  const Image image = three();
  const auto with = [&](const std::string& name, const std::string& link) {
    TarBuilder tar;
    tar.file(image.id() + ".json", image.config);
    if (!link.empty()) tar.symlink(name, link);
    tar.file("manifest.json", "[{\"Config\":\"" + image.id() + ".json\",\"Layers\":[\"" + name +
                                  "\",\"" + name + "\",\"" + name + "\"]}]");
    return survey(image, 1, tar.bytes + kEnd);
  };
  const std::string right = folder_of(0) + "/layer.tar";
  CHECK(with(right, "").has_value());
  for (const std::string& name :
       {std::string("../../etc/shadow"), std::string("layer.tar"), "/" + right, "a/" + right,
        folder_of(0) + "/../" + right, folder_of(0) + "/layer.tar.gz"}) {
    CHECK_FALSE(with(name, "").has_value());
  }
  for (const char* link : {"/etc/shadow", "../../etc/shadow", "../layer.tar", "layer.tar"}) {
    CHECK_FALSE(with(right, link).has_value());
  }
  CHECK_FALSE(survey(image, 1, TarBuilder().file("manifest.json", "[{},{}]").bytes).has_value());
  CHECK_FALSE(survey(image, 1, TarBuilder().file("manifest.json", "x").bytes).has_value());
}

TEST_CASE("a file that is there twice is not sent twice") {
  const Image image = three();
  TarBuilder tar;
  tar.file(image.id() + ".json", image.config).file(image.id() + ".json", image.config);
  check_refused(send(image, 0, tar.bytes + kEnd), "twice");
  TarBuilder both;
  both.file(image.id() + ".json", image.config).file("blobs/sha256/" + image.id(), image.config);
  check_refused(send(image, 0, both.bytes + kEnd), "twice");
}

// What a peer sends: the right stream of three() unless the test changes it.
struct Stream {
  Image image = three();
  TarBuilder tar;

  Stream& config() { return file("config.json", image.config); }
  Stream& layers() {
    return file("layer-0.tar", image.layers[0]).file("layer-1.tar", image.layers[1]);
  }
  Stream& file(const std::string& name, const std::string& content) {
    tar.file(name, content);
    return *this;
  }
  [[nodiscard]] Result<std::string> taken(std::uint64_t most = 1U << 20U) const {
    return take(image, 0, tar.bytes + kEnd, most);
  }
};

TEST_CASE("layers may come before the configuration") {
  CHECK(Stream().config().layers().taken().has_value());
  CHECK(Stream().layers().config().taken().has_value());
}

TEST_CASE("a stream with too little or too much is refused") {
  const Image image = three();
  check_refused(Stream().taken(), "not come whole");
  check_refused(Stream().config().taken(), "not come whole");
  check_refused(Stream().layers().taken(), "not come whole");
  check_refused(Stream().config().file("layer-0.tar", image.layers[0]).taken(), "not come whole");
  check_refused(Stream().config().layers().config().taken(), "not expected");
  check_refused(Stream().config().layers().file("layer-2.tar", image.layers[1]).taken(),
                "too many");
  check_refused(Stream()
                    .config()
                    .file("layer-0.tar", image.layers[0])
                    .file("layer-1.tar", image.layers[0])
                    .taken(),
                "not promised");
  const std::string whole = Stream().config().layers().tar.bytes;
  check_refused(take(image, 0, whole), "not come whole");
  check_refused(take(image, 0, whole.substr(0, whole.size() - 700)), "not come whole");
  check_refused(take(image, 0, whole + kEnd + "more"), "after its end");
}

TEST_CASE("a stream with other names or other files than plain ones is refused") {
  const Image image = three();
  for (const char* name : {"manifest.json", "repositories", "layer-1.tar", "layer-00.tar",
                           "layer-0.tar/", "../layer-0.tar", "/layer-0.tar", "x/layer-0.tar",
                           "./layer-0.tar", "layer--1.tar", "index.json", "oci-layout"}) {
    INFO(name);
    check_refused(Stream().config().file(name, image.layers[0]).taken(), "not expected");
  }
  for (const char type : {'1', '2', '3', '4', '5', '6'}) {
    Stream stream;
    stream.tar.other("layer-0.tar", type, "/etc/shadow");
    check_refused(stream.taken(), "not expected");
  }
  Stream renamed;
  renamed.tar.pax("path", "manifest.json").file("layer-0.tar", "[]");
  check_refused(renamed.taken(), "long header");
}

TEST_CASE("only the configuration that was promised is taken") {
  const Image image = three();
  check_refused(Stream().file("config.json", image.config + " ").layers().taken(), "not that of");
  check_refused(Stream().file("config.json", "").layers().taken(), "unlikely size");
  TarFields huge;
  huge.name = "config.json";
  huge.size = "77777777777";
  Stream stream;
  stream.tar.add(huge);
  check_refused(stream.taken(), "unlikely size");
  // Its sum is right, its layers are not those that were promised beside it.
  Image liar = three();
  liar.info.layers[2] = liar.info.layers[1];
  check_refused(take(liar, 0, Stream().config().layers().tar.bytes + kEnd), "other layers");
}

TEST_CASE("a layer that unpacks to more than is sent is refused") {
  const auto refused = [](const std::string& bytes, const std::string& word) {
    const Image image({bytes});
    Stream stream;
    stream.file("config.json", image.config).file("layer-0.tar", bytes);
    check_refused(take(image, 0, stream.tar.bytes + kEnd), word);
  };
  for (const std::string& magic :
       {std::string("\x1f\x8b\x08"), std::string("BZh"),
        std::string("\xfd"
                    "7zXZ\0",
                    6),
        std::string("\x28\xb5\x2f\xfd"), std::string("\x5a\x2a\x4d\x18")}) {
    refused(magic + std::string(1000, 'x'), "packed");
    // Also where it is the name of a file.
    refused(TarBuilder().file(magic, "x").bytes + kEnd, "packed");
  }
  refused(TarBuilder().pax("GNU.sparse.major", "1").file("f", "x").bytes + kEnd, "sparse");
  refused(TarBuilder().other("f", 'S', "").bytes + kEnd, "unknown type");
  refused(std::string(2000, 'x'), "layer of the image");
  refused(TarBuilder().file("f", "content").bytes.substr(0, 515), "is cut");
}

TEST_CASE("an empty layer and one without an end are layers") {
  for (const std::string& bytes : {kEnd, layer("x").substr(0, 1024), std::string(10240, '\0')}) {
    const Image image({bytes});
    Stream stream;
    stream.file("config.json", image.config).file("layer-0.tar", bytes);
    CHECK(take(image, 0, stream.tar.bytes + kEnd).has_value());
  }
}

TEST_CASE("layers together may have no more bytes than is accepted") {
  const std::uint64_t all = three().layers[0].size() + three().layers[1].size();
  CHECK(Stream().config().layers().taken(all).has_value());
  check_refused(Stream().config().layers().taken(all - 1), "larger than");
}

TEST_CASE("after a refusal nothing is taken any more") {
  const Image image = three();
  LoadFilter filter(image.info, 0, 1U << 20U);
  CHECK_FALSE(filter.feed(TarBuilder().file("x").bytes).has_value());
  CHECK_FALSE(filter.feed(Stream().config().layers().tar.bytes + kEnd).has_value());
  CHECK_FALSE(filter.finish().has_value());
}

TEST_CASE("an image is read from the engine's answer") {
  const std::string sha(64, 'a'), digest = "sha256:" + sha;
  const auto image = parse_image(R"({"Id":")" + digest +
                                 R"(","RootFS":{"Type":"layers","Layers":[")" + digest + R"("]}})");
  REQUIRE(image.has_value());
  CHECK(image->id == digest);
  CHECK(image->layers == std::vector<std::string>{digest});
  for (const std::string& json :
       {std::string("x"), std::string("{}"),
        R"({"Id":")" + sha + R"(","RootFS":{"Layers":[")" + digest + R"("]}})",
        R"({"Id":")" + digest + R"(","RootFS":{"Layers":[]}})",
        R"({"Id":")" + digest + R"(","RootFS":{"Layers":["../x"]}})",
        R"({"Id":")" + digest + R"(","RootFS":{"Layers":[7]}})"}) {
    CHECK_FALSE(parse_image(json).has_value());
  }
  ImageInfo many{digest, std::vector<std::string>(kMaxLayers + 1, digest)};
  CHECK_FALSE(check_image(many).has_value());
}

TEST_CASE("an image has a name if it has a tag or a registry's digest") {
  CHECK_FALSE(has_name(R"({"RepoTags":[],"RepoDigests":null})"));
  CHECK(has_name(R"({"RepoTags":["a:1"],"RepoDigests":[]})"));
  CHECK(has_name(R"({"RepoTags":[],"RepoDigests":["a@sha256:1"]})"));
}

TEST_CASE("the bytes of an image's last layers are read from its history, where they are sure") {
  const auto history = [](const std::vector<int>& oldest_first) {
    std::string all;
    for (const int bytes : oldest_first) {
      all = R"({"Size":)" + std::to_string(bytes) + "}" + (all.empty() ? "" : "," + all);
    }
    return "[" + all + "]";
  };
  // CMD and ENV make no layers.
  const std::string plain = history({100, 0, 30, 0, 7});
  CHECK(bytes_from(plain, 3, 0) == 137);
  CHECK(bytes_from(plain, 3, 1) == 37);
  CHECK(bytes_from(plain, 3, 2) == 7);
  CHECK(bytes_from(plain, 3, 3) == 0);
  CHECK(bytes_from(plain, 5, 3) == 7);  // each step made one
  // Which of the two empty steps made a layer?
  CHECK_FALSE(bytes_from(plain, 4, 2));
  CHECK(bytes_from(plain, 4, 1) == 37);
  CHECK(bytes_from(plain, 4, 4) == 0);
  for (const std::string& other :
       {std::string("x"), std::string("{}"), history({100}), history({1, 2, 3, 4}),
        std::string(R"([{},{},{}])"), history({1, 2, -3}), std::string()}) {
    CAPTURE(other);
    CHECK_FALSE(bytes_from(other, 3, 1));
  }
}

TEST_CASE("images begin alike as far as their layers are the same") {
  CHECK(common_layers({"a", "b", "c"}, {"a", "b", "d"}) == 2);
  CHECK(common_layers({"a"}, {"a", "b"}) == 1);
  CHECK(common_layers({"b"}, {"a", "b"}) == 0);
}

TEST_CASE("containerd's store is known by the engine's answer about itself") {
  CHECK(keeps_images_in_containerd(
      R"({"Driver":"overlayfs","DriverStatus":[["driver-type","io.containerd.snapshotter.v1"]]})"));
  CHECK_FALSE(keeps_images_in_containerd(
      R"({"Driver":"overlay2","DriverStatus":[["Backing Filesystem","extfs"],["x"],7]})"));
}

TEST_CASE("the engine's error in what it says while it loads is found") {
  CHECK(load_error("{\"stream\":\"Loaded image ID: x\"}\n").empty());
  CHECK(load_error("{\"status\":\"Loading\"}\r\n{\"errorDetail\":{\"message\":\"no room\"},"
                   "\"error\":\"no room\"}\r\n") == "no room");
  CHECK(load_error("{\"error\":\"cut\"}") == "cut");
}

}  // namespace
}  // namespace flowcon::cluster::migration
