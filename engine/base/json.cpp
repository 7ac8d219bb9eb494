// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <cmath>
#include <cstdio>

namespace hockney {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629); 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if ((first & 0xF0) == 0xE0 && tail(1) && tail(2)) {
    const bool is_overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return is_overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && tail(1) && tail(2) && tail(3)) {
    const bool is_overlong = first == 0xF0 && byte(1) < 0x90;
    const bool is_beyond_unicode = first == 0xF4 && byte(1) >= 0x90;
    return is_overlong || is_beyond_unicode ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const unsigned char c = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else if ((length = utf8_length(text)) != 0) {
      out += text.substr(0, length);
    } else {
      out += "\\ufffd";
      length = 1;
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.7g", value);
  return digits;
}

void Json::key(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  text_ += json_string(name);
  text_ += ':';
}

Json& Json::field(std::string_view name, std::string_view value) {
  return raw(name, json_string(value));
}

Json& Json::field(std::string_view name, double value) {
  return raw(name, json_number(value));
}

Json& Json::field(std::string_view name, std::int64_t value) {
  return raw(name, std::to_string(value));
}

Json& Json::field(std::string_view name, std::uint64_t value) {
  return raw(name, std::to_string(value));
}

Json& Json::field(std::string_view name, std::span<const double> values) {
  std::string list = "[";
  for (const double value : values) {
    if (list.size() > 1) list += ',';
    list += json_number(value);
  }
  return raw(name, list + "]");
}

Json& Json::raw(std::string_view name, std::string_view value) {
  key(name);
  text_ += value;
  return *this;
}

}  // namespace hockney
