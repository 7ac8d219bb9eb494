// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Scatter final : public ScatterBase {
 public:
  Scatter(const Place& place, const Values& values)
      : ScatterBase(place, values), call_(chosen_call<operation::scatter>(values, MPI_Scatter)) {}

  // Calls MPI_Scatter, or a file of coll/scatter.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type, root_,
          comm_.handle);
  }

 private:
  operation::scatter::Call* const call_;
};

constexpr Parameter scatter_parameters[] = {parameters::algorithm_of<operation::scatter>,
                                            parameters::bytes("bytes to each rank"), parameters::buffers,
                                            parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo scatter{
    .name = "scatter",
    .role = "collective",
    .operation = "scatter",
    .size = "bytes",
    .help = "MPI_Scatter",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scatter_parameters,
    .make = make<Scatter>,
};

}  // namespace hockney::patterns
