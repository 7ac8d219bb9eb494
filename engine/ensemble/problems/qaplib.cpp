// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// QAPLIB files: R. E. Burkard, S. E. Karisch, F. Rendl, QAPLIB - A Quadratic Assignment Problem Library,
// Journal of Global Optimization 10, 1997. A file contains the size and two matrices, row by row; line breaks
// are not significant.
#include <algorithm>
#include <stdexcept>

#include "ensemble/problems/words.hpp"
#include "hockney/annealing/quadratic_assignment.hpp"

namespace hockney::annealing {
namespace {

std::vector<std::int32_t> matrix(WordReader& words, int size, const std::string& name) {
  std::vector<std::int32_t> elements;
  for (int row = 1; row <= size; ++row) {
    const std::string element_name = "element " + std::to_string(row) + ",";
    for (int column = 1; column <= size; ++column)
      elements.push_back(
          static_cast<std::int32_t>(words.integer(element_name + std::to_string(column) + " of " + name, 0)));
  }
  return elements;
}

}  // namespace

QuadraticAssignment read_qaplib(std::istream& input, const std::string& name) {
  WordReader words(input, name);
  const int size = static_cast<int>(
      words.integer("the size", QuadraticAssignment::least_size, QuadraticAssignment::most_size));
  std::vector<std::int32_t> flows = matrix(words, size, "the first matrix");
  std::vector<std::int32_t> distances = matrix(words, size, "the second matrix");
  const std::string extra_word = words.next();
  if (!extra_word.empty()) words.fail("syntax", "nothing after the second matrix", quote(extra_word));
  try {
    return {{name, "QAPLIB file " + name, std::nullopt}, size, std::move(flows), std::move(distances)};
  } catch (const std::invalid_argument&) {
    words.fail("value", "matrices whose energy cannot exceed 2^53", "larger elements");
  }
}

}  // namespace hockney::annealing
