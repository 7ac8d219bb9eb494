// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Alltoall final : public Prepared<CollectiveBase> {
 public:
  Alltoall(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Alltoall_init", "alltoall"),
                 static_cast<std::size_t>(place.comm.size), static_cast<std::size_t>(place.comm.size)) {}

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
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoall_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                      block_.count, block_.type, comm_.handle, MPI_INFO_NULL, request));
  }

  std::uint64_t channel(int from, int to) const {
    return static_cast<std::uint64_t>(from) * ranks() + static_cast<std::uint64_t>(to);
  }
};

constexpr Parameter alltoall_persistent_parameters[] = {
    parameters::bytes("bytes from each rank to each rank"), one_buffer, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoall_persistent{
    .name = "alltoall_persistent",
    .role = "collective",
    .operation = "alltoall_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Alltoall_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoall_persistent_parameters,
    .make = make<Alltoall>,
};

}  // namespace hockney::persistent
