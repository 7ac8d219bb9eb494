// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class PingPongDouble final : public Pair {
 public:
  using Pair::Pair;

  void run() override {
    MPI_Sendrecv(outgoing_.next(), block_.count, block_.type, partner_, tag, incoming_.next(), block_.count,
                 block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }

  // Both directions together.
  std::uint64_t bytes_moved() const override { return 2 * block_.bytes; }
};

constexpr Parameter parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers};

}  // namespace

extern constinit const Workload pingpong_double{
    "pingpong_double", "patterns", "both ranks send and receive at once, MPI_Sendrecv",
    "one exchange",    2,          2,
    Timing::root,      parameters, make<PingPongDouble>};

}  // namespace hockney::patterns
