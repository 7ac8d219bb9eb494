// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Operations on a rank's part of the vectors of CG, of n elements each.
namespace hockney::npb {

double cg_dot(const double* x, const double* y, std::size_t n);
// Computes z += alpha p, r -= alpha q.
void cg_advance(double alpha, const double* p, const double* q, double* z, double* r, std::size_t n);
// Computes p = r + beta p.
void cg_direction(double beta, const double* r, double* p, std::size_t n);
// Computes x = factor z.
void cg_scale(double factor, const double* z, double* x, std::size_t n);
// Returns the square of the norm of x - y.
double cg_distance(const double* x, const double* y, std::size_t n);
// Computes sum += addend.
void cg_add(const double* addend, double* sum, std::size_t n);

}  // namespace hockney::npb
