// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "measure/vector_base.hpp"

namespace hockney::nonblocking {
namespace {

class Iallgatherv final : public StartAndWait<AllgathervBase> {
 public:
  Iallgatherv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Iallgatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                    counts_.displacements(), counts_.type(), comm_.handle, request);
  }
};

constexpr Parameter iallgatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                                parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iallgatherv{
    .name = "iallgatherv",
    .role = "collective",
    .operation = "iallgatherv",
    .size = "bytes",
    .help = "MPI_Iallgatherv, then MPI_Wait: every rank receives all blocks, whose sizes differ",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iallgatherv_parameters,
    .make = make<Iallgatherv>,
};

}  // namespace hockney::nonblocking
