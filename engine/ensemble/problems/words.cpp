// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/problems/words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/invalid_case.hpp"
#include "base/words.hpp"

namespace hockney::annealing {
namespace {

constexpr const char* blanks = " \t\r\v\f";

std::string file_and_line(const std::string& file, std::size_t line) {
  return line == 0 ? file : file + ":" + std::to_string(line);
}

// Parses decimal numbers only: strtod also accepts hexadecimal numbers, nan and inf.
std::optional<double> decimal(const std::string& word) {
  if (word.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
  try {
    return to_real(word, "number");
  } catch (const InvalidCase&) {
    return std::nullopt;
  }
}

}  // namespace

InstanceError::InstanceError(std::string code, std::string file, std::size_t line, std::string expected,
                             std::string found)
    : std::runtime_error(file_and_line(file, line) + ": expected " + expected + ", found " + found),
      code{std::move(code)},
      file{std::move(file)},
      line{line},
      expected{std::move(expected)},
      found{std::move(found)} {}

std::string quote(const std::string& word) {
  constexpr std::size_t longest = 40;
  if (word.empty()) return "the end of the file";
  std::string shown = word.substr(0, longest);
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return "'" + shown + (word.size() > longest ? "...'" : "'");
}

std::string WordReader::next() {
  while (true) {
    const std::size_t begin = line_.find_first_not_of(blanks, place_);
    if (begin != std::string::npos) {
      place_ = std::min(line_.find_first_of(blanks, begin), line_.size());
      return line_.substr(begin, place_ - begin);
    }
    place_ = 0;
    line_.clear();
    if (!std::getline(in_, line_)) {
      line_.clear();
      return {};
    }
    ++number_;
  }
}

std::string WordReader::read_remaining_line() {
  const std::size_t begin = line_.find_first_not_of(blanks, place_);
  place_ = line_.size();
  if (begin == std::string::npos) return {};
  return line_.substr(begin, line_.find_last_not_of(blanks) - begin + 1);
}

std::string WordReader::keyword() {
  std::string word = next();
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) {
    const std::size_t following = line_.find_first_not_of(blanks, place_);
    if (following != std::string::npos && line_[following] == ':') place_ = following + 1;
  } else if (colon > 0) {
    place_ -= word.size() - colon - 1;
    word.resize(colon);
  }
  return word;
}

void WordReader::end_line(const std::string& preceding_word) {
  const std::string remaining = read_remaining_line();
  if (!remaining.empty()) fail("syntax", "the end of the line after " + preceding_word, quote(remaining));
}

double WordReader::number(const std::string& what) {
  const std::string word = next();
  const std::optional<double> value = decimal(word);
  if (!value) fail(word.empty() ? "incomplete" : "syntax", what + ", a number", quote(word));
  return *value;
}

std::int64_t WordReader::integer(const std::string& what, std::int64_t minimum, std::int64_t maximum) {
  const std::string word = next();
  const std::optional<double> value = decimal(word);
  const std::string expected =
      what + ", a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
  if (!value) fail(word.empty() ? "incomplete" : "syntax", expected, quote(word));
  if (*value != std::floor(*value) || *value < static_cast<double>(minimum) ||
      *value > static_cast<double>(maximum))
    fail("value", expected, quote(word));
  return static_cast<std::int64_t>(*value);
}

void WordReader::fail(const std::string& code, const std::string& expected, const std::string& found) const {
  throw InstanceError(code, file_, number_, expected, found);
}

}  // namespace hockney::annealing
