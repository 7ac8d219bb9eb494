// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/choice.hpp"
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Scatter final : public CollectiveBase {
 public:
  Scatter(const Place& place, const Values& values)
      : CollectiveBase(place, values, is_root(place, values) ? static_cast<std::size_t>(place.comm.size) : 0,
                       1),
        call_(chosen_call<operation::scatter>(values, MPI_Scatter)) {}

  // MPI_Scatter, or a file of coll/scatter.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type, root_,
          comm_.handle);
  }

  // The block for rank r carries r's payload, so that a block delivered to the wrong rank is detected.
  void fill(const Payload& payload) override {
    spoil(incoming_.upcoming(), payload);
    if (!at_root()) return;
    for (std::size_t to = 0; to < ranks(); ++to)
      write_bytes(outgoing_.upcoming().subspan(to * block_.bytes, block_.bytes), payload, to);
  }

  Check verify(const Payload& payload) override {
    return check_bytes(incoming_.taken(), payload, static_cast<std::uint64_t>(comm_.rank),
                       "the block scattered");
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
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scatter_parameters,
    .make = make<Scatter>,
};

}  // namespace hockney::patterns
