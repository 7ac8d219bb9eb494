// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::vector_collectives {
namespace {

// No communication: each rank adds its own vector to another local one. The latter is rewritten before each
// verification, since every run adds to it.
class ReduceLocal final : public Reduction {
 public:
  ReduceLocal(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}

  void run() override { MPI_Reduce_local(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum()); }

  void fill(const Payload& payload) override {
    write_reduction(outgoing_.upcoming(), payload.seed, comm_.rank);
    write_reduction(incoming_.upcoming(), payload.seed, comm_.rank);
  }

  // Valid after a single run.
  Check verify(const Payload& payload) override {
    return check_reduced(incoming_.current(), payload, 0, 2.0 * (comm_.rank + 1), "the sum of two vectors");
  }

  bool keeps_payload() const override { return false; }
};

constexpr Parameter reduce_local_parameters[] = {parameters::vector_bytes, parameters::buffers,
                                                 parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_local{
    .name = "reduce_local",
    .role = "local",
    .operation = "reduce_local",
    .size = "bytes",
    .help =
        "MPI_Reduce_local, MPI_SUM of doubles: the arithmetic of a reduction without "
        "communication",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_local_parameters,
    .make = make<ReduceLocal>,
};

}  // namespace hockney::vector_collectives
