// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Allgather final : public AllgatherBase {
 public:
  Allgather(const Place& place, const Values& values)
      : AllgatherBase(place, values), call_(chosen_call<operation::allgather>(values, MPI_Allgather)) {}

  // Calls MPI_Allgather, or a file of coll/allgather.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
          comm_.handle);
  }

 private:
  operation::allgather::Call* const call_;
};

constexpr Parameter allgather_parameters[] = {parameters::algorithm_of<operation::allgather>,
                                              parameters::bytes("bytes from each rank"), parameters::buffers,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allgather{
    .name = "allgather",
    .role = "collective",
    .operation = "allgather",
    .size = "bytes",
    .help = "MPI_Allgather",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allgather_parameters,
    .make = make<Allgather>,
};

}  // namespace hockney::patterns
