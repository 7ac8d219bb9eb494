// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/choice.hpp"
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Bcast final : public CollectiveBase {
 public:
  Bcast(const Place& place, const Values& values)
      : CollectiveBase(place, values, 0, 1), call_(chosen_call<operation::bcast>(values, MPI_Bcast)) {}

  // MPI_Bcast, or a file of coll/bcast.
  void run() override { call_(incoming_.next(), block_.count, block_.type, root_, comm_.handle); }

  void fill(const Payload& payload) override {
    if (at_root())
      write_bytes(incoming_.upcoming(), payload, static_cast<std::uint64_t>(root_));
    else
      spoil(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    return check_bytes(incoming_.taken(), payload, static_cast<std::uint64_t>(root_), "the vector broadcast");
  }

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
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = bcast_parameters,
    .make = make<Bcast>,
};

}  // namespace hockney::patterns
