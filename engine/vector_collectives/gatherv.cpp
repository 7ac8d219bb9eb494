// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Gatherv final : public GathervBase {
 public:
  Gatherv(const Place& place, const Values& values) : GathervBase(place, values) {}

  void run() override {
    MPI_Gatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                counts_.displacements(), counts_.type(), root_, comm_.handle);
  }
};

constexpr Parameter gatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                            parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gatherv{
    .name = "gatherv",
    .role = "collective",
    .operation = "gatherv",
    .size = "bytes",
    .help = "MPI_Gatherv: the root receives all blocks, whose sizes differ",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gatherv_parameters,
    .make = make<Gatherv>,
};

}  // namespace hockney::vector_collectives
