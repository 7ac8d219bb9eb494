// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ibcast final : public Alone<CollectiveBase> {
 public:
  Ibcast(const Place& place, const Values& values) : Alone(place, values, 0, 1) {}

  void start(MPI_Request* request) override {
    MPI_Ibcast(incoming_.next(), block_.count, block_.type, root_, comm_.handle, request);
  }

  void fill(const Payload& payload) override {
    if (at_root())
      write_bytes(incoming_.upcoming(), payload, static_cast<std::uint64_t>(root_));
    else
      spoil(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    return check_bytes(incoming_.taken(), payload, static_cast<std::uint64_t>(root_),
                       "the message broadcast");
  }
};

constexpr Parameter ibcast_parameters[] = {parameters::bytes("bytes from the root"), parameters::buffers,
                                           parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ibcast{
    .name = "ibcast",
    .role = "collective",
    .operation = "ibcast",
    .size = "bytes",
    .help = "MPI_Ibcast, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ibcast_parameters,
    .make = make<Ibcast>,
};

}  // namespace hockney::nonblocking
