// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/subgrid.hpp"

// How BT and SP divide the grid: px x py x pz blocks, with line solves that pass from rank to rank in chunks.
//
// The alternatives are transposes, so that each rank has whole lines, and the reference's multipartitioning,
// which needs a square number of ranks. Class A of BT on 16 ranks, per rank and time step: transposes between
// pencils send 25 doubles for each point, 3.0 MB, in at least 9 messages. Blocks of 2 x 2 x 4 send 35 doubles
// for each line that crosses a face, 0.54 MB, in about 90 messages, and lose the time in which the pipelines
// fill. With c chunks, a sweep over p ranks takes 1 + (p - 1) / c times its work, and 2 c startups; their sum
// is least if c^2 = (p - 1) work / startup. Then filling costs 14% of a sweep over 4 ranks and 8% of one over
// 2, and startups as much. So blocks send 6 times fewer bytes, and any number of ranks can have them.
namespace hockney::npb::adi {

// A message's startup, as the number of points that a sweep processes at the same time: 1.5 us at 15 ns.
inline constexpr double startup_points = 100;

// The number of chunks of a sweep with lines divided among `parts` ranks, which have `points` points each.
double chunks_of(int parts, double points);

// The division with the least estimated time for `ranks` ranks; each has at least one point of the grid's
// interior in each direction. Throws InvalidCase if there is none.
flow::Triple divide(int ranks, int points);

}  // namespace hockney::npb::adi
