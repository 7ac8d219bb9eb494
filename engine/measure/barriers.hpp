// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "measure/workload.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// Makes the barrier that algorithm= selects, for the ranks of `place`. Collective; throws InvalidCase if the
// algorithm is not supported.
std::unique_ptr<Barrier> make_chosen_barrier(const Place& place, const Values& values);

namespace parameters {

inline constexpr Parameter algorithm{
    "algorithm", Kind::choice, "", "mpi", 0, 0, barrier_choices, "barrier: MPI_Barrier, or one of hockney's"};

// For workloads timed from one repetition to the next by the global clock.
inline constexpr Parameter sync_barrier{
    "sync", Kind::choice, "", "barrier", 0, 0, "barrier", "repetitions start after MPI_Barrier"};

}  // namespace parameters

}  // namespace hockney
