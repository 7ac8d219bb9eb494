// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <locale.h>
#include <stdlib.h>

#include <cmath>
#include <sstream>

#include "base/invalid_case.hpp"

namespace hockney {
namespace {

[[noreturn]] void refuse_number(std::string_view text, std::string_view what, const char* expected_bytes) {
  throw InvalidCase(std::string(what) + "='" + std::string(text) + "' is not " + expected_bytes);
}

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::map<std::string, std::string> named_words(const std::vector<std::string>& words, std::size_t first) {
  std::map<std::string, std::string> values;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::size_t separator = words[i].find('=');
    if (separator == 0 || separator == std::string::npos || separator + 1 == words[i].size())
      throw InvalidCase("'" + words[i] + "' is not a parameter (NAME=VALUE is required)");
    if (!values.emplace(words[i].substr(0, separator), words[i].substr(separator + 1)).second)
      throw InvalidCase("parameter '" + words[i].substr(0, separator) + "' is given twice");
  }
  return values;
}

double to_real(std::string_view text, std::string_view what) {
  // The decimal point is '.' in every locale.
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string copy(text);
  char* end = nullptr;
  const double value = strtod_l(copy.c_str(), &end, c_locale);
  if (copy.empty() || end != copy.c_str() + copy.size() || !std::isfinite(value))
    refuse_number(text, what, "a number");
  return value;
}

std::int64_t to_integer(std::string_view text, std::string_view what) {
  const double value = to_real(text, what);
  // Exact below 2^53; every limit in the catalog is below that.
  if (value != std::floor(value) || std::abs(value) > 9007199254740992.0)
    refuse_number(text, what, "a whole number");
  return static_cast<std::int64_t>(value);
}

}  // namespace hockney
