// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_header.h"

#include <charconv>
#include <cstdio>
#include <optional>
#include <set>

namespace flowcon::cluster::migration {
namespace {

// Up to the first NUL, or the whole field.
std::string text_in(std::string_view field) {
  return std::string(field.substr(0, field.find('\0')));
}

// Octal digits between spaces, ended by a space, a NUL or the field; or GNU's base 256.
std::optional<std::uint64_t> number_in(std::string_view field) {
  const auto first = static_cast<unsigned char>(field.front());
  if ((first & 0x80U) != 0) {
    if (first != 0x80U) return {};  // negative, or wider than 63 bits
    std::uint64_t value = 0;
    for (const char c : field.substr(1)) {
      if (value >> 55U != 0) return {};
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  const std::string_view digits = field.substr(0, field.find_first_not_of("01234567"));
  const std::string_view rest = field.substr(digits.size());
  if (rest.find_first_not_of(std::string_view(" \0", 2)) != std::string_view::npos) return {};
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (value >> 60U != 0) return {};
    value = value << 3U | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool has_right_sum(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool is_own_field = i >= 148 && i < 156;
    sum += is_own_field ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return number_in(block.substr(148, 8)) == sum;
}

std::optional<TarType> type_of(char flag) {
  switch (flag) {
    case '0':
    case '\0':
      return TarType::file;
    case '1':
      return TarType::hard_link;
    case '2':
      return TarType::symlink;
    case '3':
      return TarType::character_device;
    case '4':
      return TarType::block_device;
    case '5':
      return TarType::directory;
    case '6':
      return TarType::fifo;
    case 'x':
      return TarType::pax;
    case 'L':
      return TarType::long_name;
    case 'K':
      return TarType::long_link;
    default:
      return {};
  }
}

}  // namespace

Result<TarHeader> parse_tar_header(std::string_view block) {
  if (block.size() != kTarBlock || !has_right_sum(block)) {
    return bad_input("a header of the archive has a wrong sum");
  }
  const std::string_view magic = block.substr(257, 8);
  const bool is_posix = magic == std::string_view(
                                     "ustar\0"
                                     "00",
                                     8);
  const bool is_gnu = magic == std::string_view("ustar  \0", 8);
  if (!is_posix && !is_gnu) return bad_input("a header of the archive is of an unknown format");
  // Another tar's mark, to which the name's field is shorter.
  if (block.substr(508) == std::string_view("tar\0", 4)) {
    return bad_input("a header of the archive is of an unknown format");
  }
  const auto type = type_of(block[156]);
  if (!type) return bad_input("an entry of the archive is of an unknown type");
  const auto size = number_in(block.substr(124, 12));
  if (!size) return bad_input("a header of the archive has no valid size");

  TarHeader header{*type, text_in(block.substr(0, 100)), text_in(block.substr(157, 100)), *size};
  if (is_posix) {
    const std::string prefix = text_in(block.substr(345, 155));
    if (!prefix.empty()) header.name = prefix + "/" + header.name;
  }
  if (*type == TarType::character_device || *type == TarType::block_device) {
    const auto major = number_in(block.substr(329, 8));
    const auto minor = number_in(block.substr(337, 8));
    if (!major || !minor) return bad_input("a header of the archive has no valid device number");
    header.device_major = *major;
    header.device_minor = *minor;
  }
  return header;
}

std::string render_tar_header(std::string_view name, std::uint64_t size) {
  std::string block(kTarBlock, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000444");
  block.replace(108, 7, "0000000");
  block.replace(116, 7, "0000000");
  block.replace(136, 11, "00000000000");
  block[156] = '0';
  block.replace(257, 7, "ustar  ");
  if (size < 1ULL << 33U) {
    char octal[16];
    std::snprintf(octal, sizeof octal, "%011llo", static_cast<unsigned long long>(size));
    block.replace(124, 11, octal);
  } else {
    // More than eleven octal digits: GNU's base 256.
    block[124] = '\x80';
    for (std::size_t i = 0; i < 8; ++i) {
      block[135 - i] = static_cast<char>(size >> (8 * i) & 0xFFU);
    }
  }
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char text[16];
  std::snprintf(text, sizeof text, "%06o", sum);
  block.replace(148, 6, text);
  block[154] = '\0';
  return block;
}

std::string tar_padding(std::uint64_t size) {
  return std::string((kTarBlock - size % kTarBlock) % kTarBlock, '\0');
}

Result<std::vector<PaxRecord>> parse_pax(std::string_view text) {
  std::vector<PaxRecord> records;
  std::set<std::string, std::less<>> keys;
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    // At least "5 a=\n", a digit first, and all of it there.
    const bool is_whole = error == std::errc() && digits < text.size() && text[digits] == ' ' &&
                          length > digits + 2 && length <= text.size() && text[length - 1] == '\n';
    if (!is_whole) return bad_input("a pax record of the archive is not valid");
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return bad_input("a pax record of the archive has no key");
    }
    records.push_back(
        {std::string(record.substr(0, equals)), std::string(record.substr(equals + 1))});
    if (!keys.insert(records.back().key).second) {
      return bad_input("a pax record of the archive is there twice");
    }
    text.remove_prefix(length);
  }
  return records;
}

}  // namespace flowcon::cluster::migration
