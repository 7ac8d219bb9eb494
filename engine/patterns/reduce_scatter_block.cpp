// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class ReduceScatterBlock final : public ReduceScatterBlockBase {
 public:
  ReduceScatterBlock(const Place& place, const Values& values)
      : ReduceScatterBlockBase(place, values),
        call_(chosen_call<operation::reduce_scatter_block>(values, MPI_Reduce_scatter_block)) {}

  // Calls MPI_Reduce_scatter_block, or a file of coll/reduce_scatter_block.
  void run() override {
    call_(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle);
  }

 private:
  operation::reduce_scatter_block::Call* const call_;
};

constexpr Parameter reduce_scatter_block_parameters[] = {
    parameters::algorithm_of<operation::reduce_scatter_block>,
    parameters::bytes("bytes of each rank's block, a multiple of 8", parameters::element_bytes),
    parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_scatter_block{
    .name = "reduce_scatter_block",
    .role = "collective",
    .operation = "reduce_scatter_block",
    .size = "bytes",
    .help = "MPI_Reduce_scatter_block, MPI_SUM of doubles",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_scatter_block_parameters,
    .make = make<ReduceScatterBlock>,
};

}  // namespace hockney::patterns
