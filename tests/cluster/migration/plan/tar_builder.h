// SPDX-License-Identifier: Apache-2.0
// Tar archives as nobody would write them. Every field is the test's to set.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace flowcon::cluster::migration {

struct TarFields {
  std::string name = "file";
  char type = '0';
  std::string link = {};
  std::string content = {};
  std::string size = {};  ///< as it stands in the header; empty: the content's
  std::string_view magic = {"ustar\00000", 8};
  std::string prefix = {};
  unsigned major = 0;
  unsigned minor = 0;
  int wrong_by = 0;  ///< how far the sum is off
};

[[nodiscard]] inline std::string octal(std::size_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*zo", digits, number);
  return text;
}

class TarBuilder {
 public:
  TarBuilder& add(const TarFields& fields) {
    std::string block(512, '\0');
    const auto put = [&block](std::size_t at, std::string_view text) {
      block.replace(at, text.size(), text);
    };
    put(0, fields.name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fields.size.empty() ? octal(fields.content.size(), 11) : fields.size);
    put(136, "00000000000");
    put(156, std::string(1, fields.type));
    put(157, fields.link);
    put(257, fields.magic);
    put(329, octal(fields.major, 7));
    put(337, octal(fields.minor, 7));
    put(345, fields.prefix);
    put(148, "        ");
    int sum = fields.wrong_by;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    put(148, octal(static_cast<std::size_t>(sum), 6) + std::string(1, '\0'));
    bytes += block + fields.content;
    bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
    return *this;
  }

  TarBuilder& file(const std::string& name, const std::string& content = "") {
    TarFields fields;
    fields.name = name;
    fields.content = content;
    return add(fields);
  }
  TarBuilder& folder(const std::string& name) { return other(name, '5', ""); }
  TarBuilder& symlink(const std::string& name, const std::string& to) {
    return other(name, '2', to);
  }
  TarBuilder& hard_link(const std::string& name, const std::string& to) {
    return other(name, '1', to);
  }
  TarBuilder& other(const std::string& name, char type, const std::string& link) {
    TarFields fields;
    fields.name = name;
    fields.type = type;
    fields.link = link;
    return add(fields);
  }
  TarBuilder& pax(const std::string& key, const std::string& value) {
    std::size_t length = key.size() + value.size() + 3;
    length += std::to_string(length + std::to_string(length).size()).size();
    return raw_pax(std::to_string(length) + " " + key + "=" + value + "\n");
  }
  TarBuilder& raw_pax(const std::string& records) {
    return extension("PaxHeaders/x", 'x', records);
  }
  TarBuilder& extension(const std::string& name, char type, const std::string& content) {
    TarFields fields;
    fields.name = name;
    fields.type = type;
    fields.content = content;
    return add(fields);
  }

  /// With the two blocks at its end.
  [[nodiscard]] std::string whole() const { return bytes + std::string(1024, '\0'); }

  std::string bytes;
};

}  // namespace flowcon::cluster::migration
