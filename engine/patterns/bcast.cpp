// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Bcast final : public BcastBase {
 public:
  Bcast(const Place& place, const Values& values)
      : BcastBase(place, values), call_(chosen_call<operation::bcast>(values, MPI_Bcast)) {}

  // Calls MPI_Bcast, or a file of coll/bcast.
  void run() override { call_(incoming_.next(), block_.count, block_.type, root_, comm_.handle); }

 private:
  operation::bcast::Call* const call_;
};

constexpr Parameter bcast_parameters[] = {parameters::algorithm_of<operation::bcast>,
                                          parameters::bytes("bytes of the vector"), parameters::buffers,
                                          parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo bcast{
    .name = "bcast",
    .role = "collective",
    .operation = "bcast",
    .size = "bytes",
    .help = "MPI_Bcast",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = bcast_parameters,
    .make = make<Bcast>,
};

}  // namespace hockney::patterns
