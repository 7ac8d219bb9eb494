// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iscan final : public Alone<Reduction> {
 public:
  Iscan(const Place& place, const Values& values) : Alone(place, values, 1, 1) {}

  void start(MPI_Request* request) override {
    MPI_Iscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }

  Check verify(const Payload& payload) override {
    return check_reduced(incoming_.taken(), payload, 0, factor(comm_.rank + 1), "the partial sum");
  }
};

constexpr Parameter iscan_parameters[] = {parameters::bytes("bytes of the vector, a multiple of 8"),
                                          parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iscan{
    .name = "iscan",
    .role = "collective",
    .operation = "iscan",
    .size = "bytes",
    .help = "MPI_Iscan, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iscan_parameters,
    .make = make<Iscan>,
};

}  // namespace hockney::nonblocking
