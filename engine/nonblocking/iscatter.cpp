// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iscatter final : public Alone<CollectiveBase> {
 public:
  Iscatter(const Place& place, const Values& values)
      : Alone(place, values, is_root(place, values) ? static_cast<std::size_t>(place.comm.size) : 0, 1) {}

  void start(MPI_Request* request) override {
    MPI_Iscatter(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                 root_, comm_.handle, request);
  }

  // The block for rank r carries its payload, so that a block of another rank is seen.
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
};

constexpr Parameter iscatter_parameters[] = {parameters::bytes("bytes to each rank"), parameters::buffers,
                                             parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iscatter{
    .name = "iscatter",
    .role = "collective",
    .operation = "iscatter",
    .size = "bytes",
    .help = "MPI_Iscatter, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iscatter_parameters,
    .make = make<Iscatter>,
};

}  // namespace hockney::nonblocking
