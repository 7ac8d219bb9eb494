// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ialltoall final : public Alone<CollectiveBase> {
 public:
  Ialltoall(const Place& place, const Values& values)
      : Alone(place, values, static_cast<std::size_t>(place.comm.size),
              static_cast<std::size_t>(place.comm.size)) {}

  void start(MPI_Request* request) override {
    MPI_Ialltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                  comm_.handle, request);
  }

  // The block from rank a to rank b has a separate payload, so that blocks in the wrong order are seen.
  void fill(const Payload& payload) override {
    const Payload part = payload.shared_by(ranks());
    for (int to = 0; to < comm_.size; ++to)
      write_bytes(outgoing_.upcoming().subspan(static_cast<std::size_t>(to) * block_.bytes, block_.bytes),
                  part, channel(comm_.rank, to));
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
};

constexpr Parameter ialltoall_parameters[] = {parameters::bytes("bytes from each rank to each rank"),
                                              parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ialltoall{
    .name = "ialltoall",
    .role = "collective",
    .operation = "ialltoall",
    .size = "bytes",
    .help = "MPI_Ialltoall, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ialltoall_parameters,
    .make = make<Ialltoall>,
};

}  // namespace hockney::nonblocking
