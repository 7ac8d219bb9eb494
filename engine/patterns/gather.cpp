// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/choice.hpp"
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Gather final : public CollectiveBase {
 public:
  Gather(const Place& place, const Values& values)
      : CollectiveBase(place, values, 1,
                       is_root(place, values) ? static_cast<std::size_t>(place.comm.size) : 0),
        call_(chosen_call<operation::gather>(values, MPI_Gather)) {}

  // MPI_Gather, or a file of coll/gather.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type, root_,
          comm_.handle);
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload.shared_by(ranks()), static_cast<std::uint64_t>(comm_.rank));
    spoil_all_blocks(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    return at_root() ? check_all_blocks(incoming_.taken(), payload, "a block gathered") : Check{};
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
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gather_parameters,
    .make = make<Gather>,
};

}  // namespace hockney::patterns
