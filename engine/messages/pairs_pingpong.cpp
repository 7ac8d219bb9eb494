// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/pairs.hpp"

namespace hockney::messages {
namespace {

class PairsPingPong final : public PairsBase {
 public:
  PairsPingPong(const Place& place, const Values& values)
      : PairsBase(place, values, 1), from_(values.word("source") == "any" ? MPI_ANY_SOURCE : partner_) {}

  void run() override {
    if (!lower_ && !upper_) return;
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (lower_) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      MPI_Recv(in, block_.count, block_.type, from_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, from_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  double operations() const override { return 2; }
  // The total over all pairs.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(pairs_); }

 private:
  const int from_;
};

constexpr Parameter pairs_pingpong_parameters[] = {parameters::bytes("bytes in each message"),
                                                   parameters::buffers, pairs, source};

}  // namespace

extern constinit const WorkloadInfo pairs_pingpong{
    .name = "pairs_pingpong",
    .role = "messages",
    .operation = "send",
    .size = "bytes",
    .help = "concurrent ping-pongs of many pairs, MPI_Send and MPI_Recv",
    .time = "one direction: half a round trip, the maximum over the pairs; the bandwidth counts all pairs",
    .min_ranks = 2,
    .parameters = pairs_pingpong_parameters,
    .make = make<PairsPingPong>,
};

}  // namespace hockney::messages
