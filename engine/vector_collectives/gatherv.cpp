// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "vector_collectives/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Gatherv final : public VectorBase {
 public:
  Gatherv(const Place& place, const Values& values)
      : VectorBase(place, values, {Holds::own, Holds::all, Holds::own, Holds::nothing}) {}

  void run() override {
    MPI_Gatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                counts_.displacements(), counts_.type(), root_, comm_.handle);
  }

  void fill(const Payload& payload) override {
    write_own(payload);
    if (at_root()) spoil_all(payload);
  }

  Check verify(const Payload& payload) override {
    return at_root() ? check_all(payload, "a block gathered") : Check{};
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
    .help = "MPI_Gatherv: the root gets all blocks, whose sizes differ",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gatherv_parameters,
    .make = make<Gatherv>,
};

}  // namespace hockney::vector_collectives
