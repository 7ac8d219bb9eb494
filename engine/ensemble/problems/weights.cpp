// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/problems/weights.hpp"

#include <cstddef>
#include <map>

namespace hockney::annealing {
namespace {

const std::map<std::string, MatrixShape> shapes{
    {"FULL_MATRIX", {MatrixShape::full, true}},     {"UPPER_ROW", {MatrixShape::upper, false}},
    {"LOWER_COL", {MatrixShape::upper, false}},     {"UPPER_DIAG_ROW", {MatrixShape::upper, true}},
    {"LOWER_DIAG_COL", {MatrixShape::upper, true}}, {"LOWER_ROW", {MatrixShape::lower, false}},
    {"UPPER_COL", {MatrixShape::lower, false}},     {"LOWER_DIAG_ROW", {MatrixShape::lower, true}},
    {"UPPER_DIAG_COL", {MatrixShape::lower, true}},
};

}  // namespace

std::optional<MatrixShape> matrix_shape(const std::string& format) {
  const auto found = shapes.find(format);
  return found == shapes.end() ? std::nullopt : std::optional(found->second);
}

const char* matrix_shapes() {
  return "FULL_MATRIX, or UPPER or LOWER with _ROW, _COL, _DIAG_ROW or _DIAG_COL";
}

std::vector<std::int32_t> read_matrix(WordReader& words, MatrixShape shape, int size) {
  const std::string shape_text = " of a matrix of " + std::to_string(size) + " nodes";
  std::vector<std::int32_t> weights;  // only weights in the file, so that memory is allocated only for these
  for (int row = 0; row < size; ++row) {
    const int begin = shape.part == MatrixShape::upper ? row : 0;
    const int end = shape.part == MatrixShape::lower ? row + 1 : size;
    for (int column = begin; column < end; ++column) {
      if (row == column && !shape.diagonal) continue;
      const std::string element_name =
          "weight " + std::to_string(row + 1) + "," + std::to_string(column + 1) + shape_text;
      if (row == column) {
        words.number(element_name);
        weights.push_back(0);
        continue;
      }
      const auto weight = static_cast<std::int32_t>(words.integer(element_name, 0));
      weights.push_back(weight);
      if (shape.part != MatrixShape::full || column > row) continue;
      const std::int32_t other = weights[static_cast<std::size_t>(column) * static_cast<std::size_t>(size) +
                                         static_cast<std::size_t>(row)];
      if (weight != other)
        words.fail("value", element_name + " to be that of the other direction, " + std::to_string(other),
                   std::to_string(weight));
    }
  }
  if (shape.part == MatrixShape::full) return weights;
  std::vector<std::int32_t> matrix(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  auto weight = weights.begin();
  for (std::size_t row = 0; row < static_cast<std::size_t>(size); ++row) {
    const std::size_t begin = shape.part == MatrixShape::upper ? row : 0;
    const std::size_t end = shape.part == MatrixShape::lower ? row + 1 : static_cast<std::size_t>(size);
    for (std::size_t column = begin; column < end; ++column) {
      if (row == column && !shape.diagonal) continue;
      matrix[row * static_cast<std::size_t>(size) + column] = *weight;
      matrix[column * static_cast<std::size_t>(size) + row] = *weight;
      ++weight;
    }
  }
  return matrix;
}

}  // namespace hockney::annealing
