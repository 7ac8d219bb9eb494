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

// The words of an instance's file and the lines where they stand. Lines end with LF, CR LF, or the file.
class WordReader final {
 public:
  WordReader(std::istream& in, std::string file) : in_{in}, file_{std::move(file)} {}

  // The next word, from the rest of this line or from a later one; empty at the end of the file.
  std::string next();
  // The rest of this line, without blanks at both ends.
  std::string rest_of_line();
  // The next word as a keyword, without its colon, which blanks may precede; the value is read next.
  std::string keyword();
  // Nothing may follow on this line.
  void end_line(const std::string& after);

  // The next word as a number. `what` is the number that is expected, for the message.
  double real(const std::string& what);
  std::int64_t whole(const std::string& what, std::int64_t least,
                     std::int64_t most = std::numeric_limits<std::int32_t>::max());

  // With the current line.
  [[noreturn]] void fail(const std::string& code, const std::string& expected,
                         const std::string& found) const;

 private:
  std::istream& in_;
  std::string file_;
  std::string line_;
  std::size_t place_ = 0;  // in line_
  std::size_t number_ = 0;
};

// `found` in messages: quoted, short and printable.
std::string in_quotes(const std::string& word);

}  // namespace hockney::annealing
