// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Alltoall final : public AlltoallBase {
 public:
  Alltoall(const Place& place, const Values& values)
      : AlltoallBase(place, values), call_(chosen_call<operation::alltoall>(values, MPI_Alltoall)) {}

  // Calls MPI_Alltoall, or a file of coll/alltoall.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
          comm_.handle);
  }

 private:
  operation::alltoall::Call* const call_;
};

constexpr Parameter alltoall_parameters[] = {parameters::algorithm_of<operation::alltoall>,
                                             parameters::bytes("bytes from each rank to each rank"),
                                             parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoall{
    .name = "alltoall",
    .role = "collective",
    .operation = "alltoall",
    .size = "bytes",
    .help = "MPI_Alltoall",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoall_parameters,
    .make = make<Alltoall>,
};

}  // namespace hockney::patterns
