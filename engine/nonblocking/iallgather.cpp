// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iallgather final : public Alone<CollectiveBase> {
 public:
  Iallgather(const Place& place, const Values& values)
      : Alone(place, values, 1, static_cast<std::size_t>(place.comm.size)) {}

  void start(MPI_Request* request) override {
    MPI_Iallgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                   comm_.handle, request);
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload.shared_by(ranks()), static_cast<std::uint64_t>(comm_.rank));
    spoil_all_blocks(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    return check_all_blocks(incoming_.taken(), payload, "a block gathered");
  }
};

constexpr Parameter iallgather_parameters[] = {parameters::bytes("bytes from each rank"), parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iallgather{
    .name = "iallgather",
    .role = "collective",
    .operation = "iallgather",
    .size = "bytes",
    .help = "MPI_Iallgather, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iallgather_parameters,
    .make = make<Iallgather>,
};

}  // namespace hockney::nonblocking
