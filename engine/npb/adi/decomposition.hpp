// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/division.hpp"

// How BT and SP divide the grid: if the number of ranks is a square, in a multi-partition, like the
// reference; otherwise into px x py x pz blocks, with line solves that pass from rank to rank in chunks.
// In a multi-partition of q^2 ranks, every rank works in each of a sweep's q steps, so that no rank waits,
// and a sweep has 2 (q - 1) messages for each rank; but the cells of a rank have more surface than one block.
// An alternative for other numbers of ranks would be transposes, so that each rank has whole lines. For class
// A of BT on 12 ranks, per rank and time step, transposes between pencils send 25 doubles for each point, 4.0
// MB; blocks send 35 doubles for each line that crosses a face, a sixth of that, and lose the time in which
// the pipelines fill. With c chunks, a sweep over p ranks takes 1 + (p - 1) / c times its work, and 2 c
// startups; the sum is smallest if 2 c^2 = (p - 1) work / startup.
namespace hockney::npb::adi {

// Number of chunks of a sweep whose lines are divided among `parts` ranks with `points` points each. A
// message's startup takes as long as a sweep over `startup_points` points.
double chunks_of(int parts, double points, double startup_points);

// The division for `ranks` ranks; among divisions into blocks, the one with the smallest estimated time. Each
// block or cell has at least one interior point in each direction. Throws InvalidCase if no division exists.
flow::Division divide(int ranks, int points, double startup_points);

}  // namespace hockney::npb::adi
