// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "measure/workload.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// The barrier that algorithm= names, for the ranks of `place`.
// Collective; throws InvalidCase where it cannot be.
std::unique_ptr<Barrier> chosen_barrier(const Place& place, const Values& values);

namespace parameters {

inline constexpr Parameter algorithm{"algorithm",
                                     Kind::choice,
                                     "",
                                     "mpi",
                                     0,
                                     0,
                                     barrier_choices,
                                     "which barrier: MPI_Barrier, or one of ours"};

// For what is timed from one repetition to the next by the clock of all ranks.
inline constexpr Parameter sync_barrier{
    "sync", Kind::choice, "", "barrier", 0, 0, "barrier", "repetitions start after MPI_Barrier"};

}  // namespace parameters

}  // namespace hockney
