// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Reduce final : public ReduceBase {
 public:
  Reduce(const Place& place, const Values& values)
      : ReduceBase(place, values), call_(chosen_call<operation::reduce>(values, MPI_Reduce)) {}

  // Calls MPI_Reduce, or a file of coll/reduce.
  void run() override {
    call_(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_, comm_.handle);
  }

 private:
  operation::reduce::Call* const call_;
};

constexpr Parameter reduce_parameters[] = {parameters::algorithm_of<operation::reduce>,
                                           parameters::vector_bytes, parameters::buffers, parameters::root,
                                           parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce{
    .name = "reduce",
    .role = "collective",
    .operation = "reduce",
    .size = "bytes",
    .help = "MPI_Reduce, MPI_SUM of doubles",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_parameters,
    .make = make<Reduce>,
};

}  // namespace hockney::patterns
