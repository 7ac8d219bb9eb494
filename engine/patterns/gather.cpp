// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Gather final : public GatherBase {
 public:
  Gather(const Place& place, const Values& values)
      : GatherBase(place, values), call_(chosen_call<operation::gather>(values, MPI_Gather)) {}

  // Calls MPI_Gather, or a file of coll/gather.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type, root_,
          comm_.handle);
  }

 private:
  operation::gather::Call* const call_;
};

constexpr Parameter gather_parameters[] = {parameters::algorithm_of<operation::gather>,
                                           parameters::bytes("bytes from each rank"), parameters::buffers,
                                           parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gather{
    .name = "gather",
    .role = "collective",
    .operation = "gather",
    .size = "bytes",
    .help = "MPI_Gather",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gather_parameters,
    .make = make<Gather>,
};

}  // namespace hockney::patterns
