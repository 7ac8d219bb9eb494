// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/problems/words.hpp"

namespace hockney::annealing {

// The part of a symmetric matrix that a TSPLIB file contains, row by row.
struct MatrixShape {
  enum Part { full, upper, lower } part;
  bool diagonal;
};

// The shape of an EDGE_WEIGHT_FORMAT. Columns of one triangle are the rows of the other.
std::optional<MatrixShape> matrix_shape(const std::string& format);
// All formats, for messages.
const char* matrix_shapes();

// Returns the whole matrix, with zeros on its diagonal whatever the file contains there.
std::vector<std::int32_t> read_matrix(WordReader& words, MatrixShape shape, int size);

}  // namespace hockney::annealing
