// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "ensemble/channel.hpp"
#include "ensemble/part.hpp"

namespace hockney::annealing {

// Nonblocking messages between the master and each other rank. A receive is posted for the next message of
// each rank, and what is sent stays in one of `depth` places until it has left: the number of rounds that two
// ranks can be apart, and one.
std::unique_ptr<Channel> point_to_point(Part& part, int depth);

}  // namespace hockney::annealing
