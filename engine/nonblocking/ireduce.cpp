// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ireduce final : public Alone<Reduction> {
 public:
  Ireduce(const Place& place, const Values& values) : Alone(place, values, 1, 1) {}

  void start(MPI_Request* request) override {
    MPI_Ireduce(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_, comm_.handle,
                request);
  }

  Check verify(const Payload& payload) override {
    return at_root() ? check_reduced(incoming_.taken(), payload, 0, factor(comm_.size), "the sum") : Check{};
  }
};

constexpr Parameter ireduce_parameters[] = {parameters::bytes("bytes of the vector, a multiple of 8"),
                                            parameters::buffers, parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ireduce{
    .name = "ireduce",
    .role = "collective",
    .operation = "ireduce",
    .size = "bytes",
    .help = "MPI_Ireduce, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ireduce_parameters,
    .make = make<Ireduce>,
};

}  // namespace hockney::nonblocking
