// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"
#include "hockney/annealing/walkers.hpp"

namespace hockney::annealing {

// Ranks have consecutive blocks of walkers, `before` many and then `after` many each: moves the walkers that
// change their rank, with their states. Collective. Returns how many this rank has sent.
int move_walkers(Walkers& walkers, const std::vector<int>& before, const std::vector<int>& after,
                 const Comm& comm);

}  // namespace hockney::annealing
