// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"
#include "hockney/annealing/walkers.hpp"

namespace hockney::annealing {

// The rank of each walker if ranks have consecutive blocks, counts[rank] each.
std::vector<int> owners_of_blocks(const std::vector<int>& counts);

// The rank of each walker if counts[rank] is the new number of each rank's walkers, and only those move that
// have to: the last ones of ranks with too many.
std::vector<int> owners_after(const std::vector<int>& owners, const std::vector<int>& counts);

// Moves the walkers that change their rank, with their states. Collective, with the same arguments on all
// ranks. Returns how many this rank has sent.
int move_walkers(Walkers& walkers, const std::vector<int>& before, const std::vector<int>& after,
                 const Comm& comm);

}  // namespace hockney::annealing
