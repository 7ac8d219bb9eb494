// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/choice.hpp"
#include "measure/collective_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Alltoall final : public CollectiveBase {
 public:
  Alltoall(const Place& place, const Values& values)
      : CollectiveBase(place, values, static_cast<std::size_t>(place.comm.size),
                       static_cast<std::size_t>(place.comm.size)),
        call_(chosen_call<operation::alltoall>(values, MPI_Alltoall)) {}

  // MPI_Alltoall, or a file of coll/alltoall.
  void run() override {
    call_(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
          comm_.handle);
  }

  // Each pair of ranks has a different payload, so that blocks in the wrong order are detected.
  void fill(const Payload& payload) override {
    const Payload part = payload.shared_by(ranks());
    for (std::size_t to = 0; to < ranks(); ++to)
      write_bytes(outgoing_.upcoming().subspan(to * block_.bytes, block_.bytes), part,
                  channel(comm_.rank, static_cast<int>(to)));
    spoil_all_blocks(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    Check all;
    const Payload part = payload.shared_by(ranks());
    for (int from = 0; from < comm_.size; ++from)
      all +=
          check_bytes(incoming_.taken().subspan(static_cast<std::size_t>(from) * block_.bytes, block_.bytes),
                      part, channel(from, comm_.rank), "a block exchanged");
    return all;
  }

 private:
  std::uint64_t channel(int from, int to) const {
    return static_cast<std::uint64_t>(from) * ranks() + static_cast<std::uint64_t>(to);
  }
  operation::alltoall::Call* const call_;
};

constexpr Parameter alltoall_parameters[] = {parameters::algorithm_of<operation::alltoall>,
                                             parameters::bytes("bytes from each rank to each rank"),
                                             parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoall{
    .name = "alltoall",
    .role = "collective",
    .operation = "alltoall",
    .size = "bytes",
    .help = "MPI_Alltoall",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoall_parameters,
    .make = make<Alltoall>,
};

}  // namespace hockney::patterns
