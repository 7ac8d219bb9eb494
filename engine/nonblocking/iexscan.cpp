// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iexscan final : public StartAndWait<Reduction> {
 public:
  Iexscan(const Place& place, const Values& values) : StartAndWait(place, values, 1, 1) {}

  void start(MPI_Request* request) override {
    MPI_Iexscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }

  // What rank 0 receives is undefined.
  Check verify(const Payload& payload) override {
    if (comm_.root()) return {};
    return check_reduced(incoming_.taken(), payload, 0, sum_of_factors(comm_.rank),
                         "the sum of the ranks before");
  }
};

constexpr Parameter iexscan_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iexscan{
    .name = "iexscan",
    .role = "collective",
    .operation = "iexscan",
    .size = "bytes",
    .help = "MPI_Iexscan, MPI_SUM of doubles, then MPI_Wait: the sum over the ranks before this one",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iexscan_parameters,
    .make = make<Iexscan>,
};

}  // namespace hockney::nonblocking
