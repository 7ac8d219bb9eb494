// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Scatterv final : public ScattervBase {
 public:
  Scatterv(const Place& place, const Values& values) : ScattervBase(place, values) {}

  void run() override {
    MPI_Scatterv(outgoing_.next(), counts_.counts(), counts_.displacements(), counts_.type(),
                 incoming_.next(), own_count(), counts_.type(), root_, comm_.handle);
  }
};

constexpr Parameter scatterv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                             parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo scatterv{
    .name = "scatterv",
    .role = "collective",
    .operation = "scatterv",
    .size = "bytes",
    .help = "MPI_Scatterv: the root sends each rank a block of a different size",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scatterv_parameters,
    .make = make<Scatterv>,
};

}  // namespace hockney::vector_collectives
