// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "vector_collectives/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Allgatherv final : public VectorBase {
 public:
  Allgatherv(const Place& place, const Values& values)
      : VectorBase(place, values, {Holds::own, Holds::all, Holds::own, Holds::all}) {}

  void run() override {
    MPI_Allgatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                   counts_.displacements(), counts_.type(), comm_.handle);
  }

  void fill(const Payload& payload) override {
    write_own(payload);
    spoil_all(payload);
  }

  Check verify(const Payload& payload) override { return check_all(payload, "a block gathered"); }
};

constexpr Parameter allgatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allgatherv{
    .name = "allgatherv",
    .role = "collective",
    .operation = "allgatherv",
    .size = "bytes",
    .help = "MPI_Allgatherv: every rank gets all blocks, whose sizes differ",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allgatherv_parameters,
    .make = make<Allgatherv>,
};

}  // namespace hockney::vector_collectives
