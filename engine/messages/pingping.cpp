// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/pairs.hpp"

namespace hockney::messages {
namespace {

// Both ranks of a pair send before they receive, so that every message meets one from the opposite direction.
class PingPing final : public PairsBase {
 public:
  PingPing(const Place& place, const Values& values)
      : PairsBase(place, values, 1), matches_any_(values.word("source") == "any") {}

  void run() override {
    if (!lower_ && !upper_) return;
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Isend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle, &sending);
    MPI_Recv(incoming_.next(), block_.count, block_.type, matches_any_ ? MPI_ANY_SOURCE : partner_, tag,
             comm_.handle, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
  }

  // Counts all pairs, in one direction.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(pairs_); }

 private:
  const bool matches_any_;
};

constexpr Parameter pingping_parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers,
                                             pairs, source};

}  // namespace

extern constinit const WorkloadInfo pingping{
    .name = "pingping",
    .role = "messages",
    .operation = "pingping",
    .size = "bytes",
    .help = "both ranks of each pair send to each other concurrently: MPI_Isend, MPI_Recv, MPI_Wait",
    .time = "one message, while another one travels in the opposite direction",
    .min_ranks = 2,
    .parameters = pingping_parameters,
    .make = make<PingPing>,
};

}  // namespace hockney::messages
