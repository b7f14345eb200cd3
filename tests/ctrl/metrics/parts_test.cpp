// SPDX-License-Identifier: Apache-2.0
// A whole value and its parts.
#include <string>
#include <vector>

#include "ctrl/metrics/extractor.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

std::string metric_of(const std::vector<std::string>& lines) {
  auto extractor = Extractor::create(Spec(), 0);
  REQUIRE(extractor.has_value());
  for (const std::string& line : lines) extractor->feed(line, 1);
  return extractor->report().metric;
}

std::string number(double value) { return std::to_string(value); }

}  // namespace

TEST_CASE("the whole loss goes before its parts on the same line") {
  for (const std::string whole : {"loss", "total_loss", "Loss Total"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 20; ++i) {
      const std::string value = number(2.0 + (i % 2) - 0.01 * i);
      const std::string part = number(2.0 / (i + 1));
      lines.push_back("iter " + std::to_string(i) + " iou_loss: " + part + " box_loss: " + part +
                      " loss_0: " + part + " " + whole + ": " + value);
    }
    CHECK(metric_of(lines) == whole);
  }
}

TEST_CASE("a loss of one thing goes behind the loss on its line") {
  for (const std::string part : {"id_loss", "loss_bbox", "recon_loss", "segm loss"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 5; ++i) {
      const std::string falls = number(1.0 - 0.1 * i), wavers = number(2.0 + (i % 2) - 0.01 * i);
      lines.push_back("epoch " + std::to_string(i) + " | " + part + ": " + falls +
                      " | loss: " + wavers);
    }
    INFO(part);
    CHECK(metric_of(lines) == "loss");
  }
  std::vector<std::string> of_autoencoder;
  for (int i = 0; i < 50; ++i) {
    of_autoencoder.push_back("epoch " + std::to_string(i) +
                             " Train total loss: " + number(3.0 + (i % 2)) +
                             " Reconstruction loss: " + number(2.0 / (i + 1)));
  }
  CHECK(metric_of(of_autoencoder) == "Train total loss");
  std::vector<std::string> lines;
  for (int i = 1; i < 3; ++i) {
    const std::string count = "(" + std::to_string(1000 * i) + "/40000) average ";
    lines.push_back(count + "pos_loss: " + number(0.9 / i));
    lines.push_back(count + "neg_loss: " + number(0.8 / i));
    lines.push_back(count + "loss: " + number(0.85 / i));
  }
  CHECK(metric_of(lines) == "average loss");
}

TEST_CASE("of columns without names that fall alike the first is the total") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 60; ++i) {
    const double wavers = 1 + (i % 3 == 0 ? 0.05 : 0.0);
    lines.push_back(std::to_string(100 * i) + "    " + number(8.0 * wavers / i) + "    " +
                    number(2.0 - 0.03 * i - 0.001 * (i % 2)) + "    " + number(1.0 / i));
  }
  CHECK(metric_of(lines) == "column 2");
}

}  // namespace flowcon::ctrl::metrics
