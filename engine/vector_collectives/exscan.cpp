// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::vector_collectives {
namespace {

class Exscan final : public Reduction {
 public:
  Exscan(const Place& place, const Values& values) : Reduction(place, values, 1, 1) {}

  void run() override {
    MPI_Exscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle);
  }

  // MPI leaves rank 0's result undefined.
  Check verify(const Payload& payload) override {
    if (comm_.root()) return {};
    return check_reduced(incoming_.taken(), payload, 0, sum_of_factors(comm_.rank),
                         "the sum of the ranks before");
  }
};

constexpr Parameter exscan_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo exscan{
    .name = "exscan",
    .role = "collective",
    .operation = "exscan",
    .size = "bytes",
    .help = "MPI_Exscan, MPI_SUM of doubles: the sum over the ranks before this one",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = exscan_parameters,
    .make = make<Exscan>,
};

}  // namespace hockney::vector_collectives
