// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <string>

#include "hockney/annealing/instance.hpp"

namespace hockney::annealing {

// The words of an instance file and their line numbers. Lines end with LF, CR LF, or at the end of the file.
class WordReader final {
 public:
  WordReader(std::istream& in, std::string file) : in_{in}, file_{std::move(file)} {}

  // The next word, from this line or a later one; empty at the end of the file.
  std::string next();
  // The remaining text of this line, without blanks at both ends.
  std::string read_remaining_line();
  // The next word as a keyword, without its colon, which blanks may precede. The value is read next.
  std::string keyword();
  // Fails if anything follows on this line.
  void end_line(const std::string& preceding_word);

  // The next word as a number. `what` names the expected number in the error message.
  double number(const std::string& what);
  std::int64_t integer(const std::string& what, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int32_t>::max());

  // Fails with the current line.
  [[noreturn]] void fail(const std::string& code, const std::string& expected,
                         const std::string& found) const;

 private:
  std::istream& in_;
  std::string file_;
  std::string line_;
  std::size_t place_ = 0;  // in line_
  std::size_t number_ = 0;
};

// Formats a word for messages: quoted, short and printable.
std::string quote(const std::string& word);

}  // namespace hockney::annealing
