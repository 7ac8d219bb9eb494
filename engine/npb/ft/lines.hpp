// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "npb/ft/transform.hpp"

// Copies between a grid's rows and the numbers that Transform processes. A row contains `length` real parts,
// then the imaginary ones; `length` is a multiple of Transform::lines.
namespace hockney::npb {

using Rows = std::span<double* const>;

// Loads Transform::lines lines across the rows, from column `first` on: number k of each is in rows[k].
void load_columns(Rows rows, std::size_t length, std::size_t first, const Split& to);
void store_columns(const Split& from, Rows rows, std::size_t length, std::size_t first);
// The same, after multiplying the number in column x of rows[k] by columns[x] * row[k].
void load_scaled_columns(Rows rows, std::size_t length, std::size_t first, const double* columns,
                         const double* row, const Split& to);

// Loads Transform::lines rows, each as a line.
void load_rows(Rows rows, std::size_t length, const Split& to);
void store_rows(const Split& from, Rows rows, std::size_t length);
// Stores into the memory of the rows, in the order of Transform::values().
void store_in_transform_order(const Split& from, Rows rows, std::size_t length);

}  // namespace hockney::npb
