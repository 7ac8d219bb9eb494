// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "npb/mg/block.hpp"

// The operators of MG on one rank's block (Bailey et al. 1994, section 3.4.4). All are symmetric stencils of
// 27 points, with one weight for each distance: the center, 6 faces, 12 edges and 8 corners. Their inputs
// must include the neighbors' rows and planes.
namespace hockney::npb {

using MgWeights = std::array<double, 4>;

inline constexpr std::size_t mg_longest_row = 512;

// Computes r = v - A u. r may be v.
void mg_residual(const MgBlock& block, const double* u, const double* v, double* r);
// Computes u += S r, or u = S r.
void mg_smooth(const MgBlock& block, const MgWeights& s, const double* r, double* u);
void mg_smooth_zero(const MgBlock& block, const MgWeights& s, const double* r, double* u);
// Computes the points of the coarse block from the odd-numbered points of the fine one: coarse point J is at
// the position of fine point 2J + 1, and coarse.y is fine.y with both ends halved, likewise z.
void mg_restrict(const MgBlock& fine, const double* r, const MgBlock& coarse, double* result);
// Computes u += Q w, or u = Q w: trilinear interpolation, including the neighbors' rows and planes around the
// fine block. The coarse block may be larger than the fine one's.
void mg_prolong_add(const MgBlock& coarse, const double* w, const MgBlock& fine, double* u);
void mg_prolong(const MgBlock& coarse, const double* w, const MgBlock& fine, double* u);
// Returns the sum of the squares.
double mg_square_sum(const MgBlock& block, const double* r);

}  // namespace hockney::npb
