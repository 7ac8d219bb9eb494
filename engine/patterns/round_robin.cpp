// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"
#include "measure/group.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// The exchange of Hanebutte and Tatsumi (1996): every rank sends to its right neighbour on a ring and
// receives from its left one, half of the ranks sending first. With an odd number of ranks the last one and
// rank 0 both send first, so that the last one's message waits until rank 0 has sent its own: three steps
// instead of two. Nobody waits for ever: only the last rank can wait for a rank that sends, and that one
// sends to rank 1, which receives at once.
class RoundRobin final : public Group {
 public:
  RoundRobin(const Place& place, const Values& values)
      : Group(place, values, 1, 1),
        right_((comm_.rank + 1) % comm_.size),
        left_((comm_.rank + comm_.size - 1) % comm_.size) {}

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (comm_.rank % 2 == 0) {
      MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
      MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
    }
  }

  void fill(std::uint64_t seed) override {
    write_payload(outgoing_.upcoming(), seed, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_.upcoming());
  }

  Check verify(std::uint64_t seed) override {
    return check_bytes(incoming_.taken(), seed, static_cast<std::uint64_t>(left_),
                       "the message from the left");
  }

 private:
  static constexpr int tag = 1;

  const int right_;
  const int left_;
};

constexpr Parameter parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers,
                                    parameters::sync};

}  // namespace

extern constinit const Workload round_robin{
    "round_robin",
    "patterns",
    "each rank sends to its right neighbour and receives from its left, half of the ranks sending first",
    "the longest over the ranks",
    2,
    0,
    Timing::longest,
    parameters,
    make<RoundRobin>};

}  // namespace hockney::patterns
