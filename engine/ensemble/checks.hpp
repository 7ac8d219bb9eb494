// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ensemble/setup.hpp"
#include "hockney/annealing/options.hpp"

namespace hockney::annealing {

// Throws std::invalid_argument if there is no such set-up; lists those that there are.
const SetupInfo& setup_named(const std::string& name);

// Throws std::invalid_argument if these options are not possible on this number of ranks, std::runtime_error
// if this MPI lacks what the set-up needs.
void check(const SetupInfo& setup, const Options& options, int ranks);

}  // namespace hockney::annealing
