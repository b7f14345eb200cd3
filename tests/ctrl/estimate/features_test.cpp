// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/features.h"

#include <string>

#include "tests/support/catch.h"

namespace {

using namespace flowcon::ctrl::estimate;

std::string shown(const Features& features) {
  std::string text;
  for (const auto& [name, value] : features) {
    const auto* word = std::get_if<std::string>(&value);
    text += name + '=' + (word ? *word : std::to_string(std::get<double>(value))) + ' ';
  }
  return text;
}

std::string features(const std::string& command) {
  return shown(features_of({"vae", "", command, {}}, {}));
}

std::string family(const std::string& command) { return family_of({"vae", "", command, {}}); }

}  // namespace

TEST_CASE("numbers and texts of a command go by their options, other words by their places") {
  CHECK(features("python3 vae.py --batch-size 64 --lr=1e-3 -o adam --amp 7") ==
        "arg.0=python3 arg.1=vae.py arg.batch-size=64.000000 arg.lr=0.001000 arg.o=adam "
        "arg.amp=7.000000 ");
  CHECK(features("--amp --shift -2 --quiet") ==
        "arg.amp=1.000000 arg.shift=-2.000000 arg.quiet=1.000000 ");
  CHECK(features("") == "");
}

TEST_CASE("what is known comes first, the environment last, the first of a name counts") {
  const Command command{"vae", "", "--lr 1 --lr 2", {{"EPOCHS", "3"}, {"MODE", "fast"}}};
  CHECK(shown(features_of(command, {{"workers", 2.0}})) ==
        "workers=2.000000 arg.lr=1.000000 env.EPOCHS=3.000000 env.MODE=fast ");
}

TEST_CASE("a stranger's command has at most 64 features of short names and texts") {
  std::string command = "--" + std::string(100, 'n') + " 1 --path " + std::string(65, 'p');
  CHECK(features(command) == "");
  for (int i = 0; i < 1000; ++i) command += " --o" + std::to_string(i) + " 1";
  CHECK(features_of({"vae", "", command, {}}, {}).size() == 64);
  CHECK(features("--a inf --b nan --c 1e999 -- -") == "arg.a=inf arg.b=nan arg.c=1e999 arg.=- ");
}

TEST_CASE("a family is a command without its numbers and values") {
  CHECK(family("python3 vae.py --batch-size 64 --lr=1e-3 8 --amp") ==
        "vae python3 vae.py --batch-size # --lr=# # --amp");
  CHECK(family("python3 vae.py --lr 1") == family("python3 vae.py --lr 0.5"));
  CHECK(family("python3 vae.py --lr 1") != family("python3 gan.py --lr 1"));
}

TEST_CASE("a family goes by the image's repository") {
  CHECK(family_of({"host:5000/team/vae:2", "", "a", {}}) == "host:5000/team/vae a");
  CHECK(family_of({"host:5000/vae", "", "a", {}}) == "host:5000/vae a");
  CHECK(family_of({"vae@sha256:12", "", "a", {}}) == "vae a");
}

TEST_CASE("a key is a digest, which is the same for the same image and command alone") {
  const auto key = [](const std::string& digest, const std::string& command) {
    return key_of({"vae:2", digest, command, {}});
  };
  // printf '%s' 'sha256:12 a --lr 1' | sha256sum
  CHECK(key("sha256:12", "a --lr 1") ==
        "4e8eadd710e63e58fb29d028f419058843a02e56fc5ef1a0f0509652414dae47");
  CHECK(key("sha256:12", "a --lr 2") != key("sha256:12", "a --lr 1"));
  CHECK(key("sha256:13", "a --lr 1") != key("sha256:12", "a --lr 1"));
}

TEST_CASE("no feature and no family has what looks like a secret") {
  CHECK(features("a --password hunter2 --hf-token=12 --Api_Key x --lr 1") ==
        "arg.0=a arg.lr=1.000000 ");
  CHECK(features("DB_PASSWORD=x --set wandb.key=y --env lr=1") == "arg.env=lr=1 ");
  // As AWS's documentation has them.
  CHECK(features("--id AKIAIOSFODNN7EXAMPLE --of wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY") == "");
  CHECK(features("--from https://me:pw@host/a --to https://token@host --at https://host/a@b") ==
        "arg.at=https://host/a@b ");
  CHECK(features("-p0123456789abcdef --data /data/imagenet-2012/train --model resnext101_32x8d") ==
        "arg.data=/data/imagenet-2012/train arg.model=resnext101_32x8d ");
  CHECK(family("env PASSWORD=x login 0123456789abcdef0123456789abcdef01234567 -p0123456789abcdef "
               "https://me:pw@host/a vae.py") == "vae env # # # # # vae.py");
}

TEST_CASE("a secret with blanks ends at the next option") {
  CHECK(features("a --password my secret words --lr 1 b") == "arg.0=a arg.lr=1.000000 arg.3=b ");
  CHECK(family("a --password my secret words --lr 1 b") == "vae a --password # # # --lr # b");
  CHECK(features("--api-key=x y 7 --amp") == "arg.amp=1.000000 ");
  CHECK(family("--api-key=x y 7 --amp") == "vae --api-key=# # # --amp");
  CHECK(features("sh -c DB_PASS=x y z") == "arg.0=sh ");
  CHECK(family("DB_PASS=x y vae.py --set my.token=x y -v z") == "vae # # # --set # # -v #");
}

TEST_CASE("of an environment numbers are kept, and no variable that may be a secret") {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const Variables given = {{"EPOCHS", "20"},       {"LR", "1e-3"},     {"HOME", "/root"},
                           {"EMPTY", ""},          {"PIN", "1234 "},   {"DB_PASSWORD", "1234"},
                           {"api_key", "99"},      {"HF_TOKEN", "17"}, {"Secret", "1"},
                           {"AWS_CREDENTIAL", "5"}};
  CHECK(numbers_in(given) == Variables{{"EPOCHS", "20"}, {"LR", "1e-3"}});
}
