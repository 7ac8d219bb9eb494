// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hockney {

// Writes one JSON object on one line, with fields in the order of the calls. Values added by raw() are not
// escaped again. Bytes that are not UTF-8 become U+FFFD, control characters become \u00XX.
class Json {
 public:
  Json() : text_("{") {}

  Json& field(std::string_view name, std::string_view value);
  Json& field(std::string_view name, const char* value) { return field(name, std::string_view(value)); }
  Json& field(std::string_view name, double value);
  Json& field(std::string_view name, std::int64_t value);
  Json& field(std::string_view name, std::uint64_t value);
  Json& field(std::string_view name, int value) { return field(name, static_cast<std::int64_t>(value)); }
  Json& field(std::string_view name, std::span<const double> values);
  // Adds a `value` that is already JSON.
  Json& raw(std::string_view name, std::string_view value);
  Json& null(std::string_view name) { return raw(name, "null"); }

  std::string str() const { return text_ + "}"; }

 private:
  void key(std::string_view name);

  std::string text_;
};

std::string json_string(std::string_view text);

// Formats seven significant digits: finer than any clock resolves the measured times.
std::string json_number(double value);

}  // namespace hockney
