// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Allreduce final : public AllreduceBase {
 public:
  Allreduce(const Place& place, const Values& values)
      : AllreduceBase(place, values), call_(chosen_call<operation::allreduce>(values, MPI_Allreduce)) {}

  // Calls MPI_Allreduce, or a file of coll/allreduce.
  void run() override {
    call_(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle);
  }

 private:
  operation::allreduce::Call* const call_;
};

constexpr Parameter allreduce_parameters[] = {parameters::algorithm_of<operation::allreduce>,
                                              parameters::vector_bytes, parameters::buffers,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allreduce{
    .name = "allreduce",
    .role = "collective",
    .operation = "allreduce",
    .size = "bytes",
    .help = "MPI_Allreduce, MPI_SUM of doubles",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allreduce_parameters,
    .make = make<Allreduce>,
};

}  // namespace hockney::patterns
