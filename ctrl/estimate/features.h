// SPDX-License-Identifier: Apache-2.0
// What a job is told apart by: numbers and words of its command and of its own environment, and
// which commands are like it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ctrl/estimate/estimate.h"

namespace flowcon::ctrl::estimate {

/// What a container runs. All of it may come from strangers.
struct Command {
  std::string image;    ///< as it was asked for: "host:5000/team/vae:2"
  std::string digest;   ///< "sha256:…", what is behind that name
  std::string command;  ///< arguments with blanks between
  std::vector<std::pair<std::string, std::string>> environment;  ///< its own, not the image's
};

/// Those variables whose values are numbers, but none whose name says that it is a secret: PASS,
/// TOKEN, KEY, SECRET or CRED in it, in any case. The values of all others may say anything.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> numbers_in(
    const std::vector<std::pair<std::string, std::string>>& environment);

/// As profiles are made from it: valid UTF-8, and of the environment numbers_in() alone.
[[nodiscard]] Command cleaned(Command command);

/// What is known of a job of one worker on this host: "workers", "ps", "cores", "memory" and, where
/// it has one, "gpu". Units: cores, bytes.
[[nodiscard]] Features known_features(double cores, double memory, const std::string& gpu_model);

/// SHA-256 of image digest, blank and exact command: keys are only compared, and a command may hold
/// a secret.
[[nodiscard]] std::string key_of(const Command& command);

/// Image repository and command, in which each number, each value of an option and each word that
/// looks like a secret, or like the rest of one, is "#".
[[nodiscard]] std::string family_of(const Command& command);

/// `known` (workers, cores of the host, …), then each number and text of the command by its option,
/// "arg.batch-size", or its place, "arg.2", then those of the environment, "env.EPOCHS". An option
/// without a value is 1. Texts are up to 64 bytes; longer ones, and names above that, are left out,
/// and so is what comes after the first 64. The first of equal names counts. What looks like a
/// secret is left out: a name or "NAME=" as for numbers_in(), and all words behind it up to the
/// next option, since it may have blanks; 16 or more letters and digits in a row with some of each,
/// 40 of base64, the user of a URL.
[[nodiscard]] Features features_of(const Command& command, Features known);

}  // namespace flowcon::ctrl::estimate
