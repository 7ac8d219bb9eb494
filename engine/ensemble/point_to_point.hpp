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
// each rank. Sent data remain in one of `depth` slots until the send completes; `depth` is the maximum number
// of rounds in flight between two ranks.
std::unique_ptr<Channel> point_to_point(Part& part, int depth);

}  // namespace hockney::annealing
