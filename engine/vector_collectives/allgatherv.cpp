// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Allgatherv final : public AllgathervBase {
 public:
  Allgatherv(const Place& place, const Values& values) : AllgathervBase(place, values) {}

  void run() override {
    MPI_Allgatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                   counts_.displacements(), counts_.type(), comm_.handle);
  }
};

constexpr Parameter allgatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allgatherv{
    .name = "allgatherv",
    .role = "collective",
    .operation = "allgatherv",
    .size = "bytes",
    .help = "MPI_Allgatherv: every rank receives all blocks, whose sizes differ",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allgatherv_parameters,
    .make = make<Allgatherv>,
};

}  // namespace hockney::vector_collectives
