// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ensemble/setup.hpp"
#include "hockney/annealing/options.hpp"

namespace hockney::annealing {

// Finds a set-up. Throws std::invalid_argument, with a list of all set-ups, if it does not exist.
const SetupInfo& setup_named(const std::string& name);

// Throws std::invalid_argument if these options are not possible on this number of ranks, std::runtime_error
// if this MPI lacks a feature that the set-up needs.
void check(const SetupInfo& setup, const Options& options, int ranks);

}  // namespace hockney::annealing
