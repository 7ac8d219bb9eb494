// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nonblocking/started.hpp"

namespace hockney::nonblocking {
namespace {

class Igather final : public Alone<CollectiveBase> {
 public:
  Igather(const Place& place, const Values& values)
      : Alone(place, values, 1, is_root(place, values) ? static_cast<std::size_t>(place.comm.size) : 0) {}

  void start(MPI_Request* request) override {
    MPI_Igather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                root_, comm_.handle, request);
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload.shared_by(ranks()), static_cast<std::uint64_t>(comm_.rank));
    spoil_all_blocks(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    return at_root() ? check_all_blocks(incoming_.taken(), payload, "a block gathered") : Check{};
  }
};

constexpr Parameter igather_parameters[] = {parameters::bytes("bytes from each rank"), parameters::buffers,
                                            parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo igather{
    .name = "igather",
    .role = "collective",
    .operation = "igather",
    .size = "bytes",
    .help = "MPI_Igather, then MPI_Wait",
    .time = "the call and MPI_Wait, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = igather_parameters,
    .make = make<Igather>,
};

}  // namespace hockney::nonblocking
