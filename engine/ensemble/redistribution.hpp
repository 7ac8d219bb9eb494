// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"
#include "hockney/annealing/walkers.hpp"

namespace hockney::annealing {

// The rank of each walker if rank r has counts[r] consecutive walkers.
std::vector<int> owners_by_blocks(const std::vector<int>& counts);

// The rank of each walker if counts[rank] is each rank's new number of walkers, and as few walkers as
// possible move: the last ones of ranks that have too many.
std::vector<int> redistribute_owners(const std::vector<int>& owners, const std::vector<int>& counts);

// Moves the walkers that change their rank, with their states. Collective, with the same arguments on all
// ranks. Returns the number of walkers that this rank has sent.
int move_walkers(Walkers& walkers, const std::vector<int>& before, const std::vector<int>& preceding_word,
                 const Comm& comm);

}  // namespace hockney::annealing
