// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "annealing/catalog.hpp"
#include "base/invalid_case.hpp"

namespace hockney::annealing {
namespace {

std::unique_ptr<Workload> no_annealing(const Place&, const Values&) {
  throw InvalidCase("annealing cannot run yet");
}

}  // namespace

extern constinit const WorkloadInfo annealing{
    .name = "annealing",
    .role = "annealing",
    .operation = "annealing",
    .size = "size",
    .help = "ensemble simulated annealing: walkers at one temperature, and a schedule from their statistics",
    .time = "one whole annealing, the maximum over the ranks",
    .timing = Timing::longest,
    .parameters = annealing_workload::parameters,
    .metrics = annealing_workload::metrics,
    .make = no_annealing,
};

}  // namespace hockney::annealing
